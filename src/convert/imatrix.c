/* steno: how much errors in the columns of matrices count. SPDX-License-Identifier: MIT
 *
 * The older form, little-endian: a number of entries; for each the length of its name, the name, a number of calls, a number of values, and
 * that number of f32. A number of chunks, and length and name of a dataset, may follow. */
#include "convert/imatrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "load/gguf.h"

enum { NAME_MAX_SZ = 255, TEXT_MAX_SZ = 4096 };

static int damaged(const struct file *f, const char *what, uint64_t at, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: no file of importance: %s at byte %" PRIu64, f->name, what, at);
}

/* ---- common to both forms -------------------------------------------------------------------------------------------------------- */

static int check_values(const struct imatrix_entry *it, const struct file *f, steno_error *e)
{
    for (uint64_t i = 0; i < it->n; i++)
        if (!isfinite(it->v[i]) || it->v[i] < 0)
            return err_set(e, STENO_EFORMAT, "%s: value %" PRIu64 " of %s is %g, want 0 or more", f->name, i, it->name, (double)it->v[i]);
    return STENO_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct imatrix_entry *)a)->name, ((const struct imatrix_entry *)b)->name);
}

static int check_entries(struct imatrix *m, const struct file *f, steno_error *e)
{
    int rc = STENO_OK;
    if (!m->n) return err_set(e, STENO_EFORMAT, "%s: a file of importance without entries", f->name);
    qsort(m->entry, m->n, sizeof *m->entry, by_name);
    for (uint32_t i = 0; i < m->n && !rc; i++) {
        if (i && !strcmp(m->entry[i].name, m->entry[i - 1].name))
            return err_set(e, STENO_EFORMAT, "%s: %s is written twice", f->name, m->entry[i].name);
        rc = check_values(&m->entry[i], f, e);
    }
    return rc;
}

const float *imatrix_find(const struct imatrix *m, const char *tensor, uint64_t *n)
{
    const struct imatrix_entry key = { .name = tensor };
    const struct imatrix_entry *it = m && m->n ? bsearch(&key, m->entry, m->n, sizeof *m->entry, by_name) : NULL;
    if (it) *n = it->n;
    return it ? it->v : NULL;
}

/* ---- the older form ---------------------------------------------------------------------------------------------------------------- */

static int read_entry(struct imatrix *m, struct rd *r, const struct file *f, steno_error *e)
{
    struct imatrix_entry *it = &m->entry[m->n];
    const uint64_t at = r->pos;
    const int32_t len = rd_i32(r);
    if (r->err || len < 1 || len > NAME_MAX_SZ || (uint64_t)len > rd_left(r)) return damaged(f, "the name of an entry", at, e);
    char *name = arena_alloc(&m->arena, (size_t)len + 1);
    if (!name) return err_nomem(e, (size_t)len, "the name of a tensor");
    rd_bytes(r, name, (size_t)len);
    for (int32_t i = 0; i < len; i++)
        if (name[i] <= ' ' || name[i] > '~') return damaged(f, "a name that is not of printable characters,", at, e);
    const int32_t calls = rd_i32(r), n = rd_i32(r);
    if (r->err || n < 1 || (uint64_t)n > rd_left(r) / sizeof(float)) return damaged(f, "the number of values of an entry", r->pos, e);
    float *v = arena_array(&m->arena, (size_t)n, sizeof *v);
    if (!v) return err_nomem(e, (size_t)n * sizeof *v, "the importance of columns");
    for (int32_t i = 0; i < n; i++) v[i] = rd_f32(r) / (calls > 0 ? (float)calls : 1);
    if (r->err) return damaged(f, "the values of an entry", r->pos, e);
    *it = (struct imatrix_entry){ name, v, (uint64_t)n };
    m->n++;
    return STENO_OK;
}

static int read_older(struct imatrix *m, const struct file *f, steno_error *e)
{
    enum { LEAST = 4 + 1 + 4 + 4 + 4 /* bytes of an entry */ };
    struct rd r;
    rd_init(&r, f, 0, f->size);
    const int32_t n = rd_i32(&r);
    if (r.err || n < 1 || (uint64_t)n > rd_left(&r) / LEAST) return damaged(f, "the number of entries", 0, e);
    m->entry = arena_array(&m->arena, (size_t)n, sizeof *m->entry);
    int rc = m->entry ? STENO_OK : err_nomem(e, (size_t)n * sizeof *m->entry, "the importance of columns");
    for (int32_t i = 0; i < n && !rc; i++) rc = read_entry(m, &r, f, e);
    if (rc || !rd_left(&r)) return rc;
    const int32_t chunks = rd_i32(&r), len = rd_left(&r) ? rd_i32(&r) : 0;
    if (r.err || len < 0 || len > TEXT_MAX_SZ || (uint64_t)len > rd_left(&r)) return damaged(f, "the name of a dataset", r.pos, e);
    char *s = arena_alloc(&m->arena, (size_t)len + 1);
    if (!s) return err_nomem(e, (size_t)len, "the name of a dataset");
    rd_bytes(&r, s, (size_t)len);
    m->chunks = chunks > 0 ? (uint32_t)chunks : 0;
    if (len) m->dataset = s;
    return rd_left(&r) ? damaged(f, "more than its count", r.pos, e) : STENO_OK;
}

/* ---- the GGUF form ----------------------------------------------------------------------------------------------------------------- */

