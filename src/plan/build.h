/* steno: from a descriptor to a command list. SPDX-License-Identifier: MIT
 *
 * A family describes its network, and the builder creates the command list. It binds weights by name, shape and type (bind.h), emits ops
 * (sub.h has whole sub-layers), and places the slots. It is independent of the family. The first failure is kept: later calls do nothing,
 * and build_end returns it. */
#ifndef STENO_PLAN_BUILD_H
#define STENO_PLAN_BUILD_H
#include "base/team.h"
#include "load/weights.h"
#include "plan/op.h"
#include "plan/packing.h"
#include "plan/precision.h"

/* A head of a decoder layer's cross-attention. */
struct head { uint16_t layer, head; };
enum { HEADS_MAX = 1024 }; /* limit of heads for alignment */

/* Attention weights of some heads, which a decoder computes in addition to its output. Each head is standardised over the rows and
 * filtered, and the average of the heads goes to a slot. */
struct averaged_heads {
    const struct head *head; /* [n] in ascending order */
    uint32_t n, frames;      /* frames: most frames that the heads attend to */
    uint16_t average;        /* slot [rows, frames] */
    uint16_t done;           /* heads emitted so far */
};

enum {
    PLAN_OPS_MAX = 8192, PLAN_SLOTS_MAX = 4096, /* 256 layers, the readers' limit, need 2821 ops, and 3 for each of HEADS_MAX */
    NAME_MAX_LEN = 128,                         /* of a tensor name or label, including the prefix */
    LINEAR_PARTS_MAX = STORED_PARTS             /* matrices of a linear */
};

struct build_params {
    const char *name;            /* of the plan */
    const char *variant;         /* label prefix that distinguishes plans of the same network, for example "align."; may be NULL */
    struct arena *arena;         /* of the model */
    struct weights *weights;
    struct weight_store *store;
    const struct kern *kern;     /* for packing */
    steno_team *team;            /* packs in parallel; may be NULL */
    uint32_t max_rows, max_out;
    uint32_t max_past;           /* as in struct plan */
    struct precision precision;  /* of the plan's matrices */
    int unfused;                 /* 1: build_end undoes the fusions, for comparisons */
};

struct build {
    struct build_params p;
    struct arena scratch_arena;  /* lives until build_end */
    struct plan plan;
    struct op *op;               /* [PLAN_OPS_MAX] */
    const char **label;
    struct bind *bind;
    struct slot *slot;           /* [PLAN_SLOTS_MAX] */
    const char *prefix;          /* of the current layer, for labels and names */
    struct averaged_heads heads; /* n = 0: none */
    int status;
    steno_error *e;
};

void build_begin(struct build *b, const struct build_params *p, steno_error *e);
/* Lay out slots and copy the plan into the model's arena. */
int build_end(struct build *b, struct plan *out);
void build_phase(struct build *b, const char *name); /* assigns all later ops to it */

/* ---- slots, ops and bindings ------------------------------------------------------------------------------------------------- */

uint16_t build_slot(struct build *b, uint32_t width);                       /* [max_rows, width] */
uint16_t build_slot_rows(struct build *b, uint32_t rows, uint32_t width);    /* [rows, width] */
uint16_t build_slot_out(struct build *b, uint32_t width);                   /* [max_out, width] */
uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width); /* contiguous rows, a zero row on both sides */
uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type); /* keys and values of max_rows positions */
uint16_t build_slot_distances(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type); /* keys of 2 plan.reach - 1 distances */
/* Slots of OP_PACK_DISTANCES are kept from run to run for as many rows as `most` bytes hold; call it after all ops. */
void build_keep_distances(struct build *b, size_t most);

/* The next op, to be completed by the caller; NULL: something has failed. */
struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind);

/* Ops from number `first` on work on `rows`: sub-layers that emit several ops need not set it. */
void emit_rows(struct build *b, uint16_t first, enum op_rows rows);

uint16_t bind_add(struct build *b); /* the next binding, empty */
struct bind *bind_at(struct build *b, uint16_t i);
uint16_t bind_copy(struct build *b, uint16_t i);
#endif
