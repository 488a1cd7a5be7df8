/* steno: the seam between plans and what computes them. SPDX-License-Identifier: MIT
 *
 * An executor replays plans: on the threads of this processor (exec.h), or on something that has a memory of its own. How ops are cut into
 * pieces, where slots and states lie, and what waits for what are its own affair. Whoever builds a model asks what it is good at. Whoever
 * decodes opens one for a batch, writes inputs where it says, hands it tables of rows and lanes, and reads what came out; slots and states
 * are numbers of the plan, never addresses. A run can fail, and then says why.
 *
 * An implementation is a table of functions; what it needs beside stands behind the two structs here, in its own memory. */
#ifndef STENO_PLAN_EXECUTOR_H
#define STENO_PLAN_EXECUTOR_H
#include "base/team.h"
#include "plan/run.h"
#include "plan/state.h"

struct executor_ops;
struct exec_params;

/* What it is good at. */
struct executor_caps {
    const char *name;  /* "cpu" */
    uint64_t gains;    /* a bit per enum packed_type: products of many rows are faster in it than in more bits */
    int attn_i8, attn_i16; /* so is attention over the keys of a run in int8, in int16 */
};

/* Of a model: read-only once the model is open. */
struct executor {
    const struct executor_ops *ops;
    struct executor_caps caps;
};

/* Of a batch: slots, states, the tables of a replay. One thread at a time calls it. */
struct exec {
    const struct executor_ops *ops;
    int (*should_stop)(void *user); /* asked by the calling thread between ops, and within long ones; NULL: nothing stops a run */
    void *user;                     /* whose */
    int64_t n_wakes;                /* runs so far */
    steno_error error;              /* why the last run failed; no text: its status says enough */
};

struct op_time { int64_t ns, calls; };
/* Where the time of a run went: the first phase or replay, and the rest. */
struct run_time { int64_t first_ns, rest_ns; };

struct exec_params {
    const struct plan *const *plan; /* [n_plans] that will be replayed */
    int n_plans;
    struct kv_state *state;         /* [n_states] by the ids in the plans; tables and counts stay the caller's, memory is the executor's */
    int n_states;
    uint32_t max_out;               /* rows of logits at a time, where a plan has as many */
    int threads;                    /* of the team */
    steno_team *team;               /* of the caller, for whom that is of use; only opening looks at it */
    int (*should_stop)(void *user);
    void *user;
};

/* Phases [first, end) of a plan, once. */
struct phases {
    int first, end;
    uint32_t n_rows;  /* of the input */
    uint16_t window;  /* whose state an encoder writes, or a stream goes on from */
    struct run *run;  /* NULL: the plan needs no tables */
    /* Of the input's rows, one behind the other; 0: they are one, of lane `window`. */
    const struct sequence *sequence;
    uint32_t n_sequences;
    /* Where rows of the table stand beside those of the input (ROWS_TABLE): those that belong to each sequence, which may be none. NULL:
     * they are one, and see all of the input. */
    const struct sequence *tokens; /* [n_sequences] */
};

/* What a chain asks of its caller, on the calling thread. */
struct chain_calls {
    /* Lanes hold what the replay chose: the next rows into the run. 0: the chain ends. NULL: every lane that is not done goes on with the
     * token just chosen. */
    int (*next)(void *user);
    /* The logits of each row to choose from, of lanes that ask for it (processors.wanted), before the rules; NULL: nobody changes them. */
    void (*filter)(void *user, uint16_t lane, float *logits);
    void *user;
};

struct executor_ops {
    int (*weights)(struct executor *x, const void *at, size_t n, steno_error *e); /* NULL: it reads them where they are */
    size_t (*memory)(const struct executor *x, const struct exec_params *p);
    int (*open)(struct exec **out, const struct executor *x, struct arena *a, const struct exec_params *p, steno_error *e);
    void (*close)(struct exec *x);
    struct room (*room)(const struct exec *x, const struct plan *p);
    float *(*input)(struct exec *x, const struct plan *p);
    float *(*given)(struct exec *x, const struct plan *p, uint16_t slot);
    const float *(*output)(struct exec *x, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld);
    int (*phases)(struct exec *x, const struct plan *p, const struct phases *what, struct op_time *time, struct run_time *spent);
    int (*chain)(struct exec *x, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls, int *ran,
                 struct op_time *time, struct run_time *spent);
    int (*choose)(struct exec *x, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out);
    void (*state_reset)(struct exec *x, int state, uint32_t lane);
    int (*state_grow)(struct exec *x, int state, uint32_t lane, uint32_t positions);
    size_t (*state_sz)(const struct exec *x, int state, uint32_t lane, uint32_t newest);
    void (*state_get)(struct exec *x, int state, uint32_t lane, uint32_t newest, void *to);
    void (*state_set)(struct exec *x, int state, uint32_t lane, uint32_t newest, const void *from);
    void (*state_copy)(struct exec *x, int state, uint32_t to, uint32_t from);
};

