/* steno tests: a small whisper.cpp model, opened with modifications. SPDX-License-Identifier: MIT
 *
 * base.bin is a complete model of 50 small tensors. */
#ifndef STENO_TESTS_GGML_BASE_H
#define STENO_TESTS_GGML_BASE_H
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "stored_dims.h"
#include "whisper_file.h"

/* Byte offsets in base.bin. Its last 12.5 KB are tensors; the record of the encoder's query begins at QUERY. */
enum {
    AT_FILTERS = 48, AT_FILTER_VALUES = 56, AT_VOCAB = AT_FILTER_VALUES + 80 * 201 * 4, AT_TENSORS = 64480,
    QUERY = 72302, QUERY_EXTENTS = QUERY + 12, QUERY_NAME = QUERY + 20, LAST = 76992, BASE_SZ = 77076
};

static uint8_t base[BASE_SZ];

static inline int base_load(void **state)
{
    (void)state;
    FILE *f = fopen("tests/data/base.bin", "rb");
    if (!f) return -1;
    const size_t n = fread(base, 1, sizeof base, f);
    fclose(f);
    return n == sizeof base ? 0 : -1;
}

static inline void set32(uint8_t *p, int64_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)((uint64_t)v >> 8 * i);
}

struct binder { struct weights *w; steno_error *e; int rc; };

static inline void bind_one(void *user, const char *name, const uint64_t dim[4])
{
    struct binder *b = user;
    struct tensor *t;
    if (!b->rc) b->rc = weights_get(b->w, name, dim, &t, b->e);
}

/* Check the dimensions, and that the file has exactly the model's tensors in their shapes. */
static inline int bind(struct weights *w, steno_error *e)
{
    struct whisper_dims d;
    struct binder b = { w, e, whisper_dims_read(&d, w, e) };
    if (!b.rc) shape_each(bind_one, &b, &d);
    return b.rc ? b.rc : weights_check_used(w, NULL, e);
}
#endif
