/* steno: one tensor of a model. SPDX-License-Identifier: MIT
 *
 * Its place in the file, its stored form, and the type that its rows are read as. Data is read only on demand. */
#ifndef STENO_LOAD_TENSOR_H
#define STENO_LOAD_TENSOR_H
#include "base/file.h"
#include "kern/kern.h"

/* ---- stored forms that no kernel reads -------------------------------------------------------------------------------------------- */

/* Four-bit indices into a table are replaced by their table values on reading. iq4_nl becomes q8_0 with the same scale. The scale of
 * mxfp4 is a power of two: it becomes q8_0, or bf16 where a scale is outside the range of f16. MLX stores words of 2 to 8 bits per
 * weight, with a scale and an offset per group. Up to 4 bits become q4_1, or q4_1f if f16 cannot represent scales and offsets; 5 bits
 * become q5_1 or q8_1f; more bits become q8_1f. Nothing is rounded. */

enum tensor_form {
    FORM_STORED, /* in its type */
    FORM_IQ4_NL,
    FORM_MXFP4,
    FORM_MLX2, FORM_MLX3, FORM_MLX4, FORM_MLX5, FORM_MLX6, FORM_MLX8, /* read by form_groups */
    FORM_I8_ROWS, FORM_I16, /* CTranslate2: integers divided by a scale, of the row or of all; rows are f32 */
    FORM_WORDS,  /* 32-bit words that may become one of the above; removed from the index */
    TENSOR_FORMS
};

const char *form_name(enum tensor_form f, enum dtype t); /* "mxfp4", ...; for FORM_STORED the name of the type */
size_t form_block_sz(enum tensor_form f);                /* bytes of QBLOCK weights in the file; for the first two after FORM_STORED */
/* Convert n blocks to rows of t, the type from form_as. */
void form_rows(void *rows, enum dtype t, enum tensor_form f, const uint8_t *blocks, size_t n);
/* The type that n blocks convert to without loss. */
enum dtype form_as(enum tensor_form f, const uint8_t *blocks, size_t n);

/* ---- MLX */
int form_bits(enum tensor_form f);              /* bits of a weight; 0: not an MLX form */
enum tensor_form form_with_bits(int64_t bits);  /* FORM_STORED: no form has this number of bits */
/* The type that weights convert to when f16 can represent all scales and offsets, and when it cannot. */
enum dtype form_of_groups(enum tensor_form f, int fits_f16);
/* Convert n weights, a multiple of len, to rows of t. Bits count from the lowest of each byte; scale[n / len], offset[n / len]. */
void form_groups(void *rows, enum dtype t, enum tensor_form f, const uint8_t *words, const float *scale, const float *offset, size_t len,
                 size_t n);
int form_fits_f16(float x);                     /* 1: f16 represents x exactly, or x is no number in f16 either */
int form_is_zero(const uint8_t *words, size_t n);

/* ---- CTranslate2 */
size_t form_integer_sz(enum tensor_form f);     /* bytes of an integer; 0: not such a form */

/* ---- the tensor ------------------------------------------------------------------------------------------------------------------- */

/* Scales of integers, with offsets in an MLX form: one per `len` weights. */
struct tensor_groups {
    enum dtype type;                      /* f32, f16 or bf16; f32 for CTranslate2 */
    uint32_t len;
    const struct file *file[2];           /* of scales, of offsets (MLX) */
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
    const struct tensor_groups *groups; /* NULL: a form without them */
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
/* Let rows of int8 (CTranslate2) be read as q8_1f, in 10 bits a weight. Scales are then multiplied, not divided, so that a number differs
 * by at most 2^-15 of a step. Other tensors, and rows that are not whole blocks, stay. */
void tensor_pack_blocks(struct tensor *t);
#endif
