/* steno: the arithmetic type of a matrix product. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PRECISION_H
#define STENO_PLAN_PRECISION_H
#include "kern/kern.h"

/* The purpose of a linear. It decides which precision is allowed, and which properties of the weights are checked. */
enum linear_role {
    LINEAR_OTHER,
    LINEAR_QKV,      /* queries, keys and values of self-attention, in this order */
    LINEAR_VALUES,   /* values alone, which do not enter a softmax; as QKV if a lower precision is not allowed */
    LINEAR_CROSS_Q,  /* queries of cross-attention */
    LINEAR_CROSS_KV, /* keys and values of cross-attention */
    LINEAR_OUT,      /* after attention: few products, which have the largest influence on texts */
    LINEAR_UP,       /* into the feed-forward network, including its gate */
    LINEAR_DOWN,     /* out of the feed-forward network */
    LINEAR_LM_HEAD,  /* logits */
    LINEAR_ROLES
};

/* The packed types that the matrices of a plan may use. */
struct precision {
    /* The lowest type for matrices that tolerate it: PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD; PK_Q8_QUAD, PK_Q8_QUAD_A8: by blocks of int8,
     * or of int4 if stored so; 0: as stored. */
    enum packed_type by_role[LINEAR_ROLES];
    /* Replacement for int8 when it has too few bits, and replacement for that one: PK_BF16_PAIR, PK_I16_PAIR; 0: no gain. */
    enum packed_type bf16, int16;
    int int8_scores; /* 1: queries and keys may use int8, too, if scores are small */
    int int8_attn;   /* 1: attention may then use int8, too */
    int int16_attn;  /* 1: attention may use int16 if queries, keys and values do */
};

struct bind;
struct build;
struct matrices;
struct tensor;

/* Known properties of the rows that a linear reads. */
struct linear_input {
    const float *norm; /* [k] weights of the norm before it, or standard deviations; NULL: another source, not analysed */
    double score;      /* LINEAR_QKV after a norm: the variance of the resulting scores; else 0 */
};

/* m: all parts. */
struct linear_input precision_input(struct build *b, enum linear_role role, const struct matrices *m, const float *norm);

/* The packed type for part `at` of m, and for parts of the same stored type. It is the role's type, or one with more bits if the weights
 * need it; 0: as stored. */
enum packed_type precision_of(struct build *b, enum linear_role role, const struct matrices *m, int at, const struct linear_input *in);

/* Are inputs of matrices of this role, which no norm computes, to be estimated? 0: they use no integers, or the store is dry. */
int precision_is_estimated(const struct build *b, enum linear_role role);
/* Estimates of the standard deviations of what matrix t [n, k] computes after a norm, with positive means, as an activation passes
 * them; [n], until build_end. bias: [n] or NULL. NULL: the builder has failed */
const float *precision_of_outputs(struct build *b, const struct tensor *t, uint64_t n, uint64_t k, const struct bind *norm,
                                  const float *bias);
/* The same of a norm's outputs. */
const float *precision_of_norm(struct build *b, const float *weight, const float *bias, uint64_t n);

/* The packed type for values that are stored after queries and keys in one matrix m, when queries and keys become qkv. Returns qkv for the
 * same type. */
enum packed_type precision_of_values(struct build *b, const struct matrices *m, const struct linear_input *in, enum packed_type qkv);

/* May attention over a run use t, KV_I8 or KV_I16, when queries, keys and values do? */
int precision_attends_in(const struct build *b, enum linear_role role, const struct linear_input *in, enum kv_type t);
#endif
