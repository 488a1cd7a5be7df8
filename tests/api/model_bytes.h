/* steno tests: a model file in memory, to be changed. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_MODEL_BYTES_H
#define STENO_TESTS_MODEL_BYTES_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "harness.h"

struct model_bytes { uint8_t *p; size_t n; };

/* A file without its first `skip` bytes; free p. */
static inline struct model_bytes model_bytes_read(const char *path, size_t skip)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) fail_msg("cannot open %s", path);
    struct model_bytes b = { .n = (size_t)ftell(f) - skip };
    b.p = malloc(b.n);
    assert_non_null(b.p);
    assert_int_equal(fseek(f, (long)skip, SEEK_SET), 0);
    assert_int_equal(fread(b.p, 1, b.n, f), b.n);
    fclose(f);
    return b;
}

/* The place of the first n bytes equal to `text`. */
static inline uint8_t *model_bytes_find(const struct model_bytes *b, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= b->n; i++)
        if (!memcmp(b->p + i, text, n)) return b->p + i;
    fail_msg("the file has no '%s'", text);
    return NULL;
}

static inline int model_bytes_open(const struct model_bytes *b, steno_error *e)
{
    steno_model *m = NULL;
    *e = (steno_error){ 0 };
    const int rc = steno_model_open_memory(&m, b->p, b->n, NULL, e);
    steno_model_close(m);
    return rc;
}

/* Cuts of the file, each in a block without room behind it, are refused. */
static inline void model_bytes_cuts_are_refused(const struct model_bytes *b, size_t to, size_t step)
{
    for (size_t n = 0; n < to; n += step) {
        steno_error e;
        struct model_bytes cut = { malloc(n + 1), n };
        assert_non_null(cut.p);
        memcpy(cut.p, b->p, n);
        const int rc = model_bytes_open(&cut, &e);
        if ((rc != STENO_EFORMAT && rc != STENO_EUNSUPPORTED) || !e.text[0]) fail_msg("cut at %zu: %d, '%s'", n, rc, e.text);
        free(cut.p);
    }
}
#endif
