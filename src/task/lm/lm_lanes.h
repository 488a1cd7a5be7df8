/* steno: lanes of texts, and prefixes that texts share. SPDX-License-Identifier: MIT
 *
 * A lane keeps the keys and values of its last text. A text with the same prefix continues after it in the same lane, or in another lane
 * that shares its blocks (plan/state.h: blocks have reference counts and are copied on write). So a common prefix, such as a system prompt,
 * is computed once, even if the requests arrive together: a later request waits for the lane that is reading it. Layers with a sliding
 * window keep the window of a position where texts diverged (plan/state.h: a mark). Only whole blocks are shared. The pool has room for all
 * lanes without sharing, so sharing takes no memory. */
#ifndef STENO_TASK_LM_LANES_H
#define STENO_TASK_LM_LANES_H
#include "audio/source.h"
#include "task/decode/generation.h"
#include "task/decode/generator.h"

enum { PLAN_TEXT = 0 };

struct lm_lane {
    steno_session *user; /* session that uses the lane, with its ids in user->held; NULL if the lane is free */
    struct buf ids;      /* int32_t ids of the lane's last text, while it is free, */
    int32_t n;           /* of which the first n have their keys and values here */
    uint64_t turn;       /* number of that text; the session with the same number may continue it */
};

/* State in a batch. */
struct lm_batch {
    struct lm_lane *lane;  /* [n_windows] */
    uint64_t turns;        /* number of texts so far */
    uint64_t logits_of;    /* turn of the text whose logits are in the executor; 0: none */
    uint32_t reads_first;  /* lane whose prompt goes first in the next replay */
    int64_t chain_rows;    /* in the current chain so far */
    int goes_on;           /* the chain ended only for the draft model: another one follows at once */
    int64_t chain_ns;      /* start of the current replay */
};

/* A text that is queued or being generated. */
struct lm_request {
    steno_generate_params p;
    const int32_t *ids;     /* [n] owned by the caller */
    int32_t n;
    int has_lane, waits;    /* waits: another lane is reading the same prefix */
    struct generator generator;
};

/* State in a session. */
struct lm_session {
    struct generation generation;
    uint64_t turn;           /* number of its text; 0: none */
    struct lm_request request;
    struct front_time time;  /* always zero */
};

static inline struct lm_session *lm_of(const steno_session *s) { return s->part; }
static inline struct lm_batch *lm_batch_of(const struct steno_batch *b) { return b->part; }

/* Is the session's last text still in its lane? */
int lm_lane_is_own(const steno_session *s);
/* Index of a free lane, or -1. */
int lm_lane_free(const struct steno_batch *b);
/* Marks the session's lane as in use, to continue its text. */
void lm_lane_enter(steno_session *s);
/* Starts another text: in the session's lane if that is still its own and free, else in the free lane that was unused for the longest
 * time. */
void lm_lane_begin(steno_session *s);
/* Copies the longest prefix of ids[n] that another lane holds to this lane. @return 1: a lane that is reading now will soon have more, 0:
 * not */
int lm_lane_share(steno_session *s, const int32_t *ids, int32_t n);
/* Marks the session's lane as free. */
void lm_lane_leave(steno_session *s);
/* Marks the content of lanes [first, first + n) as lost. */
void lm_lanes_forget(struct steno_batch *b, uint32_t first, uint32_t n);
#endif
