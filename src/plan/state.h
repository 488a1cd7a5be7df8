/* steno: state that outlives a run. SPDX-License-Identifier: MIT
 *
 * Append state (self-attention keys and values) is stored in blocks of KV_BLOCK positions, head-major inside a block, because attention
 * streams one head at a time. A lane is a table of block numbers, the same for every layer. Forking a lane copies its table and shares the
 * blocks until one of them is written. Replace state (cross-attention keys and values) is contiguous per window, layer and head. The
 * longest sequence is known when the session opens, so these states do not grow later. Shift state (the last inputs of a filter over time)
 * is plain rows.
 *
 * If rows attend only to a window, blocks that no later row can attend to return to the pool, oldest first. A lane then holds a ring of
 * blocks. Its table is still indexed by position, so attention reads the same numbers in the same order. A text cannot be truncated to a
 * position before the remaining blocks, except to one marked position: the keys that a row there attends to are kept.
 *
 * This file has the tables and counts, which the decoder changes between runs. The executor owns the memory. */
#ifndef STENO_PLAN_STATE_H
#define STENO_PLAN_STATE_H
#include "base/err.h"
#include "plan/run.h"

struct kv_copy { uint16_t to, from, positions; }; /* copies the first positions of a block */

struct kv_state {
    struct state_desc desc;
    enum kv_type type;
    uint32_t lanes;             /* lanes (append) or windows (replace) */
    uint32_t lane_blocks;       /* most blocks of a lane's text */
    uint32_t held_blocks;       /* append: most blocks that a lane holds at a time, in addition to those of its mark */
    uint32_t n_blocks;          /* append: blocks in the pool */
    uint16_t *table;            /* append: [lanes, lane_blocks] */
    uint16_t *used;             /* append: [lanes] blocks of the text so far */
    uint16_t *gone;             /* append: [lanes] number of leading blocks that were returned to the pool */
    uint32_t *mark;             /* append: [lanes] marked position, whose window is kept; 0: none */
    uint16_t *refs;             /* append: [n_blocks] lanes that share a block */
    uint16_t *free;             /* append: [n_blocks] stack of free blocks */
    uint32_t n_free;
    struct kv_copy *copy;       /* append: [n_blocks] copies left by state_prepare, which the executor makes before a replay */
    uint32_t n_copies;
};

/* Bytes of keys and values, or of rows; state_memory includes the tables. */
size_t state_pool_sz(const struct state_desc *d, enum kv_type type, uint32_t lanes);
size_t state_token_sz(const struct state_desc *d, enum kv_type type); /* bytes of a position */
size_t state_memory(const struct state_desc *d, enum kv_type type, uint32_t lanes);
size_t state_tables_memory(const struct state_desc *d, uint32_t lanes); /* the part that state_open takes from the arena */
struct kv_state state_shape(const struct state_desc *d, enum kv_type type, uint32_t lanes); /* without tables */
int state_open(struct kv_state *s, struct arena *a, const struct state_desc *d, enum kv_type type, uint32_t lanes, steno_error *e);

/* Append state, before a run: lane `l` will write positions [from, to), in a window state one row after another. Takes blocks, and replaces
 * shared blocks by new ones; their positions before `from` must be copied, and s->copy lists these copies for the executor. @return 0, or
 * -1: `to` exceeds the capacity, or keys that `from` attends to are gone */
int state_prepare(struct kv_state *s, uint32_t l, uint32_t from, uint32_t to);
/* The largest position, up to len, at which a text can continue: len, or if its window is gone the mark, or 0. */
uint32_t state_reach(const struct kv_state *s, uint32_t l, uint32_t len);
/* Allow truncation to len, which may be a later position, until the text is truncated below it. Replaces the previous mark. */
void state_mark(struct kv_state *s, uint32_t l, uint32_t len);
void state_truncate(struct kv_state *s, uint32_t l, uint32_t len); /* drops positions from len on; len must be a result of state_reach */
void state_fork(struct kv_state *s, uint32_t dst, uint32_t src);   /* dst becomes a copy of src */
uint16_t *state_table(const struct kv_state *s, uint32_t l);

/* Write one line that describes a state. */
void state_dump(const struct state_desc *d, int id, enum kv_type type, void (*write)(void *user, const char *line), void *user);
#endif
