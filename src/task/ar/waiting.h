/* steno: the waiting queue: who gets the next free decode slot. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WAITING_H
#define STENO_TASK_AR_WAITING_H
#include "task/ar/window_decoder.h"

int slot_free(const struct steno_batch *b); /* -1: none. One whose window nobody can use again goes first */
/* The free decode slot where the window decoder's window is encoded already, else `at`. */
uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at);
/* A window decoder of the request that wants a window, and whose audio is there. *idle: one of the batch, for a clip that nobody has begun.
 * NULL: none */
struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle);

want_fn wants_slot, wants_to_listen, wants_anything; /* what requests want, beside decoding */
int may_encode(const struct steno_batch *b);                                 /* may the encoder run now? */
int may_listen(const struct steno_batch *b);                                 /* and another slice of somebody's audio be listened to? */
void look_around(struct steno_batch *b);                                     /* what is left to do: is_wanted, is_unheard */
#endif
