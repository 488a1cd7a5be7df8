/* steno: packing weights. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PACKING_H
#define STENO_PLAN_PACKING_H
#include "plan/build.h"
#include "plan/logits_approx.h"

/* Matrices [n[i], k], stacked. */
struct matrices {
    struct tensor *tensor[LINEAR_PARTS_MAX];
    uint64_t n[LINEAR_PARTS_MAX], k;
    uint64_t first; /* first row of the tensor to use, with one part; n may then be less than the tensor's rows */
    int n_parts;
    uint32_t taps; /* > 1: a convolution, stored [n, k / taps, taps] and packed [n, taps, k / taps] */
    /* Rows (columns) belong to heads of this width, which are padded with zero rows (columns) to head_room; 0: no heads. */
    uint32_t row_head, column_head;
};
/* The padded size of n numbers in heads of d_head; d_head 0: no heads, no padding. */
static inline uint64_t with_room(uint64_t n, uint32_t d_head) { return d_head ? n / d_head * head_room(d_head) : n; }
static inline uint64_t matrices_columns(const struct matrices *m) { return with_room(m->k, m->column_head); }
static inline uint64_t matrices_rows(const struct matrices *m)
{
    uint64_t rows = 0;
    for (int i = 0; i < m->n_parts; i++) rows += with_room(m->n[i], m->row_head);
    return rows;
}

/* Pad consecutive heads of d_head numbers to head_room in place; x has room for them. */
void spread_heads(float *x, uint64_t heads, uint32_t d_head);
/* Take n bytes of the weight store; NULL: out of memory, and the builder has failed. */
void *packed_take(struct build *b, size_t n);
/* The index of tensor t in the model's table; NO_TENSOR if t is NULL. */
uint32_t tensor_number(const struct build *b, const struct tensor *t);
/* Register data made from tensors, for later plans of the same weights. */
void packed_remember(struct build *b, const struct stored *what);

/* Pack matrices of one stored type as type t. approx: [panels] receives the loss of packing; may be NULL. */
const void *pack_matrices(struct build *b, const struct matrices *m, enum packed_type t, struct approx_panel *approx);
/* As pack_matrices without approx, but reuses the result of an earlier plan for the same matrices and type. */
const void *pack_shared(struct build *b, const struct matrices *m, enum packed_type t);
#endif
