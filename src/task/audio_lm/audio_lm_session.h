/* steno: what transcriptions by a language model keep. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AUDIO_LM_SESSION_H
#define STENO_TASK_AUDIO_LM_SESSION_H
#include "search/rules.h"
#include "task/clips/clip_session.h"
#include "task/ctc/ctc_words.h"

struct audio_lm_session {
    struct clip_session clips;
    struct buf before, behind;   /* int32_t ids of the prompt of the request at hand, around the rows that stand for a clip */
    struct logit_rules rules;
    int32_t limit;               /* ids of a clip's text */
    int32_t *ids;                /* [text_ctx] of the clip at hand */
    struct buf bytes, raw, text; /* its text: as tokens say it, as UTF-8, as people read it */
    struct buf said;             /* int32_t ids of the CTC head, of that text */
    struct ctc_words words;
};

/* One decoding of a clip, and how it came out. */
struct audio_lm_attempt { int32_t index, n, completed; uint32_t flags; double ratio, entropy, avg_logprob, sum_logprob; };

/* Of a lane: a clip of the run at hand is decoded once, or again where it goes round in circles and the request asks for that. */
struct audio_lm_lane {
    int is_read;                 /* it has a prompt in the round at hand */
    double penalty;              /* of ids that it has said, in the attempt at hand */
    struct audio_lm_attempt now, best;
    struct buf tokens;           /* struct sampled_token of the best of several attempts */
};

/* In a batch. */
struct audio_lm_batch {
    struct clip_batch clips;
    float *rows;                 /* [rows of a run, d] of the adaptor, each clip's from its first row on */
    float *encoded;              /* [rows of a run, d] of the encoder, likewise, for a CTC head; NULL: there is none */
    struct audio_lm_lane *lane;  /* [n_windows] */
};

static inline struct audio_lm_session *audio_lm_of(const steno_session *s) { return s->part; }
static inline struct audio_lm_batch *audio_lm_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct plan *audio_lm_decoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_DECODER]; }
static inline uint32_t audio_lm_width(const steno_model *m) { return m->plan[PLAN_ENCODER].slot[m->plan[PLAN_ENCODER].output].width; }

static inline int audio_lm_has_ctc(const steno_model *m) { return m->n_plans > PLAN_ALIGN; }

extern const struct clip_decoder audio_lm_clips;
/* What is read and written behind the rows of the run at hand, all clips side by side. A status of the executor's */
int audio_lm_decode(struct steno_batch *b);
#endif
