/* steno: how much errors in the columns of matrices count. SPDX-License-Identifier: MIT
 *
 * Mean squares of what a model's matrices were multiplied with, measured on some text by llama.cpp's llama-imatrix: a GGUF file of sums and
 * counts, or the older form. */
#ifndef STENO_LOAD_IMATRIX_H
#define STENO_LOAD_IMATRIX_H
#include "base/arena.h"
#include "base/file.h"

struct imatrix_entry { const char *name; const float *v; uint64_t n; };

struct imatrix {
    struct arena arena;
    const char *name;            /* of the file, its path left out */
    const char *dataset;         /* the first one that it was measured on; NULL: nothing is said */
    uint32_t chunks;             /* of text; 0: nothing is said */
    struct imatrix_entry *entry; /* [n] by name */
    uint32_t n;
};

/* *m need not be initialised, and is to be closed in any case. STENO_EFORMAT names the place and the cause */
int imatrix_read(struct imatrix *m, const struct file *f, steno_error *e);
void imatrix_close(struct imatrix *m); /* a zeroed one is allowed */
/* Of the tensor as GGUF files call it, [n]; NULL: there is none. m may be NULL */
const float *imatrix_find(const struct imatrix *m, const char *tensor, uint64_t *n);
#endif
