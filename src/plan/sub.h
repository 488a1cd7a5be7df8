/* steno: sub-layers of a transformer as ops. SPDX-License-Identifier: MIT
 *
 * Sub-layers are pre-norm unless their names contain "post". The residual is added; x is read and written. */
#ifndef STENO_PLAN_SUB_H
#define STENO_PLAN_SUB_H
#include "plan/build.h"

enum sub_flag { SUB_CAUSAL = 1, SUB_ERF = 2, SUB_TANH = 4, SUB_RELU = 8, SUB_TABLE = 16 };

/* Dimensions of a stack of layers. Queries are n_heads * d_head wide, independent of d. n_kv_heads divides n_heads; consecutive queries
 * share keys and values (grouped-query attention). */
struct sub_dims {
    uint32_t d;                           /* width of the residual stream */
    uint32_t n_heads, n_kv_heads, d_head;
    uint32_t d_ff;                        /* of the feed-forward network */
    uint32_t taps, shift;                 /* of a SAN-M memory; shift: number of taps by which it covers more past than future */
    enum norm_kind norm;                  /* NORM_RMS: norms have no biases */
    uint16_t rope;                        /* sub_attn_rope: bind_rope's binding for n_heads + n_kv_heads, shared by all layers */
    int has_qk_norm, has_qkv_bias;        /* sub_attn_rope: norms of each head before the rotation; biases of the three matrices */
    float eps;                            /* of the norms */
    int norms_less_one;                   /* NORM_RMS: stored weights are one less than the real weights */
    float attn_scale;                     /* of scores; 0: 1 / sqrt(d_head) */
    uint32_t window;                      /* sub_attn_rope: a row attends to the last `window` positions, including its own; 0: all */
    /* sub_attn_rope: 1 + the state of a layer's keys and values, and the layer's index there; 0: the plan's self_state, by the layer's own
     * index. */
    uint16_t kv_state, kv_layer;
    /* 1 + the state of a stream's past keys and values, 0: none. Layers of a SAN-M encoder have indices there: 0 for sub_sanm_first, then
     * those of the stack after it. */
    uint16_t past;
    uint16_t memory;                      /* sub_sanm_tokens: 1 + the state with the last inputs of a stream's memory; 0: none */
    uint16_t layer;                       /* layer index in those two states, for sub_sanm_tokens and sub_cross_rows */
};

/* A sub-layer as a table row: its function, its norm, and the names of its weights. name2 of sub_attn_rope and sub_ffn_glu: norm of the
 * sub-layer's output before it is added; may be NULL. */
struct sub {
    void (*fn)(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
    const char *norm, *name, *name2;
    unsigned flags;
};
typedef void sub_fn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
sub_fn sub_attn;  /* NAME.query, .key, .value, .out; SUB_CAUSAL: over the plan's self_state, else over the rows of a run */
sub_fn sub_attn_linear; /* as sub_attn: NAME.linear_q, .linear_k, .linear_v, .linear_out, each with a bias */
/* Post-norm (Vaswani et al. 2017): x = NORM(x + output of the sub-layer). */
sub_fn sub_attn_post; /* over the rows of a run: NAME.query, .key, .value, all with biases, then NAME2 */
sub_fn sub_ffn_post;  /* up NAME, down NAME2 */
sub_fn sub_attn_rope; /* causal, with rotary positions: NAME.q_proj, .k_proj, .v_proj, .o_proj, and .q_norm, .k_norm if has_qk_norm */
sub_fn sub_ffn_glu;   /* gated: NAME.gate_proj and .up_proj, the gate's activation SUB_TANH or SiLU, then .down_proj */
sub_fn sub_cross; /* as sub_attn, with keys and values from the plan's cross_state; also computes weights of selected heads */
sub_fn sub_ffn;   /* up NAME, down NAME2 */
sub_fn sub_sanm;  /* NAME.linear_q_k_v, .fsmn_block, .linear_out (Gao et al. 2020). SUB_CAUSAL: rows attend to rows up to their own.
                   * SUB_TABLE: rows attend as OPF_TABLE defines */
/* SAN-M decoder layer (Gao et al. 2022) over the rows of the table. A memory over the output y of a feed-forward network: x + y +
 * filter(y), y = NORM2(NAME.w_2 NAME.norm(relu(NAME.w_1 NORM(x)))), filter NAME2.fsmn_block. */
void sub_sanm_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, const char *norm2, uint16_t x);
struct columns { uint16_t slot, column; };
struct cross_rows { uint16_t q, kv; };
/* Cross-attention within a run: keys and values are computed from the rows `enc`, so no state holds them. NAME.linear_q, .linear_k_v,
 * .linear_out. */
void sub_cross_rows(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t enc);
/* The same without the residual: the attention output goes to n_heads * d_head columns of out, from `column` on. */
void sub_cross_rows_alone(struct build *b, const struct sub_dims *d, const struct sub *s, struct columns out, uint16_t x, uint16_t enc);
/* Queries and keys of such a layer as rows: of x, from the table, after its norm and linear_q; of enc, after linear_k_v. */
void sub_cross_scores(struct build *b, const struct sub_dims *d, const struct sub *s, struct cross_rows to, uint16_t x, uint16_t enc);
/* out = the feed-forward network of NORM(in), without the residual. */
void sub_ffn_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t out, uint16_t in);
/* The first SAN-M layer: from rows of d_in to rows of d, therefore without the residual. */
void sub_sanm_first(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t in, uint32_t d_in);

/* One layer, named PREFIX.I. */
void sub_layer(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t i, uint16_t x);
/* Layers 0 .. n-1 named PREFIX.I, each with the sub-layers of the table, which ends with fn NULL. */
void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x);
/* Logits of the rows that request them, and the sampling of tokens: a linear of norm(x), optionally in two stages (logits_approx.h). */
struct lm_head {
    const char *prefix;  /* of labels */
    const char *matrix;  /* [n_vocab, d] */
    uint16_t tokens;     /* binding of the matrix */
    uint16_t norm;
    uint32_t n_vocab, d;
    int two_stages;
    float cap;           /* logits become cap * tanh(logit / cap); 0: unchanged */
};
void sub_lm_head(struct build *b, const struct lm_head *h, uint16_t x);
/* The most probable id of each row of x by the matrix `head`, in two stages if `approx` is a binding of bind_best_approx. */
struct best_head { const char *prefix; uint16_t head, approx; enum op_rows rows; };
void sub_best(struct build *b, const struct best_head *h, uint16_t x);
/* Keys and values of the encoder's output for one decoder layer, into the plan's cross_state. */
void sub_cross_kv(struct build *b, const struct sub_dims *d, const char *prefix, uint16_t enc, uint16_t layer);
#endif
