/* steno: the state from which a request resumes. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_RESUME_POINT_H
#define STENO_TASK_AR_RESUME_POINT_H
#include "task/ar/window_decoder.h"

int resume_point_record(steno_session *s); /* records what is finished. STENO_ENOMEM */
/* Moves window decoders that have begun, or the parallel clips, to the recorded state. A status */
int resume_point_enter(steno_session *s);
#endif
