/* steno: what may be called, and when. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_ENTRY_H
#define STENO_LIB_ENTRY_H
#include "task/session.h"
#include "task/task.h"

int call_enter(steno_session *s);         /* a call that is not queued; STENO_EARG, with a reason, and nothing else has happened */
int call_leave(steno_session *s, int rc); /* what has entered is over. @return rc */
int batch_enter(struct steno_batch *b);   /* carrying out the queue; STENO_EARG */
void batch_leave(struct steno_batch *b);
int queue_may_take(steno_session *s);           /* a request for the queue; STENO_EARG, with a reason */
int session_may_change(const steno_session *s); /* what a call at work counts and measures */
int session_may_close(const steno_session *s);
int batch_may_close(const struct steno_batch *b);

/* What every call that hears something asks of its source; STENO_EARG, with a reason. */
int source_check(steno_session *s, const steno_source *src);
int pcm_check(steno_session *s, const float *pcm, int64_t n);
#endif
