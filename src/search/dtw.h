/* steno: dynamic time warping. SPDX-License-Identifier: MIT
 *
 * The cheapest path through a matrix from its first corner to its last. A step goes down, right, or both. The path assigns frames to rows
 * when both advance in order. Reference: openai-whisper 20250625, whisper/timing.py (dtw_cpu, backtrace). */
#ifndef STENO_SEARCH_DTW_H
#define STENO_SEARCH_DTW_H
#include <stddef.h>
#include <stdint.h>

/** First frame of each row on the path that gathers the most.
 *
 * @param jump    [n_rows] receives frames, never falling, 0..n_frames-1
 * @param x       [n_rows, n_frames] gains, which are negated to costs; any values, NaN included
 * @param ld      floats between rows of x
 * @param n_rows, n_frames  both 1 or more
 * @return 0, or -1: no memory
 *
 * Down-right and down are taken only where they are cheaper than both others, to the right otherwise. */
int dtw_path(int32_t *jump, const float *x, size_t ld, int32_t n_rows, int32_t n_frames);
#endif
