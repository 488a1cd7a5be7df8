/* steno: language models, whose rows see those before them. SPDX-License-Identifier: MIT
 *
 * LLaMA and its kin (Touvron et al. 2023): norms by root mean square, rotary positions, gated feed-forward networks, heads of queries that
 * share keys. An architecture is a row of differences; its family is a file that has the row. Names of weights are those of Hugging Face's
 * transformers; names in GGUF files are translated. */
#ifndef STENO_MODEL_LM_H
#define STENO_MODEL_LM_H
#include "model/family.h"

enum lm_flag {
    LM_QK_NORM = 1,         /* each head of queries and keys is normalised before it turns */
    LM_POST_NORMS = 2,      /* what a sub-layer makes is normalised before it joins the stream */
    LM_NORMS_LESS_ONE = 4,  /* transformers' files hold the weights of norms minus one; GGUF files do not */
    LM_SCALED_EMBEDDING = 8, /* tokens times the root of the width */
    LM_GELU = 16,           /* the gate's activation is GELU by tanh, else SiLU */
    LM_TIED = 32,           /* the embedding is the last matrix, too, where nothing else is said */
    LM_GGUF_NEIGHBOURS = 64, /* GGUF files have the rows of queries and keys in an order for which pairs are neighbours */
    LM_WINDOWS = 128,       /* of `pattern` layers all but the last look back a window only, and turn by another base */
    LM_ONE_BASE = 256       /* by the same base as the others */
};

struct lm_arch {
    const char *name;            /* general.architecture of GGUF files, whose keys begin with it */
    const char *const *types;    /* model_type of config.json, NULL behind the last */
    unsigned flags;
    double eps, rope_base;       /* where nothing is said */
    int32_t pattern;
};

enum lm_scaling { LM_ROPE_PLAIN, LM_ROPE_LINEAR, LM_ROPE_LLAMA3, LM_ROPE_YARN };

struct lm_rope_scaling {
    enum lm_scaling kind;
    double factor;
    double low, high;            /* llama3: factors of the longest and shortest wavelengths, in contexts of before */
    double fast, slow;           /* yarn: turns in such a context */
    int32_t context;             /* of before */
};

struct lm_dims {
    int32_t layers, d, d_ff, heads, kv_heads, d_head, ctx, n_vocab;
    int32_t window, pattern;     /* 0: no layer has a window */
    double eps, rope_base, rope_base_window;
    struct lm_rope_scaling scaling;
    double attn_scale;           /* of scores */
    double logit_cap;            /* logits are cap * tanh(logit / cap); 0: they are what they are */
    int is_gguf, is_tied, has_qkv_bias;
    int32_t eos;                 /* -1: nothing is said */
};

extern const struct lm_arch *const lm_qwen3;

int lm_match(const struct weights *w, const struct lm_arch *arch);
/* What the file says, and what its tensors show; names are those of transformers afterwards. */
int lm_dims_read(struct lm_dims *d, const struct lm_arch *arch, struct weights *w, steno_error *e);
int lm_describe(steno_model *m, const struct lm_arch *arch, struct weights *w, steno_error *e);
/* The network as one of several of a model, with its state, ids and tokenizer. */
struct lm_part {
    int plan;                    /* its number */
    int hears;                   /* rows of the plan's input may stand among the ids (token_of_input) */
    int32_t ctx_most;            /* positions that there is room for, at most */
    enum dtype stored;           /* what its matrices are stored as */
};
int lm_add(steno_model *m, const struct lm_arch *arch, struct weights *w, const struct lm_part *part, steno_error *e);
/* m->tokenizer, where the file says how text becomes ids. */
int lm_read_tokenizer(steno_model *m, struct weights *w, steno_error *e);
struct tokenizer_names;
extern const struct tokenizer_names lm_tokenizer_names; /* load/tokenizer_text.h */
int lm_gguf_name(const char *name, char *out, size_t n); /* as GGUF files call what transformers call `name`. 0: it is none of theirs */
/* The file that llama.cpp has of such a model. */
int lm_to_gguf(struct weights *w, const struct lm_arch *arch, const struct convert_order *o, const struct model_sink *to, steno_error *e);
void lm_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as struct family has it */
/* Angle of pair j of n / 2 at position 1, as scaled; windowed: of layers that look back a window only. */
double lm_rope_frequency(const struct lm_dims *d, uint32_t j, int windowed);
#endif
