/* steno: the texts that a search has found for a window. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_HYPOTHESES_H
#define STENO_TASK_AR_HYPOTHESES_H
#include "task/ar/window_decoder.h"

/* The window's best ones, as many as are wanted, go to its results. A status */
int hypotheses_add(struct window_decoder *w);
#endif
