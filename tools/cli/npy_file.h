/* steno: arrays in NumPy's .npy format. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_NPY_FILE_H
#define STENO_TOOLS_NPY_FILE_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NPY_HEAD = 128 };

/* Write the header for [rows, width] little-endian f32; width 0: a list. */
void npy_head(char head[NPY_HEAD], int64_t rows, int64_t width);

enum { NPY_DIMS = 8, NPY_MAX = 1 << 28 };
struct npy {
    float *v;               /* [n] malloc'd */
    size_t n;
    int n_dims;
    int64_t dim[NPY_DIMS];
};

/* Parse a file's bytes; f32 or f64, slowest dimension first. @return NULL, or the reason of a refusal, a static text */
const char *npy_read(struct npy *a, const uint8_t *bytes, size_t n);
#endif
