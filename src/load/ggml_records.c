/* steno: tensors of whisper.cpp's files. SPDX-License-Identifier: MIT */
#include "load/ggml_records.h"

#include <inttypes.h>
#include "load/ggml_type.h"

enum {
    MAX_NAME = 255,
    MAX_TENSORS = 1 << 16 /* the largest model has 1,259 */
};

int ggml_cut(struct ggml *g, const char *where)
{
    if (g->r.err != STENO_EFORMAT)
        return err_set(g->e, g->r.err, "%s: read failed at byte %" PRIu64 ", in %s", g->path, g->r.pos, where);
    return err_set(g->e, STENO_EFORMAT, "%s: the file ends at byte %" PRIu64 ", inside %s; is the copy complete?", g->path, g->r.end,
                   where);
}

static uint64_t row_of(const struct tensor *t) { return t->dim[t->n_dims - 1]; }

static int check_type(struct ggml *g, struct tensor *t, int32_t code)
{
    const enum dtype type = ggml_type_find(code);
    const enum dtype want = g->wanted(g->w, t, type);
    if (type == DT_COUNT)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the unknown type %d, want %s", g->path, t->name, code, dtype_name(want));
    if (type != want)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the type %s, want %s%s", g->path, t->name, dtype_name(type),
                       dtype_name(want), g->wanted_why);
    const uint64_t row = row_of(t);
    if (row % (uint64_t)dtype_block(want))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 ", no multiple of the %d of a %s block", g->path, t->name,
                       row, dtype_block(want), dtype_name(want));
    t->type = want;
    return STENO_OK;
}

/* Read the name of a record. Its bytes must be printable, because they are used in messages. */
static int read_name(struct ggml *g, struct tensor *t, uint32_t index, size_t n)
{
    char name[MAX_NAME];
    rd_bytes(&g->r, name, n);
    if (g->r.err) return ggml_cut(g, "a tensor's name");
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 ": its name has byte 0x%02x at %zu, want printable characters",
                           g->path, index, (unsigned)(uint8_t)name[i], i);
    t->name = arena_strdup(&g->w->arena, name, n);
    return t->name ? STENO_OK : err_nomem(g->e, n, "the name of a tensor");
}

static int read_record(struct ggml *g, struct tensor *t, uint32_t index)
{
    struct rd *r = &g->r;
    const uint64_t at = r->pos;
    const int32_t n_dims = rd_i32(r), name_len = rd_i32(r), code = rd_i32(r);
    if (r->err) return ggml_cut(g, "a tensor's record");
    if (n_dims < g->least_dims || n_dims > 4)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": n_dims is %d, want %d..4", g->path, index, at,
                       n_dims, g->least_dims);
    if (name_len < 1 || name_len > MAX_NAME)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": name length is %d, want 1..%d", g->path, index, at,
                       name_len, MAX_NAME);
    t->n_dims = n_dims ? n_dims : 1;
    for (int i = 0; i < 4; i++) t->dim[i] = 1;
    uint64_t n = 1;
    for (int i = n_dims - 1; i >= 0; i--) { /* the file stores the fastest first */
        const int32_t extent = rd_i32(r);
        if (!r->err && (extent < 1 || (uint64_t)extent > TENSOR_MAX / n))
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": extent %d is out of range", g->path, index, at,
                           extent);
        t->dim[i] = r->err ? 1 : (uint64_t)extent;
        n *= t->dim[i];
    }
    int rc = read_name(g, t, index, (size_t)name_len);
    if (!rc) rc = check_type(g, t, code);
    if (rc) return rc;
    const uint64_t row = row_of(t);
    t->file = &g->w->source.file;
    t->offset = r->pos;
    t->size = n / row * dtype_row_sz(t->type, (size_t)row);
    if (t->size > rd_left(r))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s needs bytes %" PRIu64 "+%" PRIu64 ", the file ends at %" PRIu64
                       "; is the copy complete?", g->path, t->name, t->offset, t->size, r->end);
    rd_skip(r, t->size);
    return STENO_OK;
}

int ggml_read_records(struct ggml *g)
{
    struct weights *w = g->w;
    while (rd_left(&g->r)) {
        if (w->n_tensors == MAX_TENSORS)
            return err_set(g->e, STENO_EFORMAT, "%s: more than %d tensors", g->path, MAX_TENSORS);
        struct tensor *t = weights_add(w, g->e);
        const int rc = t ? read_record(g, t, w->n_tensors - 1) : STENO_ENOMEM;
        if (rc) return rc;
    }
    return g->r.err ? ggml_cut(g, "the tensors") : STENO_OK;
}
