/* steno: what speaks against a text. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_TEXT_CHECKS_H
#define STENO_TASK_AR_TEXT_CHECKS_H
#include "task/ar/window_decoder.h"

double token_entropy(const int32_t *ids, int32_t n);      /* nats, of the ids among the last 32 */
int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end); /* the same few ids below text_end over and over */
void window_levels(struct window_decoder *w, const float *mel);   /* of the frames at hand, from their scaled log-mel */
/* Is the level of frames [from, to) of the audio, which lie in the window at hand, steady, as speech never is? */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to);
#endif
