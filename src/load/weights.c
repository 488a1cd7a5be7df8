/* steno: the index over the tensors of a model file. SPDX-License-Identifier: MIT
 *
 * A reader lists the tensors. This file finds names by hashing, and compares shapes. Extents of 1 have no meaning (whisper.cpp stores the
 * bias of a convolution as [d, 1]), so shapes are compared without them: the order of the numbers in the file is the same either way. */
#include "load/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "load/strided.h"

enum { NAME_SZ = 256, SHAPE_TEXT = 100 };

/* The slot of the name, or the free slot for it. At most half of the slots are used. */
static uint32_t *slot_of(const struct weights *w, const char *name)
{
    for (uint32_t i = hash_text(name) & w->hash_mask;; i = (i + 1) & w->hash_mask)
        if (!w->hash[i] || !strcmp(w->tensor[w->hash[i] - 1].name, name)) return &w->hash[i];
}

int weights_index(struct weights *w, steno_error *e)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)w->n_tensors) n *= 2;
    w->hash = arena_array(&w->arena, n, sizeof *w->hash);
    if (!w->hash) return err_nomem(e, n * sizeof *w->hash, "the names of tensors");
    w->hash_mask = n - 1;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        uint32_t *slot = slot_of(w, w->tensor[i].name);
        if (*slot) return err_set(e, STENO_EFORMAT, "%s: tensor %s is stored twice", w->name, w->tensor[i].name);
        *slot = i + 1;
    }
    return STENO_OK;
}

struct tensor *weights_add(struct weights *w, steno_error *e)
{
    if (w->n_tensors == w->cap_tensors) {
        const uint32_t cap = w->cap_tensors ? 2 * w->cap_tensors : 256;
        struct tensor *t = cap > w->cap_tensors ? arena_array(&w->arena, cap, sizeof *t) : NULL;
        if (!t) {
            err_nomem(e, cap * sizeof *t, "the index of tensors");
            return NULL;
        }
        if (w->n_tensors) memcpy(t, w->tensor, w->n_tensors * sizeof *t);
        w->tensor = t;
        w->cap_tensors = cap;
    }
    return &w->tensor[w->n_tensors++];
}

void weights_close(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_shards; i++) file_close(&w->shard[i]);
    if (w->source.is_folder) file_close(&w->source.file);
    strided_close(w->band);
    arena_free(&w->arena);
    memset(w, 0, sizeof *w);
}

int weights_rename(struct weights *w, int (*to)(const char *name, char *out, size_t n), steno_error *e)
{
    char name[NAME_SZ];
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        if (!to(w->tensor[i].name, name, sizeof name)) continue;
        w->tensor[i].name = arena_strdup(&w->arena, name, strlen(name));
        if (!w->tensor[i].name) return err_nomem(e, sizeof name, "the names of tensors");
    }
    return weights_index(w, e);
}

struct tensor *weights_find(struct weights *w, const char *name)
{
    const uint32_t i = w->hash ? *slot_of(w, name) : 0;
    if (!i) return NULL;
    w->tensor[i - 1].used = 1;
    return &w->tensor[i - 1];
}

/* Extents other than 1, in order. @return the number of them */
static int squeeze(uint64_t out[4], const uint64_t dim[4])
{
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (dim[i] > 1) out[n++] = dim[i];
    return n;
}

/* "8, 16" */
static void shape_print(char text[SHAPE_TEXT], const uint64_t dim[4], int n_dims)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < n_dims; i++) at += (size_t)snprintf(text + at, SHAPE_TEXT - at, i ? ", %" PRIu64 : "%" PRIu64, dim[i]);
}

int weights_get(struct weights *w, const char *name, const uint64_t dim[4], struct tensor **out, steno_error *e)
{
    char want[SHAPE_TEXT], is[SHAPE_TEXT];
    int rank = 0;
    while (rank < 4 && dim[rank]) rank++;
    shape_print(want, dim, rank);
    *out = NULL;
    struct tensor *t = weights_find(w, name);
    if (!t) return err_set(e, STENO_EFORMAT, "%s: tensor %s is missing, want [%s]", w->name, name, want);

    uint64_t a[4], b[4];
    const int n = squeeze(a, t->dim);
    if (n != squeeze(b, dim) || memcmp(a, b, (size_t)n * sizeof *a)) {
        shape_print(is, t->dim, t->n_dims);
        return err_set(e, STENO_EFORMAT, "%s: tensor %s is [%s], want [%s]", t->file->name, name, is, want);
    }
    *out = t;
    return STENO_OK;
}

int weights_settle(struct weights *w, steno_error *e)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++) rc = tensor_settle(&w->tensor[i], e);
    return rc;
}

/* '*' matches any text; on a mismatch the last one is extended. */
static int name_fits(const char *name, const char *pattern)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') star = ++pattern, again = name;
        else if (*pattern == *name) pattern++, name++;
        else if (star) pattern = star, name = ++again;
        else return 0;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

static int is_spare(const char *name, const char *const *spare)
{
    for (; spare && *spare; spare++)
        if (name_fits(name, *spare)) return 1;
    return 0;
}

int weights_check_used(const struct weights *w, const char *const *spare, steno_error *e)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!w->tensor[i].used && !is_spare(w->tensor[i].name, spare))
            return err_set(e, STENO_EFORMAT, "%s: tensor %s is not part of such a model", w->name, w->tensor[i].name);
    return STENO_OK;
}
