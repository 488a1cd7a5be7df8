/* steno: from a descriptor to a command list. SPDX-License-Identifier: MIT
 *
 * The builder binds weights by name, shape and type, emits ops, and lays out the slots. It never asks which family it builds for. The
 * first failure sticks: later calls do nothing, and build_end returns it. */
#ifndef STENO_PLAN_BUILD_H
#define STENO_PLAN_BUILD_H
#include "base/team.h"
#include "load/weights.h"
#include "plan/op.h"
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

struct build {
    struct arena *arena;         /* of the model */
    struct weights *weights;
    struct weight_store *store;
    const struct kern *kern;     /* packs */
    steno_team *team;            /* packs in parallel, may be NULL */
    struct arena scratch_arena;          /* until build_end */
    struct plan plan;
    struct op *op;
    const char **label;
    struct bind *bind;
    struct slot *slot;
    const char *prefix;          /* of the layer being built, for labels and names */
    enum packed_type narrow;     /* what matrices that bear it are packed as from here on: PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD;
                                    PK_Q8_QUAD: by blocks of int8, or of int4 where they are stored so; 0: as stored */
    enum packed_type narrow_out; /* the same of projections behind attention: few products, on which texts depend most */
    enum packed_type pairs, ints; /* what stands for int8 where that is too few bits, and where these are too few: PK_BF16_PAIR,
                                    PK_I16_PAIR; 0: nothing is gained by it */
    const float *gain;           /* of the norm that the next matrix reads, NULL: it reads something else */
    int unfused;                 /* 1: build_end takes the fusions apart (unfuse.c), for comparisons */
    const char *variant;         /* before labels, so that plans of the same network can be told apart: "", "align." */
    struct heads_wanted heads;   /* n = 0: none */
    int status;
    steno_error *e;
};

void build_begin(struct build *b, const char *name, struct arena *arena, struct weights *w, struct weight_store *store,
                 const struct kern *kern, steno_team *team, uint32_t max_rows, uint32_t max_out, steno_error *e);
/* Lay out slots and copy the plan into the model's arena. */
int build_end(struct build *b, struct plan *out);
void build_phase(struct build *b, const char *name); /* ops from here on belong to it */

uint16_t build_slot(struct build *b, uint32_t width);                       /* [max_rows, width] */
uint16_t build_slot_out(struct build *b, uint32_t width);                   /* [max_out, width] */
uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width); /* contiguous rows, a zero row on both sides */
uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type); /* keys and values of max_rows positions */
uint16_t build_slot_like(struct build *b, uint16_t slot);                   /* another of the same shape */

/* ---- binding. Names are joined from the prefix and the part; part NULL: nothing (zeros for a bias). What another plan of the same
 * weights has bound already is not read again: plans may share all they have. */
const float *bind_vector(struct build *b, const char *part, uint64_t n);
const float *bind_table(struct build *b, const char *name, uint64_t rows, uint64_t n);
/* Rows of several matrices [n, k] under each other as one linear; biases likewise, bias[i] NULL: zeros. */
uint16_t bind_linear(struct build *b, int n_parts, const char *const *w, const char *const *bias, uint64_t n, uint64_t k);
/* Convolution weight [n, channels, 3] as a linear over three rows of `channels`. */
uint16_t bind_conv(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, int stride);
/* What parts of a linear [n, k] should be packed as (arith.c): b->narrow, or more bits where the weights say so; 0: as they are stored. */
enum packed_type arith_of(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k);
/* As bind_linear of one matrix without a bias, in int8 by blocks whatever it is stored as, with what that loses (logits_approx.h): a matrix
 * that is bound in full as well. NO_BIND where that would not be much less to read. */
enum { NO_BIND = 0xffff };
uint16_t bind_screen(struct build *b, const char *w, uint64_t n, uint64_t k);
uint16_t bind_norm(struct build *b, const char *gain, const char *bias, uint64_t n, float eps);
uint16_t bind_scale(struct build *b, float scale, const float *positions, uint64_t n); /* positions: [max_rows, n] or NULL; kept */
/* Depthwise filter [n, taps] (extents of 1 between them do not count), `left` taps before the row itself; heads: of the values it reads. */
uint16_t bind_fsmn(struct build *b, const char *w, uint64_t n, uint32_t taps, uint32_t left, uint32_t heads);
uint16_t bind_attn(struct build *b, uint32_t heads, uint32_t d_head);
struct bind *bind_at(struct build *b, uint16_t i);
uint16_t bind_copy(struct build *b, uint16_t i);

/* ---- ops */
struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind);

/* The same plan without fusions: Q, K and V apart, bias with activation and residual as ops of their own. Bit for bit it computes the same
 * (unfuse.c). */
void build_unfuse(struct build *b);

/* ---- sub-layers (sub.c): pre-norm, residual added; x is read and written */
enum sub_flag { SUB_CAUSAL = 1, SUB_ERF = 2, SUB_TANH = 4, SUB_RELU = 8 };
struct sub_dims { uint32_t d, heads, d_head, d_ff; float eps; uint32_t taps; /* of a SAN-M memory */ };

/* One box of a layer, as a table row: what it is, its norm, and what its weights are called. */
struct sub {
    void (*fn)(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
    const char *norm, *name, *name2;
    unsigned flags;
};
typedef void sub_fn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
sub_fn sub_attn;  /* NAME.query, .key, .value, .out */
sub_fn sub_cross; /* the same, keys and values from the state; and the weights of wanted heads */
sub_fn sub_ffn;   /* up NAME, down NAME2 */
sub_fn sub_sanm;  /* NAME.linear_q_k_v, .fsmn_block, .linear_out (Gao et al. 2020) */
/* The first SAN-M layer: from rows of d_in to rows of d, so without the residual. */
void sub_sanm_first(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t in, uint32_t d_in);

/* Layers 0 .. n-1 named PREFIX.I, each made of the subs of the table (ended by fn NULL). */
void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x);
/* Keys and values of the encoder's output for one decoder layer, into state `state`. */
void sub_cross_kv(struct build *b, const struct sub_dims *d, const char *prefix, uint16_t enc, uint16_t state, uint16_t layer);
#endif
