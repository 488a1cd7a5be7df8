/* steno: subtitles as cues. SPDX-License-Identifier: MIT
 *
 * What srt, vtt and ass have in common: which text stands on the screen from when to when, and where its lines break. */
#ifndef STENO_OUT_WRITE_CUES_H
#define STENO_OUT_WRITE_CUES_H
#include "cue_atoms.h"
#include "write.h"
#include <stddef.h>

/* What stands on the screen from one time to another. */
struct cue {
    const struct transcript *t;
    int index;            /* 0, 1, ... */
    int seg;              /* where it begins */
    int64_t t0_ms, t1_ms;
    int32_t first, n;     /* its words among t->words; n 0: it has none, but text */
    int32_t lit;          /* number of the word that is underlined, -1: none */
    size_t from, to;      /* bytes of the text of `seg` */
    const struct cue_atom *atom; /* [n_atoms] what it says where cues are built by rules, NULL: they are not */
    size_t n_atoms;
};

/* A part of a cue: a word, or a line where words have no times. */
struct cue_part {
    const char *text; /* [n] */
    size_t n;
    int new_line;     /* 1: a line begins with it that is not the first */
    int lit;          /* 1: it is underlined */
    int turn;         /* 1: another speaker goes on after it */
    int64_t t0_ms, t1_ms; /* of a word, -1: not known */
};

/* Give every cue of a transcript to `put`, in order. labels: those built by rules say who speaks in their text. In want of memory the sink
 * has failed. */
void write_cues(struct sink *f, const struct transcript *t, void (*put)(struct sink *f, const struct cue *c), int labels);

/* Give every part of a cue to `put`, in order. */
void cue_parts(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user);

/* A text as a cue without lines: "-->" is "->", too. */
void write_cue_text(struct sink *f, enum text_form form, const char *text);

/* The text of a cue behind a label: lines separated by newlines, "-->" as "->", the lit word in <u>...</u>. */
void write_cue(struct sink *f, enum text_form form, const struct cue *c, const char *label);
#endif
