/* steno: linears of one or several matrices. SPDX-License-Identifier: MIT
 *
 * Matrices that read the same rows are one linear: their rows of weights are stacked, so the input is read once. If their stored types
 * differ, as in files of mixed quantisation, each run of equal types is a separate op. Its outputs go to the columns that they would have
 * in a single linear. */
#ifndef STENO_PLAN_LINEAR_H
#define STENO_PLAN_LINEAR_H
#include "plan/bind.h"

struct linear_part { const char *weight, *bias; uint64_t n; }; /* names; bias NULL: zeros, or none if no part has one; n: outputs */

struct linear_desc {
    const struct linear_part *part; /* [n_parts] */
    int n_parts;
    uint64_t k;
    enum linear_role role;
    uint16_t norm;                  /* binding of the norm that computes the input, NO_BIND: another source */
    uint32_t out_head, in_head;     /* d_head of the outputs' (inputs') heads, which are padded to head_room; 0: no heads */
};

/* A bound linear: one op, or one per run of parts with the same stored type. */
struct linear_binds {
    int n;
    uint16_t bind[LINEAR_PARTS_MAX];
    uint32_t column[LINEAR_PARTS_MAX], width; /* first output of each; outputs of all */
    int attends[KV_ALL - KV_TYPES];           /* LINEAR_QKV: attention over a run may use KV_I8, KV_I16 */
};

struct linear_binds bind_linear(struct build *b, const struct linear_desc *l);
/* LINEAR_QKV in one part whose last n_values outputs are values. Those may be packed separately, in fewer bits. */
struct linear_binds bind_linear_values(struct build *b, const struct linear_desc *l, uint64_t n_values);
/* a single matrix */
uint16_t bind_matrix(struct build *b, const struct linear_part *part, uint64_t k, enum linear_role role, uint16_t norm);
/* The stored type of keys and values that l computes: that of their products, but bf16 for int8. */
enum kv_type linear_kv_type(const struct build *b, const struct linear_binds *l);
/* The same for a run whose rows attend to all of it and to nothing else: KV_I8 or KV_I16 if queries, keys and values are packed so and
 * scores are small enough. */
enum kv_type linear_kv_type_of_run(const struct build *b, const struct linear_binds *l, uint32_t d_head);

/* The destination of the outputs. */
struct linear_use {
    const char *label;
    uint16_t out, in, aux;      /* slots; aux: a summand, or NO_SLOT */
    enum act act;
    uint32_t n_kv;              /* > 0: the last 2 n_kv outputs are keys and then values, head-major... */
    uint16_t kv_slot;           /* ...in this slot */
    uint16_t state, layer;      /* or in this state; unused ones are NO_SLOT and NO_STATE */
    uint16_t heads, kv_heads, d_head; /* heads of the outputs, d_head including padding; 0: no heads */
};
void emit_linear(struct build *b, const struct linear_use *u, const struct linear_binds *l);
#endif
