/* steno: cues that people would publish. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_BUILD_H
#define STENO_OUT_CUE_BUILD_H
#include "cue_atoms.h"
#include "cue_rules.h"

/* A cue: atoms [first, first + n), shown from one time to another. */
struct built_cue {
    size_t first, n;
    int64_t t0_ms, t1_ms; /* multiples of CUE_GRID_MS, so that no format rounds them */
};

struct cue_build {
    struct cue_atoms text;
    struct built_cue *cue; /* [n] */
    size_t n;
};

/* Make the cues of a transcript by the rules. What holds whatever is said: cues follow each other, never overlap, keep the gap, have text
 * and time, and are not longer than max_ms; no line but a single word is too wide, and none are too many. Where there is not time enough
 * for what is said, first the time of speech yields (a cue comes 120 ms early, the next 240 ms late), then reading speed and min_ms, down
 * to half of it; below that cues come late.
 *
 * labels: as cue_atoms_take has it. @return 0, or -1 in want of memory; cue_build_free in any case */
int cue_build(struct cue_build *b, const struct transcript *t, const struct cue_rules *r, int labels);
void cue_build_free(struct cue_build *b);
#endif
