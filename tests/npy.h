/* steno tests: reader for NumPy arrays. SPDX-License-Identifier: MIT
 *
 * Reads little-endian float32 in C order with at most three dimensions; anything else fails the test. Files of the shared collection are
 * used if STENO_SHARED names its folder. */
#ifndef STENO_TESTS_NPY_H
#define STENO_TESTS_NPY_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"

struct npy { float *v; size_t n, dim[3]; };

static inline FILE *shared_open(const char *name)
{
    const char *shared = getenv("STENO_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/material/%s", shared ? shared : "", name);
    FILE *f = shared ? fopen(path, "rb") : NULL;
    if (shared && !f) fail_msg("%s: the collection is there and lacks it", path);
    return f;
}

/* A file of the collection; call free(a.v). v is NULL if the collection is not on this machine. */
static inline struct npy npy_read(const char *name)
{
    struct npy a = { .n = 1 };
    FILE *f = shared_open(name);
    if (!f) return a;
    uint8_t head[10];
    assert_int_equal(fread(head, 1, sizeof head, f), sizeof head);
    assert_memory_equal(head, "\x93NUMPY\x01", 7);
    char text[1024] = { 0 };
    const size_t n_text = head[8] | (size_t)head[9] << 8;
    assert_true(n_text < sizeof text && fread(text, 1, n_text, f) == n_text);
    assert_true(strstr(text, "'<f4'") && strstr(text, "'fortran_order': False"));
    const char *shape = strstr(text, "'shape': (");
    assert_non_null(shape);
    const int n_dims = sscanf(shape, "'shape': (%zu, %zu, %zu", &a.dim[0], &a.dim[1], &a.dim[2]);
    assert_in_range(n_dims, 1, 3);
    for (int i = 0; i < n_dims; i++) a.n *= a.dim[i];
    a.v = calloc(a.n + 1, sizeof *a.v);
    assert_non_null(a.v);
    assert_int_equal(fread(a.v, sizeof *a.v, a.n, f), a.n);
    fclose(f);
    return a;
}
#endif
