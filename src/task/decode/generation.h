/* steno: reads ids and generates ids in one lane. SPDX-License-Identifier: MIT
 *
 * One sequence in a lane of a session's batch: ids are read, and others are chosen after them. All token-by-token tasks use it.
 *
 * A new text with the same prefix as the last one reuses its keys and values. Rows do not depend on how many run together, so the text is
 * bit-identical. A conversation, in which each prompt begins with the previous one, is read once. */
#ifndef STENO_TASK_DECODE_GENERATION_H
#define STENO_TASK_DECODE_GENERATION_H
#include "engine/session.h"

struct generator;

struct generation {
    int plan;                 /* index of the model's plan to replay */
    uint16_t lane;
    int32_t len;              /* positions held, without the last chosen id */
    int32_t last;             /* that id, -1: none */
    int has_logits;           /* logits of the last id read are available */
    const int32_t *given;     /* benchmarks: the next ids, instead of sampled ones; may be NULL */
    int uses_draft;           /* the batch's draft model can draft for it, because its input is ids only */
    int32_t kept;             /* positions that hold the first ids of s->held, even after a failure */
    int32_t parted;           /* ids that the new text shares with an earlier one, even if those are no longer held */
};

static inline struct generation generation_of(int plan) { return (struct generation){ .plan = plan, .last = -1 }; }

/* Can a text begin with ids[n]? STENO_EARG. Any thread may call it */
int generation_check(steno_session *s, const int32_t *ids, int n);

/* Runs steno_generate, or steno_generate_continue if `again` is set. After an error the text cannot continue. @return number of new ids, or
 * a status */
int generation_run(steno_session *s, struct generation *g, const int32_t *ids, int n, const steno_generate_params *p, int again);
/* Reads ids[n]. again: after the current text. exec_logits then returns the logits after the last id. */
int generation_read(steno_session *s, struct generation *g, const int32_t *ids, int n, int again);

/* For callers that run the lane together with others. Begins a text with the ids s->held, of which the lane holds the first *known. */
int generation_begin(steno_session *s, struct generation *g, const int32_t *ids, int n, int32_t *known);
/* Ends a run with status rc. The chosen ids can be continued if rc is STENO_OK. */
void generation_end(steno_session *s, struct generation *g, const struct generator *c, int rc);

void lane_reset(steno_session *s, uint16_t lane);
void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len);      /* as lane_reset, but keeps the first len positions */
int steps_run(steno_session *s, int plan, int steps);                     /* runs the rows in the run, then single steps until all lanes
                                                                           * end */
#endif
