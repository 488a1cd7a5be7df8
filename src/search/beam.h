/* steno: one step of a beam search. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_BEAM_H
#define STENO_SEARCH_BEAM_H
#include "search/ar.h"

/* The lanes of a's beams hold their best continuations (lane.top). Choose among all of them, finish those that end, and let the others
 * continue, each in a lane with the keys and values of its parent. Ends the search when enough are finished, or the limit is reached. */
void beams_step(struct ar *a, struct run *r, struct kv_state *state);
#endif
