/* steno: reader of safetensors files. SPDX-License-Identifier: MIT
 *
 * Eight bytes of length, a JSON object with each tensor's type, shape and offsets, then the data. The data must reach to the end of the
 * file without gaps and overlaps. Integers and truth values (position ids, masks) are checked like the others and do not become tensors
 * (array.h), nor do tensors without elements. Other number types are refused by name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "load/array.h"
#include "load/file_probe.h"
#include "load/flat.h"
#include "load/formats.h"
#include "load/json.h"

/* ---- the tensor list of an index -------------------------------------------------------------------------------------------------- */

struct promise { const char *name, *file; int kept; };

struct promises {
    struct promise *p;   /* [n] */
    uint32_t n;
    uint32_t *hash;      /* [mask + 1] index + 1 of a promise by name, 0: free */
    uint32_t mask;
};

static uint32_t *slot_of(const struct promises *ps, const char *name)
{
    for (uint32_t h = hash_text(name);; h++) {
        uint32_t *slot = &ps->hash[h & ps->mask];
        if (!*slot || !strcmp(ps->p[*slot - 1].name, name)) return slot;
    }
}

static struct promise *promise_find(const struct promises *ps, const char *name)
{
    const uint32_t i = *slot_of(ps, name);
    return i ? &ps->p[i - 1] : NULL;
}

/* Hashes the names of p[n]; memory from the arena. STENO_EFORMAT for a duplicate name, in file f. */
static int promises_index(struct promises *ps, const struct file *f, struct arena *a, steno_error *e)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)ps->n) n *= 2;
    ps->hash = arena_array(a, n, sizeof *ps->hash);
    if (!ps->hash) return err_nomem(e, n * sizeof *ps->hash, "the index of a model");
    ps->mask = n - 1;
    for (uint32_t i = 0; i < ps->n; i++) {
        uint32_t *slot = slot_of(ps, ps->p[i].name);
        if (*slot) return err_set(e, STENO_EFORMAT, "%s: weight_map names tensor %.80s twice", f->name, ps->p[i].name);
        *slot = i + 1;
    }
    return STENO_OK;
}

/* ---- one file --------------------------------------------------------------------------------------------------------------------- */

enum { MAX_HEADER = 100000000, MAX_NAME = 255 };

struct st_span { uint64_t begin, end; const char *name; };

struct st {
    struct weights *w;
    const struct file *f;
    const struct promises *ps;
    const char *shard;
    struct json_reader j;
    struct buf spans;
    uint64_t data;        /* byte offset of the data in the file */
    steno_error *e;
};

/* One entry of the header. */
struct entry {
    const char *name;
    const struct array_type *type;
    uint64_t dim[ARRAY_DIMS], begin, end;
    int n_dims, has_type, has_shape, has_offsets;
};

/* ---- one entry --------------------------------------------------------------------------------------------------------------- */

static int read_type(struct st *st, struct entry *t)
{
    struct json_reader *j = &st->j;
    if (json_next(j) != JSON_TEXT) return json_fail(j, st->e, "tensor %s: dtype is not a text", t->name);
    t->type = array_type_find(j->s);
    if (!t->type) return json_fail(j, st->e, "tensor %s has the unknown type '%.40s', want F32, F16 or BF16", t->name, j->s);
    if (t->type->use == ARRAY_REFUSED)
        return err_set(st->e, STENO_EUNSUPPORTED, "%s: tensor %s has the type %s; F32, F16 and BF16 are read", st->f->name, t->name,
                       t->type->name);
    return STENO_OK;
}

