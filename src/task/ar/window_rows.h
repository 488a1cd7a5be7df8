/* steno: intermediate rows of a window, for on_rows. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WINDOW_ROWS_H
#define STENO_TASK_AR_WINDOW_ROWS_H
#include "task/ar/window_decoder.h"

/* Does on_rows get this window? It gets one window per start and clip: the second task and the next attempts read the same rows. */
int window_rows_due(const struct window_decoder *w);
void window_features_pass(const struct window_decoder *w); /* the encoder's input, before the encoder runs */
int window_encoded_pass(struct window_decoder *w);         /* the encoder's output, after it has run. STENO_ENOMEM */
#endif
