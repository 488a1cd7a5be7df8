/* steno: one tensor of a model. SPDX-License-Identifier: MIT
 *
 * Its place in the file, its stored form, and the type that its rows are read as. Data is read only on demand. */
#ifndef STENO_LOAD_TENSOR_H
#define STENO_LOAD_TENSOR_H
#include "base/file.h"
#include "load/tensor_form.h"

/* Scales and offsets of a tensor in an MLX form: one of each per `len` weights of a row. */
struct tensor_groups {
    enum dtype type;                      /* f32, f16 or bf16 */
    uint32_t len;
    const struct file *file[2];           /* of scales, of offsets */
    uint64_t offset[2];
};

struct tensor {
    const char *name;
    enum dtype type;       /* the type that rows are read as */
    enum tensor_form form; /* of the bytes in the file, if no kernel reads them */
    int n_dims;            /* 1..4 */
    uint64_t dim[4];       /* slowest first, as PyTorch prints a shape; unused ones are 1 */
    const struct file *file;
    uint64_t offset, size; /* bytes in the file */
    const struct tensor_groups *groups; /* NULL: not an MLX tensor */
    uint32_t used;         /* set by weights_find, to report names that were never used */
};

/* A whole tensor widened to f32; STENO_EFORMAT for a value that is not finite. */
int tensor_read_f32(const struct tensor *t, float *dst, steno_error *e);
/* Rows [row, row + n) of a tensor seen as [dim[0], all other dimensions], as stored or as converted from their form. dst: n *
 * dtype_row_sz. */
int tensor_read_rows(const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e);
/* STENO_EFORMAT if such rows have a value that is not finite. rows[n]: what tensor_read_rows gave from `row` on. */
int tensor_check_rows(const struct tensor *t, uint64_t row, uint64_t n, const void *rows, steno_error *e);
/* Read the scales if the type depends on them. Before that the tensor has the likely type. */
int tensor_settle(struct tensor *t, steno_error *e);
#endif
