/* steno: state of transcription with a CTC head. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_SESSION_H
#define STENO_TASK_CTC_CTC_SESSION_H
#include "model/parts.h"
#include "search/rules.h"
#include "task/clips/clip_session.h"
#include "task/ctc/ctc_search.h"
#include "task/ctc/ctc_words.h"

struct ctc_session {
    struct clip_session clips;
    struct rule_masks masks;
    int32_t *ids;                /* [rows] of a clip */
    struct ctc_text text;        /* of the current clip */
    struct ctc_words words;      /* of the current clip */
    struct ctc_search *search;
    int searches;                /* the current request uses beam search */
    struct buf rows;             /* struct piece_rows of a clip's tokens, if they are pieces with times */
    const struct clip_window *shown; /* window whose logits are passed to on_rows */
};

static inline struct ctc_session *ctc_of(const steno_session *s) { return s->part; }
static inline const struct ctc_model *ctc_model_of(const steno_model *m) { return m->part; }

extern const struct clip_decoder ctc_decoder;
int ctc_run_best(struct steno_batch *b); /* finds the most probable id of every row of a run, after its encoder. Returns a status of the
                                          * executor */
#endif
