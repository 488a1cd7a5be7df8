/* steno: times of words from a CTC head. SPDX-License-Identifier: MIT
 *
 * What was chosen is aligned with all rows once more (search/ctc_align.h); rows where nothing is the most probable stay nothing, as in
 * FunASR's output_timestamp. A word is a piece, but pieces of ASCII letters that follow each other without a space are one, and so are
 * those of a character; so characters of Chinese and Japanese, digits and stops are words of their own. */
#ifndef STENO_TASK_CTC_CTC_WORDS_H
#define STENO_TASK_CTC_CTC_WORDS_H
#include "task/ctc/ctc_text.h"
#include "task/result.h"

/* Whose ids are looked for. */
struct ctc_alphabet {
    const struct vocab *vocab;
    int32_t n_ids, blank;   /* of the head */
    int32_t (*spoken)(const steno_model *m, int32_t id); /* as struct ctc has it; NULL: each stands for itself */
    const steno_model *model;
};

struct ctc_words {
    struct ctc_alphabet of;
    struct buf label, at;   /* int32_t: what is looked for, and its place among the ids */
    struct buf logp;        /* float [rows, labels + 1] */
    struct buf span, back;  /* struct ctc_span by label; scratch */
    struct buf word;        /* the text of the word at hand */
    struct buf panels;      /* uint32_t: bits of the panels of logits that hold the blank and the labels */
    int32_t n_rows;
};

/* What was chosen in a clip. */
struct ctc_heard {
    struct ctc_ids ids;
    const struct sampled_token *tokens; /* of the ids; NULL: they are as probable as in the row that says them loudest */
    double at;                          /* where the clip begins, seconds */
    int row_ms, before_ms;              /* a row stands for so long, and begins so long before its place */
};

void ctc_words_free(struct ctc_words *w);

/* ids are to be found in n_rows rows: then each row is shown, and words are added to a result, behind the segment's text. A segment with
 * words begins and ends with them. STENO_OK, STENO_ENOMEM */
int ctc_words_begin(struct ctc_words *w, const struct ctc_alphabet *of, const struct ctc_ids *ids, int32_t n_rows);
static inline const uint32_t *ctc_words_panels(const struct ctc_words *w) { return (const uint32_t *)(const void *)w->panels.p; }
void ctc_words_row(struct ctc_words *w, int32_t row, const float *logits, const struct best *best);
int ctc_words_add(struct ctc_words *w, const struct ctc_heard *h, struct result *r, struct segment *g);
#endif
