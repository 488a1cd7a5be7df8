/* steno: continuous integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Dong and Xu 2020: each frame has a weight in [0, 1); where their sum passes a whole number, a token ends. What is left of the frame's
 * weight begins the next token. Here it is seen which frames a token is made of; the sums of frames are the executor's (OP_CIF, run.h).
 * Sums of weights are double, as in the reference (FunASR 1.4, funasr/models/paraformer/cif_predictor.py), so that what lies on the border
 * falls to the same side. */
#ifndef STENO_SEARCH_CIF_H
#define STENO_SEARCH_CIF_H
#include "plan/run.h"

/* max(0, sigmoid(x) * smooth - noise): the weight of a frame from what the predictor gives for it. */
float cif_alpha(float x, float smooth, float noise);

/* The first [at most max] tokens of frames with weights alpha[n]. A frame beyond those of the run, as a last one for what the sum lacks, is
 * one of zeros. weight: [n + max] receives the tokens' weights, one token behind the other. @return tokens; as many as the sum's whole
 * part, or max */
int32_t cif_tokens(struct cif_token *token, float *weight, int32_t max, const float *alpha, int32_t n);

/* The same chunk by chunk of a stream, as the reference does it there: in float, a frame ending one token at most. alpha[0] is what was
 * left of the sum before the chunk, and frame 0 that sum's frames, whose weight is 1. Behind the tokens stands what is left now, of *rest.
 * weight: [2 n] receives the weights; token: [n + 1]. @return tokens, without that */
int32_t cif_go_on(struct cif_token *token, float *weight, float *rest, const float *alpha, int32_t n);

/* The running sum at each frame, from which `threshold` goes whenever it is reached: peak[t] >= threshold says that a token ends there. In
 * float, as the reference's cif_wo_hidden. */
void cif_peaks(float *peak, const float *alpha, int32_t n, float threshold);
#endif
