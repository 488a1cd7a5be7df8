/* steno: a small model that guesses what a larger one will choose. SPDX-License-Identifier: MIT
 *
 * Both have the same vocabulary. The small one goes on with the text by itself for a few ids; the large one checks them in one run
 * (draft.h says why that never shows). A run costs little more for a few rows more, so each guess that is right spares most of a step. How
 * many guesses are made depends on how many were right so far: guessing on costs the small model's steps, whether they are right or not. */
#ifndef STENO_TASK_DRAFT_MODEL_H
#define STENO_TASK_DRAFT_MODEL_H
#include "task/run_costs.h"
#include "task/session.h"

enum { DRAFT_MOST = 15 }; /* guesses beside one row: more are not few rows (plan/replay.h) */

/* Can it guess for m? STENO_EARG: the reason in *e. */
int draft_model_check(const steno_model *m, const steno_model *draft, steno_error *e);

/* How often guesses were right lately, of those that were looked at. */
struct guessing {
    double right, tried;
    double share;            /* of a step of the large model that one of the draft model should take, while nothing is measured */
    int32_t since;           /* ids that were chosen without a guess since there was one */
    int32_t wait;            /* so many of them, and there is one again, to see whether it is right by now */
    struct { double ids; int32_t n, since, wait; } window; /* ids of one, of the one at hand; those unheard, as above (guesses.c) */
};

struct guessing guessing_begin(const steno_model *m, const steno_model *draft, int plan);
int guessing_may_pay(const struct guessing *g); /* where all are right, at least */
/* Guesses that are worth what they cost in batch b, at most `most`, where so many texts step together and all are guessed for. */
int32_t guessing_worth(const struct guessing *g, const struct steno_batch *b, int32_t texts, int32_t most);
/* What they gain then: so many times the speed of steps; 0: nothing is known yet. */
double guessing_gain(const struct guessing *g, const struct steno_batch *b, int32_t texts, int32_t most);
void guessing_learn(struct guessing *g, int32_t guesses, int32_t right); /* of a run: so many were made, and right */

/* A text that is guessed for: ids that it has in all, before[n_before] and what the lane has chosen. */
struct guessed_text {
    const int32_t *before;
    int32_t n_before;
    struct lane *lane;       /* of the large model; guesses are written behind what its sampler has chosen, n_guesses of them */
    uint16_t to;             /* lane of the draft model */
    int32_t n_guesses;       /* wanted; then made */
    struct logit_rules rules; /* the draft model's own */
};

/* Guesses for several texts, which have one id or more each. Rules of the lanes hold, what else changes logits does not. @return as
 * exec_chain */
int draft_model_guess(struct steno_batch *d, int plan, struct guessed_text *text, int n);

/* Lane `to` holds what the other one does, `len` positions of it at most. */
void draft_model_fork(struct steno_batch *d, uint16_t to, uint16_t from, int32_t len);
void draft_model_rewind(struct steno_batch *d, uint16_t lane, int32_t len); /* it holds no more than `len` positions of the text */
#endif
