/* steno: continuous integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Dong and Xu 2020: each frame has a weight in [0, 1). Where the running sum passes a whole number, a token ends, and the rest of the
 * frame's weight begins the next token. This file determines the frames of each token; the executor computes the sums of frames (OP_CIF,
 * run.h). Sums of weights are double, as in the reference (FunASR 1.4, funasr/models/paraformer/cif_predictor.py), so that borderline cases
 * have the same result.
 *
 * Times: a token begins where the previous one fired, shifted one and a half frames earlier. Silence before the first and after the last
 * token belongs to no token, and a token has at most twelve frames. Reference: FunASR 1.4, funasr/utils/timestamp_tools.py
 * (ts_prediction_lfr6_standard), which computes in float, as this file does. */
#ifndef STENO_SEARCH_CIF_H
#define STENO_SEARCH_CIF_H
#include <stdint.h>
#include "plan/run.h"

/* max(0, sigmoid(x) * smooth - noise): the weight of a frame from the predictor's output. */
float cif_alpha(float x, float smooth, float noise);

/* The first tokens, at most max, of frames with weights alpha[n]. A frame beyond those of the run, such as a last one that completes the
 * sum, is a frame of zeros. weight: [n + max] receives the weights, token by token. @return the number of tokens: the whole part of the
 * sum, or max */
int32_t cif_tokens(struct cif_token *token, float *weight, int32_t max, const float *alpha, int32_t n);

/* As cif_tokens, chunk by chunk of a stream, as the reference does there: in float, and a frame ends at most one token. alpha[0] is the
 * rest of the sum before the chunk. Frame 0 is the sum of that rest's frames, with weight 1. After the tokens stands an entry for the new
 * rest *rest. weight: [2 n] receives the weights; token: [n + 1]. @return tokens, without that entry */
int32_t cif_go_on(struct cif_token *token, float *weight, float *rest, const float *alpha, int32_t n);

/* The running sum at each frame, reduced by `threshold` whenever it reaches it: peak[t] >= threshold marks the end of a token. In float, as
 * the reference's cif_wo_hidden. */
void cif_peaks(float *peak, const float *alpha, int32_t n, float threshold);

/* ---- times of tokens --------------------------------------------------------------------------------------------------------- */

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
