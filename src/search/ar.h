/* steno: autoregressive decoding of one window as a step machine. SPDX-License-Identifier: MIT
 *
 * The machine adds the rows that it needs next to a run (ar_add_rows). The caller runs them, alone or together with the rows of other
 * machines, and returns the results (ar_give), until the machine is done. A prompt is computed once; all lanes share its keys and values:
 *
 *   greedy     one lane, whose tokens are chosen inside the plan
 *   best of n  n lanes that each sample independently; the best by rank is the result
 *   beams      n lanes; after each step the best continuations over all lanes are chosen here. By whisper.cpp's rules, they are the best
 *              of those that the lanes have sampled
 *
 * Reference: openai-whisper 20250625, whisper/decoding.py, GreedyDecoder, BeamSearchDecoder, MaximumLikelihoodRanker. */
#ifndef STENO_SEARCH_AR_H
#define STENO_SEARCH_AR_H
#include "base/buf.h"
#include "plan/run.h"
#include "plan/state.h"
#include "search/ggml_beam.h"

enum { AR_FINISHED = 256 /* most finished sequences of a beam search */ };

/* The decoding method. */
struct ar_params {
    int32_t n_lanes;       /* 1: greedy or one sample; more: candidates, or beams */
    int32_t beams;         /* 1: beam search over the lanes */
    int32_t max_finished;  /* beams: finished sequences that end the search, 1..AR_FINISHED */
    double length_penalty; /* NAN: rank by the mean log-probability */
    struct sequence_score_rules score; /* for whisper.cpp's rules */
};

/* A finished sequence; its tokens (struct sampled_token) follow in memory. */
struct ar_candidate { double sum, rank; int32_t n, ended; };

/* The state of a beam search. */
struct beams {
    uint16_t lane[RUN_BEAMS];      /* in order of rank; the first n are active */
    int32_t n;
    struct sampled_token *best;           /* [text context] tokens of the best finished sequence; owned by the caller of ar_begin */
    int32_t best_n, best_ended;
    double best_sum, best_rank;
    float best_margin;
    int32_t n_finished;
};

struct ar {
    struct ar_params p;
    const int32_t *prompt;   /* [n_prompt] all tokens before the first chosen one */
    int32_t n_prompt, sot;   /* sot: index of the start-of-transcript token; its row gives the no-speech probability */
    int32_t fed;             /* tokens of the prompt whose rows have run: 0, or more if the lane already holds them */
    uint16_t lane0;          /* the lanes are lane0 .. lane0 + n_lanes - 1 */
    int32_t forked;          /* all lanes hold the prompt */
    int32_t n_draft;       /* greedy: draft tokens after the chosen ones; during a run, those in the run */
    int32_t done;
    uint16_t result;         /* when done: the lane with the result */
    double rank[AR_FINISHED]; /* when done: rank of each candidate, in the order of finishing */
    int32_t n_ranks, chosen;
    struct beams beams;
    struct buf *found;       /* beams: receives the finished candidates in order; may be NULL. Set after ar_begin */
};

/* The lanes must have been reset for this attempt (kv_len 0, rules, out, limit, window, enc_len, and a random stream per lane). prompt is
 * kept, not copied. When the prompt has run, the other lanes become copies of the first. Rows of draft tokens (n_draft) follow the row of
 * a step, all of them ROW_DRAFT. The caller chooses from them before ar_give. */
void ar_begin(struct ar *a, const struct ar_params *p, uint16_t lane0, const int32_t *prompt, int32_t n_prompt, int32_t sot);
/* Add the needed rows to those in r if there is room: at most `max` in all. A step is added as a whole or not at all, a prompt in pieces.
 * state: the append state of the lanes. @return rows added */
uint32_t ar_add_rows(struct ar *a, struct run *r, struct kv_state *state, struct room max);
/* 1: the next rows belong to the prompt. */
static inline int ar_prompts(const struct ar *a) { return !a->done && a->fed < a->n_prompt; }
/* Process the results of the rows. */
void ar_give(struct ar *a, struct run *r, struct kv_state *state);

/* Average log-probability of the chosen tokens: sum / (tokens + 1), including the end of text (openai-whisper, decoding.py). */
double ar_avg_logprob(const struct lane *l);
/* The rank of a candidate: the sum divided by the number of tokens, or by ((5 + n) / 6) ^ penalty (Wu et al. 2016). */
double ar_rank(double sum_logprob, int32_t n, double penalty);
#endif
