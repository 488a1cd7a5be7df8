/* steno: tensors stored in an order other than that of their shape. SPDX-License-Identifier: MIT
 *
 * Such a tensor has a virtual file that holds no bytes: a read is served from the real file, and the numbers are put in order. Weights are
 * read a few rows at a time, and those may be scattered over the whole file. A band of many rows is therefore read at once and kept until
 * rows outside of it are needed. All tensors of a model share one band. */
#include "load/strided.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BAND_SZ = 4 << 20 /* bytes of rows that are read at once; at least one row */,
       TILE = 32,           /* runs that are transposed together */
       RUN = 512 };         /* numbers of a run in a tile */

struct strided {
    struct file file, of; /* the virtual file of readers; the file with the numbers */
    uint64_t offset;      /* of the first number in `of` */
    uint64_t dim[4], stride[4];
    size_t elem; /* bytes of a number */
    struct strided_band *band;
};

struct strided_band {
    pthread_mutex_t lock;
    const struct strided *of; /* NULL: the band is empty */
    uint64_t row, n;          /* rows [row, row + n) of the tensor */
    uint8_t *bytes;
    size_t cap;
};

/* A plane of two extents: the one whose numbers are contiguous in the file, and the one whose numbers are contiguous in the result. */
struct plane {
    uint64_t at;             /* byte offset of its first number in the file */
    uint64_t runs, run_step; /* a run of `len` numbers begins every run_step bytes of the file */
    uint64_t len, step;      /* in the result: bytes between numbers of a run; runs are one number apart */
};

/* dst[i * step + j] = src[j][i] */
static void put_tile(uint8_t *dst, uint64_t step, const uint8_t *src, size_t src_ld, size_t runs, size_t len, size_t elem)
{
    for (size_t i = 0; i < len; i++, dst += step)
        for (size_t j = 0; j < runs; j++) {
            if (elem == 2) memcpy(dst + j * 2, src + j * src_ld + i * 2, 2);
            else memcpy(dst + j * 4, src + j * src_ld + i * 4, 4);
        }
}

static int read_plane(const struct strided *t, const struct plane *p, uint8_t *dst, steno_error *e)
{
    uint8_t tile[TILE][RUN * sizeof(float)];
    for (uint64_t run = 0; run < p->runs; run += TILE)
        for (uint64_t at = 0; at < p->len; at += RUN) {
            const size_t runs = p->runs - run < TILE ? (size_t)(p->runs - run) : TILE;
            const size_t len = p->len - at < RUN ? (size_t)(p->len - at) : RUN;
            for (size_t j = 0; j < runs; j++) {
                const int rc = file_read(&t->of, p->at + (run + j) * p->run_step + at * t->elem, tile[j], len * t->elem, e);
                if (rc) return rc;
            }
            put_tile(dst + at * p->step + run * t->elem, p->step, tile[0], sizeof tile[0], runs, len, t->elem);
        }
    return STENO_OK;
}

/* The extent whose numbers are contiguous in the file. */
static int side_by_side(const struct strided *t)
{
    for (int i = 0; i < 4; i++)
        if (t->dim[i] > 1 && t->stride[i] == 1) return i;
    return 3;
}

/* Read rows [row, row + n), in order. */
static int read_rows(const struct strided *t, uint64_t row, uint64_t n, uint8_t *dst, steno_error *e)
{
    const uint64_t dim[4] = { n, t->dim[1], t->dim[2], t->dim[3] };
    uint64_t step[4] = { 0, 0, 0, t->elem }, plane[4];
    for (int i = 3; i-- > 0;) step[i] = step[i + 1] * dim[i + 1];
    int last = 3;
    while (last && dim[last] == 1) last--; /* the result is contiguous along it */
    const int run = side_by_side(t);
    for (int i = 0; i < 4; i++) plane[i] = i == run || i == last ? 1 : dim[i];
    const struct plane all = { .runs = run == last ? 1 : dim[last], .run_step = t->stride[last] * t->elem, .len = dim[run],
                               .step = step[run] };
    for (uint64_t i = 0; i < plane[0]; i++)
        for (uint64_t j = 0; j < plane[1]; j++)
            for (uint64_t k = 0; k < plane[2]; k++)
                for (uint64_t l = 0; l < plane[3]; l++) {
                    struct plane p = all;
                    p.at = t->offset + ((row + i) * t->stride[0] + j * t->stride[1] + k * t->stride[2] + l * t->stride[3]) * t->elem;
                    const int rc = read_plane(t, &p, dst + i * step[0] + j * step[1] + k * step[2] + l * step[3], e);
                    if (rc) return rc;
                }
    return STENO_OK;
}

