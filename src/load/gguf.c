/* steno: reader of GGUF files. SPDX-License-Identifier: MIT
 *
 * A GGUF file contains the whole model: settings, vocabulary and weights. No neighbouring files are read. */
#include "load/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "load/file_probe.h"
#include "load/formats.h"
#include "load/ggml.h"

static int gguf_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_GGUF;
}

static int gguf_read(struct weights *w, const struct file *f, steno_error *e)
{
    uint64_t n;
    w->has_shape = 1;
    int rc = gguf_read_file(w, f, &w->meta, &n, e);
    if (!rc) rc = gguf_read_parts(w, n, e);
    if (!rc) rc = gguf_check_network(w, meta_text(&w->meta, "general.architecture", NULL), e);
    return rc ? rc : gguf_read_vocab(w, e);
}

const struct format format_gguf = { "GGUF", gguf_match, gguf_read };

/* ---- one file --------------------------------------------------------------------------------------------------------------------- */

/* Versions 2 and 3. Every check is made before a byte of a tensor is read. Sizes are multiplied without wrapping; offsets are inside the
 * file and do not overlap. Tensors of integers are checked like the others and left out of the index. */

enum { TENSORS_MAX = 1 << 20,
       HEADER_SZ = 24 };

struct gguf_span { uint64_t begin, size; uint32_t place; const char *name; }; /* place: index + 1, 0: left out */

static int read_header(struct gguf *g)
{
    rd_skip(&g->r, 4); /* magic: kind.c has checked it */
    const uint32_t version = rd_u32(&g->r);
    if (g->r.err) return gguf_cut(g, "the header");
    if (version && !(version & 0xffff))
        return err_set(g->e, STENO_EUNSUPPORTED, "%s: a GGUF file of a big-endian machine (version 0x%08" PRIx32
                       "); convert the model on a little-endian one", g->f->name, version);
    if (version == 1)
        return err_set(g->e, STENO_EUNSUPPORTED, "%s: GGUF version 1; 2 and 3 are read: convert the model again", g->f->name);
    if (version != 2 && version != 3)
        return err_set(g->e, STENO_EFORMAT, "%s: GGUF version %" PRIu32 "; 2 and 3 are read", g->f->name, version);
    g->n_tensors = rd_u64(&g->r);
    g->n_keys = rd_u64(&g->r);
    return g->r.err ? gguf_cut(g, "the header") : STENO_OK;
}

/* ---- records ------------------------------------------------------------------------------------------------------------------- */

static int read_name(struct gguf *g, uint64_t i, const char **name)
{
    char s[GGUF_NAME_MAX];
    const uint64_t at = g->r.pos, n = rd_u64(&g->r);
    if (g->r.err) return gguf_cut(g, "the records of tensors");
    if (n < 1 || n > GGUF_NAME_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu64 " of %" PRIu64 " at byte %" PRIu64 " has a name of %" PRIu64
                       " bytes, want 1..%d", g->f->name, i, g->n_tensors, at, n, GGUF_NAME_MAX);
    rd_bytes(&g->r, s, (size_t)n);
    if (g->r.err) return gguf_cut(g, "the name of a tensor");
    for (size_t k = 0; k < n; k++)
        if (s[k] <= ' ' || s[k] > '~')
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu64 " of %" PRIu64 " at byte %" PRIu64
                           ": its name has byte 0x%02x at %zu, want printable characters", g->f->name, i, g->n_tensors, at,
                           (unsigned)(uint8_t)s[k], k);
    *name = arena_strdup(&g->w->arena, s, (size_t)n);
    return *name ? STENO_OK : err_nomem(g->e, (size_t)n, "the name of a tensor");
}

/* Read the extents, which the file stores fastest first, into t->dim, slowest first. */
static int read_extents(struct gguf *g, struct tensor *t, uint64_t *count)
{
    const uint32_t n = rd_u32(&g->r);
    if (!g->r.err && (n < 1 || n > 4))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s: n_dims is %" PRIu32 ", want 1..4", g->f->name, t->name, n);
    *count = 1;
    for (int i = 0; i < 4; i++) t->dim[i] = 1;
    for (uint32_t i = n; i-- > 0 && !g->r.err;) {
        const uint64_t extent = rd_u64(&g->r);
        if (!g->r.err && (extent < 1 || extent > TENSOR_MAX / *count))
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %s: extent %" PRIu64 " is out of range", g->f->name, t->name, extent);
        t->dim[i] = g->r.err ? 1 : extent;
        *count *= t->dim[i];
    }
    t->n_dims = (int)n;
    return g->r.err ? gguf_cut(g, "the records of tensors") : STENO_OK;
}

