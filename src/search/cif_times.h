/* steno: times of tokens from integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * A token begins where the previous one fired, shifted one and a half frames earlier. Silence before the first and after the last token
 * belongs to no token, and a token has at most twelve frames. Reference: FunASR 1.4, funasr/utils/timestamp_tools.py
 * (ts_prediction_lfr6_standard), which computes in float, as this file does. */
#ifndef STENO_SEARCH_CIF_TIMES_H
#define STENO_SEARCH_CIF_TIMES_H
#include <stdint.h>

/* The firing of frames: peak[n], weight[n]. weight is scaled if the number of peaks differs from the number of tokens plus one. frame_s:
 * seconds of a frame. */
struct cif_frames { const float *peak; float *weight; int32_t n; double frame_s; };

/* Seconds [begin, end] of each of n tokens, without the end of the sentence. scratch: [frames] floats. @return the number of leading tokens
 * with times */
int32_t cif_times(double (*span)[2], int32_t n, const struct cif_frames *f, float *scratch);

/* For rows finer than frames: weights that yield the same number of tokens as the frames did, and the running sums. */
void cif_fine_peaks(float *peak, float *weight, int32_t n, int32_t n_tokens);

/* Peaks of cumulated weights: the fractional part of the sum, plus 1 where a token ended. */
void cif_fires(float *peak, const float *weight, int32_t n);
#endif
