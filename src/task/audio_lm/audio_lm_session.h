/* steno: state of transcription by an audio language model. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AUDIO_LM_AUDIO_LM_SESSION_H
#define STENO_TASK_AUDIO_LM_AUDIO_LM_SESSION_H
#include "search/rules.h"
#include "task/clips/clip_session.h"
#include "task/ctc/ctc_words.h"

enum { AUDIO_LM_OTHERS = 32 };

struct audio_lm_session {
    struct clip_session clips;
    struct buf before, behind;   /* int32_t ids of the request's prompt, before and after the rows of a clip */
    struct logit_rules rules;
    int32_t limit;               /* most ids of a clip's text */
    int32_t *ids;                /* [text_ctx] ids of the current clip */
    struct buf bytes, raw, text; /* its text: bytes of the tokens, UTF-8, and the form for display */
    struct buf language;         /* the name of its language, as the model gives it */
    const char *forced;          /* language of the request; NULL: any */
    const char *other[AUDIO_LM_OTHERS]; /* [n_others] names of languages without a code */
    int n_others;
    struct buf ctc_tokens;       /* int32_t ids of the same text in the CTC head's vocabulary */
    struct ctc_words words;
};

/* One decoding of a clip, with its measures. */
struct audio_lm_attempt { int32_t index, n, completed; uint32_t flags; double ratio, entropy, avg_logprob, sum_logprob; };

/* The prompt whose keys and values a lane holds, or its beginning: ids, n rows of a clip, ids. */
struct audio_lm_prompt {
    struct buf before, behind;   /* int32_t ids */
    const float *row;            /* [n, d] in `rows` or `earlier` of the batch */
    int32_t n;
    int64_t run;                 /* the run of the batch that has written the rows; 0: none */
};

/* Per lane: a clip of the current run, decoded once, or repeatedly if its text loops and the request asks for that. */
struct audio_lm_lane {
    int is_read;                 /* it is decoded in the current round */
    double penalty;              /* repetition penalty of the current attempt */
    struct audio_lm_attempt now, best;
    struct buf tokens;           /* struct sampled_token of the best attempt, if there are several */
    struct audio_lm_prompt held;
};

/* State in a batch. */
struct audio_lm_batch {
    struct clip_batch clips;
    float *rows, *earlier;       /* [rows of a run, d] output of the adaptor, in this run and in the one before (NULL for models without a
                                  * context); each clip starts at its first row */
    int64_t run;                 /* number of the current run */
    float *encoded;              /* [rows of a run, d] output of the encoder in the same order, for a CTC head; NULL without one */
    struct audio_lm_lane *lane;  /* [n_windows] */
};

static inline struct audio_lm_session *audio_lm_of(const steno_session *s) { return s->part; }
static inline struct audio_lm_batch *audio_lm_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct plan *audio_lm_decoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_DECODER]; }
static inline uint32_t audio_lm_width(const steno_model *m) { return m->plan[PLAN_ENCODER].slot[m->plan[PLAN_ENCODER].output].width; }

static inline int audio_lm_has_ctc(const steno_model *m) { return m->n_plans > PLAN_ALIGN; }

extern const struct clip_decoder audio_lm_clips;
/* Encodes the clips of the current run and keeps their rows. Returns a status of the executor. */
int audio_lm_encode(struct steno_batch *b);
/* Reads the prompts and decodes the texts for the rows of the current run, all clips in parallel. Returns a status of the executor. */
int audio_lm_decode(struct steno_batch *b);
/* For benchmarks: the same, once, up to the limit of each text, whatever its ids are. */
int audio_lm_decode_all(struct steno_batch *b);

/* Ids of a lane to a->ids, and their text for display to *text, without surrounding white space; its language to a->language.
 * STENO_ENOMEM */
int audio_lm_text_of(steno_session *s, const struct sampler *p, const char **text, size_t *n);
#endif
