/* steno: the index over the tensors of a model file. SPDX-License-Identifier: MIT
 *
 * A reader lists the tensors; this file looks names up by hashing, compares shapes and fetches bytes. Extents of 1
 * carry no meaning (whisper.cpp stores the bias of a convolution as [d, 1]), so shapes are compared without them: the order of the
 * numbers in the file is the same either way. */
#include "load/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"

enum { NAME_SZ = 256, SHAPE_TEXT = 100, CHUNK = 2048 /* weights widened at once, a multiple of QBLOCK */ };

/* Slot that holds the name, or the free one where it belongs. At most half of the slots are taken. */
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

/* Extents other than 1, in order. @return their number */
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

static int refuse_value(const struct tensor *t, uint64_t i, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: tensor %s: value %" PRIu64 " is not finite; the file is damaged, take another copy",
                   t->file->name, t->name, i);
}

/* Weights [at, at + n), whole blocks, of a tensor seen as one row. */
static int read_flat(const struct tensor *t, uint64_t at, size_t n, void *dst, steno_error *e)
{
    if (t->form == FORM_STORED) return file_read(t->file, t->offset + dtype_row_sz(t->type, (size_t)at), dst, dtype_row_sz(t->type, n), e);
    uint8_t stored[CHUNK], *out = dst;
    const size_t block = form_block_sz(t->form), most = sizeof stored / block;
    uint64_t off = t->offset + at / QBLOCK * block;
    for (size_t left = n / QBLOCK, now; left; left -= now, off += now * block, out += dtype_row_sz(t->type, now * QBLOCK)) {
        now = left < most ? left : most;
        const int rc = file_read(t->file, off, stored, now * block, e);
        if (rc) return rc;
        form_rows(out, t->type, t->form, stored, now);
    }
    return STENO_OK;
}

static int settle_type(struct tensor *t, steno_error *e)
{
    uint8_t stored[CHUNK];
    const size_t block = form_block_sz(t->form), most = sizeof stored / block;
    const uint64_t end = t->offset + t->size;
    t->type = form_as(t->form, NULL, 0);
    for (uint64_t off = t->offset; off < end; off += most * block) {
        const size_t sz = end - off < most * block ? (size_t)(end - off) : most * block;
        const int rc = file_read(t->file, off, stored, sz, e);
        if (rc) return rc;
        if (form_as(t->form, stored, sz / block) == t->type) continue;
        t->type = form_as(t->form, stored, sz / block);
        return STENO_OK;
    }
    return STENO_OK;
}

int weights_settle(struct weights *w, steno_error *e)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++)
        if (w->tensor[i].form == FORM_MXFP4) rc = settle_type(&w->tensor[i], e);
    return rc;
}

int tensor_read_f32(const struct tensor *t, float *dst, steno_error *e)
{
    uint8_t stored[CHUNK * sizeof(float)];
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]; /* the reader made sure that this does not wrap */
    for (uint64_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? (size_t)(n - i) : CHUNK;
        const int rc = read_flat(t, i, m, stored, e);
        if (rc) return rc;
        dtype_widen_row(dst + i, t->type, stored, m);
        for (size_t j = 0; j < m; j++)
            if (!isfinite(dst[i + j]))
                return refuse_value(t, i + j, e);
    }
    return STENO_OK;
}

int tensor_read_rows(const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e)
{
    if (row > t->dim[0] || n > t->dim[0] - row)
        return err_set(e, STENO_EARG, "%s: tensor %s has %" PRIu64 " rows, asked for %" PRIu64 "+%" PRIu64, t->file->name,
                       t->name, t->dim[0], row, n);
    const uint64_t k = t->dim[1] * t->dim[2] * t->dim[3];
    return read_flat(t, row * k, (size_t)(n * k), dst, e);
}

int tensor_check_rows(const struct tensor *t, uint64_t row, uint64_t n, const void *rows, steno_error *e)
{
    const uint64_t k = t->dim[1] * t->dim[2] * t->dim[3], at = dtype_find_nonfinite(t->type, rows, (size_t)(n * k));
    return at == n * k ? STENO_OK : refuse_value(t, row * k + at, e);
}

/* '*' stands for any text; the last one that was met is tried again further on. */
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
