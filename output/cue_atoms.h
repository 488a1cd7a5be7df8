/* steno: atoms of cues: indivisible pieces of a transcript, with times. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_CUE_ATOMS_H
#define STENO_OUT_CUE_ATOMS_H
#include "transcript.h"

/* How an atom ends. The higher, the better a cue ends there. */
enum cue_end { CUE_ENDS_WORD, CUE_ENDS_SEGMENT, CUE_ENDS_PHRASE, CUE_ENDS_SENTENCE };

struct cue_atom {
    const char *text; /* [n] without white space at its ends */
    size_t n;
    int32_t cells, half_words;
    int32_t seg;          /* segment of the transcript */
    int64_t t0_ms, t1_ms; /* t0 is at least that of the previous atom */
    char space;           /* a space precedes it, unless it begins a line */
    char ends;            /* enum cue_end */
    char rough;           /* a line ends after it only if necessary */
    char small;           /* a word of few letters that belongs to the next word */
    char labelled;        /* a speaker label precedes the word */
    char forced;          /* a cue ends after it: another speaker follows, or a long pause */
    char new_line;        /* it begins a line other than the first of its cue; set by the code that shapes the cue */
};

struct cue_atoms {
    struct cue_atom *atom; /* [n] */
    size_t n;
    char *text;            /* the text of all atoms */
};

/* Takes the words of a transcript, or its segments if words have no times. Unknown times are interpolated by length. Atoms without readable
 * text are left out. labels: speaker labels precede the text. @return 0, or -1 if memory runs out; call cue_atoms_free in any case */
int cue_atoms_take(struct cue_atoms *a, const struct transcript *t, int labels);
void cue_atoms_free(struct cue_atoms *a);
#endif
