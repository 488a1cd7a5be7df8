/* steno: state of transcription by an audio language model. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AUDIO_LM_AUDIO_LM_SESSION_H
#define STENO_TASK_AUDIO_LM_AUDIO_LM_SESSION_H
#include "search/rules.h"
#include "task/clips/clip_session.h"
#include "task/ctc/ctc_words.h"
#include "task/decode/prompt_lookup.h"

enum { AUDIO_LM_OTHERS = 32 };

struct audio_lm_session {
    struct clip_session clips;
    struct buf before, behind;   /* int32_t ids of the request's prompt, before and after the rows of a clip */
    struct logit_rules rules;
    int32_t limit;               /* most ids of a clip's text */
    int32_t *ids;                /* [text_ctx] ids of the current clip */
    int32_t *earlier, n_earlier; /* [text_ctx + 1] ids behind the rows of the clip that was decoded last, chosen ones included */
    struct lookup_odds odds[DRAFT_KINDS]; /* how often draft tokens of its texts were right */
    struct speculation speculation; /* the same of a draft model */
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
    int status;                  /* of judging its attempts; the reason is in its session */
    double penalty;              /* repetition penalty of the current attempt */
    struct audio_lm_attempt now, best;
    struct buf tokens;           /* struct sampled_token of the best attempt, if there are several */
    struct audio_lm_prompt held;
    struct { uint32_t row, n; int64_t run; } kept; /* rows of its clip's features in `kept` of the batch, and the run they are of */
    int32_t *text;               /* [audio_lm_text_most] source of draft tokens: an earlier text, the prompt, and the chosen ids */
    int32_t n_text, n_chosen;    /* n_chosen: ids of the lane that are in it */
    struct prompt_lookup lookup;
    int uses_draft;              /* the draft model drafts for the text, */
    int32_t n_prompt;            /* which is behind this many positions */
    struct speculation speculation;
    uint32_t row, out;           /* of the current run: its first row, and that row's index among those with logits */
};

/* State in a batch. */
struct audio_lm_batch {
    struct clip_batch clips;
    float *rows, *earlier;       /* [rows of a run, d] output of the adaptor, in this run and in the one before (NULL for models without a
                                  * context); each clip starts at its first row */
    int64_t run;                 /* number of the current run */
    float *kept;                 /* [audio_lm_kept_rows, floats of a row of features] of the last run's clips; NULL: none are kept */
    uint32_t n_known;            /* rows of the current run that are those of the run before */
    float *encoded;              /* [rows of a run, d] output of the encoder in the same order, for a CTC head; NULL without one */
    struct audio_lm_lane *lane;  /* [n_windows] */
    int status;                  /* of the choices in the current chain */
    int goes_on;                 /* the chain ended only for the draft model or a cancelled request: another one follows */
};

static inline struct audio_lm_session *audio_lm_of(const steno_session *s) { return s->part; }
static inline struct audio_lm_batch *audio_lm_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct plan *audio_lm_decoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_DECODER]; }
static inline uint32_t audio_lm_width(const steno_model *m) { return m->plan[PLAN_ENCODER].slot[m->plan[PLAN_ENCODER].output].width; }

static inline int32_t audio_lm_n_ids(const struct buf *ids) { return (int32_t)(ids->len / sizeof(int32_t)); }
static inline int audio_lm_has_ctc(const steno_model *m) { return m->n_plans > PLAN_ALIGN; }

/* The session that uses a lane in the current run; NULL if it has ended. */
static inline steno_session *audio_lm_owner(const struct steno_batch *b, uint32_t lane)
{
    const struct clip_batch *c = clip_batch_of(b);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->window[i].rows.n && c->window[i].rows.lane == lane) return c->window[i].s;
    return NULL;
}

extern const struct clip_decoder audio_lm_clips;
/* Most rows of features that are kept from run to run; 0: the model's rows depend on the whole clip. */
size_t audio_lm_kept_rows(const steno_model *m);
/* Encodes the clips of the current run and keeps their rows. Returns a status of the executor. */
int audio_lm_encode(struct steno_batch *b);
/* Reads the prompts and decodes the texts for the rows of the current run, all clips in parallel. Returns a status of the executor. */
int audio_lm_decode(struct steno_batch *b);
/* For benchmarks: the same, once, up to the limit of each text, whatever its ids are. */
int audio_lm_decode_all(struct steno_batch *b);

/* ---- audio_lm_choose.c: the steps of texts */

/* Most ids of an earlier text, a prompt and its text. */
static inline size_t audio_lm_text_most(const steno_model *m) { return 2 * ((size_t)m->text_ctx + 1); }

int audio_lm_retries(const steno_session *s);                       /* does a loop end an attempt? */
int audio_lm_loops(steno_session *s, const struct sampler *p);      /* do the ids of a lane loop? */
void audio_lm_penalise(void *user, uint16_t lane, float *logits);   /* as chain_calls.filter */
/* Begins the text of a lane, whose prompt is that of s with n_rows rows of a clip. */
void audio_lm_text_begin(struct steno_batch *b, uint16_t lane, const steno_session *s, int32_t n_rows);
void audio_lm_look(struct steno_batch *b);  /* before a chain: ends cancelled requests, and texts that chose an end token */
int audio_lm_rows(struct steno_batch *b);   /* adds the rows of a chain. @return 0: all texts have ended */
int audio_lm_next(void *user);             /* as chain_calls.next: takes the choices of the last replay, and adds the next rows */
void audio_lm_texts_end(struct steno_batch *b); /* keeps the texts for the drafts of the next ones */

/* Ids of a lane to a->ids, and their text for display to *text, without surrounding white space; its language to a->language.
 * STENO_ENOMEM */
int audio_lm_text_of(steno_session *s, const struct sampler *p, const char **text, size_t *n);
#endif
