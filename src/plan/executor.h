/* steno: the interface between plans and executors. SPDX-License-Identifier: MIT
 *
 * An executor replays plans: on the threads of this processor (exec.h), or on a device with its own memory. The executor decides how ops
 * are cut into pieces, where slots and states are stored, and what waits for what. The code that builds a model reads its capabilities. The
 * code that decodes opens an executor for a batch, writes the inputs, passes tables of rows and lanes, and reads the outputs. Slots and
 * states are numbers of the plan, never addresses. A run can fail; it then gives the reason.
 *
 * An implementation is a table of functions. Its own data follows the two structs below, in its own memory. */
#ifndef STENO_PLAN_EXECUTOR_H
#define STENO_PLAN_EXECUTOR_H
#include "base/team.h"
#include "plan/run.h"
#include "plan/state.h"

struct executor_ops;
struct exec_params;

/* Capabilities. */
struct executor_caps {
    const char *name;  /* "cpu" */
    uint64_t gains;    /* a bit per enum packed_type: products of many rows are faster in this type than in types with more bits */
    int attn_i8, attn_i16; /* 1: attention over the keys of a run is faster in int8, in int16 */
    int attn_int;          /* 1: attention to keys that are written once is faster in KV_INT than in f16 */
};

/* Per model: read-only once the model is open. */
struct executor {
    const struct executor_ops *ops;
    struct executor_caps caps;
};

/* Per batch: slots, states, the tables of a replay. Only one thread at a time may call it. */
struct exec {
    const struct executor_ops *ops;
    int (*should_stop)(void *user); /* called by the calling thread between ops and within long ones; may be NULL */
    void *user;                     /* argument of should_stop */
    int64_t n_wakes;                /* runs so far */
    steno_error error;              /* the reason why the last run failed; without text the status is sufficient */
};

struct op_time { int64_t ns, calls; };
/* Time of a run: its first phase or replay, and the rest. */
struct run_time { int64_t first_ns, rest_ns; };

struct exec_params {
    const struct plan *const *plan; /* [n_plans] plans that will be replayed */
    int n_plans;
    struct kv_state *state;         /* [n_states] by the plans' ids; tables and counts are the caller's, memory the executor's */
    int n_states;
    uint32_t max_out;               /* rows of logits at a time, if a plan has that number */
    int threads;                    /* of the team */
    steno_team *team;               /* the caller's team, for executors that can use one; used only by open */
    int (*should_stop)(void *user);
    void *user;
};

/* Run phases [first, end) of a plan once. */
struct phases {
    int first, end;
    uint32_t n_rows;  /* rows of the input */
    uint16_t window;  /* the window or stream whose state is written or continued */
    struct run *run;  /* NULL: the plan needs no tables */
    /* Sequences of the input's rows, consecutive. n_sequences 0: all rows are one sequence, of lane `window`. */
    const struct sequence *sequence;
    uint32_t n_sequences;
    /* For tables whose rows differ from the input's (ROWS_TABLE): the rows of each sequence, possibly none. NULL: all are one sequence and
     * attend to the whole input. */
    const struct sequence *tokens; /* [n_sequences] */
};

/* Callbacks of a chain, on the calling thread. */
struct chain_calls {
    /* The lanes hold the tokens that the replay chose. Puts the next rows into the run. Returns 0 to end the chain. NULL: every lane that
     * is not done continues with its chosen token. */
    int (*next)(void *user);
    /* Receives the logits of each row to choose from, before the rules, for lanes with processors.enabled. It may change them. May be
     * NULL. */
    void (*filter)(void *user, uint16_t lane, float *logits);
    void *user;
};

