/* steno: the task of text generation. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_TASK_H
#define STENO_TASK_LM_TASK_H
#include "task/task.h"

extern const struct task lm_task;
#endif
