/* steno: state that outlives a run. SPDX-License-Identifier: MIT
 *
 * Append state (self-attention keys and values) lives in blocks of KV_BLOCK positions, head-major inside a block, because attention
 * streams one head at a time. A lane is a table of block numbers, the same for every layer; forking a lane copies its table and shares
 * the blocks until one of them is written. Replace state (cross-attention keys and values) is contiguous per window, layer and head. The
 * longest sequence is known when the session opens, so nothing grows later. Shift state (what a filter over time has seen last) is plain
 * rows. Only this file and the kernels know what is inside. Append state is not KV_INT, whose first positions are no run of bytes. */
#ifndef STENO_PLAN_STATE_H
#define STENO_PLAN_STATE_H
#include "base/err.h"
#include "plan/run.h"

struct kv_copy { uint16_t to, from, positions; }; /* the first positions of a block */

struct kv_state {
    struct state_desc desc;
    enum kv_type type;
    uint32_t lanes;             /* lanes (append) or windows (replace) */
    uint32_t lane_blocks;       /* most blocks of a lane */
    uint32_t n_blocks;          /* append: blocks in the pool */
    size_t head_sz;             /* bytes between heads of a block (append) or of a layer (replace) */
    size_t block_stride;        /* bytes between blocks of one head */
    size_t layer_sz, window_sz; /* bytes between layers, between windows */
    uint8_t *mem;
    size_t mem_sz;
    uint16_t *table;            /* append: [lanes, lane_blocks] */
    uint16_t *used;             /* append: [lanes] blocks in use */
    uint16_t *refs;             /* append: [n_blocks] lanes that share a block */
    uint16_t *free;             /* append: [n_blocks] stack of free blocks */
    uint32_t n_free;
    struct kv_copy *copy;       /* append: [lanes] what state_prepare_later left to do */
    uint32_t n_copies;
};

size_t state_memory(const struct state_desc *d, enum kv_type type, uint32_t lanes);
int state_open(struct kv_state *s, struct arena *a, const struct state_desc *d, enum kv_type type, uint32_t lanes, steno_error *e);
void state_close(struct kv_state *s);

/* Append state, before a run: lane `l` will write positions [from, to). Takes blocks, and copies of shared ones that will be written what
 * stands before `from`. 0, or -1: to is past the capacity. */
int state_prepare(struct kv_state *s, uint32_t l, uint32_t from, uint32_t to);
/* The same for one position, but what is to be copied waits in s->copy until state_copy_layer was called for every layer of each. Then
 * s->n_copies = 0 is the caller's. At most one position of a lane at a time. */
int state_prepare_later(struct kv_state *s, uint32_t l, uint32_t pos);
void state_copy_layer(const struct kv_state *s, uint32_t copy, uint32_t layer);
void state_truncate(struct kv_state *s, uint32_t l, uint32_t len); /* forget positions at and after len */
void state_fork(struct kv_state *s, uint32_t dst, uint32_t src);   /* dst becomes a copy of src */
uint16_t *state_table(const struct kv_state *s, uint32_t l);

float *state_rows(const struct kv_state *s, uint32_t layer, uint32_t l); /* shift: [positions, width], oldest first */
void state_reset(struct kv_state *s, uint32_t l);                        /* shift: zeros, as at the start of a stream */

/* One line about a state, for people. */
void state_dump(const struct state_desc *d, int id, enum kv_type type, void (*write)(void *user, const char *line), void *user);

/* Keys and values of a head: append (table of the lane) or replace (l: window). */
struct kv_view state_view(const struct kv_state *s, uint32_t layer, uint32_t head, uint32_t l);
#endif
