/* steno: replays of the decoder's plan for all searches, and the window that comes next. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_REPLAY_H
#define STENO_TASK_AR_REPLAY_H
#include "engine/batch.h"
#include "task/ar/window_decoder.h"

int slot_free(const struct steno_batch *b); /* -1: none is free. A slot without an encoded window is preferred */
/* The free decode slot in which the window is already encoded, else `at`. */
uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at);
/* A window decoder of the request that needs a window and whose audio is available. *idle: a window decoder of the batch for a clip that
 * has not begun. Returns NULL if there is none. */
struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle);

queue_condition needs_slot, needs_first_pass, needs_any; /* conditions for a place in the queue */
int may_encode(const struct steno_batch *b);                                 /* may the encoder run now? */
int may_listen(const struct steno_batch *b);                                 /* may another slice of audio be read? */
void look_around(struct steno_batch *b);                                     /* updates is_wanted and in_first_pass */

/* Runs the searches of all window decoders that have a decode slot, until one of them ends. */
int batch_decode(struct steno_batch *b);
#endif
