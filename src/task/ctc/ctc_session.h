/* steno: what transcriptions with a CTC head keep. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_SESSION_H
#define STENO_TASK_CTC_CTC_SESSION_H
#include "search/rules.h"
#include "task/ctc/ctc_words.h"
#include "task/fbank_stream.h"
#include "task/task.h"

/* A clip that is in the run at hand. */
struct ctc_window {
    steno_session *s;     /* whose it is, NULL: nobody wants it any more */
    int64_t at, end;      /* samples: where it begins and ends */
    struct sequence rows; /* of the run; none where the clip is too short to have any */
};

/* In a batch. */
struct ctc_batch {
    struct ctc_window *window;  /* [n_windows] */
    struct sequence *sequence;  /* [n_windows] rows of those that have any */
    uint32_t n, n_sequences;    /* in the run at hand */
};

/* What one request carries from clip to clip. */
struct ctc_request {
    steno_transcribe_params p;   /* complete */
    steno_source src;
    int32_t head[PROMPT_PREFIX_MAX], n_head; /* query rows before each clip */
    int64_t from;                /* samples passed over */
    int n_windows;               /* clips of it in the run at hand */
    int is_over, status;         /* no clip follows; how it ended */
};

/* In a session. */
struct ctc_session {
    struct fbank_stream fbank;
    struct rule_masks masks;
    const uint32_t *barred;      /* ids that are not chosen, NULL: none */
    struct ctc_request request;
    int32_t *ids;                /* [rows] of a clip */
    struct ctc_text text;        /* of the clip at hand */
    struct ctc_words words;      /* likewise */
};

static inline struct ctc_session *ctc_of(const steno_session *s) { return s->part; }
static inline struct ctc_batch *ctc_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct ctc_model *ctc_model_of(const steno_model *m) { return m->part; }
static inline const struct plan *ctc_encoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_ENCODER]; }
#endif
