/* steno: linears of one or several matrices. SPDX-License-Identifier: MIT
 *
 * Matrices that read the same rows are one linear: their rows of weights lie under each other, so what is read is read once. Where they are
 * stored as unequal types, as files of mixed quantisation have them, each run of equal ones is an op of its own, and its outputs stand in
 * the columns where they would stand otherwise. */
#ifndef STENO_PLAN_LINEAR_H
#define STENO_PLAN_LINEAR_H
#include "plan/bind.h"

struct linear_part { const char *weight, *bias; uint64_t n; }; /* names; bias NULL: zeros, or none if no part has one; n: outputs */

struct linear_desc {
    const struct linear_part *part; /* [n_parts] */
    int n_parts;
    uint64_t k;
    enum linear_role role;
    uint16_t norm;                  /* binding of the norm whose rows it reads, NO_BIND: it reads something else */
    uint32_t out_head, in_head;     /* d_head of the heads that outputs (inputs) are of, which are head_room wide then; 0: of none */
};

/* A linear, bound: one op, or one for each run of parts that are stored alike. */
struct linear_binds {
    int n;
    uint16_t bind[LINEAR_PARTS_MAX];
    uint32_t column[LINEAR_PARTS_MAX], width; /* first output of each; outputs of all */
    int attends[KV_ALL - KV_TYPES];           /* LINEAR_QKV: attention over a run may be in KV_I8, KV_I16 */
};

struct linear_binds bind_linear(struct build *b, const struct linear_desc *l);
/* LINEAR_QKV in one part, whose last n_values outputs are values: those may be packed apart, in fewer bits. */
struct linear_binds bind_linear_values(struct build *b, const struct linear_desc *l, uint64_t n_values);
uint16_t bind_matrix(struct build *b, const struct linear_part *part, uint64_t k, enum linear_role role, uint16_t norm); /* a single one */
/* What keys and values that l makes are stored as: as the products that make them compute, but of int8 as bf16. */
enum kv_type linear_kv_type(const struct build *b, const struct linear_binds *l);
/* The same of those of a run whose rows see all of it and nothing else: KV_I8 or KV_I16 where queries, keys and values are packed so and
 * scores are small enough. */
enum kv_type linear_kv_type_of_run(const struct build *b, const struct linear_binds *l, uint32_t d_head);

/* Where the outputs go. */
struct linear_use {
    const char *label;
    uint16_t out, in, aux;      /* slots; aux: a summand, or NO_SLOT */
    enum act act;
    uint32_t n_kv;              /* > 0: the last 2 n_kv outputs are keys and then values, head-major... */
    uint16_t kv_slot;           /* ...in this slot, */
    uint16_t state, layer;      /* or in this state; unused ones are NO_SLOT and NO_STATE */
    uint16_t heads, kv_heads, d_head; /* of what the outputs are, d_head with its room; 0: of no heads */
};
void emit_linear(struct build *b, const struct linear_use *u, const struct linear_binds *l);
#endif
