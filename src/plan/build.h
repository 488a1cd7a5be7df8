/* steno: from a descriptor to a command list. SPDX-License-Identifier: MIT
 *
 * A family describes its network, and the builder creates the command list. It binds weights by name, shape and type (bind.h), emits ops
 * (emit.h, and sub.h for whole sub-layers), and lays out the slots (layout.h). It is independent of the family. The first failure is kept:
 * later calls do nothing, and build_end returns it. */
#ifndef STENO_PLAN_BUILD_H
#define STENO_PLAN_BUILD_H
#include "base/team.h"
#include "load/weights.h"
#include "plan/op.h"
#include "plan/precision.h"
#include "plan/store.h"

/* A head of a decoder layer's cross-attention. */
struct head { uint16_t layer, head; };
enum { HEADS_MAX = 1024 }; /* limit of heads for alignment */

/* Attention weights of some heads, which a decoder computes in addition to its output. Each head is standardised over the rows and
 * filtered, and the average of the heads goes to a slot. */
struct heads_wanted {
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
    int unfused;                 /* 1: build_end undoes the fusions (unfuse.h), for comparisons */
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
    struct heads_wanted heads;   /* n = 0: none */
    int status;
    steno_error *e;
};

void build_begin(struct build *b, const struct build_params *p, steno_error *e);
/* Lay out slots and copy the plan into the model's arena. */
int build_end(struct build *b, struct plan *out);
void build_phase(struct build *b, const char *name); /* assigns all later ops to it */
#endif