/* @return 1: a type that is not used, the tensor is left out; 0, or a status */
static int read_type(struct gguf *g, struct tensor *t, uint64_t count)
{
    const int32_t code = rd_i32(&g->r);
    if (g->r.err) return gguf_cut(g, "the records of tensors");
    const struct ggml_other *other = ggml_other_find(code);
    t->type = ggml_type_find(code);
    t->form = ggml_form_find(code);
    if (t->form != FORM_STORED) t->type = form_as(t->form, NULL, 0);
    if (t->type == DT_COUNT && other && other->int_sz) {
        t->size = count * other->int_sz;
        return 1;
    }
    if (t->type == DT_COUNT && other)
        return err_set(g->e, STENO_EUNSUPPORTED,
                       "%s: tensor %s has the type %s, which is %s; quantise the model again, as q8_0 for example", g->f->name, t->name,
                       other->name, other->why);
    if (t->type == DT_COUNT)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the unknown type %" PRId32, g->f->name, t->name, code);
    const uint64_t row = t->dim[t->n_dims - 1];
    if (row % (uint64_t)dtype_block(t->type))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 ", no multiple of the %d of a %s block", g->f->name,
                       t->name, row, dtype_block(t->type), form_name(t->form, t->type));
    t->size = t->form == FORM_STORED ? count / row * dtype_row_sz(t->type, (size_t)row) : count / QBLOCK * form_block_sz(t->form);
    return STENO_OK;
}

static int read_record(struct gguf *g, uint64_t i, struct buf *spans)
{
    struct tensor t = { .file = g->f };
    uint64_t count = 1;
    int rc = read_name(g, i, &t.name);
    if (!rc) rc = read_extents(g, &t, &count);
    const int left_out = rc ? rc : read_type(g, &t, count);
    if (left_out < 0) return left_out;
    t.offset = rd_u64(&g->r);
    if (g->r.err) return gguf_cut(g, "the records of tensors");
    if (t.offset % g->align)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s begins at byte %" PRIu64 " of the data, no multiple of %" PRIu64, g->f->name,
                       t.name, t.offset, g->align);
    struct tensor *to = left_out ? &t : weights_add(g->w, g->e);
    if (!to) return STENO_ENOMEM;
    *to = t;
    buf_add(spans, &(struct gguf_span){ t.offset, t.size, left_out ? 0 : g->w->n_tensors, t.name }, sizeof(struct gguf_span));
    return spans->err ? err_nomem(g->e, spans->len, "the index of tensors") : STENO_OK;
}

/* ---- places -------------------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct gguf_span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* Check that every tensor has its own bytes inside the file. Tensors follow each other with only padding between them; no padding is needed
 * after the last. */
static int place_tensors(struct gguf *g, struct buf *spans)
{
    struct gguf_span *s = (struct gguf_span *)(void *)spans->p;
    const size_t n = spans->len / sizeof *s;
    const uint64_t size = g->f->size, start = (g->r.pos + g->align - 1) / g->align * g->align; /* pos is at most size */
    const uint64_t data = start < size ? size - start : 0;
    if (n) qsort(s, n, sizeof *s, by_place);
    uint64_t end = 0;
    for (size_t i = 0; i < n; end = s[i].begin + s[i].size, i++) {
        if (s[i].begin > data || s[i].size > data - s[i].begin)
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %s needs bytes %" PRIu64 "+%" PRIu64 " of the data, the file has %" PRIu64
                           "; is the copy complete?", g->f->name, s[i].name, s[i].begin, s[i].size, data);
        if (s[i].begin < end || s[i].begin - end >= g->align)
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %s begins at byte %" PRIu64 " of the data, but %s ends at %" PRIu64, g->f->name,
                           s[i].name, s[i].begin, i ? s[i - 1].name : "what is before it", end);
        if (s[i].place) g->w->tensor[s[i].place - 1].offset = start + s[i].begin;
    }
    return STENO_OK;
}

static int read_tensors(struct gguf *g)
{
    enum { LEAST = 24 /* bytes of a record */ };
    struct buf spans = { 0 };
    int rc = STENO_OK;
    if (g->n_tensors > rd_left(&g->r) / LEAST || g->n_tensors > TENSORS_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: the header counts %" PRIu64 " tensors, but %" PRIu64
                       " bytes follow, and %d tensors are the most", g->f->name, g->n_tensors, rd_left(&g->r), TENSORS_MAX);
    for (uint64_t i = 0; i < g->n_tensors && !rc; i++) rc = read_record(g, i, &spans);
    if (!rc) rc = place_tensors(g, &spans);
    buf_free(&spans);
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

int gguf_read_file(struct weights *w, const struct file *f, struct meta *meta, uint64_t *n_tensors, steno_error *e)
{
    struct gguf g = { .w = w, .f = f, .meta = meta, .e = e, .align = GGUF_ALIGN };
    arena_init(&g.scratch);
    rd_init(&g.r, f, 0, f->size);
    int rc = read_header(&g);
    /* check the count first: when it is out of range, the keys may be misread because of it */
    if (!rc && g.n_tensors > f->size / HEADER_SZ)
        rc = err_set(e, STENO_EFORMAT, "%s: the header counts %" PRIu64 " tensors, but the file has %" PRIu64 " bytes", f->name,
                     g.n_tensors, f->size);
    if (!rc) rc = gguf_read_keys(&g);
    if (!rc) rc = read_tensors(&g);
    arena_free(&g.scratch);
    *n_tensors = g.n_tensors;
    return rc;
}

/* ---- models in several files ------------------------------------------------------------------------------------------------------ */

/* PREFIX-00001-of-00003.gguf has the keys and some tensors, the others have the rest. Each file gives its index and the number of files.
 * The first also gives the total number of tensors. */

enum { PARTS_MAX = 256,
       NAME_MAX_SZ = 200,
       TAIL_SZ = sizeof "-00001-of-00003.gguf" - 1 };

struct gguf_parts {
    struct weights *w;
    int32_t count, total;
    uint64_t n;
    steno_error *e;
};

static const char *base_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\') name = c + 1;
    return name;
}

