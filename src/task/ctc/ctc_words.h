/* steno: the text and the word times of a clip, from a CTC head. SPDX-License-Identifier: MIT
 *
 * Tags are separate from the text, part of the text, or converted to symbols. Symbols depend on the tags of earlier clips, so in that mode
 * the whole transcript is built once from all clips.
 *
 * For word times, the chosen ids are aligned with all rows (search/ctc_align.h). Rows where blank is most probable stay blank, as in
 * FunASR's output_timestamp. Each piece is a word, with two exceptions: consecutive pieces of ASCII letters without a space form one word,
 * as do the pieces of one character. So each Chinese or Japanese character, digit and punctuation mark is a word. */
#ifndef STENO_TASK_CTC_CTC_WORDS_H
#define STENO_TASK_CTC_CTC_WORDS_H
#include "engine/result.h"
#include "model/family.h"

struct ctc_text { struct buf bytes, text; };
struct ctc_ids { const int32_t *ids; int32_t n; };

/* Valid until the next clip. text[n]: text of the segment. whole[n_whole]: what it adds to the whole transcript. */
struct ctc_shown { const char *text, *whole; size_t n, n_whole; };

void ctc_text_free(struct ctc_text *t);
/* tags: enum steno_tags. @return STENO_OK, STENO_ENOMEM */
int ctc_text_make(struct ctc_text *t, const steno_model *m, const struct ctc_ids *ids, int32_t tags, struct ctc_tags *tags_found,
                  struct ctc_shown *out);
/* Completes the whole transcript after the last clip. Running out of memory sets whole->err. */
void ctc_text_whole(struct ctc_text *t, const steno_model *m, int32_t tags, struct buf *whole);

/* The vocabulary of the labels. */
struct ctc_alphabet {
    const struct vocab *vocab;
    int32_t n_ids, blank;   /* of the CTC head */
    int32_t (*spoken)(const steno_model *m, int32_t id); /* as in struct ctc; NULL: every id is its own label */
    const steno_model *model;
};

struct ctc_words {
    struct ctc_alphabet of;
    struct buf label, at;   /* int32_t: labels, and their indices among the ids */
    struct buf logp;        /* float [rows, labels + 1] */
    struct buf span, back;  /* struct ctc_span per label; scratch */
    struct buf word;        /* text of the current word */
    struct buf panels;      /* uint32_t: bit set of the panels of logits that hold the blank and the labels */
    int32_t n_rows;
};

/* The decoded ids of a clip. */
struct ctc_clip {
    struct ctc_ids ids;
    const struct sampled_token *tokens; /* of the ids; NULL: the probability is the highest in the label's rows */
    double at;                          /* start of the clip, seconds */
    int row_ms, before_ms;              /* length of a row; how long before its nominal time it starts */
};

void ctc_words_free(struct ctc_words *w);

/* Prepares the alignment of ids with n_rows rows. Then pass each row to ctc_words_row and call ctc_words_add, which adds words to a result
 * whose segment text is already stored. A segment with words takes its start and end from them. STENO_OK, STENO_ENOMEM */
int ctc_words_begin(struct ctc_words *w, const struct ctc_alphabet *of, const struct ctc_ids *ids, int32_t n_rows);
static inline const uint32_t *ctc_words_panels(const struct ctc_words *w) { return (const uint32_t *)(const void *)w->panels.p; }
void ctc_words_row(struct ctc_words *w, int32_t row, const float *logits, const struct best *best);
/* For pieces with times, instead of ctc_words_add: the first row of id i, -1: it has none. Read ids in order; *k begins with 0. STENO_OK,
 * STENO_ENOMEM */
int ctc_words_align(struct ctc_words *w);
int32_t ctc_words_row_of(const struct ctc_words *w, int32_t i, int32_t *k);
int ctc_words_add(struct ctc_words *w, const struct ctc_clip *h, struct result *r, struct segment *g);
#endif
