/* steno: speculative decoding with a draft model. SPDX-License-Identifier: MIT
 *
 * The draft model is smaller and has the same vocabulary. It continues the text by a few ids, and the large model checks them in one run
 * (draft.h explains why the text does not change). A few more rows in a run cost little, so each correct draft token saves most of a step.
 * The number of draft tokens depends on how many were correct so far, because each costs a step of the draft model. */
#ifndef STENO_TASK_DECODE_DRAFT_MODEL_H
#define STENO_TASK_DECODE_DRAFT_MODEL_H
#include "engine/run_costs.h"
#include "engine/session.h"

/* Can `draft` be a draft model for m? STENO_EARG: the reason is in *e. */
int draft_model_check(const steno_model *m, const steno_model *draft, steno_error *e);

/* How often draft tokens were correct lately. */
struct speculation {
    double right, tried;
    double share;            /* assumed cost of a draft step, as a part of a large model's step, until it is measured */
    int32_t since;           /* ids chosen without draft tokens since the last try */
    int32_t wait;            /* number of such ids before the next try */
    struct { double ids; int32_t n, since, wait; } window; /* ids per window, of the current window; skipped windows, as above
                                                            * (draft_model.c) */
};

struct speculation speculation_begin(const steno_model *m, const steno_model *draft, int plan);
int speculation_may_pay(const struct speculation *g); /* would draft tokens pay off if all were correct? */
/* Number of draft tokens that pay off in batch b, at most `most`, if `texts` texts step together and all have draft tokens. */
int32_t speculation_worth(const struct speculation *g, const struct steno_batch *b, int32_t texts, int32_t most);
/* Speed-up factor of that number over single steps; 0: not known yet. */
double speculation_gain(const struct speculation *g, const struct steno_batch *b, int32_t texts, int32_t most);
/* Adds the result of a run: draft tokens made, and correct ones. */
void speculation_learn(struct speculation *g, int32_t tried, int32_t right);

enum { DRAFT_TEXTS_MAX = COSTS_ROWS / 2 /* texts drafted together, each with at least one draft token */ };

/* What a text may have. asked: draft_max of its request; room: ids that may still follow the next one. */
struct draft_limits { int32_t asked, room; };
/* Number of draft tokens for a text while `texts` texts step together, within the rows of a run: as asked, or as many as pay off. */
int32_t draft_model_count(const struct speculation *g, const struct steno_batch *b, int32_t texts, struct draft_limits of);

/* A text to draft for: before[n_before], then the ids that the lane has chosen. */
struct draft_text {
    const int32_t *before;
    int32_t n_before;
    struct lane *lane;       /* of the large model; draft tokens are stored after the ids that its sampler chose, n_draft of them */
    uint16_t to;             /* lane of the draft model */
    int32_t n_draft;       /* number requested, then number made */
    struct logit_rules rules; /* of the draft model */
};

/* The texts of a task that may need draft tokens, in places 0 to n - 1. */
struct draft_places {
    uint32_t n;
    int (*steps)(const struct steno_batch *b, uint32_t at); /* does a text at this place step in the next replay? */
    /* Its text, with the number of draft tokens while `texts` texts step together; 0: it needs none */
    struct draft_text (*text)(const struct steno_batch *b, uint32_t at, int32_t texts);
};
/* Collects the texts that need draft tokens before the next replay. @return their number; 0: too many texts step, or batch b has no draft
 * model */
int draft_texts_collect(const struct steno_batch *b, const struct draft_places *p, struct draft_text text[DRAFT_TEXTS_MAX]);

/* Drafts for several texts of at least one id. Rules of the lanes apply; logits processors do not. @return as exec_chain */
int draft_model_propose(struct steno_batch *d, int plan, struct draft_text *text, int n);

/* The same by the draft model of batch b. *us: time of each text */
int draft_model_make(struct steno_batch *b, int plan, struct draft_text *text, int n, int64_t *us);

/* Lane `to` takes over at most `len` positions of lane `from`. */
void draft_model_fork(struct steno_batch *d, uint16_t to, uint16_t from, int32_t len);
void draft_model_rewind(struct steno_batch *d, uint16_t lane, int32_t len); /* keeps at most `len` positions of the text */
#endif
