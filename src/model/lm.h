/* steno: language models with causal attention. SPDX-License-Identifier: MIT
 *
 * LLaMA and related models (Touvron et al. 2023): RMS norms, rotary positions, gated feed-forward networks, grouped-query attention. An
 * architecture is a row of differences; its family is the file with that row. Names of weights are those of Hugging Face's transformers;
 * names in GGUF files are translated. */
#ifndef STENO_MODEL_LM_H
#define STENO_MODEL_LM_H
#include <math.h>
#include "model/family.h"

enum lm_flag {
    LM_QK_NORM = 1,         /* each head of queries and keys is normalised before rotation */
    LM_POST_NORMS = 2,      /* the output of a sub-layer is normalised before the residual */
    LM_NORMS_LESS_ONE = 4,  /* transformers' files store norm weights minus one; GGUF files do not */
    LM_SCALED_EMBEDDING = 8, /* token embeddings are multiplied by the root of the width */
    LM_GELU = 16,           /* the gate's activation is GELU by tanh, else SiLU */
    LM_TIED = 32,           /* the embedding is also the output matrix by default */
    LM_GGUF_NEIGHBOURS = 64, /* GGUF files store the rows of queries and keys so that rotated pairs are neighbours */
    LM_WINDOWS = 128,       /* of every `pattern` layers, all but the last have a sliding window, and another rotary base */
    LM_ONE_BASE = 256       /* with the same base as the others */
};

/* A model_type of config.json, and what transformers takes where config.json has none. Sizes of 0: as in the model itself */
struct lm_type {
    const char *name;
    int32_t heads, kv_heads, d_head, ctx;
    int32_t window;              /* 0: config.json has no such setting */
    double pre_attn;             /* the scores are divided by its root; 0: the width of a head */
};

struct lm_arch {
    const char *name;            /* general.architecture of GGUF files, and prefix of their keys */
    const struct lm_type *types; /* ends with one without a name; the first one is also that of networks in other models */
    unsigned flags;
    double rope_base;            /* default */
    int32_t pattern;
};

enum lm_scaling { LM_ROPE_PLAIN, LM_ROPE_LINEAR, LM_ROPE_LLAMA3, LM_ROPE_YARN };

struct lm_rope_scaling {
    enum lm_scaling kind;
    double factor;
    double low, high;            /* llama3: factors of the longest and shortest wavelengths, in original contexts */
    double fast, slow;           /* yarn: rotations in an original context */
    int32_t context;             /* original context */
    double gain;                 /* yarn: of cosine and sine, set by the file; 0: as the factor gives it */
};

struct lm_dims {
    int32_t layers, d, d_ff, heads, kv_heads, d_head, ctx, n_vocab;
    int32_t window, pattern;     /* 0: no layer has a window */
    double eps, rope_base, rope_base_window;
    struct lm_rope_scaling scaling;
    double attn_scale;           /* factor of the scores */
    double logit_cap;            /* logits are cap * tanh(logit / cap); 0: no cap */
    int is_gguf, is_tied, has_qkv_bias;
    int32_t eos;                 /* -1: not given */
};

extern const struct lm_arch *const lm_llama, *const lm_qwen3, *const lm_gemma, *const lm_gemma3;

int lm_match(const struct weights *w, const struct lm_arch *arch);
/* Reads settings, and sizes from tensors. Afterwards tensor names are those of transformers. */
int lm_dims_read(struct lm_dims *d, const struct lm_arch *arch, struct weights *w, steno_error *e);
int lm_is_local(const struct lm_dims *d, int32_t layer); /* has the layer a sliding window? */
int lm_describe(steno_model *m, const struct lm_arch *arch, struct weights *w, steno_error *e);
/* The network as a part of a model, with its state, ids and tokenizer. */
struct lm_part {
    int plan;                    /* index of its plan */
    int takes_rows;                   /* rows of the plan's input may be among the ids (token_of_input) */
    int32_t ctx_most;            /* most positions */
    int32_t classes;             /* rows of lm_head.weight, which gives classes instead of tokens; 0: tokens */
    enum dtype stored;           /* stored type of its matrices */
};
int lm_add(steno_model *m, const struct lm_arch *arch, struct weights *w, const struct lm_part *part, steno_error *e);
/* Sets m->lm.tokenizer if the file has a tokenizer. */
int lm_read_tokenizer(steno_model *m, struct weights *w, steno_error *e);
struct tokenizer_names;
extern const struct tokenizer_names lm_tokenizer_names; /* load/tokenizer.h */
int lm_gguf_name(const char *name, char *out, size_t n); /* GGUF name of a transformers tensor. 0: GGUF files do not have it */
void lm_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as in struct family */
/* Scaled angle of pair j of n / 2 at position 1. windowed: for sliding-window layers. */
double lm_rope_frequency(const struct lm_dims *d, uint32_t j, int windowed);
/* YaRN's usual gain of cosine and sine with this factor (Peng et al. 2023). */
static inline double lm_rope_usual_gain(double factor) { return factor > 1 ? 1 + 0.1 * log(factor) : 1; }
#endif
