/* steno: what a matrix is multiplied in. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PRECISION_H
#define STENO_PLAN_PRECISION_H
#include "kern/kern.h"

/* What a linear is for: that decides which precision it may have, and what its weights are looked at for. */
enum linear_role {
    LINEAR_OTHER,
    LINEAR_QKV,      /* queries, keys and values of self-attention, in this order */
    LINEAR_VALUES,   /* values alone, which no softmax is of; as QKV says where that may not be less */
    LINEAR_CROSS_Q,  /* queries of cross-attention */
    LINEAR_CROSS_KV, /* its keys and values */
    LINEAR_OUT,      /* behind attention: few products, on which texts depend most */
    LINEAR_UP,       /* into the feed-forward network, its gate included */
    LINEAR_DOWN,     /* out of it */
    LINEAR_LM_HEAD,  /* logits */
    LINEAR_ROLES
};

/* What the matrices of a plan may be packed as. */
struct precision {
    /* The least for those that tolerate it: PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD; PK_Q8_QUAD, PK_Q8_QUAD_A8: by blocks of int8, or of int4
     * where they are stored so; 0: as stored. */
    enum packed_type by_role[LINEAR_ROLES];
    /* What stands for int8 where that is too few bits, and where these are too few: PK_BF16_PAIR, PK_I16_PAIR; 0: nothing is gained. */
    enum packed_type bf16, int16;
    int int8_scores; /* 1: queries and keys may be int8, too, where scores are small */
    int int8_attn;   /* 1: then attention, too */
    int int16_attn;  /* 1: attention may be in int16 where queries, keys and values are */
};

struct build;
struct matrices;

/* What is known of the rows that a linear reads. */
struct linear_input {
    const float *norm; /* [k] weights of the norm that they come from; NULL: they come from something else, and are taken as they come */
    double score;      /* LINEAR_QKV behind a norm: the variance of the scores that are made of them; else 0 */
};

/* m: all its parts. */
struct linear_input precision_input(struct build *b, enum linear_role role, const struct matrices *m, const float *norm);

/* What m's part `at` should be packed as, and those beside it that are stored alike: what the role allows, or more bits where the weights
 * say so; 0: as stored. */
enum packed_type precision_of(struct build *b, enum linear_role role, const struct matrices *m, int at, const struct linear_input *in);

/* What values that stand behind queries and keys in one matrix, m, should be packed as where the rest becomes qkv; qkv: as that. */
enum packed_type precision_of_values(struct build *b, const struct matrices *m, const struct linear_input *in, enum packed_type qkv);

/* May attention over a run be in t, KV_I8 or KV_I16, where queries, keys and values are? */
int precision_attends_in(const struct build *b, enum linear_role role, const struct linear_input *in, enum kv_type t);
#endif
