/* steno: forms in which tensors lie in files, and no kernel reads them. SPDX-License-Identifier: MIT
 *
 * Numbers of four bits that stand for places in a table are what they stand for before anybody else sees them: iq4_nl is q8_0 with the same
 * scale, mxfp4, whose scale is a power of two, q8_0 or, where one is out of f16's range, bf16. MLX's words of 2 to 8 bits a weight, a scale
 * and an offset for each group of them, are q4_1 or q5_1 where f16 has these numbers, else q4_1f; more than 5 bits are q8_1f. Nothing is
 * rounded. */
#ifndef STENO_LOAD_TENSOR_FORM_H
#define STENO_LOAD_TENSOR_FORM_H
#include "kern/kern.h"

enum tensor_form {
    FORM_STORED, /* as its type says */
    FORM_IQ4_NL,
    FORM_MXFP4,
    FORM_MLX2, FORM_MLX3, FORM_MLX4, FORM_MLX5, FORM_MLX6, FORM_MLX8, /* what form_groups reads */
    FORM_WORDS,  /* numbers of 32 bits, which may turn out to be one of these; no index has them */
    TENSOR_FORMS
};

const char *form_name(enum tensor_form f, enum dtype t); /* "mxfp4", …; of FORM_STORED the type's */
size_t form_block_sz(enum tensor_form f);                /* bytes of QBLOCK weights in the file; of the first two behind FORM_STORED */
/* n blocks become rows of t, which form_as gave. */
void form_rows(void *rows, enum dtype t, enum tensor_form f, const uint8_t *blocks, size_t n);
/* The type that n blocks become without loss. */
enum dtype form_as(enum tensor_form f, const uint8_t *blocks, size_t n);

/* ---- MLX's */
int form_bits(enum tensor_form f);              /* of a weight; 0: it is none of MLX's */
enum tensor_form form_with_bits(int64_t bits);  /* FORM_STORED: there is none with so many */
/* The type that weights become where f16 has all scales and offsets, and where not. */
enum dtype form_of_groups(enum tensor_form f, int fits_f16);
/* n weights, a multiple of len, become rows of t: bits from the lowest of each byte on; scale[n / len], offset[n / len]. */
void form_groups(void *rows, enum dtype t, enum tensor_form f, const uint8_t *words, const float *scale, const float *offset, size_t len,
                 size_t n);
int form_fits_f16(float x);                     /* or is no number there, either */
int form_is_zero(const uint8_t *words, size_t n);
#endif
