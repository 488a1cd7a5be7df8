/* steno: builds cues of publishing quality. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_BUILD_H
#define STENO_OUT_CUE_BUILD_H
#include "cue_atoms.h"
#include "cue_rules.h"

/* A cue: atoms [first, first + n) and its times. */
struct built_cue {
    size_t first, n;
    int64_t t0_ms, t1_ms; /* multiples of CUE_GRID_MS, so no format rounds them */
};

struct cue_build {
    struct cue_atoms text;
    struct built_cue *cue; /* [n] */
    size_t n;
};

/* Builds the cues of a transcript by the rules. These always hold: cues are in order, do not overlap, keep the gap, have text and a
 * duration, and are not longer than max_ms. No line is too wide unless it is a single word, and no cue has too many lines. If there is not
 * enough time, the cue's times move away from the speech first (start up to 120 ms early, next cue up to 240 ms late). Then reading speed
 * and min_ms are reduced, down to half. After that, cues start late.
 *
 * labels: as in cue_atoms_take. @return 0, or -1 if memory runs out; call cue_build_free in any case */
int cue_build(struct cue_build *b, const struct transcript *t, const struct cue_rules *r, int labels);
void cue_build_free(struct cue_build *b);
#endif