static inline int executor_gains(const struct executor *x, enum packed_type t) { return (int)(x->caps.gains >> t & 1); }

/* While a model is opened, after its plans are built: here lie n bytes of weights that those name. An executor with a memory of its own
 * makes copies; what a plan calls `at` + i is then byte i of the copy, and nobody looks at the address. */
static inline int executor_weights(struct executor *x, const void *at, size_t n, steno_error *e)
{
    return x->ops->weights ? x->ops->weights(x, at, n, e) : STENO_OK;
}

/* Bytes that exec_open will take. p.state[i] may be state_shape's. */
static inline size_t exec_memory(const struct executor *x, const struct exec_params *p) { return x->ops->memory(x, p); }
/* What is small comes from the arena, which outlives it. */
static inline int exec_open(struct exec **out, const struct executor *x, struct arena *a, const struct exec_params *p, steno_error *e)
{
    return x->ops->open(out, x, a, p, e);
}
static inline void exec_close(struct exec *x) /* NULL is allowed */
{
    if (x) x->ops->close(x);
}

/* What a replay of p may have. */
static inline struct room exec_room(const struct exec *x, const struct plan *p) { return x->ops->room(x, p); }

/* Row 0 of the input, rows as far apart as the slot says. The host writes it, and may read it, until the plan is run; another run may use
 * the memory for something else. */
static inline float *exec_input(struct exec *x, const struct plan *p) { return x->ops->input(x, p); }

/* Row 0 of a slot that the host writes instead of the phases that would have: the next run begins behind those. Likewise */
static inline float *exec_given(struct exec *x, const struct plan *p, uint16_t slot) { return x->ops->given(x, p, slot); }

/* Rows [row, row + n) of a slot, *ld floats apart, as the last run left them; to be read until the next run. NULL: they cannot be had. Of
 * the slots of a plan those live on that are its output, its side outputs, its logits and its bounds. */
static inline const float *exec_output(struct exec *x, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld)
{
    return x->ops->output(x, p, slot, row, n, ld);
}

/* [n_vocab] of the out-th wanted row; NULL likewise. */
static inline const float *exec_logits(struct exec *x, const struct plan *p, uint32_t out)
{
    size_t ld;
    return exec_output(x, p, p->logits, out, 1, &ld);
}

/* time: [ops of the plan] to add to, NULL: nobody asks. @return STENO_OK; STENO_ECANCELED; STENO_EARG: more rows than exec_room says; what
 * else a machine may meet, with text */
static inline int exec_phases(struct exec *x, const struct plan *p, const struct phases *what, struct op_time *time, struct run_time *spent)
{
    return x->ops->phases(x, p, what, time, spent);
}

/* Replays: the rows in the run first, then single steps until the caller ends it, or every lane is done, or `steps` replays ran. calls
 * NULL: nothing is asked. @return likewise */
static inline int exec_chain(struct exec *x, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls, int *ran,
                             struct op_time *time, struct run_time *spent)
{
    return x->ops->chain(x, p, run, steps, calls, ran, time, spent);
}

/* Choose from the logits that the out-th wanted row of the last replay left (ROW_LOGITS, ROW_GUESS), as ROW_SAMPLE does: rows of one lane
 * may so be run together and chosen from one after the other. */
static inline int exec_choose(struct exec *x, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out)
{
    return x->ops->choose(x, p, run, calls, out);
}

/* Of kind shift: zeros, as at the start of a stream. */
static inline void exec_state_reset(struct exec *x, int state, uint32_t lane) { x->ops->state_reset(x, state, lane); }
/* Of kind shift: room for at least so many positions in a lane; what it held stays, as the newest. STENO_ENOMEM: it is as it was */
static inline int exec_state_grow(struct exec *x, int state, uint32_t lane, uint32_t positions)
{
    return x->ops->state_grow(x, state, lane, positions);
}
/* All bytes of a state, in an order of the executor's own; another of the same kind and shape takes them. Of kind shift those of a lane,
 * `newest` of its rows alone, as many as it has or less; 0: all. */
static inline size_t exec_state_sz(const struct exec *x, int state, uint32_t lane, uint32_t newest)
{
    return x->ops->state_sz(x, state, lane, newest);
}
static inline void exec_state_get(struct exec *x, int state, uint32_t lane, uint32_t newest, void *to)
{
    x->ops->state_get(x, state, lane, newest, to);
}
static inline void exec_state_set(struct exec *x, int state, uint32_t lane, uint32_t newest, const void *from)
{
    x->ops->state_set(x, state, lane, newest, from);
}
/* Of kind replace: one window becomes a copy of another. */
static inline void exec_state_copy(struct exec *x, int state, uint32_t to, uint32_t from) { x->ops->state_copy(x, state, to, from); }
#endif
