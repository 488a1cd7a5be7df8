/* steno: the task of transcription with a CTC head. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_TASK_H
#define STENO_TASK_CTC_CTC_TASK_H
#include "task/task.h"

extern const struct task ctc_task;
#endif
