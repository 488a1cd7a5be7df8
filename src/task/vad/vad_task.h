/* steno: the task of voice activity detection. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_VAD_VAD_TASK_H
#define STENO_TASK_VAD_VAD_TASK_H
#include "task/task.h"

extern const struct task vad_task;
#endif
