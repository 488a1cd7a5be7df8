/* steno: what calls that transcribe have in common. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_CALL_H
#define STENO_LIB_CALL_H
#include "task/session.h"

/* The parameters in full, or why not. */
int transcribe_params_take(steno_session *s, steno_transcribe_params *own, const steno_source *src, const steno_transcribe_params *p);
#endif
