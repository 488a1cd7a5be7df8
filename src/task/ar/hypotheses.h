/* steno: the n best texts of a window. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_HYPOTHESES_H
#define STENO_TASK_AR_HYPOTHESES_H
#include "task/ar/window_decoder.h"

/* Adds the n_best texts of the window to its results. A status */
int hypotheses_add(struct window_decoder *w);
#endif
