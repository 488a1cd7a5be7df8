/* steno: a plan's replay on the threads of the CPU executor. SPDX-License-Identifier: MIT
 *
 * Private to the files exec*.c. exec.c opens the executor and walks the list. Every op is a function here. It cuts the op into items and
 * takes them from the op's counter until none are left. */
#ifndef STENO_PLAN_REPLAY_H
#define STENO_PLAN_REPLAY_H
#include <string.h>
#include "plan/exec.h"
#include "plan/logits_approx.h"

enum {
    FEW_ROWS = 16,   /* up to this number, weights are streamed once for all rows: panels are cut finely */
    ATTN_SHARED = 2, /* with fewer heads of groups of rows per thread than this, threads share them */
};

/* Memory of a state. */
struct state_mem {
    uint8_t *at;
    size_t sz;
    size_t head_sz;             /* bytes between heads of a layer of a block (append), or of a layer (replace) */
    size_t block_stride;        /* bytes between blocks of one head */
    size_t layer_sz, window_sz; /* bytes between layers, between windows */
    struct shift_mem *lane;     /* shift: [n_lanes]; of the members above only sz is then used, the initial size of a lane */
    uint32_t n_lanes;
};

/* A lane of a shift state. It can grow independently of other lanes. */
struct shift_mem {
    uint8_t *at;
    size_t sz, layer_sz;
    uint32_t positions;         /* rows of a layer */
};

struct cpu_exec {
    struct exec base;
    const struct kern *kern;
    steno_team *team;
    uint8_t *scratch;             /* slots, shared by all plans of the session */
    size_t scratch_sz;
    uint8_t *thread_scratch;      /* [threads, thread_scratch_sz] */
    size_t thread_scratch_sz;
    struct kept {
        uint8_t *at;              /* packed distances; NULL: no plan keeps any */
        size_t sz;
        const struct plan *of;    /* the plan whose distances are kept */
        uint32_t rows;            /* of the sequences that they are for; 0: none */
        uint32_t room;            /* rows that each layer has room for: plan.kept.rows, or `rows` if they are more */
        int others;               /* runs in a row that would have been better served by the other kind of room */
    } kept;
    struct kv_state *state;       /* [n_states] by the ids in the plans */
    struct state_mem *mem;        /* [n_states] */
    int n_states;
    int appends;                  /* number of leading states that grow with the rows of a chain */
    uint32_t max_out;             /* rows of logits with room, if a plan has that number */
    struct logit_partial *partials; /* [max_out, slices, 3] */
    float *panel_max;             /* [rows, panels] largest approximate logits, for plans that compute them for all rows */
    struct approx_row *approx;    /* [max_out] */
    float *attn_partials;         /* partials of attention shared by threads: [rows, heads, blocks of keys] of one op */
    size_t n_attn_partials;       /* capacity of attn_partials; 0: threads never share rows */
    _Atomic uint32_t *attn_done;  /* [groups, heads] blocks with finished partials; zeros between ops */
    size_t n_attn_done, n_approx;
    _Atomic int64_t *counter;     /* [ops of the longest plan] */
    _Atomic int64_t copied;       /* number of layers of key and value blocks that have been copied before a replay */
    _Atomic int stop;             /* the current run must end */
};

struct replay {
    struct cpu_exec *x;
    steno_team *team;      /* the team of the replay; NULL: the caller alone */
    const struct plan *p;
    struct run *run;
    struct chain_calls calls;
    struct op_time *time;
    uint32_t n_rows;       /* rows of this replay */
    const struct sequence *sequence; /* sequences of the rows */
    uint32_t n_sequences;  /* 0: all rows are one sequence */
    const struct sequence *tokens;   /* [n_sequences] of the table's rows; NULL: those are one sequence */
    struct replay_distances {
        uint32_t rows;     /* ROWS_DISTANCES, and packed distances, are those of a sequence of this number of rows */
        uint32_t kept_rows; /* the same of packed distances in the kept block */
        uint32_t n_kept;   /* number of layers whose packed distances are there */
        int is_ready, all; /* an earlier run computed these; they are those of all layers */
    } distances;
    uint16_t window;       /* whose replace or shift state it writes, if there is one sequence */
    uint16_t first, last;  /* ops [first, last) */
    int steps, ran;        /* chain: replays allowed, replays done */
    int more;              /* thread 0: another replay follows */
    int status;            /* set by thread 0 */
    uint16_t split;        /* thread 0 reads the clock before this op of the first replay... */
    int64_t split_ns;      /* ...and stores the time here */
    _Atomic int64_t stop;  /* number of the op, or of the last of several joined ops, counted over all replays, after which all threads
                            * leave */
};

