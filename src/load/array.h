/* steno: arrays of formats that know no models. SPDX-License-Identifier: MIT
 *
 * safetensors and npz hold arrays by name, of many types of numbers. One table says which of them are weights, and what becomes of the
 * others: small tables of whole numbers are lists of the settings, types that no kernel reads are refused by name. */
#ifndef STENO_LOAD_ARRAY_H
#define STENO_LOAD_ARRAY_H
#include "load/weights.h"

enum array_use { ARRAY_KEPT, ARRAY_WORDS, ARRAY_NUMBERS, ARRAY_REFUSED }; /* WORDS: of MLX, two-dimensional and called so; else NUMBERS */
enum { ARRAY_DIMS = 4 };

struct array_type {
    char name[12], npy[4];        /* as safetensors and NumPy (without the order of bytes) call it; npy "": NumPy has none */
    uint8_t bytes, use;
    enum dtype type;              /* of ARRAY_KEPT */
    enum meta_list_type list;     /* of numbers */
};

struct array {
    const char *name;
    const struct array_type *type;
    uint64_t dim[ARRAY_DIMS];     /* [n_dims] */
    int n_dims;
    const struct file *file;
    uint64_t offset, count;       /* place in the file; elements */
    int by_columns;               /* elements that differ in the first index lie side by side */
};

const struct array_type *array_type_find(const char *name);  /* by safetensors' name; NULL: unknown */
const struct array_type *array_type_npy(const char *code);   /* by NumPy's, "f4" */
/* The number of elements. @return 0: it is out of range */
int array_count(const uint64_t dim[ARRAY_DIMS], int n_dims, uint64_t *n);

/* Put it where it belongs: among the tensors; or, of at most FLAT_LONG numbers in two dimensions, as a list "array.NAME" among the
 * settings; or nowhere. The name is copied. A scalar is kept as [1]. */
int weights_add_array(struct weights *w, const struct array *a, steno_error *e);
#endif
