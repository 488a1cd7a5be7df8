/* steno: the search of an attempt. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SEARCH_H
#define STENO_TASK_AR_SEARCH_H
#include "task/ar/window_decoder.h"

/* Begin the search of attempt w->a on the lanes of its decode slot. again: their first holds the prompt's keys and values, and its
 * no-speech probability, from the attempt before. */
int search_begin(struct window_decoder *w, int again);
#endif
