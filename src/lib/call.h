/* steno: what the public calls that make requests have in common. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_CALL_H
#define STENO_LIB_CALL_H
#include "engine/task.h"

/* Complete parameters of a call. */
union request_params { steno_transcribe_params transcribe; steno_vad_params find_speech; steno_generate_params generate; };

/* Fills a request. The complete parameters are copied to *own, so changes during the call have no effect. p and q may both be NULL; the one
 * that the model's task does not use is refused. STENO_EARG, with a reason. */
int request_fill(steno_session *s, struct request_given *g, union request_params *own, const steno_source *src,
                 const steno_transcribe_params *p, const steno_vad_params *q);
int generate_params_take(steno_session *s, steno_generate_params *own, const steno_generate_params *p);
int request_refuse(steno_session *s, const char *what); /* "a FAMILY model WHAT" */
#endif
