/* steno: what is to be decoded. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_CLIPS_H
#define STENO_TASK_AR_CLIPS_H
#include "task/ar/request.h"

/* From clip_timestamps, offset_ms and duration_ms, or chunk_ms. */
int request_clips_make(steno_session *s);
#endif
