/* steno: the language of a window. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_WINDOW_LANGUAGE_H
#define STENO_TASK_AR_WINDOW_LANGUAGE_H
#include "task/ar/window_decoder.h"

/* Where each window has its own: the language of the window that is encoded in the decode slot, or the request's where none is sure. */
int window_language_choose(struct window_decoder *w, uint32_t at);
/* Where the text of a window is doubtful: which language the window is in, if it is surely another one than it was decoded in. It uses the
 * first lane of the decode slot. */
int window_language_doubt(struct window_decoder *w);
const char *window_language(const struct window_decoder *w); /* code of the language that it was decoded in */
const char *window_language_seen(const struct window_decoder *w); /* what its segments say of it; NULL: nothing */
#endif
