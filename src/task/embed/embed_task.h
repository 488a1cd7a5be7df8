/* steno: the task of text embeddings. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_EMBED_TASK_H
#define STENO_TASK_EMBED_TASK_H
#include "task/task.h"

extern const struct task embed_task;
#endif
