/* steno: ids that are guessed ahead and checked together. SPDX-License-Identifier: MIT
 *
 * Reading weights is what a step costs, so rows of guesses that run beside the row of a step cost little. A row does not depend on those
 * beside it: what is chosen from the row of a guess is what would have been chosen after it, as long as the guesses before it are what was
 * chosen. So guesses never show in a text (Leviathan et al. 2023); they only spare runs.
 *
 * Guesses come from the text itself: what followed the last time its newest ids stood there (prompt look-up, Saxena 2023). Whoever mends
 * or punctuates a text says most of it again. */
#ifndef STENO_TASK_DRAFT_H
#define STENO_TASK_DRAFT_H
#include "task/draft_model.h"

enum { DRAFT_NGRAM = 4 }; /* ids that are looked for, at most */

struct draft {
    int32_t most;                /* guesses of a run, 0: there are none */
    int32_t now;                 /* as many as were worth it lately, and one more */
    int32_t n, guess[DRAFT_MOST]; /* of the run at hand: rows behind its first one */
    int32_t n_given;             /* of the next one: so many were guessed elsewhere (draft_model.h), and the text is not looked at */
};

static inline struct draft draft_of(int32_t most)
{
    return (struct draft){ .most = most > 0 ? most : 0, .now = most > 0 ? most : 0 };
}

/* Rows behind those in the run: the id that was chosen last, and guesses behind it where ids[n], all that there were so far, have been
 * there before. room: guesses that there is room for. */
void draft_rows(struct draft *d, struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t room);
/* Of what those rows chose `right` were guessed. */
void draft_learn(struct draft *d, int32_t right);
#endif
