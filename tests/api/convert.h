/* steno tests: a model as bytes of a file. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_CONVERT_H
#define STENO_TESTS_CONVERT_H
#include "base/buf.h"
#include <steno/steno.h>

static inline int convert_take(void *user, const void *data, size_t n)
{
    struct buf *b = user;
    buf_add(b, data, n);
    return b->err;
}

/* What is written goes to *b, whatever comes of it; form: as in steno_convert_params. */
static inline int convert_to_form(struct buf *b, const char *path, const char *form, const char *type, steno_error *e)
{
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.form = form;
    p.type = type;
    p.write = convert_take;
    p.user = b;
    return steno_model_convert(path, &p, e);
}

static inline int convert_to(struct buf *b, const char *path, const char *type, steno_error *e)
{
    return convert_to_form(b, path, NULL, type, e);
}
#endif
