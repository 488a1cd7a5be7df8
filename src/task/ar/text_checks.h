/* steno: was there a sound that moves? SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_TEXT_CHECKS_H
#define STENO_TASK_AR_TEXT_CHECKS_H
#include "task/ar/window_decoder.h"

void window_levels(struct window_decoder *w, const float *mel);   /* of the frames at hand, from their scaled log-mel */
/* Is the level of frames [from, to) of the audio, which lie in the window at hand, steady, as speech never is? */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to);
#endif
