/* steno: temperature fallback: decoding a window until an attempt passes. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_ATTEMPT_H
#define STENO_TASK_AR_ATTEMPT_H
#include "plan/run.h"

struct request;
struct window_decoder;

/* One decoding of a window, with its measures. */
struct attempt {
    int index, with_previous;
    double temperature, avg_logprob, no_speech_prob, ratio, entropy;
    struct margins margin;   /* in fast arithmetic */
    int verified, corrected;
    double pushed;           /* the most that hot words can have added to avg_logprob */
    int32_t n_tokens;
    int unfinished;          /* the text is not a sentence of its grammar */
    int failed, completed;
    int is_bad;              /* the search failed by whisper.cpp's rules */
    int n_others, n_sure_others; /* candidates other than the chosen one, and those that reach the log-probability threshold */
    int sequence;            /* index of the chosen sequence */
    int32_t advance;         /* frames that its timestamps move the window on */
    uint32_t flags;          /* enum steno_flag, from the full limits */
};

void limits_init(struct request *c);

/* Decodes the window, whose cross keys are in place, until an attempt passes. The result is w->attempts.kept. */
int attempts_begin(struct window_decoder *w);
int attempt_settle(struct window_decoder *w, int *again); /* *again: 1 if another search has begun */
int attempt_is_better(const struct attempt *a, const struct attempt *b); /* for attempts that have all failed */
int keeps_best(const struct window_decoder *w);           /* 1: attempts are compared; 0: the last one is kept */
/* n: draws so far. n_sure: those that are probable. Returns 1 if sampled texts are so improbable that the window contains no speech. */
int draws_fall_apart(int n, int n_sure, int best_is_silence);
int is_silence(const struct window_decoder *w);           /* no speech, and the text is not probable enough to override that */
/* Writes the text of the ids less than `below` to w->text. For display, `below` is end-of-text. For the compression ratio, all tokens
 * except timestamps count. */
void text_of(struct window_decoder *w, const int32_t *ids, int32_t n, int32_t below);

/* Adds the n_best texts of the window to its results. A status */
int hypotheses_add(struct window_decoder *w);

/* Stores the text beside the result, except with STENO_GUARDS_OFF. whole: 1 if the whole window counts as silence */
void leave_out(struct window_decoder *w, int64_t t0_ms, int64_t t1_ms, const int32_t *ids, int32_t n_ids, int whole);
#endif