/* Read a list of at most `max` whole numbers. */
static int read_list(struct st *st, const struct entry *t, const char *what, uint64_t *out, int max, int *n)
{
    struct json_reader *j = &st->j;
    if (json_next(j) != JSON_ARRAY) return json_fail(j, st->e, "tensor %s: %s is not a list", t->name, what);
    enum json_event kind;
    for (*n = 0; (kind = json_next(j)) != JSON_CLOSE; ++*n) {
        if (kind != JSON_INT || j->i < 0)
            return json_fail(j, st->e, "tensor %s: %s has a member that is not a whole number", t->name, what);
        if (*n == max) return json_fail(j, st->e, "tensor %s: %s has more than %d members", t->name, what, max);
        out[*n] = (uint64_t)j->i;
    }
    return STENO_OK;
}

static int read_field(struct st *st, struct entry *t)
{
    struct json_reader *j = &st->j;
    const char *key = j->s;
    int n = 0, rc, *has = NULL;
    if (!strcmp(key, "dtype")) has = &t->has_type;
    else if (!strcmp(key, "shape")) has = &t->has_shape;
    else if (!strcmp(key, "data_offsets")) has = &t->has_offsets;
    if (!has) return json_fail(j, st->e, "tensor %s has the unknown field '%.40s'", t->name, key);
    if ((*has)++) return json_fail(j, st->e, "tensor %s: %s is written twice", t->name, key);
    if (has == &t->has_type) return read_type(st, t);
    if (has == &t->has_shape) return read_list(st, t, "shape", t->dim, ARRAY_DIMS, &t->n_dims);
    uint64_t at[2] = { 0, 0 };
    rc = read_list(st, t, "data_offsets", at, 2, &n);
    if (!rc && n != 2) rc = json_fail(j, st->e, "tensor %s: data_offsets has %d members, want 2", t->name, n);
    t->begin = at[0];
    t->end = at[1];
    return rc;
}

/* The size by type and shape must equal the size by offsets, inside the data. */
static int check_size(struct st *st, const struct entry *t, uint64_t *count)
{
    const uint64_t data = st->f->size - st->data;
    uint64_t n;
    if (!array_count(t->dim, t->n_dims, &n)) return json_fail(&st->j, st->e, "tensor %s: its shape is out of range", t->name);
    if (t->begin > t->end)
        return json_fail(&st->j, st->e, "tensor %s: data_offsets begin at %" PRIu64 ", behind their end %" PRIu64, t->name, t->begin,
                         t->end);
    if (t->end > data)
        return err_set(st->e, STENO_EFORMAT, "%s: tensor %s needs bytes %" PRIu64 "..%" PRIu64 " of the data, the file has %" PRIu64
                       "; is the copy complete?", st->f->name, t->name, t->begin, t->end, data);
    if (t->end - t->begin != n * t->type->bytes)
        return json_fail(&st->j, st->e, "tensor %s: its shape and type (%s) take %" PRIu64 " bytes, data_offsets give it %" PRIu64, t->name,
                         t->type->name, n * t->type->bytes, t->end - t->begin);
    *count = n;
    return STENO_OK;
}

static int check_promise(struct st *st, const char *name)
{
    if (!st->ps) return STENO_OK;
    struct promise *p = promise_find(st->ps, name);
    if (!p) return err_set(st->e, STENO_EFORMAT, "%s: tensor %s is not in the index %s", st->f->name, name, st->w->source.file.name);
    if (strcmp(p->file, st->shard) != 0)
        return err_set(st->e, STENO_EFORMAT, "%s: tensor %s lies here, the index puts it into %s", st->f->name, name, p->file);
    p->kept = 1;
    return STENO_OK;
}

static int add_entry(struct st *st, const struct entry *t)
{
    uint64_t n = 0;
    int rc = check_size(st, t, &n);
    if (!rc) rc = check_promise(st, t->name);
    if (rc) return rc;
    buf_add(&st->spans, &(struct st_span) { t->begin, t->end, t->name }, sizeof(struct st_span));
    if (st->spans.err) return err_nomem(st->e, st->spans.len, "the index of tensors");
    struct array a = { t->name, t->type, { 0 }, t->n_dims, st->f, st->data + t->begin, n, 0 };
    memcpy(a.dim, t->dim, sizeof a.dim);
    return weights_add_array(st->w, &a, st->e);
}

