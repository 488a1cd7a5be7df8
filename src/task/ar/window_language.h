/* steno: the language of a window. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WINDOW_LANGUAGE_H
#define STENO_TASK_AR_WINDOW_LANGUAGE_H
#include "task/ar/window_decoder.h"

/* Per-window detection: selects the language of the window in the decode slot, or the request's language if none is certain. */
int window_language_choose(struct window_decoder *w, uint32_t at);
/* For a window with doubtful text: detects if its language is certainly a different one than it was decoded in. Uses the first lane of the
 * decode slot. */
int window_language_doubt(struct window_decoder *w);
const char *window_language(const struct window_decoder *w); /* code of the language it was decoded in */
const char *window_language_seen(const struct decoder_content *window); /* language of its segments; NULL: not detected */
#endif
