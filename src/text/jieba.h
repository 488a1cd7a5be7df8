/* steno: word segmentation of text without spaces. SPDX-License-Identifier: MIT
 *
 * Chooses the segmentation into dictionary words with the highest combined frequency. Reference: jieba 0.42 (jieba/__init__.py: gen_pfdict,
 * load_userdict, cut with HMM=False). */
#ifndef STENO_TEXT_JIEBA_H
#define STENO_TEXT_JIEBA_H
#include "base/arena.h"
#include "base/buf.h"

struct jieba_word {
    uint32_t at;   /* bytes text[at, at + n) */
    uint32_t n;    /* 0: the slot is free */
    int32_t count; /* frequency; 0: a prefix of words, but not a word */
};

struct jieba {
    const char *text;              /* of all words */
    const struct jieba_word *word; /* [mask + 1], by hash */
    uint32_t mask;
    int64_t total;                 /* of all counts */
};

/* A dictionary: each line has a word, its frequency, and its part of speech (ignored), separated by single spaces. */
struct jieba_lines { const char *where, *text; size_t n; };

enum { JIEBA_MAX_SZ = 1 << 26, JIEBA_WORD_SZ = 255 };

/* Load the dictionary of jieba, and the user's own words, with or without frequencies. A word without a frequency gets one that keeps it
 * whole. Texts are copied to the arena. STENO_EFORMAT names `where` and the line: not UTF-8, a line without a frequency (in the first), a
 * word of more than JIEBA_WORD_SZ bytes, a text of more than JIEBA_MAX_SZ; STENO_ENOMEM */
int jieba_init(struct jieba *d, struct arena *a, const struct jieba_lines *all, const struct jieba_lines *own, steno_error *e);
/* Append the end of each word of text[n] (uint32_t), in order; text is UTF-8. STENO_OK, STENO_ENOMEM */
int jieba_cut(const struct jieba *d, const char *text, size_t n, struct buf *ends);
#endif
