/* steno: the task of transcription by integrate-and-fire. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_CIF_TASK_H
#define STENO_TASK_CIF_CIF_TASK_H
#include "task/task.h"

extern const struct task cif_task;
#endif
