/* steno: which calls are allowed at which time, and what the calls that make requests have in common. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_ENTRY_H
#define STENO_LIB_ENTRY_H
#include "engine/session.h"
#include "engine/task.h"

int call_enter(steno_session *s);         /* for a call that is not queued; STENO_EARG, with a reason, and nothing has changed */
int call_leave(steno_session *s, int rc); /* ends a call that has entered. @return rc */
int batch_enter(struct steno_batch *b);   /* for running the queue; STENO_EARG */
void batch_leave(struct steno_batch *b);
int queue_may_take(steno_session *s);           /* for queueing a request; STENO_EARG, with a reason */
int session_may_change(const steno_session *s); /* may it be closed, and its results, counters and timings be changed now? */
int batch_may_close(const struct steno_batch *b);

/* Checks the source of a call that reads audio; STENO_EARG, with a reason. */
int source_check(steno_session *s, const steno_source *src);
int pcm_check(steno_session *s, const float *pcm, int64_t n);

/* Complete parameters of a call. */
union request_params { steno_transcribe_params transcribe; steno_vad_params find_speech; steno_generate_params generate; };

/* Fills a request. The complete parameters are copied to *own, so changes during the call have no effect. p and q may both be NULL; the one
 * that the model's task does not use is refused. STENO_EARG, with a reason. */
int request_fill(steno_session *s, struct request_given *g, union request_params *own, const steno_source *src,
                 const steno_transcribe_params *p, const steno_vad_params *q);
int generate_params_take(steno_session *s, steno_generate_params *own, const steno_generate_params *p);
int request_refuse(steno_session *s, const char *what); /* "a FAMILY model WHAT" */
#endif
