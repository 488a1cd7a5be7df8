/* steno: subtitles as cues. SPDX-License-Identifier: MIT
 *
 * Shared by srt, vtt and ass: the text on the screen at each time, and its line breaks. */
#ifndef STENO_OUT_WRITE_CUES_H
#define STENO_OUT_WRITE_CUES_H
#include "cue_atoms.h"
#include "write.h"
#include <stddef.h>

/* Text on the screen from one time to another. */
struct cue {
    const struct transcript *t;
    int index;            /* 0, 1, ... */
    int seg;              /* segment where it begins */
    int64_t t0_ms, t1_ms;
    int32_t first, n;     /* its words in t->words; n 0: it has text without words */
    int32_t lit;          /* index of the underlined word, -1: none */
    size_t from, to;      /* bytes of the text of `seg` */
    const struct cue_atom *atom; /* [n_atoms] its text if cues are built by rules, else NULL */
    size_t n_atoms;
};

/* A part of a cue: a word, or a line if words have no times. */
struct cue_part {
    const char *text; /* [n] */
    size_t n;
    int new_line;     /* 1: it begins a line other than the first */
    int lit;          /* 1: it is underlined */
    int turn;         /* 1: another speaker follows */
    int64_t t0_ms, t1_ms; /* of a word, -1: not known */
};

/* Passes every cue of a transcript to `put`, in order. labels: cues built by rules include speaker labels in their text. If memory runs
 * out, the sink fails. */
void write_cues(struct sink *f, const struct transcript *t, void (*put)(struct sink *f, const struct cue *c), int labels);

/* Passes every part of a cue to `put`, in order. */
void cue_parts(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user);

/* Writes a text as a cue without lines; "-->" becomes "->". */
void write_cue_text(struct sink *f, enum text_form form, const char *text);

/* Writes the text of a cue after a label: lines separated by newlines, "-->" as "->", the underlined word in <u>...</u>. */
void write_cue(struct sink *f, enum text_form form, const struct cue *c, const char *label);
#endif
