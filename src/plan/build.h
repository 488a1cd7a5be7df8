/* steno: from a descriptor to a command list. SPDX-License-Identifier: MIT
 *
 * A family describes its network, and the builder makes the list of it: it binds weights by name, shape and type (bind.h), emits ops
 * (emit.h, and sub.h for whole sub-layers), and lays out the slots (layout.h). It never asks which family it builds for. The first failure
 * sticks: later calls do nothing, and build_end returns it. */
#ifndef STENO_PLAN_BUILD_H
#define STENO_PLAN_BUILD_H
#include "base/team.h"
#include "load/weights.h"
#include "plan/op.h"
#include "plan/precision.h"
#include "plan/store.h"

/* A head of a decoder layer's cross-attention. */
struct head { uint16_t layer, head; };
enum { HEADS_MAX = 1024 }; /* most that are wanted */

/* Asked of a decoder: the weights of some heads beside what it computes, each standardised over the rows, filtered, and averaged into a
 * slot of its own. */
struct heads_wanted {
    const struct head *head; /* [n] in rising order */
    uint32_t n, frames;      /* most frames they look at */
    uint16_t average;        /* slot [rows, frames] */
    uint16_t done;           /* heads emitted so far */
};

enum {
    PLAN_OPS_MAX = 8192, PLAN_SLOTS_MAX = 4096, /* 256 layers, the most a reader lets through, need 2821 and 3 for each of HEADS_MAX */
    NAME_MAX_LEN = 128,                         /* of a tensor or a label, with its prefix */
    LINEAR_PARTS_MAX = STORED_PARTS             /* matrices of a linear */
};

struct build_params {
    const char *name;            /* of the plan */
    const char *variant;         /* before labels, so that plans of the same network can be told apart: "align."; NULL: nothing */
    struct arena *arena;         /* of the model */
    struct weights *weights;
    struct weight_store *store;
    const struct kern *kern;     /* packs */
    steno_team *team;            /* packs in parallel, may be NULL */
    uint32_t max_rows, max_out;
    uint32_t max_past;           /* as the plan's */
    struct precision precision;  /* of its matrices */
    int unfused;                 /* 1: build_end takes the fusions apart (unfuse.h), for comparisons */
};

struct build {
    struct build_params p;
    struct arena scratch_arena;  /* until build_end */
    struct plan plan;
    struct op *op;               /* [PLAN_OPS_MAX] */
    const char **label;
    struct bind *bind;
    struct slot *slot;           /* [PLAN_SLOTS_MAX] */
    const char *prefix;          /* of the layer being built, for labels and names */
    struct heads_wanted heads;   /* n = 0: none */
    int status;
    steno_error *e;
};

void build_begin(struct build *b, const struct build_params *p, steno_error *e);
/* Lay out slots and copy the plan into the model's arena. */
int build_end(struct build *b, struct plan *out);
void build_phase(struct build *b, const char *name); /* ops from here on belong to it */
#endif