/* Ops that a thread runs one after another on its own output, without a barrier (exec_join.c): a norm joined with a linear; `body`, an op
 * cut into items; `parallel` linears after it, also cut into items; and the ops that follow them. */
struct joined { uint16_t first, body, parallel, end; };
enum { JOINED_PARALLEL = 2 }; /* limit: queries, keys and values of three types */

/* A thread at an op. */
struct worker {
    struct cpu_exec *x;
    _Atomic int64_t *counter; /* the op's next item */
    int asks;                 /* checks between items whether the run must end */
    int threads;
    void *scratch;            /* of this thread */
    const struct op *norm;    /* computes a linear's rows, for each thread separately; NULL: the rows exist */
    uint32_t n_parallel;        /* linears after the op; their items follow its own */
    uint32_t n_after;         /* joined ops after those */
};

/* Rows [m0, m1) and columns [c0, c1) of a slot. */
struct area { uint32_t m0, m1; size_t c0, c1; };

/* Within a long item: must the run end? */
static inline int item_stops(const struct worker *worker)
{
    struct cpu_exec *x = worker->x;
    if (worker->asks && x->base.should_stop && x->base.should_stop(x->base.user)) atomic_store(&x->stop, 1);
    return atomic_load_explicit(&x->stop, memory_order_relaxed);
}

/* The next item of n; -1: none are left, or the run must end. A taken item is always finished. A thread that leaves therefore leaves no
 * item that others count as done but is not: thread 0 ends the run after this op. */
static inline int64_t item_take(const struct worker *worker, int64_t n)
{
    if (item_stops(worker)) return -1;
    const int64_t i = atomic_fetch_add_explicit(worker->counter, 1, memory_order_relaxed);
    return i < n ? i : -1;
}

#define FOR_ITEMS(i, n) for (int64_t i; (i = item_take(worker, (int64_t)(n))) >= 0;)

/* Row 0 of a slot. */
static inline float *slot_row0(const struct cpu_exec *x, const struct plan *p, uint16_t slot)
{
    const struct slot *s = &p->slot[slot];
    return (float *)(void *)(x->scratch + s->offset) + (size_t)s->front * s->ld;
}

static inline float *row0(const struct replay *rp, uint16_t slot)
{
    return slot_row0(rp->x, rp->p, slot);
}

/* [n_vocab] logits of output row `out`. */
static inline float *logits_at(const struct replay *rp, size_t out)
{
    return row0(rp, rp->p->logits) + out * rp->p->slot[rp->p->logits].ld;
}

/* The most distances that this replay computes for a layer. */
static inline uint32_t distances_count(const struct replay *rp)
{
    return rp->distances.rows ? 2 * rp->distances.rows - 1 : 0;
}

/* Does an op of ROWS_DISTANCES make what an earlier run has made? */
static inline int distances_are_ready(const struct replay *rp, const struct op *op)
{
    const struct replay_distances *d = &rp->distances;
    return d->is_ready && (op->kind == OP_DISTANCES ? d->all : op->layer < d->n_kept);
}

static inline uint32_t rows_count(const struct replay *rp, uint8_t rows)
{
    switch (rows) {
    case ROWS_TWICE: return 2 * rp->n_rows;
    case ROWS_THRICE: return 3 * rp->n_rows;
    case ROWS_OUT: return rp->run->n_out;
    case ROWS_TABLE: return rp->run->n_rows;
    case ROWS_DISTANCES: return distances_count(rp);
    default: return rp->n_rows;
    }
}

/* The maximum of rows_of, given `out` rows of logits. */
static inline uint32_t rows_max(const struct plan *p, const struct op *op, uint32_t out)
{
    switch (op->rows) {
    case ROWS_TWICE: return 2 * p->max_rows;
    case ROWS_THRICE: return 3 * p->max_rows;
    case ROWS_OUT: return out;
    case ROWS_DISTANCES: return 2 * p->reach - 1;
    default: return p->max_rows;
    }
}

