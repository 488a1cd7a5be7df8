/* steno: forms in which tensors lie in files, and no kernel reads them. SPDX-License-Identifier: MIT
 *
 * Numbers of four bits that stand for places in a table are what they stand for before anybody else sees them: iq4_nl is q8_0 with the same
 * scale, mxfp4, whose scale is a power of two, q8_0 or, where one is out of f16's range, bf16. Nothing is rounded. */
#ifndef STENO_LOAD_TENSOR_FORM_H
#define STENO_LOAD_TENSOR_FORM_H
#include "kern/kern.h"

enum tensor_form { FORM_STORED, FORM_IQ4_NL, FORM_MXFP4, TENSOR_FORMS }; /* FORM_STORED: as its type says */

const char *form_name(enum tensor_form f, enum dtype t); /* "mxfp4", …; of FORM_STORED the type's */
size_t form_block_sz(enum tensor_form f);                /* bytes of QBLOCK weights in the file; not of FORM_STORED */
/* n blocks become rows of t, which form_as gave. */
void form_rows(void *rows, enum dtype t, enum tensor_form f, const uint8_t *blocks, size_t n);
/* The type that n blocks become without loss. */
enum dtype form_as(enum tensor_form f, const uint8_t *blocks, size_t n);
#endif
