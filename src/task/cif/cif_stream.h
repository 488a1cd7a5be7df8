/* steno: the task of streaming transcription by integrate-and-fire. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_STREAM_H
#define STENO_TASK_CIF_STREAM_H
#include "task/task.h"

extern const struct task cif_stream_task;
#endif
