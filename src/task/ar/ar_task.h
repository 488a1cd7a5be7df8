/* steno: the task of decoding windows of log-mel token by token. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_AR_TASK_H
#define STENO_TASK_AR_AR_TASK_H
#include "task/task.h"

extern const struct task ar_task;
#endif