struct executor_ops {
    int (*weights)(struct executor *x, const void *at, size_t n, steno_error *e); /* NULL: weights are read in place */
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

/* While a model is opened, after its plans are built: declare n bytes of weights that the plans refer to. An executor with its own memory
 * copies them. `at` + i in a plan then means byte i of the copy, and the address itself is never used. */
static inline int executor_weights(struct executor *x, const void *at, size_t n, steno_error *e)
{
    return x->ops->weights ? x->ops->weights(x, at, n, e) : STENO_OK;
}

/* Bytes that exec_open will allocate. p.state[i] may come from state_shape. */
static inline size_t exec_memory(const struct executor *x, const struct exec_params *p) { return x->ops->memory(x, p); }
/* Small objects come from the arena, which must outlive *out. */
static inline int exec_open(struct exec **out, const struct executor *x, struct arena *a, const struct exec_params *p, steno_error *e)
{
    return x->ops->open(out, x, a, p, e);
}
static inline void exec_close(struct exec *x) /* x may be NULL */
{
    if (x) x->ops->close(x);
}

/* The room for a replay of p. */
static inline struct room exec_room(const struct exec *x, const struct plan *p) { return x->ops->room(x, p); }

/* Row 0 of the input; the slot gives the distance between rows. The host may write and read it until the plan is run. Another run may then
 * reuse the memory. */
static inline float *exec_input(struct exec *x, const struct plan *p) { return x->ops->input(x, p); }

/* Row 0 of a slot that the host writes in place of earlier phases: the next run begins after those. Same rules as exec_input. */
static inline float *exec_given(struct exec *x, const struct plan *p, uint16_t slot) { return x->ops->given(x, p, slot); }

/* Rows [row, row + n) of a slot, *ld floats apart, as the last run left them; valid until the next run. NULL: not available. The slots that
 * outlive a run are the plan's output, side outputs, logits and bounds. */
static inline const float *exec_output(struct exec *x, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld)
{
    return x->ops->output(x, p, slot, row, n, ld);
}

/* [n_vocab] logits of output row `out`; NULL: not available. */
static inline const float *exec_logits(struct exec *x, const struct plan *p, uint32_t out)
{
    size_t ld;
    return exec_output(x, p, p->logits, out, 1, &ld);
}

/* time: [ops of the plan] to add to; may be NULL. @return STENO_OK; STENO_ECANCELED; STENO_EARG: more rows than exec_room allows; another
 * status with text if the device fails */
static inline int exec_phases(struct exec *x, const struct plan *p, const struct phases *what, struct op_time *time, struct run_time *spent)
{
    return x->ops->phases(x, p, what, time, spent);
}

/* Replay: first the rows in the run, then single steps, until the caller ends it, every lane is done, or `steps` replays ran. calls may be
 * NULL. @return as exec_phases */
static inline int exec_chain(struct exec *x, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls, int *ran,
                             struct op_time *time, struct run_time *spent)
{
    return x->ops->chain(x, p, run, steps, calls, ran, time, spent);
}

/* Choose a token from the logits of output row `out` of the last replay (ROW_LOGITS, ROW_DRAFT), as ROW_SAMPLE does. Rows of one lane can
 * thus run together and be chosen from one after another. */
static inline int exec_choose(struct exec *x, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out)
{
    return x->ops->choose(x, p, run, calls, out);
}

/* Shift state: set to zeros, as at the start of a stream. */
static inline void exec_state_reset(struct exec *x, int state, uint32_t lane) { x->ops->state_reset(x, state, lane); }
/* Shift state: make room for at least `positions` rows in a lane; its contents stay as the newest rows. STENO_ENOMEM: nothing changed */
static inline int exec_state_grow(struct exec *x, int state, uint32_t lane, uint32_t positions)
{
    return x->ops->state_grow(x, state, lane, positions);
}
/* All bytes of a state, in an order private to the executor; a state of the same kind and shape accepts them. Shift state: the bytes of a
 * lane, restricted to its `newest` rows, at most the number that the other state has; 0: all. */
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
/* Replace state: window `to` becomes a copy of window `from`. */
static inline void exec_state_copy(struct exec *x, int state, uint32_t to, uint32_t from) { x->ops->state_copy(x, state, to, from); }
#endif
