/* steno: windows whose ids are guessed ahead by a draft model. SPDX-License-Identifier: MIT
 *
 * Of greedy searches alone: what is drawn and what beams choose between is not one id. The draft model hears each window itself, in the
 * decode slot of the same number. */
#ifndef STENO_TASK_AR_GUESSES_H
#define STENO_TASK_AR_GUESSES_H
#include "task/ar/window_decoder.h"

int guesses_may_hear(struct window_decoder *w); /* and it should hear the window that comes next */
int guesses_are_heard(const struct window_decoder *w); /* by the large model's encoder, just now: guesses_take is left */
int guesses_take(struct window_decoder *w, uint32_t decode_slot);
int guesses_hear(struct window_decoder *w, uint32_t decode_slot); /* what window_mel holds; a status, its reason in the session */
int guesses_may(const struct window_decoder *w);                  /* the request may have guesses, in greedy searches */
void guesses_begin(struct window_decoder *w);                     /* a search has begun */

int guesses_wanted(struct steno_batch *b);  /* is somebody to be guessed for before the next replay? */
int guesses_make(struct steno_batch *b);    /* guess for all who want it. @return as exec_chain */
void guesses_check(struct steno_batch *b, struct window_decoder *w); /* behind a replay: choose from the rows of its guesses, if any */
#endif
