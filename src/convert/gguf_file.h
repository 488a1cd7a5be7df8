/* steno: the tensors of a GGUF file. SPDX-License-Identifier: MIT
 *
 * A family gives each tensor its name. The type of each tensor, their order and their bytes are decided here, by the rules of language
 * models if the family has none of its own. */
#ifndef STENO_CONVERT_GGUF_FILE_H
#define STENO_CONVERT_GGUF_FILE_H
#include "convert/export.h"
#include "convert/gguf_write.h"

typedef enum dtype gguf_type_rule(const struct type_mix *m, const struct mix_tensor *t, enum dtype *requested);

struct gguf_file {
    int (*name)(const char *name, char *out, size_t n); /* 0: the tensor is not written. NULL: names are already those of a GGUF file */
    /* Gives a tensor of this name in the file its extents, and returns their number. NULL: extents stay */
    int (*extents)(const char *name, uint64_t dim[4], int n_dims);
    /* The type of a tensor of two or more dimensions, and the one requested for it. NULL: the rules of language models */
    gguf_type_rule *type;
    const char *left_out;       /* name of a tensor that is not written; may be NULL */
    uint32_t turn;              /* struct tensor_change: for the rows of queries and keys */
    int norms_less_one;
    int32_t layers;
    int shares_values, heads_share; /* struct mix_tensor */
    const struct tensor *more;  /* [n_more] additional tensors, by their names in the file */
    uint32_t n_more;
};

/* Writes the header and all tensors. STENO_EARG: weights would be rounded twice */
int gguf_file_write(struct gguf_writer *g, struct weights *w, const struct gguf_file *f, const struct convert_order *o);
/* Writes the general keys, which come first: those of a GGUF file stay. */
void gguf_file_begin(struct gguf_writer *g, const char *architecture, const struct weights *w, const struct model_sink *to,
                     steno_error *e);
#endif
