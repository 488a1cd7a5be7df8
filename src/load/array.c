/* steno: arrays of formats that hold no model metadata. SPDX-License-Identifier: MIT */
#include "load/array.h"

#include <stdio.h>
#include <string.h>
#include "load/flat.h"
#include "load/strided.h"

static const struct array_type types[] = {
    { "F32", "f4", 4, ARRAY_KEPT, DT_F32, 0 },  { "F16", "f2", 2, ARRAY_KEPT, DT_F16, 0 },
    { "BF16", "V2", 2, ARRAY_KEPT, DT_BF16, 0 }, /* NumPy has no bf16; MLX writes it under this name */
    { "BOOL", "b1", 1, ARRAY_NUMBERS, 0, META_LIST_BOOL },
    { "U8", "u1", 1, ARRAY_NUMBERS, 0, META_LIST_U8 },   { "I8", "i1", 1, ARRAY_NUMBERS, 0, META_LIST_I8 },
    { "U16", "u2", 2, ARRAY_NUMBERS, 0, META_LIST_U16 }, { "I16", "i2", 2, ARRAY_NUMBERS, 0, META_LIST_I16 },
    { "U32", "u4", 4, ARRAY_WORDS, 0, META_LIST_U32 },   { "I32", "i4", 4, ARRAY_NUMBERS, 0, META_LIST_I32 },
    { "U64", "u8", 8, ARRAY_NUMBERS, 0, META_LIST_U64 }, { "I64", "i8", 8, ARRAY_NUMBERS, 0, META_LIST_I64 },
    { "F64", "f8", 8, ARRAY_REFUSED, 0, 0 },     { "C64", "c8", 8, ARRAY_REFUSED, 0, 0 },    { "C128", "c16", 16, ARRAY_REFUSED, 0, 0 },
    { "F8_E4M3", "", 1, ARRAY_REFUSED, 0, 0 },   { "F8_E5M2", "", 1, ARRAY_REFUSED, 0, 0 },  { "F8_E8M0", "", 1, ARRAY_REFUSED, 0, 0 },
    { "F4", "", 1, ARRAY_REFUSED, 0, 0 },        { "F6_E2M3", "", 1, ARRAY_REFUSED, 0, 0 },  { "F6_E3M2", "", 1, ARRAY_REFUSED, 0, 0 },
};
enum { TYPES = sizeof types / sizeof *types };

const struct array_type *array_type_find(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    return NULL;
}

const struct array_type *array_type_npy(const char *code)
{
    for (size_t i = 0; i < TYPES && *code; i++)
        if (!strcmp(types[i].npy, code)) return &types[i];
    return NULL;
}

int array_count(const uint64_t dim[ARRAY_DIMS], int n_dims, uint64_t *n)
{
    *n = 1;
    for (int i = 0; i < n_dims; i++) {
        if (dim[i] && *n > TENSOR_MAX / dim[i]) return 0;
        *n *= dim[i];
    }
    return 1;
}

static int name_ends(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

static int add_numbers(struct weights *w, const struct array *a, steno_error *e)
{
    char key[META_KEY_MAX + 1];
    if (a->n_dims != 2 || a->count > FLAT_LONG || snprintf(key, sizeof key, "array.%s", a->name) >= (int)sizeof key) return STENO_OK;
    const struct meta_list list = { .key = key, .type = a->type->list, .n = a->count, .file = *a->file, .offset = a->offset,
                                    .size = a->count * a->type->bytes };
    return meta_add_list(&w->meta, &list, e);
}

/* The array is stored by columns. */
static int set_order(struct tensor *t, struct weights *w, steno_error *e)
{
    uint64_t dim[4], stride[4] = { 1 };
    memcpy(dim, t->dim, sizeof dim);
    for (int i = 1; i < 4; i++) stride[i] = stride[i - 1] * dim[i - 1];
    return tensor_stride(t, w, dim, stride, e);
}

int weights_add_array(struct weights *w, const struct array *a, steno_error *e)
{
    const int is_words = a->type->use == ARRAY_WORDS && a->n_dims == 2 && name_ends(a->name, ".weight");
    if (!a->count) return STENO_OK;
    if (a->type->use != ARRAY_KEPT && !is_words) return add_numbers(w, a, e);
    struct tensor *to = weights_add(w, e);
    if (!to) return STENO_ENOMEM;
    *to = (struct tensor){ .type = a->type->type, .n_dims = a->n_dims ? a->n_dims : 1, .dim = { 1, 1, 1, 1 }, .file = a->file,
                           .offset = a->offset, .size = a->count * a->type->bytes, .form = is_words ? FORM_WORDS : FORM_STORED };
    for (int i = 0; i < a->n_dims; i++) to->dim[i] = a->dim[i];
    to->name = arena_strdup(&w->arena, a->name, strlen(a->name));
    if (!to->name) return err_nomem(e, strlen(a->name), "the name of a tensor");
    return a->by_columns ? set_order(to, w, e) : STENO_OK;
}
