/* steno: the index over the tensors of a model file. SPDX-License-Identifier: MIT
 *
 * A reader lists the tensors; this file finds the reader, looks names up by hashing, compares shapes and fetches bytes. Extents of 1
 * carry no meaning (whisper.cpp stores the bias of a convolution as [d, 1]), so shapes are compared without them: the order of the
 * numbers in the file is the same either way. */
#include "load/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "load/kind.h"

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

/* The type that most weights are stored in. */
static enum dtype main_type(const struct weights *w)
{
    uint64_t n[DT_COUNT] = { 0 };
    int best = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++) n[w->tensor[i].type] += w->tensor[i].size / dtype_row_sz(w->tensor[i].type, 256);
    for (int t = 1; t < DT_COUNT; t++)
        if (n[t] > n[best]) best = t;
    return (enum dtype)best;
}

int weights_read_settings(struct meta *m, const struct place *p, steno_error *e)
{
    static const struct { const char *file, *prefix; int yaml; } known[] = {
        { "config.json", NULL, 0 }, { "generation_config.json", "generation", 0 },
        { "config.yaml", NULL, 1 }, { "configuration.json", "configuration", 0 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct file f;
        int rc = place_find(p, known[i].file, m->arena, &f, e);
        if (rc > 0) {
            rc = kind_check(&f, e);
            if (!rc) rc = known[i].yaml ? meta_read_yaml(m, known[i].prefix, &f, e) : meta_read_json(m, known[i].prefix, &f, e);
            file_close(&f);
        }
        if (rc) return rc;
    }
    return STENO_OK;
}

static int ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* The file of the place by the reader of its form; who: what messages about another kind name. */
static int read_as(struct weights *w, const struct kind *k, const char *who, steno_error *e)
{
    const struct file *f = &w->place.file;
    switch (k->form) {
    case KIND_GGML: return ggml_read(w, e);
    case KIND_TORCH: return torch_read(w, f, e);
    case KIND_SAFETENSORS: return safetensors_read(w, f, e);
    case KIND_OTHER: return kind_refuse(k, who, e);
    default: break;
    }
    /* a damaged one, perhaps: its reader knows what is wrong with it */
    if (k->readable || ends_with(f->name, ".index.json")) return safetensors_read_index(w, f, e);
    if (k->form < KIND_TEXT && ends_with(f->name, ".safetensors")) return safetensors_read(w, f, e);
    return kind_refuse(k, who, e);
}

/* A file, or the weights of a folder. */
static int read_place(struct weights *w, steno_error *e)
{
    struct kind k;
    int rc = kind_of_place(&k, &w->place, e);
    if (rc) return rc;
    if (!w->place.is_folder) return read_as(w, &k, w->name, e);
    if (!k.file[0] || !kind_is_weights(k.file)) return kind_refuse(&k, w->name, e);
    struct file f;
    rc = place_find(&w->place, k.file, &w->arena, &f, e);
    if (rc < 0) return rc;
    if (!rc) return err_set(e, STENO_EIO, "%s: %s has gone while it was looked at", w->name, k.file);
    w->place.file = f; /* closed by weights_close: the place at hand is a folder, and has none */
    return read_as(w, &k, w->name, e);
}

/* A tensor may be stored once and stand under two names (an embedding that is the head, too), but a file of which every tensor views the
 * same bytes would take memory without end. */
static int check_sum(const struct weights *w, steno_error *e)
{
    uint64_t stored = w->n_shards ? 0 : w->place.file.size, sum = 0;
    for (uint32_t i = 0; i < w->n_shards; i++) stored += w->shard[i].size;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        sum += w->tensor[i].size; /* each at most its file's */
        if (sum / 2 > stored)
            return err_set(e, STENO_EFORMAT, "%s: tensors up to %s (%" PRIu32 " of %" PRIu32 ") want %" PRIu64 " bytes, but %" PRIu64
                           " are stored: many of them share the same bytes; save a copy of each", w->name, w->tensor[i].name, i + 1,
                           w->n_tensors, sum, stored);
    }
    return STENO_OK;
}

int weights_open_place(struct weights *w, const struct place *p, steno_error *e)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena);
    meta_init(&w->meta, &w->arena);
    w->place = *p;
    w->name = p->name;
    int rc = read_place(w, e);
    if (!rc) rc = check_sum(w, e);
    if (!rc && !w->dims.n_mels) w->matrix_type = main_type(w);
    if (!rc && !w->dims.n_mels && !meta_find(&w->meta, "dims.n_mels")) rc = weights_read_settings(&w->meta, &w->place, e);
    if (!rc) rc = weights_index(w, e);
    if (rc) weights_close(w);
    return rc;
}

int weights_open(struct weights *w, const struct file *f, steno_error *e)
{
    struct place p;
    place_of_file(&p, f);
    return weights_open_place(w, &p, e);
}

void weights_close(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_shards; i++) file_close(&w->shard[i]);
    if (w->place.is_folder) file_close(&w->place.file);
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

int tensor_read_f32(const struct tensor *t, float *dst, steno_error *e)
{
    uint8_t stored[CHUNK * sizeof(float)];
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]; /* the reader made sure that this does not wrap */
    uint64_t off = t->offset;
    for (uint64_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? (size_t)(n - i) : CHUNK, sz = dtype_row_sz(t->type, m);
        const int rc = file_read(t->file, off, stored, sz, e);
        if (rc) return rc;
        dtype_widen_row(dst + i, t->type, stored, m);
        for (size_t j = 0; j < m; j++)
            if (!isfinite(dst[i + j]))
                return err_set(e, STENO_EFORMAT, "%s: tensor %s: value %" PRIu64 " is not finite", t->file->name, t->name, i + j);
        off += sz;
    }
    return STENO_OK;
}

int tensor_read_rows(const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e)
{
    if (row > t->dim[0] || n > t->dim[0] - row)
        return err_set(e, STENO_EARG, "%s: tensor %s has %" PRIu64 " rows, asked for %" PRIu64 "+%" PRIu64, t->file->name,
                       t->name, t->dim[0], row, n);
    const uint64_t row_sz = t->size / t->dim[0];
    return file_read(t->file, t->offset + row * row_sz, dst, (size_t)(n * row_sz), e);
}

void weights_forget_narrow(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (w->tensor[i].packed_type != packed_as_stored(w->tensor[i].type)) w->tensor[i].packed = NULL;
}

int weights_check_used(const struct weights *w, steno_error *e)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!w->tensor[i].used)
            return err_set(e, STENO_EFORMAT, "%s: tensor %s is not part of such a model", w->name, w->tensor[i].name);
    return STENO_OK;
}
