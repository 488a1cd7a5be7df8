/* steno: speculative decoding of windows with a draft model. SPDX-License-Identifier: MIT
 *
 * Only greedy searches use draft tokens, because sampling and beams need more than the single best id. The draft model encodes each window
 * itself, in the decode slot of the same number, unless it can use the output of the large model's encoder. */
#ifndef STENO_TASK_AR_DRAFT_WINDOWS_H
#define STENO_TASK_AR_DRAFT_WINDOWS_H
#include "task/ar/window_decoder.h"

int draft_windows_may_encode(struct window_decoder *w); /* the draft model should encode the next window */
/* The draft model reuses the large model's encoder output: call draft_windows_take. */
int draft_windows_are_encoded(const struct window_decoder *w);
int draft_windows_take(struct window_decoder *w, uint32_t decode_slot);
/* Encodes the mel frames in window_mel. A status; the reason is in the session */
int draft_windows_encode(struct window_decoder *w, uint32_t decode_slot);
int draft_windows_may(const struct window_decoder *w); /* greedy searches of the request may use draft tokens */
void draft_windows_begin(struct window_decoder *w);    /* call when a search begins */

int draft_windows_needed(struct steno_batch *b); /* does any text need draft tokens before the next replay? */
int draft_windows_make(struct steno_batch *b);   /* drafts for all texts that need it. @return as exec_chain */
/* After a replay: samples the rows of the window's draft tokens, if any. */
void draft_windows_check(struct steno_batch *b, struct window_decoder *w);
#endif
