/* steno: the lines of a cue. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_LINES_H
#define STENO_OUT_CUE_LINES_H
#include "cue_atoms.h"
#include "cue_rules.h"
#include "text_shape.h"

enum { CUE_ATOMS_MOST = 512 }; /* of a cue */

/* How far atoms fill the lines of a cue, one after the other. */
struct cue_fill {
    int64_t line, lines; /* cells of the last line; lines so far, 0: nothing stands there */
};

/* Put an atom behind those that are there. @return 1, or 0 where it has no room; an atom wider than a line has one for itself */
int cue_fill_add(struct cue_fill *f, const struct cue_atom *a, const struct cue_rules *r);

/* Say which atoms begin lines: as few lines as can be, all about as wide, ending where a sentence or a part of one ends rather than
 * elsewhere, and none with a single word beside longer ones. atom[n], n at most CUE_ATOMS_MOST. */
void cue_lines_set(struct cue_atom *atom, size_t n, const struct cue_rules *r);

/* What is measured of the cue then. */
struct text_size cue_lines_measure(const struct cue_atom *atom, size_t n);
#endif
