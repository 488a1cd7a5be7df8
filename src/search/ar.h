/* steno: autoregressive decoding of one window as a step machine. SPDX-License-Identifier: MIT
 *
 * The machine says which rows it wants next (ar_want), somebody runs them - alone or together with the rows of other machines - and
 * tells it so (ar_give), until it is done. A prompt is computed once; what decodes after it shares its keys and values:
 *
 *   greedy     one lane, which chooses inside the plan
 *   best of n  n lanes that each draw for themselves; the best by rank counts
 *   beams      n lanes whose best continuations are chosen here, after each step, over all of them; or, by whisper.cpp's rules, the best
 *              of those that they have drawn
 *
 * Reference: openai-whisper 20250625, whisper/decoding.py, GreedyDecoder, BeamSearchDecoder, MaximumLikelihoodRanker. */
#ifndef STENO_SEARCH_AR_H
#define STENO_SEARCH_AR_H
#include "base/buf.h"
#include "plan/run.h"
#include "plan/state.h"
#include "search/verdict.h"

enum { AR_FINISHED = 256 /* most finished sequences of a beam search */ };

/* How to decode. */
struct ar_params {
    int32_t n_lanes;       /* 1: greedy or one draw; more: candidates, or beams */
    int32_t beams;         /* 1: beam search over them */
    int32_t max_finished;  /* beams: finished sequences that end the search, 1..AR_FINISHED */
    double length_penalty; /* NAN: rank by the mean log-probability */
    struct verdict_rules verdict; /* by whisper.cpp's rules */
};

/* A finished sequence: this, and its tokens behind it (struct sampled_token). */
struct ar_candidate { double sum, rank; int32_t n, ended; };

/* A beam search at work. */
struct beams {
    uint16_t lane[RUN_BEAMS];      /* in order of rank; the first n are alive */
    int32_t n;
    struct sampled_token *best;           /* [text context] tokens of the best finished sequence; owned by whoever opens the machine */
    int32_t best_n, best_ended;
    double best_sum, best_rank;
    float best_margin;
    int32_t n_finished;
};

struct ar {
    struct ar_params p;
    const int32_t *prompt;   /* [n_prompt] all tokens before the first chosen one */
    int32_t n_prompt, sot;   /* sot: index of the start-of-transcript token, whose row gives the no-speech probability */
    int32_t fed;             /* tokens of the prompt whose rows have run: 0, or more where the lane holds them from before */
    uint16_t lane0;          /* the lanes are lane0 .. lane0 + n_lanes - 1 */
    int32_t forked;          /* they all hold the prompt */
    int32_t n_guesses;       /* greedy: ids behind those that its sampler has chosen, which somebody has guessed; then, those in the run */
    int32_t done;
    uint16_t result;         /* when done: the lane with the tokens that count */
    double rank[AR_FINISHED]; /* when done: of each candidate, in the order they were found */
    int32_t n_ranks, chosen;
    struct beams beams;
    struct buf *found;       /* beams: where each candidate goes, in the order they were found; NULL: nobody asks. Set behind ar_begin */
};

/* The lanes must have been reset for this attempt (kv_len 0, rules, out, limit, window, enc_len; each its own stream). prompt is kept,
 * not copied; the lanes after the first are made copies of it when the prompt has run. Rows of guesses (n_guesses) stand behind the row of
 * a step, all of them ROW_GUESS: whoever has them run chooses from them before ar_give. */
void ar_begin(struct ar *a, const struct ar_params *p, uint16_t lane0, const int32_t *prompt, int32_t n_prompt, int32_t sot);
/* Add the rows wanted now to those in r, if there is room: at most `max` in all. Steps come whole or not at all, a prompt in pieces.
 * state: the append state of the lanes. @return rows added */
uint32_t ar_want(struct ar *a, struct run *r, struct kv_state *state, struct room max);
/* The next rows wanted are those of a prompt. */
static inline int ar_prompts(const struct ar *a) { return !a->done && a->fed < a->n_prompt; }
/* The rows wanted have run. */
void ar_give(struct ar *a, struct run *r, struct kv_state *state);

/* Average log-probability of what was chosen: sum / (tokens + 1), the end of text counted (openai-whisper, decoding.py). */
double ar_avg_logprob(const struct lane *l);
/* What candidates are ranked by: the sum over the number of tokens, or over ((5 + n) / 6) ^ penalty (Wu et al. 2016). */
double ar_rank(double sum_logprob, int32_t n, double penalty);
#endif
