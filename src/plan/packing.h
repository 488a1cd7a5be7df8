/* steno: packing weights. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PACKING_H
#define STENO_PLAN_PACKING_H
#include "plan/build.h"
#include "plan/logits_approx.h"

/* Matrices [n[i], k] under each other. */
struct matrices {
    struct tensor *tensor[LINEAR_PARTS_MAX];
    uint64_t n[LINEAR_PARTS_MAX], k;
    uint64_t first; /* row of the tensor that row 0 is, where there is one part; then n may be less than it has */
    int n_parts;
    uint32_t taps; /* > 1: a convolution, stored [n, k / taps, taps] and packed [n, taps, k / taps] */
    /* Rows (columns) are those of heads this wide, and get rows (columns) of zeros up to head_room; 0: they are of no heads. */
    uint32_t row_head, column_head;
};
/* How many numbers of heads d_head wide, 0: of no heads, are when they are packed. */
static inline uint64_t with_room(uint64_t n, uint32_t d_head) { return d_head ? n / d_head * head_room(d_head) : n; }
static inline uint64_t matrices_columns(const struct matrices *m) { return with_room(m->k, m->column_head); }
static inline uint64_t matrices_rows(const struct matrices *m)
{
    uint64_t rows = 0;
    for (int i = 0; i < m->n_parts; i++) rows += with_room(m->n[i], m->row_head);
    return rows;
}

/* Heads of d_head numbers, one behind the other, become head_room wide: there is room for them. */
void spread_heads(float *x, uint64_t heads, uint32_t d_head);
/* n bytes of the weight store; NULL: no memory, the builder has failed. */
void *packed_take(struct build *b, size_t n);
/* The place of tensor t in the model's table; t NULL: NO_TENSOR. */
uint32_t tensor_number(const struct build *b, const struct tensor *t);
/* Leave what was made of tensors for the next plan of the same weights. */
void packed_remember(struct build *b, const struct stored *what);

/* Matrices of one stored type as type t. approx: [panels] receives what packing loses, NULL: nobody asks. */
const void *pack_matrices(struct build *b, const struct matrices *m, enum packed_type t, struct approx_panel *approx);
/* The same without approx, or what an earlier plan packed of the same matrices as the same type. */
const void *pack_shared(struct build *b, const struct matrices *m, enum packed_type t);
#endif
