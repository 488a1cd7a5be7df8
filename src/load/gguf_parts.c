/* steno: GGUF models in several files. SPDX-License-Identifier: MIT
 *
 * PREFIX-00001-of-00003.gguf has the keys and some tensors, the others have the rest. Each file gives its index and the number of files.
 * The first also gives the total number of tensors. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "load/gguf.h"
#include "load/kind.h"

enum { PARTS_MAX = 256,
       NAME_MAX_SZ = 200,
       TAIL_SZ = sizeof "-00001-of-00003.gguf" - 1 };

struct parts {
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
static void part_name(char out[NAME_MAX_SZ + 1], const struct parts *p, int32_t number)
{
    const char *first = base_name(p->w->source.file.name);
    snprintf(out, NAME_MAX_SZ + 1, "%.*s-%05d-of-%05d.gguf", (int)(strlen(first) - TAIL_SZ), first, (int)number, (int)p->count);
}

/* Check that the opened file is the first, and that its name allows finding the others. */
static int check_first(const struct parts *p, int32_t number)
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

static int read_part(struct parts *p, int32_t number)
{
    struct weights *w = p->w;
    struct file *f = &w->shard[w->n_shards];
    char name[NAME_MAX_SZ + 1];
    struct arena scrap;
    struct meta meta;
    uint64_t n;
    int32_t no = -1, count = 0;
    part_name(name, p, number + 1);
    int rc = model_source_find(&w->source, name, &w->arena, f, p->e);
    if (!rc) return err_set(p->e, STENO_EFORMAT, "%s: there is no file %s beside it, which has the rest of the model", w->name, name);
    if (rc < 0) return rc;
    w->n_shards++;
    arena_init(&scrap);
    meta_init(&meta, &scrap);
    struct kind k;
    rc = kind_of_file(&k, f, p->e);
    if (!rc && k.form != KIND_GGUF) rc = kind_refuse(&k, f->name, p->e);
    if (!rc) rc = gguf_read_file(w, f, &meta, &n, p->e);
    if (!rc) rc = meta_int(&meta, f->name, "split.no", 0, UINT16_MAX, 0, &no, p->e);
    if (!rc) rc = meta_int(&meta, f->name, "split.count", 0, UINT16_MAX, 0, &count, p->e);
    if (!rc && (no != number || count != p->count))
        rc = err_set(p->e, STENO_EFORMAT, "%s: its header has file %d of %d, want %d of %d", f->name, (int)no + 1, (int)count,
                     (int)number + 1, (int)p->count);
    if (!rc) p->n += n;
    arena_free(&scrap);
    return rc;
}

int gguf_read_parts(struct weights *w, uint64_t n_tensors, steno_error *e)
{
    struct parts p = { .w = w, .count = 1, .total = -1, .n = n_tensors, .e = e };
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
