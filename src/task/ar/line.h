/* steno: who gets the next free decode slot. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_LINE_H
#define STENO_TASK_AR_LINE_H
#include "task/ar/window_decoder.h"

int slot_free(const struct steno_batch *b); /* -1: none. One whose window nobody can use again goes first */
/* The free decode slot where the window decoder's window is encoded already, else `at`. */
uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at);
/* A window decoder of the request that wants a window. *idle: one of the batch, for a clip that nobody has begun. NULL: none */
struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle);
steno_session *request_next(const struct steno_batch *b);             /* whoever gets it, NULL: nobody wants one */
void count_passed(struct steno_batch *b, const steno_session *s);     /* s gets a window: how long has the last class waited? */
int may_encode(const struct steno_batch *b);                          /* may the encoder run now? */
#endif
