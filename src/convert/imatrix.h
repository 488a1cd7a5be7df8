/* steno: importance matrices. SPDX-License-Identifier: MIT
 *
 * How much errors in the columns of a matrix count: the mean squares of the matrix's inputs, measured on some text by llama.cpp's
 * llama-imatrix. The file is a GGUF file of sums and counts, or the older form. */
#ifndef STENO_CONVERT_IMATRIX_H
#define STENO_CONVERT_IMATRIX_H
#include "base/arena.h"
#include "base/file.h"

struct imatrix_entry { const char *name; const float *v; uint64_t n; };

struct imatrix {
    struct arena arena;
    const char *name;            /* of the file, without its path */
    const char *dataset;         /* the first dataset of the measurement; NULL: not given */
    uint32_t chunks;             /* chunks of text; 0: not given */
    struct imatrix_entry *entry; /* [n] sorted by name */
    uint32_t n;
};

/* *m need not be initialised. The caller closes it in any case. STENO_EFORMAT names the place and the cause */
int imatrix_read(struct imatrix *m, const struct file *f, steno_error *e);
void imatrix_close(struct imatrix *m); /* m may be zeroed */
/* Values [n] of a tensor by its GGUF name; NULL: none. m may be NULL */
const float *imatrix_find(const struct imatrix *m, const char *tensor, uint64_t *n);
#endif
