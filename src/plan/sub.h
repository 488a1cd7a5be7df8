/* steno: the boxes of a transformer as ops. SPDX-License-Identifier: MIT
 *
 * Sub-layers are pre-norm where their names do not say otherwise, the residual is added; x is read and written. */
#ifndef STENO_PLAN_SUB_H
#define STENO_PLAN_SUB_H
#include "plan/build.h"

enum sub_flag { SUB_CAUSAL = 1, SUB_ERF = 2, SUB_TANH = 4, SUB_RELU = 8, SUB_TABLE = 16 };

/* What a stack of layers is made of. Queries are n_heads * d_head wide, whatever d is; n_kv_heads divides n_heads, and as many queries in a
 * row share keys and values (grouped-query attention). */
struct sub_dims {
    uint32_t d;                           /* of the stream */
    uint32_t n_heads, n_kv_heads, d_head;
    uint32_t d_ff;                        /* of the feed-forward network */
    uint32_t taps, shift;                 /* of a SAN-M memory; by how many of the taps it looks further back than forth */
    enum norm_kind norm;                  /* NORM_RMS: norms have no biases */
    uint16_t rope;                        /* sub_attn_rope: bind_rope's of n_heads + n_kv_heads, one for all layers */
    int has_qk_norm, has_qkv_bias;        /* sub_attn_rope: norms of each head before they turn; biases of the three */
    float eps;                            /* of the norms */
    int norms_less_one;                   /* NORM_RMS: their weights are stored minus one */
    float attn_scale;                     /* of scores, 0: 1 / sqrt(d_head) */
    uint32_t window;                      /* sub_attn_rope: positions that a row sees, its own included; 0: all */
    /* sub_attn_rope: 1 + the state of a layer's keys and values, and the layer's number there; 0: the plan's self_state, by its own. */
    uint16_t kv_state, kv_layer;
    /* 1 + the state of keys and values that a stream looks back on, 0: none. Layers of a SAN-M encoder are told apart by their number
     * there: sub_sanm_first's is 0, those of a stack behind it follow. */
    uint16_t past;
    uint16_t memory;                      /* sub_sanm_tokens: 1 + the state of what a stream's memory has seen last; 0: none */
    uint16_t layer;                       /* of those two states, of sub_sanm_tokens and sub_cross_rows */
};

/* One box of a layer, as a table row: what it is, its norm, and what its weights are called. name2 of sub_attn_rope and sub_ffn_glu: norm
 * of what the box makes, before it is added; NULL: there is none. */
struct sub {
    void (*fn)(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
    const char *norm, *name, *name2;
    unsigned flags;
};
typedef void sub_fn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer);
sub_fn sub_attn;  /* NAME.query, .key, .value, .out; SUB_CAUSAL: over the plan's self_state, else over the rows of a run */
sub_fn sub_attn_linear; /* the same: NAME.linear_q, .linear_k, .linear_v, .linear_out, each with a bias */
/* Post-norm (Vaswani et al. 2017): x = NORM(x + what the box makes). */
sub_fn sub_attn_post; /* over the rows of a run: NAME.query, .key, .value, all with biases, then NAME2 */
sub_fn sub_ffn_post;  /* up NAME, down NAME2 */
sub_fn sub_attn_rope; /* causal, with rotary positions: NAME.q_proj, .k_proj, .v_proj, .o_proj, and .q_norm, .k_norm where there are any */
sub_fn sub_ffn_glu;   /* gated: NAME.gate_proj and .up_proj, the gate's activation SUB_TANH or SiLU, then .down_proj */
sub_fn sub_cross; /* the same, keys and values from the plan's cross_state; and the weights of wanted heads */
sub_fn sub_ffn;   /* up NAME, down NAME2 */
sub_fn sub_sanm;  /* NAME.linear_q_k_v, .fsmn_block, .linear_out (Gao et al. 2020); SUB_CAUSAL: rows see those up to their own, SUB_TABLE:
                   * as many as OPF_TABLE says */
/* Of a SAN-M decoder (Gao et al. 2022), over the rows of the table. A memory over what a feed-forward network makes: x + y + filter(y), y =
 * NORM2(NAME.w_2 NAME.norm(relu(NAME.w_1 NORM(x)))), filter NAME2.fsmn_block. */
void sub_sanm_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, const char *norm2, uint16_t x);
struct columns { uint16_t slot, column; };
struct cross_rows { uint16_t q, kv; };
/* Cross-attention within a run: keys and values are made of the rows `enc`, so no state holds them. NAME.linear_q, .linear_k_v,
 * .linear_out. */
void sub_cross_rows(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t enc);
/* The same without the residual: what is attended to goes to n_heads * d_head columns of out, from `column` on. */
void sub_cross_rows_alone(struct build *b, const struct sub_dims *d, const struct sub *s, struct columns out, uint16_t x, uint16_t enc);
/* What such a layer looks for and what it looks at, as rows: of x, of the table, its norm's and linear_q's; of enc linear_k_v's. */
void sub_cross_scores(struct build *b, const struct sub_dims *d, const struct sub *s, struct cross_rows to, uint16_t x, uint16_t enc);
/* out = the feed-forward network alone, of NORM(in). */
void sub_ffn_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t out, uint16_t in);
/* The first SAN-M layer: from rows of d_in to rows of d, so without the residual. */
void sub_sanm_first(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t in, uint32_t d_in);

/* One layer, named PREFIX.I. */
void sub_layer(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t i, uint16_t x);
/* Layers 0 .. n-1 named PREFIX.I, each made of the subs of the table (ended by fn NULL). */
void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x);
/* Logits of the rows that ask for some, and what is read off them: linear of norm(x), in two stages if so wanted (logits_approx.h). */
struct lm_head {
    const char *prefix;  /* of labels */
    const char *matrix;  /* [n_vocab, d] */
    uint16_t tokens;     /* its binding */
    uint16_t norm;
    uint32_t n_vocab, d;
    int two_stages;
    float cap;           /* logits are cap * tanh(logit / cap); 0: they are what they are */
};
void sub_lm_head(struct build *b, const struct lm_head *h, uint16_t x);
/* The most probable id of each of rows x by the matrix `head`, in two stages where `screen` is bind_screen's. */
struct best_head { const char *prefix; uint16_t head, screen; enum op_rows rows; };
void sub_best(struct build *b, const struct best_head *h, uint16_t x);
/* Keys and values of the encoder's output for one decoder layer, into the plan's cross_state. */
void sub_cross_kv(struct build *b, const struct sub_dims *d, const char *prefix, uint16_t enc, uint16_t layer);
#endif