static int read_entry(struct st *st)
{
    struct json_reader *j = &st->j;
    struct entry t = { .name = j->s };
    if (!j->len || j->len > MAX_NAME)
        return json_fail(j, st->e, "a tensor's name has %zu bytes, want 1..%d", j->len, MAX_NAME);
    for (const char *c = t.name; *c; c++)
        if (*c <= ' ' || *c > '~') return json_fail(j, st->e, "tensor '%.40s': its name is not of printable characters", t.name);
    if (json_next(j) != JSON_OBJECT) return json_fail(j, st->e, "tensor %s: want an object", t.name);
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        const int rc = kind == JSON_KEY ? read_field(st, &t) : json_fail(j, st->e, "tensor %s: want a field", t.name);
        if (rc) return rc;
    }
    const char *missing = !t.has_type ? "dtype" : !t.has_shape ? "shape" : !t.has_offsets ? "data_offsets" : NULL;
    return missing ? json_fail(j, st->e, "tensor %s: %s is missing", t.name, missing) : add_entry(st, &t);
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

/* "__metadata__": texts by name, or null for none (MLX). Only the first shard's are kept. */
static int read_metadata(struct st *st, struct flat *flat)
{
    struct json_reader *j = &st->j;
    enum json_event kind = json_next(j);
    if (kind == JSON_NULL) return STENO_OK;
    if (kind != JSON_OBJECT) return json_fail(j, st->e, "__metadata__ is not an object");
    int rc = flat_open(flat, 0, st->e);
    while (!rc && (kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, st->e, "__metadata__: want a key");
        rc = flat_key(flat, j->s, j->len, st->e);
        if (!rc && json_next(j) != JSON_TEXT) return json_fail(j, st->e, "__metadata__: want texts only");
        if (!rc) rc = flat_value(flat, (struct meta_entry){ .kind = META_TEXT, .text = j->s }, st->e);
    }
    return rc;
}

