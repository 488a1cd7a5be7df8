/* steno: continuous integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Dong and Xu 2020: each frame has a weight in [0, 1). Where the running sum passes a whole number, a token ends, and the rest of the
 * frame's weight begins the next token. This file determines the frames of each token; the executor computes the sums of frames (OP_CIF,
 * run.h). Sums of weights are double, as in the reference (FunASR 1.4, funasr/models/paraformer/cif_predictor.py), so that borderline cases
 * have the same result. */
#ifndef STENO_SEARCH_CIF_H
#define STENO_SEARCH_CIF_H
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
#endif
