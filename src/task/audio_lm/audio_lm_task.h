/* steno: the task of transcription by an audio language model. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AUDIO_LM_TASK_H
#define STENO_TASK_AUDIO_LM_TASK_H
#include "task/task.h"

extern const struct task audio_lm_task;
#endif