static int read_header(struct st *st)
{
    struct json_reader *j = &st->j;
    struct meta rest = { .arena = st->w->meta.arena }; /* of later shards */
    struct flat flat;
    flat_begin(&flat, st->w->n_shards > 1 ? &rest : &st->w->meta, "metadata", st->f->name);
    int rc = json_next(j) == JSON_OBJECT ? STENO_OK : json_fail(j, st->e, "want an object of tensors");
    enum json_event kind;
    int n_metadata = 0;
    while (!rc && (kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) rc = json_fail(j, st->e, "want the name of a tensor");
        else if (strcmp(j->s, "__metadata__") != 0) rc = read_entry(st);
        else if (n_metadata++) rc = json_fail(j, st->e, "__metadata__ is written twice");
        else rc = read_metadata(st, &flat);
    }
    flat_end(&flat);
    if (!rc && json_next(j) != JSON_EOF) rc = json_fail(j, st->e, "text follows the header's object");
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct st_span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Check that every byte of the data belongs to one tensor. */
static int check_cover(struct st *st)
{
    struct st_span *span = (struct st_span *)(void *)st->spans.p;
    const size_t n = st->spans.len / sizeof *span;
    const uint64_t data = st->f->size - st->data;
    if (n) qsort(span, n, sizeof *span, by_place);
    uint64_t at = 0;
    for (size_t i = 0; i < n; at = span[i++].end) {
        if (span[i].begin == at) continue;
        if (i && !strcmp(span[i].name, span[i - 1].name))
            return err_set(st->e, STENO_EFORMAT, "%s: tensor %s is written twice", st->f->name, span[i].name);
        return err_set(st->e, STENO_EFORMAT, "%s: tensor %s begins at byte %" PRIu64 " of the data, %s at %" PRIu64, st->f->name,
                       span[i].name, span[i].begin, i ? "the one before ends" : "want the first", at);
    }
    if (at == data) return STENO_OK;
    return err_set(st->e, STENO_EFORMAT, "%s: the tensors end at byte %" PRIu64 " of the data, the file at %" PRIu64, st->f->name, at,
                   data);
}

static int header_size(const struct file *f, uint64_t *n, steno_error *e)
{
    uint8_t b[8];
    *n = 0;
    if (f->size < sizeof b)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes hold no header of a safetensors file", f->name, f->size);
    const int rc = file_read(f, 0, b, sizeof b, e);
    if (rc) return rc;
    for (int i = 7; i >= 0; i--) *n = *n << 8 | b[i];
    if (*n < 2 || *n > MAX_HEADER)
        return err_set(e, STENO_EFORMAT, "%s: the header's length at byte 0 is %" PRIu64 ", want 2..%d", f->name, *n, MAX_HEADER);
    if (*n > f->size - sizeof b)
        return err_set(e, STENO_EFORMAT, "%s: the header's length at byte 0 is %" PRIu64 ", but %" PRIu64
                       " bytes follow; is the copy complete?", f->name, *n, f->size - sizeof b);
    return STENO_OK;
}

/* Reads one file into the index. Its tensors must be those that `ps` lists for the file called `shard`. ps may be NULL. */
static int safetensors_read_file(struct weights *w, const struct file *f, const struct promises *ps, const char *shard, steno_error *e)
{
    struct st st = { .w = w, .f = f, .ps = ps, .shard = shard, .e = e };
    struct arena scratch;
    uint64_t n;
    int rc = header_size(f, &n, e);
    if (rc) return rc;
    st.data = 8 + n;
    arena_init(&scratch);
    rc = json_open(&st.j, f, 8, n, &scratch, e);
    if (!rc && st.j.text[0] != '{')
        rc = json_fail(&st.j, e, "the header begins with byte 0x%02x, want '{'", (unsigned)(uint8_t)st.j.text[0]);
    if (!rc) rc = read_header(&st);
    if (!rc) rc = check_cover(&st);
    buf_free(&st.spans);
    arena_free(&scratch);
    return rc;
}

/* A damaged file matches by its name, so that the reader reports what is wrong with it. */
static int safetensors_match(const struct file_probe *k, const struct file *f)
{
    return k->form == PROBE_SAFETENSORS || (k->form < PROBE_TEXT && file_name_ends(f, ".safetensors"));
}

static int safetensors_read(struct weights *w, const struct file *f, steno_error *e)
{
    return safetensors_read_file(w, f, NULL, NULL, e);
}

const struct format format_safetensors = { "safetensors", safetensors_match, safetensors_read };

/* ---- models in several files ------------------------------------------------------------------------------------------------------ */

/* model.safetensors.index.json maps tensors to files. Both directions are checked: a tensor that the index names must be in that file,
 * and a tensor of a file must be in the index. Each file is opened once, and only in the folder of the index. */

enum { MAX_INDEX = 64 << 20, MAX_SHARDS = 256, MAX_FILE_NAME = 200 };

/* Read {"name": "file", ...}. The strings stay in the text. */
static int read_map(struct json_reader *j, struct buf *list, steno_error *e)
{
    if (json_next(j) != JSON_OBJECT) return json_fail(j, e, "weight_map is not an object");
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        struct promise p = { .name = j->s };
        if (kind != JSON_KEY || json_next(j) != JSON_TEXT) return json_fail(j, e, "weight_map: want the name of a file for every tensor");
        if (j->len > MAX_FILE_NAME)
            return json_fail(j, e, "weight_map: tensor %.80s: its file's name has %zu bytes, want at most %d", p.name, j->len,
                             MAX_FILE_NAME);
        p.file = j->s;
        buf_add(list, &p, sizeof p);
        if (list->err) return err_nomem(e, list->len, "the index of a model");
    }
    return STENO_OK;
}

