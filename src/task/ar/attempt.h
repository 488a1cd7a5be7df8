/* steno: decoding a window until it passes. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_ATTEMPT_H
#define STENO_TASK_AR_ATTEMPT_H
#include "plan/run.h"

struct request;
struct window_decoder;

/* One decoding of a window and how it came out. */
struct attempt {
    int index, with_previous;
    double temperature, avg_logprob, no_speech_prob, ratio, entropy;
    struct margins margin;   /* in the fast arithmetic */
    int verified, corrected;
    double pushed;           /* how much of avg_logprob hot words may have added */
    int32_t n_tokens;
    int unfinished;          /* it holds no sentence of its grammar */
    int failed, completed;
    int is_bad;              /* by whisper.cpp's rules the sequence itself has failed */
    int n_others, n_sure_others; /* candidates beside the chosen one, and those not below the log-probability threshold */
    int sequence;            /* of those that were searched: the chosen one */
    int32_t advance;         /* frames that its tokens move on by */
    uint32_t flags;          /* enum steno_flag, by the full limits */
};

void limits_init(struct request *c);

/* Decode the window whose cross keys are at hand until an attempt passes: w->kept. */
int attempts_begin(struct window_decoder *w);
int attempt_settle(struct window_decoder *w, int *again); /* *again: another search has begun */
int attempt_is_better(const struct attempt *a, const struct attempt *b); /* of attempts that have all failed */
int keeps_best(const struct window_decoder *w);           /* such attempts are compared; else the last is kept */
/* Of n draws, n_sure of which are probable, and a best attempt: is that a text that falls apart? */
int draws_fall_apart(int n, int n_sure, int best_is_silence);
int is_silence(const struct window_decoder *w);           /* nobody spoke, and the text is not sure enough to say otherwise */
/* Text of ids below `below`, into w->text: what is read is that of ids below end-of-text; how repetitive a window is counts all tokens but
 * times. */
void text_of(struct window_decoder *w, const int32_t *ids, int32_t n, int32_t below);
#endif
