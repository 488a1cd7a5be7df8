/* steno: the list of tasks. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_TASKS_H
#define STENO_LIB_TASKS_H
#include "engine/task.h"

const struct task *task_find(const char *name); /* NULL: unknown name */
#endif
