/* steno: ids in, ids out. SPDX-License-Identifier: MIT
 *
 * One sequence, in a lane of a session's batch: ids are read, others are chosen behind them. Whoever decodes token by token has it.
 *
 * A new text that begins as the one before keeps its keys and values: rows do not depend on how many run together, so what is chosen behind
 * them is the same to the bit. A conversation, whose prompts each begin with the one before, is so read once. */
#ifndef STENO_TASK_GENERATION_H
#define STENO_TASK_GENERATION_H
#include "task/session.h"

struct chooser;

struct generation {
    int plan;                 /* of the model, that is replayed */
    uint16_t lane;
    int32_t len;              /* positions that it holds, the last id that was chosen not yet among them */
    int32_t last;             /* that id, -1: none */
    int has_logits;           /* of what was read last */
    const int32_t *given;     /* what is said next, whatever the model would choose: for measuring. NULL: what it chooses */
    int is_guessed;           /* by the batch's draft model, if there is one: it reads ids and nothing else */
    int32_t kept;             /* positions that hold the first ids of s->held, whatever became of the text */
    int32_t parted;           /* ids that the text to begin has in common with one that was read, whatever of them is still there */
};

static inline struct generation generation_of(int plan) { return (struct generation){ .plan = plan, .last = -1 }; }

/* May a text begin with ids[n]? STENO_EARG. From any thread */
int generation_check(steno_session *s, const int32_t *ids, int n);

/* What steno_generate says, again: steno_generate_continue. After a failure there is no text to go on with. @return number of new ids, or a
 * status */
int generation_run(steno_session *s, struct generation *g, const int32_t *ids, int n, const steno_generate_params *p, int again);
/* Read ids[n], again: behind what is there. The logits behind the last one stay where exec_logits finds them. */
int generation_read(steno_session *s, struct generation *g, const int32_t *ids, int n, int again);

/* For whoever runs the lane beside others. A text begins: its ids are s->held, the lane holds the first *known of them. */
int generation_begin(steno_session *s, struct generation *g, const int32_t *ids, int n, int32_t *known);
/* Nothing runs any more, rc: how that came about. What was chosen can be gone on with, if all is well. */
void generation_end(steno_session *s, struct generation *g, const struct chooser *c, int rc);

void lane_reset(steno_session *s, uint16_t lane);
void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len);      /* lane_reset that keeps the first len positions */
int steps_run(steno_session *s, int plan, int steps);                     /* the rows in the run, then single steps until all lanes end */
#endif
