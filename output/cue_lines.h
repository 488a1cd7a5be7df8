/* steno: the lines of a cue. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_LINES_H
#define STENO_OUT_CUE_LINES_H
#include "cue_atoms.h"
#include "cue_rules.h"
#include "text_shape.h"

enum { CUE_ATOMS_MOST = 512 }; /* maximum per cue */

/* How far atoms fill the lines of a cue, in order. */
struct cue_fill {
    int64_t line, lines; /* cells of the last line; number of lines, 0: empty */
};

/* Adds an atom. @return 1, or 0 if it does not fit; an atom wider than a line gets a line of its own */
int cue_fill_add(struct cue_fill *f, const struct cue_atom *a, const struct cue_rules *r);

/* Chooses the atoms that begin lines: as few lines as possible, of similar width. Lines preferably end with a sentence or a phrase, and
 * none has a single word beside longer lines. atom[n], n at most CUE_ATOMS_MOST. */
void cue_lines_set(struct cue_atom *atom, size_t n, const struct cue_rules *r);

/* Measures the cue with these lines. */
struct text_size cue_lines_measure(const struct cue_atom *atom, size_t n);
#endif
