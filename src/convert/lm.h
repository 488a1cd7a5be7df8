/* steno: language models as GGUF files. SPDX-License-Identifier: MIT
 *
 * It writes llama.cpp's files: the keys and names of a GGUF file are kept, those of a folder come from the family. The type of each tensor,
 * their order and their bytes are decided here for all families. */
#ifndef STENO_CONVERT_LM_H
#define STENO_CONVERT_LM_H
#include "convert/export.h"
#include "convert/gguf_write.h"
#include "model/lm.h"

/* ---- the file --------------------------------------------------------------------------------------------------------------------- */

/* The tensors of a folder in their GGUF form, names first. */
struct lm_file {
    int (*name)(const char *name, char *out, size_t n); /* 0: the tensor is not written. NULL: names are already those of a GGUF file */
    const char *left_out;       /* name of a tensor that is not written; may be NULL */
    uint32_t turn;              /* struct tensor_change: for the rows of queries and keys */
    int norms_less_one;
    int32_t layers;
    int shares_values, heads_share; /* struct mix_tensor */
    const struct tensor *more;  /* additional tensor; may be NULL */
};

/* Rewrites a GGUF file with other types. */
int lm_file_again(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
/* Writes the header and all tensors. STENO_EARG: weights would be rounded twice */
int lm_file_write(struct gguf_writer *g, struct weights *w, const struct lm_file *f, const struct convert_order *o);
/* Writes the general keys, which come first. */
void lm_file_begin(struct gguf_writer *g, const char *architecture, const char *path, const struct model_sink *to, steno_error *e);

/* ---- parts of a file -------------------------------------------------------------------------------------------------------------- */

/* Writes the keys after the architecture's name. */
void lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch);
/* Writes tokenizer.* from the model's tokenizer. rows: number of tokens, equal to the rows of the embedding; 0: all tokens, at least one.
 * STENO_ENOVOCAB, STENO_EUNSUPPORTED */
int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, uint32_t rows, steno_error *e);
#endif
