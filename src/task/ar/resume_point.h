/* steno: where a request goes on. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_RESUME_POINT_H
#define STENO_TASK_AR_RESUME_POINT_H
#include "task/ar/window_decoder.h"

int resume_point_tell(steno_session *s); /* what is finished now. STENO_ENOMEM */
/* Window decoders that have begun, or the clips that are decoded beside each other, go on where the point says. A status */
int resume_point_enter(steno_session *s);
#endif
