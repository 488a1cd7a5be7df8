/* steno: types of the tensors of a quantized language model. SPDX-License-Identifier: MIT
 *
 * A q4_k_m file has matrices of several types: those that lose most by rounding get more bits. Names and rules are llama.cpp's
 * (llama-quantize), so size and quality match other files of that name. */
#ifndef STENO_CONVERT_TYPE_MIX_H
#define STENO_CONVERT_TYPE_MIX_H
#include "load/tensor.h"

struct type_mix {
    char name[8];   /* "q4_k_m" */
    uint8_t file;   /* general.file_type */
    uint8_t base;   /* enum dtype of most matrices */
    uint8_t plain;  /* a single type that the matrices of every family may have */
    uint8_t in_bin;  /* whisper.cpp's .bin files have it, as the single type of all matrices */
    uint8_t is_single; /* not the name of a mixture of language models */
};

const struct type_mix *type_mix_find(const char *name); /* Case-insensitive. NULL: unknown name */
extern const char type_mix_names[];                     /* all of them, for messages */
extern const char type_mix_plain_names[];               /* the plain ones */
extern const char type_mix_bin_names[];                 /* those of whisper.cpp's files */
extern const char type_mix_block_names[];               /* those for all matrices of a family with rules of its own */
int type_mix_is_of_lm(const struct type_mix *m);
int type_mix_is_block(const struct type_mix *m);        /* one of type_mix_block_names */

/* Input of the rules. */
struct mix_tensor {
    const char *name;    /* its GGUF name */
    uint64_t rows, k;
    int32_t layer, layers;
    int is_head;         /* computes logits, whatever its name */
    int has_importance;  /* the file has importance for at least one tensor */
    int shares_values;   /* many heads share values, so these are a small part of the file: llama.cpp's 70B */
    int is_pure;         /* the base type for all, regardless of loss */
    int heads_share;     /* at least four heads share values */
};
int mix_may_round(const struct mix_tensor *t);  /* 0: not a multiplied matrix, so it stays in f32 or as it is */
/* Type of a tensor that may be rounded. *requested: its type if its rows were whole blocks */
enum dtype mix_type(const struct type_mix *m, const struct mix_tensor *t, enum dtype *requested);
#endif
