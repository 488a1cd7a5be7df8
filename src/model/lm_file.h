/* steno: language models as GGUF files. SPDX-License-Identifier: MIT
 *
 * A file of llama.cpp's: a GGUF file keeps its keys and names, of a folder the family says them. Which type each tensor gets, in which
 * order they stand and what becomes of their bytes is said here for all families. */
#ifndef STENO_MODEL_LM_FILE_H
#define STENO_MODEL_LM_FILE_H
#include "load/gguf_write.h"
#include "model/family.h"

/* A folder's tensors as the file has them, names first. */
struct lm_file {
    int (*name)(const char *name, char *out, size_t n); /* 0: it is not in the file. NULL: names are those of a GGUF file */
    const char *left_out;       /* a tensor that is not written; NULL: none */
    uint32_t turn;              /* struct tensor_change: of the rows of queries and keys */
    int norms_less_one;
    int32_t layers;
    int shares_values, heads_share; /* struct mix_tensor */
    const struct tensor *more;  /* one that the folder has not, or NULL */
};

/* A GGUF file again, with other types. */
int lm_file_again(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
/* Everything that was put, and all tensors. STENO_EARG: they would be rounded twice */
int lm_file_write(struct gguf_writer *g, struct weights *w, const struct lm_file *f, const struct convert_order *o);
/* What all files say of themselves, before anything else. */
void lm_file_begin(struct gguf_writer *g, const char *architecture, const char *path, const struct model_sink *to, steno_error *e);
#endif
