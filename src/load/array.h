/* steno: arrays of formats that hold no model metadata. SPDX-License-Identifier: MIT
 *
 * safetensors and npz hold arrays by name, of many number types. One table lists which types are weights and what happens to the others:
 * small tables of whole numbers become lists of the settings; types that no kernel reads are refused by name. */
#ifndef STENO_LOAD_ARRAY_H
#define STENO_LOAD_ARRAY_H
#include "load/weights.h"

enum array_use { ARRAY_KEPT, ARRAY_WORDS, ARRAY_NUMBERS, ARRAY_REFUSED }; /* WORDS: MLX words if their shape and name fit; else as
                                                                           * NUMBERS */
enum { ARRAY_DIMS = 4 };

struct array_type {
    char name[12], npy[4];        /* the type's name in safetensors and in NumPy (without the byte order); npy "": not a NumPy type */
    uint8_t bytes, use;
    enum dtype type;              /* for ARRAY_KEPT */
    enum meta_list_type list;     /* for lists of numbers */
};

struct array {
    const char *name;
    const struct array_type *type;
    uint64_t dim[ARRAY_DIMS];     /* [n_dims] */
    int n_dims;
    const struct file *file;
    uint64_t offset, count;       /* byte offset in the file; number of elements */
    int by_columns;               /* elements that differ only in the first index are adjacent */
};

const struct array_type *array_type_find(const char *name);  /* by safetensors' name; NULL: unknown */
const struct array_type *array_type_npy(const char *code);   /* by NumPy's code, "f4" */
/* The number of elements. @return 0: out of range */
int array_count(const uint64_t dim[ARRAY_DIMS], int n_dims, uint64_t *n);

/* Add the array to the tensors. Whole numbers in exactly two dimensions, at most FLAT_LONG of them, become a list "array.NAME" of the
 * settings instead. Other arrays are dropped. The name is copied. A scalar is kept as [1]. */
int weights_add_array(struct weights *w, const struct array *a, steno_error *e);

/* ---- words of MLX ----------------------------------------------------------------------------------------------------------------- */

/* Join words with their scales and offsets (NAME.weight, .scales, .biases) to one tensor, as the settings' `quantization` describes. Other
 * words leave the index. STENO_EFORMAT for inconsistent tensors, STENO_EUNSUPPORTED for other number formats. */
int mlx_join(struct weights *w, steno_error *e);
#endif
