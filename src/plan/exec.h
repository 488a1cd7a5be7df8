/* steno: replaying a plan. SPDX-License-Identifier: MIT
 *
 * All threads of the team go through the list together. An op is cut into items - tiles of a linear, heads of an attention - that threads
 * take from a counter; a barrier stands after every op. Where heads are too few for the threads, blocks of a head's keys are items too, and
 * whoever makes the last partial of a head merges them. A chain replays the list step after step without returning, each step's token
 * feeding the next. A run that is to end leaves its op before the next item, and all threads leave behind the same op. Nothing is
 * allocated, nothing can fail; a run with more rows than there is room for is refused. This is the seam at which another executor (a GPU)
 * would stand. */
#ifndef STENO_PLAN_EXEC_H
#define STENO_PLAN_EXEC_H
#include "base/team.h"
#include "plan/run.h"
#include "plan/state.h"

struct approx_row;
struct op_time { int64_t ns, calls; };

struct exec {
    const struct kern *kern;
    steno_team *team;
    uint8_t *scratch;             /* slots, shared by all plans of the session */
    size_t scratch_sz;
    uint8_t *thread_scratch;      /* [threads, thread_scratch_sz] */
    size_t thread_scratch_sz;
    struct kv_state *state;       /* [n_states] by the ids in the plans */
    uint32_t max_out;            /* rows of logits that there is room for, where a plan has as many */
    struct logit_partial *partials; /* [max_out, slices, 3] */
    struct approx_row *approx;     /* [max_out] */
    float *attn_partials;         /* partials of attention where threads share rows: [rows, heads, blocks of keys] of one op */
    size_t n_attn_partials;         /* so many of the widest head; 0 on one thread */
    _Atomic uint32_t *attn_done;  /* [groups, heads] blocks whose partials are made; zeros between ops */
    size_t n_attn_done, n_approx;
    _Atomic int64_t *counter;     /* [ops of the longest plan] */
    _Atomic int64_t copied;       /* layers of blocks of keys and values that are copied before a replay */
    uint16_t window;              /* whose replace state an encoder writes */
    _Atomic int stop;             /* somebody wants the run to end */
    int (*should_stop)(void *user); /* asked by the calling thread between ops, and within products of many rows; may be NULL */
    /* Asked by the calling thread about the logits of each row to pick from, before the rules; NULL: nobody changes them. */
    void (*filter)(void *user, uint16_t lane, float *logits);
    /* Asked by the calling thread after each replay of a chain, when lanes hold what it chose: the rows of the next into x's run. 0: the
     * chain ends. NULL: every lane that is not done goes on with the token just chosen. */
    int (*next)(void *user);
    void *user;
    int64_t runs;                 /* wake-ups of the team so far */
};

/* max_out: rows of logits at a time, where a plan has as many; scratch is sized for them. */
size_t exec_memory(const struct plan *const *plans, int n_plans, int threads, uint32_t max_out);
int exec_open(struct exec *x, struct arena *a, const struct kern *k, steno_team *team, const struct plan *const *plans, int n_plans,
              uint32_t max_out, steno_error *e);
void exec_close(struct exec *x);
struct room exec_room(const struct exec *x, const struct plan *p); /* what a replay of p may have */

/* Where the time of a run went: the first phase or replay, and the rest. */
struct run_time { int64_t first_ns, rest_ns; };

/* Phases [first, end) of a plan, once, in one wake-up of the team. run: NULL for a plan that needs no row tables; n_rows: rows of its
 * input. @return STENO_OK; STENO_ECANCELED; STENO_EARG: more rows than exec_room says */
int exec_phases(struct exec *x, const struct plan *p, int first, int end, struct run *run, uint32_t n_rows, struct op_time *time,
                struct run_time *spent);
/* Replay: the rows in `run` first, then single steps until every lane is done or `steps` replays ran; one wake-up of the team. */
int exec_chain(struct exec *x, const struct plan *p, struct run *run, int steps, int *ran, struct op_time *time, struct run_time *spent);

/* Choose from the logits that the out-th wanted row of the last replay left (ROW_LOGITS), as ROW_SAMPLE does: rows of one lane may so be
 * run
 * together and chosen from one after the other. The calling thread alone works. */
void exec_choose(struct exec *x, const struct plan *p, struct run *run, uint32_t out);

float *exec_slot(const struct exec *x, const struct plan *p, uint16_t slot); /* row 0 of a slot */
const float *exec_logits(const struct exec *x, const struct plan *p, uint32_t out); /* [n_vocab] of the out-th wanted row */
#endif
