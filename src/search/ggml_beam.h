/* steno: one step of a beam search that samples. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_GGML_BEAM_H
#define STENO_SEARCH_GGML_BEAM_H
#include "search/ar.h"

/* The lanes of a's beams hold their sampled tokens (lane.top). From the best sequence down, each beam that is not done takes the next one;
 * from the second token on, equal sequences count once. A beam that has ended keeps its lane. Ends the search when all beams have ended. */
void ggml_beam_step(struct ar *a, struct run *r, struct kv_state *state);
#endif
