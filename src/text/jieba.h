/* steno: text without spaces, cut into words. SPDX-License-Identifier: MIT
 *
 * Of all ways to cut a text into words of a dictionary the one whose words are the most frequent. Reference: jieba 0.42
 * (jieba/__init__.py: gen_pfdict, load_userdict, cut with HMM=False). */
#ifndef STENO_TEXT_JIEBA_H
#define STENO_TEXT_JIEBA_H
#include "base/arena.h"
#include "base/buf.h"

struct jieba_word {
    uint32_t at;   /* its bytes: text[at, at + n) */
    uint32_t n;    /* 0: the place is free */
    int32_t count; /* how often it was met; 0: words begin with it, it is none */
};

struct jieba {
    const char *text;              /* of all words */
    const struct jieba_word *word; /* [mask + 1], by hash */
    uint32_t mask;
    int64_t total;                 /* of all counts */
};

/* A dictionary: a word a line, how often it was met, what kind of word it is (not read); between them one space. */
struct jieba_lines { const char *where, *text; size_t n; };

enum { JIEBA_MAX_SZ = 1 << 26, JIEBA_WORD_SZ = 255 };

/* The dictionary that comes with jieba, and words of a user's own, with or without a count: one without is made so frequent that it is not
 * cut by itself. Texts are copied to the arena. STENO_EFORMAT naming `where` and the line: not UTF-8, a line without a count (of the
 * first), a word of more than JIEBA_WORD_SZ bytes, a text of more than JIEBA_MAX_SZ; STENO_ENOMEM */
int jieba_init(struct jieba *d, struct arena *a, const struct jieba_lines *all, const struct jieba_lines *own, steno_error *e);
/* Append where each word of text[n] ends (uint32_t), in order; text is UTF-8. STENO_OK, STENO_ENOMEM */
int jieba_cut(const struct jieba *d, const char *text, size_t n, struct buf *ends);
#endif
