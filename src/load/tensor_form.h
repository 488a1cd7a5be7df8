/* steno: stored forms of tensors that no kernel reads. SPDX-License-Identifier: MIT
 *
 * Four-bit indices into a table are replaced by their table values on reading. iq4_nl becomes q8_0 with the same scale. The scale of mxfp4
 * is a power of two: it becomes q8_0, or bf16 where a scale is outside the range of f16. MLX stores words of 2 to 8 bits per weight, with a
 * scale and an offset per group. Up to 4 bits become q4_1, or q4_1f if f16 cannot represent scales and offsets; 5 bits become q5_1 or
 * q8_1f; more bits become q8_1f. Nothing is rounded. */
#ifndef STENO_LOAD_TENSOR_FORM_H
#define STENO_LOAD_TENSOR_FORM_H
#include "kern/kern.h"

enum tensor_form {
    FORM_STORED, /* in its type */
    FORM_IQ4_NL,
    FORM_MXFP4,
    FORM_MLX2, FORM_MLX3, FORM_MLX4, FORM_MLX5, FORM_MLX6, FORM_MLX8, /* read by form_groups */
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
#endif
