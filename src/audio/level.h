/* steno: finds quiet places to cut audio. SPDX-License-Identifier: MIT */
#ifndef STENO_AUDIO_LEVEL_H
#define STENO_AUDIO_LEVEL_H
#include <stdint.h>
#include "base/team.h"

/* The frame in [from, to) around which n levels (logarithms, one per 10 ms) are lowest. Returns `to` if there is none. */
int64_t level_quietest(const float *level, int64_t n, int64_t from, int64_t to);
/* Best end of a piece of at most `max` of n levels, n > max: the quietest frame in its last third. */
int64_t level_cut(const float *level, int64_t n, int64_t max);
/* Computes the levels of pcm[160 n] on all threads. */
void level_measure(float *level, const float *pcm, int64_t n, steno_team *team);
#endif
