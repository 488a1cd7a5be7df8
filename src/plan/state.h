/* steno: state that outlives a run. SPDX-License-Identifier: MIT
 *
 * Append state (self-attention keys and values) lives in blocks of KV_BLOCK positions, head-major inside a block, because attention
 * streams one head at a time. A lane is a table of block numbers, the same for every layer; forking a lane copies its table and shares
 * the blocks until one of them is written. Replace state (cross-attention keys and values) is contiguous per window, layer and head. The
 * longest sequence is known when the session opens, so nothing grows later. Shift state (what a filter over time has seen last) is plain
 * rows.
 *
 * Where rows see a window only, blocks that no row of a run can see any more go back to the pool, the oldest first: what a lane holds is a
 * ring, whose table still goes by position, so attention reads the same numbers in the same order. A text cannot go back behind what is
 * left of it, but to one place that was marked: what a row there sees stays.
 *
 * Here are the tables and counts of it, which whoever decodes changes between runs; the memory is the executor's. */
#ifndef STENO_PLAN_STATE_H
#define STENO_PLAN_STATE_H
#include "base/err.h"
#include "plan/run.h"

struct kv_copy { uint16_t to, from, positions; }; /* the first positions of a block */

struct kv_state {
    struct state_desc desc;
    enum kv_type type;
    uint32_t lanes;             /* lanes (append) or windows (replace) */
    uint32_t lane_blocks;       /* most blocks of a lane's text */
    uint32_t held_blocks;       /* append: most of them that it holds at a time, beside those of its mark */
    uint32_t n_blocks;          /* append: blocks in the pool */
    uint16_t *table;            /* append: [lanes, lane_blocks] */
    uint16_t *used;             /* append: [lanes] blocks of its text so far, */
    uint16_t *gone;             /* append: [lanes] of which the first so many are no longer there, */
    uint32_t *mark;             /* append: [lanes] but for what a row at this position sees; 0: none is marked */
    uint16_t *refs;             /* append: [n_blocks] lanes that share a block */
    uint16_t *free;             /* append: [n_blocks] stack of free blocks */
    uint32_t n_free;
    struct kv_copy *copy;       /* append: [n_blocks] what state_prepare left to do, for the executor before it replays anything */
    uint32_t n_copies;
};

/* Bytes of its keys and values, or rows; with the tables. */
size_t state_pool_sz(const struct state_desc *d, enum kv_type type, uint32_t lanes);
size_t state_token_sz(const struct state_desc *d, enum kv_type type); /* bytes of a position */
size_t state_memory(const struct state_desc *d, enum kv_type type, uint32_t lanes);
size_t state_tables_memory(const struct state_desc *d, uint32_t lanes); /* of that, what state_open takes from the arena */
struct kv_state state_shape(const struct state_desc *d, enum kv_type type, uint32_t lanes); /* without tables */
int state_open(struct kv_state *s, struct arena *a, const struct state_desc *d, enum kv_type type, uint32_t lanes, steno_error *e);

/* Append state, before a run: lane `l` will write positions [from, to), of a window state one row after the other. Takes blocks, and for
 * shared ones others; what stands in those before `from` is to be copied, and waits in s->copy for the executor. 0, or -1: to is past the
 * capacity, or what `from` sees is gone. */
int state_prepare(struct kv_state *s, uint32_t l, uint32_t from, uint32_t to);
/* The most positions, up to len, behind which a text can go on: len, or where what it sees is gone, the mark, or 0. */
uint32_t state_reach(const struct kv_state *s, uint32_t l, uint32_t len);
/* From now on, until it goes back further, a text can go back to len, which may be still to come; no longer to what was marked before. */
void state_mark(struct kv_state *s, uint32_t l, uint32_t len);
void state_truncate(struct kv_state *s, uint32_t l, uint32_t len); /* forget positions at and after len; state_reach says so much */
void state_fork(struct kv_state *s, uint32_t dst, uint32_t src);   /* dst becomes a copy of src */
uint16_t *state_table(const struct kv_state *s, uint32_t l);

/* One line about a state, for people. */
void state_dump(const struct state_desc *d, int id, enum kv_type type, void (*write)(void *user, const char *line), void *user);
#endif