static int read_index(struct json_reader *j, struct buf *list, steno_error *e)
{
    if (json_next(j) != JSON_OBJECT) return json_fail(j, e, "want an object with weight_map");
    int n_maps = 0, rc = STENO_OK;
    enum json_event kind;
    while (!rc && (kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, e, "want a key");
        if (strcmp(j->s, "weight_map") != 0) json_skip(j, json_next(j));
        else if (n_maps++) return json_fail(j, e, "weight_map is written twice");
        else rc = read_map(j, list, e);
    }
    if (!rc && json_next(j) != JSON_EOF) rc = json_fail(j, e, "text follows the index");
    if (!rc && !n_maps)
        rc = json_fail(j, e, "no weight_map: this is not the index of a sharded model; name the model's folder or its weights");
    return rc;
}

/* Give equal file names one pointer, and count the files. */
static int count_files(const struct promises *ps, const char *file[MAX_SHARDS], uint32_t *n, const struct file *f, steno_error *e)
{
    *n = 0;
    for (uint32_t i = 0; i < ps->n; i++) {
        uint32_t k = *n;
        while (k && strcmp(file[k - 1], ps->p[i].file) != 0) k--; /* the latest is the most likely */
        if (k) continue;
        if (*n == MAX_SHARDS) return err_set(e, STENO_EFORMAT, "%s: weight_map names more than %d files", f->name, MAX_SHARDS);
        file[(*n)++] = ps->p[i].file;
    }
    return *n ? STENO_OK : err_set(e, STENO_EFORMAT, "%s: weight_map is empty", f->name);
}

static int read_shards(struct weights *w, const struct promises *ps, const struct file *index, steno_error *e)
{
    const char *name[MAX_SHARDS];
    uint32_t n;
    int rc = count_files(ps, name, &n, index, e);
    if (rc) return rc;
    w->shard = arena_array(&w->arena, n, sizeof *w->shard);
    if (!w->shard) return err_nomem(e, n * sizeof *w->shard, "the files of a model");
    for (uint32_t i = 0; i < n; i++) {
        struct file *f = &w->shard[i];
        rc = model_source_find(&w->source, name[i], &w->arena, f, e);
        if (!rc) return err_set(e, STENO_EFORMAT, "%s: there is no file %s beside it, in which weights should lie", index->name, name[i]);
        if (rc < 0) return rc;
        w->n_shards = i + 1;
        rc = probe_check(f, e);
        if (!rc) rc = safetensors_read_file(w, f, ps, name[i], e);
        if (rc) return rc;
    }
    for (uint32_t i = 0; i < ps->n; i++)
        if (!ps->p[i].kept)
            return err_set(e, STENO_EFORMAT, "%s: tensor %.80s is not in %s, where the index puts it", index->name, ps->p[i].name,
                           ps->p[i].file);
    return STENO_OK;
}

static int index_match(const struct file_probe *k, const struct file *f)
{
    return k->form < PROBE_OTHER && (k->readable || file_name_ends(f, ".index.json"));
}

static int index_read(struct weights *w, const struct file *index, steno_error *e)
{
    if (index->size > MAX_INDEX)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for an index", index->name, index->size, MAX_INDEX);
    struct arena scratch;
    struct json_reader j;
    struct buf list = { 0 };
    struct promises ps = { 0 };
    arena_init(&scratch);
    int rc = json_open(&j, index, 0, index->size, &scratch, e);
    if (!rc) rc = read_index(&j, &list, e);
    ps.p = (struct promise *)(void *)list.p;
    ps.n = (uint32_t)(list.len / sizeof *ps.p);
    if (!rc) rc = promises_index(&ps, index, &scratch, e);
    if (!rc) rc = read_shards(w, &ps, index, e);
    buf_free(&list);
    arena_free(&scratch);
    return rc;
}

const struct format format_safetensors_index = { "safetensors", index_match, index_read };
