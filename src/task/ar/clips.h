/* steno: the clips of the audio to decode. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_CLIPS_H
#define STENO_TASK_AR_CLIPS_H
#include "task/ar/request.h"

enum { CLIP_LAST_FRAMES = 10 }; /* whisper.cpp's rules begin no window in the last tenth of a second of a clip */

/* Builds the clips from clip_timestamps, offset_ms and duration_ms, or chunk_ms. */
int request_clips_make(steno_session *s);
#endif
