/* steno: times of tokens from integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * A token begins where the one before it fired, one and a half frames earlier. Silence before the first and behind the last token is
 * nobody's, and a token has at most twelve frames. Reference: FunASR 1.4, funasr/utils/timestamp_tools.py (ts_prediction_lfr6_standard),
 * which computes in float, and so does this. */
#ifndef STENO_SEARCH_CIF_TIMES_H
#define STENO_SEARCH_CIF_TIMES_H
#include <stdint.h>

/* What fired in frames: peak[n], weight[n]; the latter is scaled where as many peaks as tokens and one more are not there. frame_s:
 * seconds of a frame. */
struct cif_frames { const float *peak; float *weight; int32_t n; double frame_s; };

/* Seconds [begin, end] of each of n tokens, the end of the sentence not among them. scratch: [frames] floats. @return tokens that have
 * times; the others follow those */
int32_t cif_times(double (*span)[2], int32_t n, const struct cif_frames *f, float *scratch);

/* Of rows finer than frames: weights that make as many tokens as frames have made, and the running sums at them. */
void cif_fine_peaks(float *peak, float *weight, int32_t n, int32_t n_tokens);

/* Peaks of cumulated weights: what is behind the point of the sum, and 1 more where a token ended. */
void cif_fires(float *peak, const float *weight, int32_t n);
#endif
