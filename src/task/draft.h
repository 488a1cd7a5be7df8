/* steno: ids that are guessed ahead and checked together. SPDX-License-Identifier: MIT
 *
 * Reading weights is what a step costs, so rows of guesses that run beside the row of a step cost little. A row does not depend on those
 * beside it: what is chosen from the row of a guess is what would have been chosen after it, as long as the guesses before it are what was
 * chosen. So guesses never show in a text (Leviathan et al. 2023); they only spare runs.
 *
 * Guesses come from the text itself (prompt look-up, Saxena 2023). Whoever mends or punctuates a text says most of it again, so there is a
 * place in it that the newest ids follow, and what stands behind is expected next. Where something else was said, the place is lost: a word
 * was put in, put in the place of another, or left out. Then there are several places to go on from, and that is taken whose kind was right
 * most often lately. How many ids are guessed depends on how often they were right, and on what rows cost (run_costs.h). */
#ifndef STENO_TASK_DRAFT_H
#define STENO_TASK_DRAFT_H
#include "task/draft_model.h"

/* Why what stands at a place should come next. */
enum draft_kind {
    DRAFT_FOLLOWED,  /* the newest id was expected, too */
    DRAFT_PUT_IN,    /* ids came that are not in the text: it goes on where it was left */
    DRAFT_REPLACED,  /* they stand for as many others */
    DRAFT_BOTH,      /* one was put in, and the others replaced */
    DRAFT_NEAR,      /* the newest id stands a little behind where the text was left */
    DRAFT_NEAR_MORE, /* and so do those before it */
    DRAFT_ONE,       /* it stands somewhere */
    DRAFT_TWO,       /* the last two ids stand somewhere */
    DRAFT_THREE,     /* the last three, or more */
    DRAFT_KINDS
};

struct draft_odds { double right, tried; };

struct draft {
    int32_t most;                /* guesses of a run, 0: there are none */
    int32_t n, guess[DRAFT_MOST]; /* of the run at hand: rows behind its first one */
    int32_t n_given;             /* of the next one: so many were guessed elsewhere (draft_model.h), and the text is not looked at */
    int32_t seen;                /* ids of the text that were followed */
    int32_t at;                  /* what is expected next stands there, -1: nothing is */
    int32_t left, since;         /* where the text was left, -1: nowhere; ids since then that were not expected */
    enum draft_kind kind;        /* of the place */
    struct draft_odds odds[DRAFT_KINDS]; /* how often what was expected came, guessed or not */
};

struct draft draft_of(int32_t most);

/* Rows of logits of a run of these lanes: one for each, and guesses where that leaves room, since more rows in all are not few. */
static inline uint32_t draft_rows_most(uint32_t lanes) { return lanes > 1 + DRAFT_MOST ? lanes : 1 + DRAFT_MOST; }

/* Rows behind those in the run: the id that was chosen last, and guesses behind it; ids[n] are all that there were so far. room: guesses
 * that there is room for; lanes: rows that the run has without any. */
void draft_rows(struct draft *d, struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t room, const struct run_costs *costs,
                int32_t lanes);
#endif
