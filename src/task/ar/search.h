/* steno: the search of an attempt. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SEARCH_H
#define STENO_TASK_AR_SEARCH_H
#include "task/ar/window_decoder.h"

/* Begins the search of attempt w->attempts.now on the lanes of its decode slot. again: the first lane still holds the prompt's keys and
 * values and the no-speech probability of the previous attempt. */
int search_begin(struct window_decoder *w, int again);
#endif
