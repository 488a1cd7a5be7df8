/* steno: what cues are made of: pieces of a transcript that nothing cuts, with their times. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_ATOMS_H
#define STENO_OUT_CUE_ATOMS_H
#include "transcript.h"

/* How an atom ends, the better for a cue to end there the higher. */
enum cue_end { CUE_ENDS_WORD, CUE_ENDS_SEGMENT, CUE_ENDS_PHRASE, CUE_ENDS_SENTENCE };

struct cue_atom {
    const char *text; /* [n] without white space at its ends */
    size_t n;
    int32_t cells, half_words;
    int32_t seg;          /* of the transcript */
    int64_t t0_ms, t1_ms; /* t0 never before that of the atom before */
    char space;           /* a space stands before it, unless it begins a line */
    char ends;            /* enum cue_end */
    char rough;           /* behind it a line ends only at need */
    char small;           /* a word of few letters, that belongs to the next */
    char labelled;        /* who speaks stands before the word */
    char forced;          /* a cue ends behind it: another speaker, or a long pause */
    char new_line;        /* it begins a line that is not a cue's first; whoever shapes a cue says so */
};

struct cue_atoms {
    struct cue_atom *atom; /* [n] */
    size_t n;
    char *text;            /* what they point into */
};

/* Take the words of a transcript, or, without their times, its segments; times between known ones are shared by length. What says nothing
 * is left out. labels: who speaks stands before what is said. @return 0, or -1 in want of memory; cue_atoms_free in any case */
int cue_atoms_take(struct cue_atoms *a, const struct transcript *t, int labels);
void cue_atoms_free(struct cue_atoms *a);
#endif
