/* steno: one step of a search whose beams draw by lot. SPDX-License-Identifier: MIT */
#ifndef STENO_SEARCH_LOT_BEAMS_H
#define STENO_SEARCH_LOT_BEAMS_H
#include "search/ar.h"

/* Lanes of a's beams hold what they have drawn (lane.top). Walked from the best sequence down, each beam that is not done takes the next
 * one; from the second token on equal ones count once. A beam that ends stays where it is. Ends the search when all have. */
void lot_beams_step(struct ar *a, struct run *r, struct kv_state *state);
#endif