static inline uint32_t rows_of(const struct replay *rp, const struct op *op)
{
    return op->rows == ROWS_DISTANCES && distances_are_ready(rp, op) ? 0 : rows_count(rp, op->rows);
}

/* The number of sequences of rows of a kind (enum op_rows). Doubled or tripled rows belong to the sequence of their original. */
static inline uint32_t sequences_of(const struct replay *rp, uint8_t rows)
{
    const int several = rp->n_sequences && rows != ROWS_OUT && rows != ROWS_DISTANCES && (rows != ROWS_TABLE || rp->tokens);
    return several ? rp->n_sequences : 1;
}

static inline struct sequence sequence_at(const struct replay *rp, uint8_t rows, uint32_t i)
{
    const int times = rows == ROWS_TWICE ? 2 : rows == ROWS_THRICE ? 3 : 1;
    if (!rp->n_sequences || rows == ROWS_OUT || rows == ROWS_DISTANCES || (rows == ROWS_TABLE && !rp->tokens))
        return (struct sequence){ .n = (uint16_t)rows_count(rp, rows), .lane = rp->window };
    struct sequence s = rows == ROWS_TABLE ? rp->tokens[i] : rp->sequence[i];
    s.row = (uint16_t)(s.row * times);
    s.n = (uint16_t)(s.n * times);
    return s;
}

/* The rows of kind `other` that belong to sequence i of kind `rows`; all rows if one of the kinds has no sequences. */
static inline struct sequence sequence_in_rows(const struct replay *rp, uint8_t rows, uint8_t other, uint32_t i)
{
    if (sequences_of(rp, rows) == sequences_of(rp, other)) return sequence_at(rp, other, i);
    return (struct sequence){ .n = (uint16_t)rows_count(rp, other) };
}

/* The place of a sequence in its stream. */
static inline struct run_stream stream_place(const struct replay *rp, struct sequence s)
{
    const struct run_stream *all = rp->run ? rp->run->stream : NULL;
    return all ? all[s.lane] : (struct run_stream){ 0, s.n };
}

/* The sequence of row r. */
static inline uint32_t sequence_of_row(const struct replay *rp, uint8_t rows, uint32_t r)
{
    uint32_t i = 0;
    for (struct sequence s; i + 1 < sequences_of(rp, rows) && (s = sequence_at(rp, rows, i), r >= (uint32_t)s.row + s.n);) i++;
    return i;
}

/* Zero the rows around a padded slot. Other data may have overwritten them since the last run. */
static inline void pad_rows(const struct replay *rp, uint16_t slot, size_t rows)
{
    const size_t ld = rp->p->slot[slot].ld;
    float *y = row0(rp, slot);
    memset(y - ld, 0, ld * sizeof *y);
    memset(y + rows * ld, 0, ld * sizeof *y);
}

static inline uint32_t logit_slices(uint32_t n_vocab)
{
    return (n_vocab + SLICE_IDS - 1) / SLICE_IDS;
}

/* ---- exec_state.c */
int state_mem_open(struct state_mem *m, const struct kv_state *s, steno_error *e); /* shift: m->lane is allocated */
void state_mem_close(struct state_mem *m);
int state_mem_grow(struct shift_mem *m, const struct state_desc *d, uint32_t positions, steno_error *e);
/* Keys and values of a head in append state (table of lane l) or replace state (window l). */
struct kv_view state_view(const struct state_mem *m, const struct kv_state *s, uint32_t layer, uint32_t head, uint32_t l);
float *state_rows(const struct shift_mem *m, uint32_t layer); /* [positions, width], oldest first */
void state_copy_layer(const struct state_mem *m, const struct kv_state *s, uint32_t copy, uint32_t layer);
void state_copy_all(const struct state_mem *m, struct kv_state *s); /* all that state_prepare left */
/* Allocate blocks for the rows that a chain's next step writes. A lane without room is done. @return 1: all lanes had room */
int appends_prepare(const struct cpu_exec *x, struct run *r);
int64_t appends_copies(const struct cpu_exec *x);               /* copies left by appends_prepare: layers of blocks */
void appends_copy_one(const struct cpu_exec *x, int64_t i);
void appends_copy(const struct cpu_exec *x);                    /* makes all copies */
void appends_copied(const struct cpu_exec *x);                  /* marks all copies as made */

