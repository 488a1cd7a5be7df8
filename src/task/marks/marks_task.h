/* steno: the task of punctuation. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_MARKS_MARKS_TASK_H
#define STENO_TASK_MARKS_MARKS_TASK_H
#include "task/task.h"

extern const struct task marks_task;
#endif
