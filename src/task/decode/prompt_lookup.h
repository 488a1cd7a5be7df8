/* steno: speculative decoding with draft tokens from the text itself. SPDX-License-Identifier: MIT
 *
 * The time of a step is the time to read the weights, so rows of draft tokens beside the row of a step cost little. A row does not depend
 * on other rows. While the draft tokens before a row equal the chosen ids, the choice from that row is the choice that would have been made
 * without drafts. So draft tokens never change a text (Leviathan et al. 2023); they only save runs.
 *
 * Draft tokens come from the text itself (prompt lookup, Saxena 2023). A text that corrects or punctuates another repeats most of it. So
 * the newest ids occur earlier in the text, and the ids after that place are expected next. When the text differs, the place is lost: a
 * word was inserted, replaced or omitted. Then several places are possible, and the one whose kind was right most often lately is taken.
 * The number of draft tokens depends on how often they were right, and on the cost of rows (run_costs.h). */
#ifndef STENO_TASK_DECODE_PROMPT_LOOKUP_H
#define STENO_TASK_DECODE_PROMPT_LOOKUP_H
#include "task/decode/draft_model.h"

/* Why the ids at a place should come next. */
enum lookup_kind {
    DRAFT_FOLLOWED,  /* the newest id was also expected */
    DRAFT_PUT_IN,    /* ids were inserted: the text continues where it was left */
    DRAFT_REPLACED,  /* ids were replaced by the same number of others */
    DRAFT_BOTH,      /* one id was inserted, and others were replaced */
    DRAFT_NEAR,      /* the newest id occurs shortly after the place where the text was left */
    DRAFT_NEAR_MORE, /* so do the ids before it */
    DRAFT_ONE,       /* the newest id occurs somewhere */
    DRAFT_TWO,       /* the last two ids occur somewhere */
    DRAFT_THREE,     /* the last three or more */
    DRAFT_KINDS
};

struct lookup_odds { double right, tried; };

struct prompt_lookup {
    int32_t most;                /* most draft tokens per run; 0 disables them */
    int32_t n, id[DRAFT_MAX]; /* of the current run: rows after its first one */
    int32_t n_given;             /* of the next run: draft tokens from a draft model (draft_model.h), in place of those from the text */
    int32_t seen;                /* ids of the text that were followed */
    int32_t at;                  /* place of the expected next id, -1: none */
    int32_t left, since;         /* place where the text was left, -1: none; unexpected ids since then */
    enum lookup_kind kind;        /* why that place */
    struct lookup_odds odds[DRAFT_KINDS]; /* how often expected ids were right, drafted or not */
};

struct prompt_lookup prompt_lookup_of(int32_t most);

/* Rows of logits for a run of these lanes: one for each, plus draft tokens up to the number of rows that are still cheap. */
static inline uint32_t prompt_lookup_rows_most(uint32_t lanes) { return lanes > 1 + DRAFT_MAX ? lanes : 1 + DRAFT_MAX; }

/* Draft tokens after ids[n], at most `room`, beside the `rows` rows of a run: d->id. @return their number, d->n */
int32_t prompt_lookup_find(struct prompt_lookup *d, const int32_t *ids, int32_t n, int32_t room, const struct run_costs *costs,
                           int32_t rows);

/* Adds rows to the run: the last chosen id, then draft tokens. ids[n]: all ids so far. room: most draft tokens; lanes: rows of the run
 * without draft tokens. */
void prompt_lookup_rows(struct prompt_lookup *d, struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t room,
                        const struct run_costs *costs, int32_t lanes);
#endif