/* The name of file `number`, counted from 1. */
static void part_name(char out[NAME_MAX_SZ + 1], const struct gguf_parts *p, int32_t number)
{
    const char *first = base_name(p->w->source.file.name);
    snprintf(out, NAME_MAX_SZ + 1, "%.*s-%05d-of-%05d.gguf", (int)(strlen(first) - TAIL_SZ), first, (int)number, (int)p->count);
}

/* Check that the opened file is the first, and that its name allows finding the others. */
static int check_first(const struct gguf_parts *p, int32_t number)
{
    const struct file *f = &p->w->source.file;
    const char *name = base_name(f->name);
    char want[48];
    const size_t n = strlen(name);
    snprintf(want, sizeof want, "-%05d-of-%05d.gguf", (int)number + 1, (int)p->count);
    if (n <= TAIL_SZ || n > NAME_MAX_SZ || strcmp(name + n - TAIL_SZ, want) != 0)
        return err_set(p->e, STENO_EFORMAT, "%s: file %d of %d of a model, want a name that ends in %s, by which the others are found",
                       f->name, (int)number + 1, (int)p->count, want);
    if (number)
        return err_set(p->e, STENO_EFORMAT, "%s: file %d of %d of a model; name the first one, which ends in -00001-of-%05d.gguf", f->name,
                       (int)number + 1, (int)p->count, (int)p->count);
    return STENO_OK;
}

static int read_part(struct gguf_parts *p, int32_t number)
{
    struct weights *w = p->w;
    struct file *f = &w->shard[w->n_shards];
    char name[NAME_MAX_SZ + 1];
    struct arena scratch;
    struct meta meta;
    uint64_t n;
    int32_t no = -1, count = 0;
    part_name(name, p, number + 1);
    int rc = model_source_find(&w->source, name, &w->arena, f, p->e);
    if (!rc) return err_set(p->e, STENO_EFORMAT, "%s: there is no file %s beside it, which has the rest of the model", w->name, name);
    if (rc < 0) return rc;
    w->n_shards++;
    arena_init(&scratch);
    meta_init(&meta, &scratch);
    struct file_probe k;
    rc = probe_file(&k, f, p->e);
    if (!rc && k.form != PROBE_GGUF) rc = probe_refuse(&k, f->name, p->e);
    if (!rc) rc = gguf_read_file(w, f, &meta, &n, p->e);
    if (!rc) rc = meta_int(&meta, f->name, "split.no", 0, UINT16_MAX, 0, &no, p->e);
    if (!rc) rc = meta_int(&meta, f->name, "split.count", 0, UINT16_MAX, 0, &count, p->e);
    if (!rc && (no != number || count != p->count))
        rc = err_set(p->e, STENO_EFORMAT, "%s: its header has file %d of %d, want %d of %d", f->name, (int)no + 1, (int)count,
                     (int)number + 1, (int)p->count);
    if (!rc) p->n += n;
    arena_free(&scratch);
    return rc;
}

int gguf_read_parts(struct weights *w, uint64_t n_tensors, steno_error *e)
{
    struct gguf_parts p = { .w = w, .count = 1, .total = -1, .n = n_tensors, .e = e };
    int32_t number = 0;
    int rc = meta_int(&w->meta, w->name, "split.count", 0, PARTS_MAX, 1, &p.count, e);
    if (rc || p.count < 2) return rc;
    rc = meta_int(&w->meta, w->name, "split.no", 0, p.count - 1, 0, &number, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "split.tensors.count", 0, INT32_MAX, 1, &p.total, e);
    if (!rc) rc = check_first(&p, number);
    if (rc) return rc;
    w->shard = arena_array(&w->arena, (size_t)p.count - 1, sizeof *w->shard);
    if (!w->shard) return err_nomem(e, (size_t)p.count * sizeof *w->shard, "the files of a model");
    for (int32_t i = 1; i < p.count && !rc; i++) rc = read_part(&p, i);
    if (!rc && p.total >= 0 && (uint64_t)p.total != p.n)
        rc = err_set(e, STENO_EFORMAT, "%s: split.tensors.count is %d, but its %d files have %" PRIu64 " tensors", w->name, (int)p.total,
                     (int)p.count, p.n);
    return rc;
}
