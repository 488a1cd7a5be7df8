/* steno: which lane a text has, and what it need not read. SPDX-License-Identifier: MIT
 *
 * A lane keeps the keys and values of the last text that it held. Another text that begins the same goes on behind them in the same lane,
 * or in another one that shares their blocks (plan/state.h: blocks are counted and copied when one who shares them writes). So what many
 * requests begin with, a system prompt, is computed once, even by requests that come together: who begins later waits for who is reading
 * it. Layers that look back a window hold that of a place where texts parted (plan/state.h: a mark). Blocks are shared whole. The pool has
 * room for all lanes when nothing is shared, so sharing takes no memory. */
#ifndef STENO_TASK_LM_LANES_H
#define STENO_TASK_LM_LANES_H
#include "task/chooser.h"
#include "task/generation.h"
#include "task/source.h"

enum { PLAN_TEXT = 0 };

struct lm_lane {
    steno_session *user; /* whose text is at work in it: its ids are in user->held; NULL: nobody's */
    struct buf ids;      /* int32_t, while nobody is: of the text that it held last, */
    int32_t n;           /* whose first n ids have their keys and values here */
    uint64_t turn;       /* of that text: whoever knows the number may go on with it */
};

/* In a batch. */
struct lm_batch {
    struct lm_lane *lane;  /* [n_windows] */
    uint64_t turns;        /* texts so far */
    uint64_t logits_of;    /* turn of the text behind which the executor holds logits; 0: none */
    uint32_t reads_first;  /* lane whose prompt is the first in the next replay */
    int64_t chain_rows;    /* of the chain at hand so far */
    int goes_on;           /* the chain ended for the draft model alone: another one follows at once */
    int64_t chain_ns;      /* when the replay at hand began */
};

/* A text that waits in the queue or is made there. */
struct lm_request {
    steno_generate_params p;
    const int32_t *ids;     /* [n] the caller's */
    int32_t n;
    int has_lane, waits;    /* waits: for another who reads what it begins with */
    struct chooser chooser;
};

/* In a session. */
struct lm_session {
    struct generation generation;
    uint64_t turn;           /* of its text; 0: it has none */
    struct lm_request request;
    struct front_time time;  /* nothing */
};

static inline struct lm_session *lm_of(const steno_session *s) { return s->part; }
static inline struct lm_batch *lm_batch_of(const struct steno_batch *b) { return b->part; }

/* Is the text that the session had still in its lane? */
int lm_lane_is_own(const steno_session *s);
/* A free lane, NULL: there is none. */
int lm_lane_free(const struct steno_batch *b);
/* Go to work on the text that is in the session's lane. */
void lm_lane_enter(steno_session *s);
/* Another text: in the session's lane, where that is still its own, else in the free lane that has been so for the longest time. */
void lm_lane_begin(steno_session *s);
/* The lane takes over from others what they hold of ids[n] and it does not. @return 1: there is more to be had soon, from one who reads it
 * now; 0: there is not */
int lm_lane_share(steno_session *s, const int32_t *ids, int32_t n);
/* Nobody works in the lane any more. */
void lm_lane_leave(steno_session *s);
/* All lanes, or one, have lost what they held. */
void lm_lanes_forget(struct steno_batch *b, uint32_t first, uint32_t n);
#endif
