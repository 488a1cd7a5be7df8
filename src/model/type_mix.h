/* steno: which type each tensor of a language model gets. SPDX-License-Identifier: MIT
 *
 * A file "of q4_k_m" has matrices of several types: those that lose most by rounding get more bits. Names and rules are llama.cpp's
 * (llama-quantize), so that files are as large and as good as those of others. */
#ifndef STENO_MODEL_TYPE_MIX_H
#define STENO_MODEL_TYPE_MIX_H
#include "load/tensor.h"

struct type_mix {
    char name[8];   /* "q4_k_m" */
    uint8_t file;   /* general.file_type */
    uint8_t base;   /* enum dtype of most matrices */
    uint8_t plain;  /* it is nothing but the name of a type that every family's matrices may have */
    uint8_t in_bin;  /* whisper.cpp's .bin files have it, as the one type of all matrices */
};

const struct type_mix *type_mix_find(const char *name); /* in capitals, too. NULL: none is called so */
extern const char type_mix_names[];                     /* all of them, for messages */
extern const char type_mix_plain_names[];               /* those that are plain */
extern const char type_mix_bin_names[];                 /* those of whisper.cpp's files */
int type_mix_in_gguf(const struct type_mix *m);         /* 0: they alone have it */

/* What the rules look at. */
struct mix_tensor {
    const char *name;    /* as GGUF files have it */
    uint64_t rows, k;
    int32_t layer, layers;
    int is_head;         /* logits are made by it, whatever its name is */
    int has_importance;  /* of any tensor of the file */
    int shares_values;   /* so many heads share values that these are a small part of the file: llama.cpp's 70B */
    int is_pure;         /* the base type for all, whatever loses by it */
    int heads_share;     /* four heads or more share values */
};
int mix_may_round(const struct mix_tensor *t);  /* 0: it is no matrix that is multiplied, and stays in f32, or as it is */
/* The type that one that may be rounded gets. *wanted: what it would have if its rows were whole blocks */
enum dtype mix_type(const struct type_mix *m, const struct mix_tensor *t, enum dtype *wanted);
#endif