static const char sums_end[] = ".in_sum2", counts_end[] = ".counts";

/* The length of the name without `end`; 0: the name does not end with it. */
static size_t stem(const char *name, const char *end)
{
    const size_t n = strlen(name), n_end = strlen(end);
    return n > n_end && !strcmp(name + n - n_end, end) ? n - n_end : 0;
}

static const struct tensor *beside(struct weights *w, const char *name, size_t n, const char *end)
{
    char other[GGUF_NAME_MAX + sizeof sums_end];
    memcpy(other, name, n);
    memcpy(other + n, end, strlen(end) + 1);
    return weights_find(w, other);
}

/* [experts, columns] sums of squares, and [experts, 1] counts. */
static int take_pair(struct imatrix *m, struct weights *w, const struct tensor *sums, size_t n_name, const struct file *f, steno_error *e)
{
    const struct tensor *counts = beside(w, sums->name, n_name, counts_end);
    const uint64_t n = sums->dim[0] * sums->dim[1] * sums->dim[2] * sums->dim[3];
    const uint64_t n_counts = counts ? counts->dim[0] * counts->dim[1] * counts->dim[2] * counts->dim[3] : 0;
    if (!n_counts || n % n_counts || sums->type != DT_F32 || counts->type != DT_F32)
        return err_set(e, STENO_EFORMAT, "%s: %s needs %.*s%s beside it, both f32, with a count for each run of its columns", f->name,
                       sums->name, (int)n_name, sums->name, counts_end);
    char *name = arena_strdup(&m->arena, sums->name, n_name);
    float *v = arena_array(&m->arena, (size_t)n, sizeof *v), *count = arena_array(&m->arena, (size_t)n_counts, sizeof *count);
    if (!name || !v || !count) return err_nomem(e, (size_t)n * sizeof *v, "the importance of columns");
    int rc = tensor_read_f32(sums, v, e);
    if (!rc) rc = tensor_read_f32(counts, count, e);
    for (uint64_t i = 0; i < n && !rc; i++) {
        const float times = roundf(count[i / (n / n_counts)]);
        v[i] = times > 0 ? v[i] / times : 1;
    }
    m->entry[m->n++] = (struct imatrix_entry){ name, v, n };
    return rc;
}

static int take_dataset(void *user, uint64_t i, const char *s, size_t n)
{
    struct imatrix *m = user;
    if (i) return STENO_OK;
    m->dataset = arena_strdup(&m->arena, s, n);
    return m->dataset ? STENO_OK : STENO_ENOMEM;
}

static int take_settings(struct imatrix *m, const struct meta *meta, const struct file *f, steno_error *e)
{
    const struct meta_list *l = meta_find_list(meta, "imatrix.datasets");
    int32_t chunks = 0;
    int rc = meta_int(meta, f->name, "imatrix.chunk_count", 0, INT32_MAX, 1, &chunks, e);
    m->chunks = (uint32_t)chunks;
    if (!rc && l) rc = meta_list_texts(l, TEXT_MAX_SZ, take_dataset, m, e);
    return rc == STENO_ENOMEM ? err_nomem(e, TEXT_MAX_SZ, "the name of a dataset") : rc;
}

static int read_gguf(struct imatrix *m, const struct file *f, steno_error *e)
{
    struct weights w = { .name = f->name };
    uint64_t n;
    arena_init(&w.arena);
    meta_init(&w.meta, &w.arena);
    int rc = gguf_read_file(&w, f, &w.meta, &n, e);
    if (!rc) rc = weights_index(&w, e);
    if (!rc) m->entry = arena_array(&m->arena, (size_t)w.n_tensors + 1, sizeof *m->entry);
    if (!rc && !m->entry) rc = err_nomem(e, w.n_tensors * sizeof *m->entry, "the importance of columns");
    for (uint32_t i = 0; i < w.n_tensors && !rc; i++) {
        const size_t sums = stem(w.tensor[i].name, sums_end), counts = stem(w.tensor[i].name, counts_end);
        if (sums) rc = take_pair(m, &w, &w.tensor[i], sums, f, e);
        else if (!counts || !beside(&w, w.tensor[i].name, counts, sums_end))
            rc = err_set(e, STENO_EFORMAT, "%s: tensor %s is not part of an importance file: is it a model?", f->name, w.tensor[i].name);
    }
    if (!rc) rc = take_settings(m, &w.meta, f, e);
    arena_free(&w.arena);
    return rc;
}

static const char *base_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\') name = c + 1;
    return name;
}

int imatrix_read(struct imatrix *m, const struct file *f, steno_error *e)
{
    uint8_t head[4] = { 0 };
    *m = (struct imatrix){ 0 };
    arena_init(&m->arena);
    m->name = arena_strdup(&m->arena, base_name(f->name), strlen(base_name(f->name)));
    if (!m->name) return err_nomem(e, strlen(f->name), "a path");
    int rc = f->size < sizeof head ? damaged(f, "the end", f->size, e) : file_read(f, 0, head, sizeof head, e);
    if (!rc) rc = memcmp(head, "GGUF", 4) ? read_older(m, f, e) : read_gguf(m, f, e);
    return rc ? rc : check_entries(m, f, e);
}

void imatrix_close(struct imatrix *m)
{
    arena_free(&m->arena);
    *m = (struct imatrix){ 0 };
}