/* Keys and values of one head, in the state or in a slot of this run. */
struct kv_view replay_kv(const struct replay *rp, const struct op *op, uint32_t head, uint16_t lane, enum kv_type *type);

uint32_t kv_pack_items(const struct replay *rp, const struct op *op); /* items of OP_KV_PACK */
void kv_pack_item(const struct replay *rp, const struct op *op, uint32_t i);
void *kv_run_values(const struct kv_view *kv, enum kv_type type, size_t n, size_t d_head); /* packed values of n positions, behind keys */

enum kv_type attn_kv_type(const struct plan *p, const struct op *op, const struct kv_state *state);
/* The most partials of an attention over up to `rows` rows when threads share them. */
size_t attn_partials_max(const struct plan *p, const struct op *op, const struct kv_state *state, uint32_t rows, int threads);
size_t linear_scratch(const struct kern *k, const struct bind *c, uint32_t rows, int threads); /* bytes of a thread */

size_t lstm_scratch(const struct kern *k, const struct plan *p, const struct op *op, uint32_t rows); /* bytes of a thread */

size_t conv_row_sz(const struct op *op, const struct bind *c); /* further bytes of a thread for a convolution */

size_t stem2d_scratch(const struct kern *k, const struct plan *p, const struct op *op); /* bytes of a thread */

/* ---- exec_rel.c */
size_t attn_rel_scratch(const struct plan *p, const struct op *op, const struct kv_state *state); /* bytes of a thread */
void distances_begin(struct replay *rp, int has_first_phase); /* sets rp->distances */
void distances_end(const struct replay *rp);                  /* after a run: keeps what it computed, if it ended well */
int streams_fit(const struct cpu_exec *x, const struct plan *p, const struct phases *what); /* keys of all streams fit into their states */

size_t fsmn_scratch(const struct plan *p, const struct op *op); /* bytes of a thread, for a filter over rows */

/* ---- exec_join.c */
struct joined ops_joined(const struct replay *rp, uint16_t at);
/* The panels of a linear's items are multiples of this number, so that each op in `after` finds its inputs in one item; 0: the heads of an
 * op are too wide. */
size_t joined_panels(const struct replay *rp, const struct op *linear, const struct op *after, uint32_t n_after);
size_t joined_norm_sz(const struct bind *norm); /* bytes of a thread for rows that it computes for itself */

/* ops, or parts of ops */
void norm_rows_to(const struct replay *rp, const struct op *op, float *y, size_t ld, uint32_t from, uint32_t to);
void area_run(const struct replay *rp, const struct op *op, struct area a); /* norms of heads, OP_ROPE, OP_GLU (its gate columns) */

/* Run the items of an op that this thread obtains. */
typedef void op_fn(const struct replay *rp, const struct op *op, const struct worker *worker);
op_fn op_run;                                                       /* any kind (exec_ops.c) */
op_fn linear_run, lstm_run;                                         /* exec_linear.c */
op_fn attn_run, attn_weights_run;                                   /* exec_attn.c */
op_fn logits_bound_run, logits_reduce_run, sample_run;              /* exec_logits.c */
op_fn logits_best_run;
op_fn distances_run, pack_distances_run, attn_rel_run;              /* exec_rel.c */
op_fn stem2d_run;                                                   /* exec_stem.c */

/* ---- exec_logits.c */
size_t logits_best_scratch(const struct kern *k, const struct bind *c); /* bytes of a thread, also for merging; c: exact or approximate */
/* How many of the most probable ids of output row `out` are needed, and nothing else; 0: all logits are needed. */
int approx_needed(const struct replay *rp, size_t out);
void approx_begin(const struct replay *rp, const struct op *op, uint32_t out); /* before approximate logits are computed */
int approx_keeps(const struct replay *rp, size_t out, size_t panel);           /* must the panel be computed from the stored weights? */
void logits_filter(const struct replay *rp); /* thread 0, before logits are reduced: runs chain_calls.filter */
void logits_choose(const struct replay *rp, uint32_t out); /* one row, on this thread alone */
#endif
