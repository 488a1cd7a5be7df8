/* steno: a dictionary of words and their pieces. SPDX-License-Identifier: MIT
 *
 * FunASR's seg_dict: each line has a word, then the tokens that spell it. Words given to a recognition model as text are split with it.
 * Reference: FunASR 1.4, funasr/models/seaco_paraformer/model.py (generate_hotwords_list). */
#ifndef STENO_TEXT_SEG_DICT_H
#define STENO_TEXT_SEG_DICT_H
#include "text/vocab.h"

struct seg_dict {
    const char *text;          /* [n] as given; lines with at least one word */
    uint32_t n;
    uint32_t *line, n_lines;   /* start of each line, in the order of the text */
    uint32_t *hash, hash_mask; /* of words; private */
};

enum { SEG_DICT_MAX_SZ = 1 << 28 };

/* text is kept, not copied; lines without a word are ignored. STENO_EFORMAT names `where` and the line: not UTF-8, or too long */
int seg_dict_init(struct seg_dict *d, struct arena *a, const char *where, const char *text, size_t n, steno_error *e);
/* Append the ids of a phrase of words separated by white space. A word of the dictionary gives the ids of its pieces. A missing word of
 * Chinese characters and digits gives those of each character, other words give `unknown`. d NULL: a word is a token. Words are looked up
 * in lower case. STENO_OK, STENO_ENOMEM */
int seg_dict_ids(const struct seg_dict *d, const struct vocab *v, int32_t unknown, const char *phrase, size_t n, struct buf *ids);
/* Line i, without its line end. */
const char *seg_dict_line(const struct seg_dict *d, uint32_t i, uint32_t *n);
#endif