/* Load the band that has `row` of this tensor, unless it is loaded. */
static int band_of(const struct strided *t, uint64_t row, uint64_t row_sz, steno_error *e)
{
    struct strided_band *b = t->band;
    if (b->of == t && row >= b->row && row - b->row < b->n) return STENO_OK;
    uint64_t n = row_sz < BAND_SZ ? BAND_SZ / row_sz : 1;
    row -= row % n;
    if (n > t->dim[0] - row) n = t->dim[0] - row;
    b->of = NULL;
    if (n * row_sz > b->cap) {
        free(b->bytes);
        b->bytes = malloc(n * row_sz);
        b->cap = b->bytes ? n * row_sz : 0;
        if (!b->bytes) return err_nomem(e, n * row_sz, "rows of a tensor");
    }
    const int rc = read_rows(t, row, n, b->bytes, e);
    if (rc) return rc;
    b->row = row;
    b->n = n;
    b->of = t;
    return STENO_OK;
}

static int strided_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct strided *t = user;
    struct strided_band *b = t->band;
    const uint64_t row_sz = t->dim[1] * t->dim[2] * t->dim[3] * t->elem;
    uint8_t *out = dst;
    int rc = STENO_OK;
    pthread_mutex_lock(&b->lock);
    while (n && !rc) {
        rc = band_of(t, off / row_sz, row_sz, e);
        if (rc) break;
        const uint64_t at = off - b->row * row_sz, left = b->n * row_sz - at;
        const size_t now = n < left ? n : (size_t)left;
        memcpy(out, b->bytes + at, now);
        out += now;
        off += now;
        n -= now;
    }
    pthread_mutex_unlock(&b->lock);
    return rc;
}

int strided_is_dense(const uint64_t dim[4], const uint64_t stride[4])
{
    int done[4] = { 0 };
    for (uint64_t dense = 1;;) { /* from the extent with contiguous numbers to the one that contains all others */
        int next = -1, left = 0;
        for (int i = 0; i < 4; i++) {
            if (done[i] || dim[i] == 1) continue;
            left = 1;
            if (stride[i] == dense) next = i;
        }
        if (next < 0) return !left;
        done[next] = 1;
        dense *= dim[next];
    }
}

int tensor_stride(struct tensor *t, struct weights *w, const uint64_t dim[4], const uint64_t stride[4], steno_error *e)
{
    struct strided *it = arena_alloc(&w->arena, sizeof *it);
    if (!it) return err_nomem(e, sizeof *it, "a tensor's order");
    if (!w->band) {
        w->band = calloc(1, sizeof *w->band);
        if (!w->band) return err_nomem(e, sizeof *w->band, "a tensor's order");
        pthread_mutex_init(&w->band->lock, NULL);
    }
    *it = (struct strided){ .of = *t->file, .offset = t->offset, .elem = dtype_row_sz(t->type, 1), .band = w->band };
    it->file = (struct file){ .name = t->file->name, .size = t->size, .fd = -1, .read = strided_read, .user = it };
    for (int i = 0; i < 4; i++) {
        t->dim[i] = it->dim[i] = dim[i];
        it->stride[i] = stride[i];
    }
    t->file = &it->file;
    t->offset = 0;
    return STENO_OK;
}

void strided_close(struct strided_band *band)
{
    if (!band) return;
    pthread_mutex_destroy(&band->lock);
    free(band->bytes);
    free(band);
}
