/* steno: one tensor of a model. SPDX-License-Identifier: MIT
 *
 * Where it lies, what is stored there, and as what its rows are read. Nothing is read until it is asked for. */
#ifndef STENO_LOAD_TENSOR_H
#define STENO_LOAD_TENSOR_H
#include "base/file.h"
#include "load/tensor_form.h"

/* Scales and offsets beside a tensor of one of MLX's forms: one each for `len` weights of a row. */
struct tensor_groups {
    enum dtype type;                      /* f32, f16 or bf16 */
    uint32_t len;
    const struct file *file[2];           /* of scales, of offsets */
    uint64_t offset[2];
};

struct tensor {
    const char *name;
    enum dtype type;       /* as which rows are read */
    enum tensor_form form; /* of the bytes in the file, where no kernel reads them */
    int n_dims;            /* 1..4 */
    uint64_t dim[4];       /* slowest first, as PyTorch prints a shape; unused ones are 1 */
    const struct file *file;
    uint64_t offset, size; /* bytes in the file */
    const struct tensor_groups *groups; /* NULL: it is none of MLX's */
    uint32_t used;         /* set by weights_find, for reporting names nobody asked for */
};

/* A whole tensor widened to f32; STENO_EFORMAT for a value that is not finite. */
int tensor_read_f32(const struct tensor *t, float *dst, steno_error *e);
/* Rows [row, row + n) as stored, or as what their form becomes, of a tensor seen as [dim[0], everything else]. dst: n * dtype_row_sz. */
int tensor_read_rows(const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e);
/* STENO_EFORMAT for a value of such rows that is not finite: rows[n] as tensor_read_rows gave them from `row` on. */
int tensor_check_rows(const struct tensor *t, uint64_t row, uint64_t n, const void *rows, steno_error *e);
/* Look at its scales, if its type depends on them. Before that it has the one that is likely. */
int tensor_settle(struct tensor *t, steno_error *e);
#endif
