/* steno: safetensors models in several files. SPDX-License-Identifier: MIT
 *
 * model.safetensors.index.json says which tensor lies in which file. It is taken at its word both ways: a tensor it names must be in that
 * file, and a tensor of a file must be named. Files are opened once each and only beside the index. */
#include "load/safetensors.h"

#include <inttypes.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "load/jrd.h"
#include "load/kind.h"

enum { MAX_INDEX = 64 << 20, MAX_SHARDS = 256, MAX_FILE_NAME = 200 };

static uint32_t *slot_of(const struct promises *ps, const char *name)
{
    for (uint32_t h = hash_text(name);; h++) {
        uint32_t *slot = &ps->hash[h & ps->mask];
        if (!*slot || !strcmp(ps->p[*slot - 1].name, name)) return slot;
    }
}

struct promise *promise_find(const struct promises *ps, const char *name)
{
    const uint32_t i = *slot_of(ps, name);
    return i ? &ps->p[i - 1] : NULL;
}

/* {"name": "file", ...}; both stay where they are in the text. */
static int read_map(struct jrd *j, struct buf *list, steno_error *e)
{
    if (jrd_next(j) != JRD_OBJECT) return jrd_fail(j, e, "weight_map is not an object");
    enum jrd_kind kind;
    while ((kind = jrd_next(j)) != JRD_CLOSE) {
        struct promise p = { .name = j->s };
        if (kind != JRD_KEY || jrd_next(j) != JRD_TEXT) return jrd_fail(j, e, "weight_map: want the name of a file for every tensor");
        if (j->len > MAX_FILE_NAME)
            return jrd_fail(j, e, "weight_map: tensor %.80s: its file's name has %zu bytes, want at most %d", p.name, j->len,
                            MAX_FILE_NAME);
        p.file = j->s;
        buf_add(list, &p, sizeof p);
        if (list->err) return err_nomem(e, list->len, "the index of a model");
    }
    return STENO_OK;
}

static int read_index(struct jrd *j, struct buf *list, steno_error *e)
{
    if (jrd_next(j) != JRD_OBJECT) return jrd_fail(j, e, "want an object with weight_map");
    int n_maps = 0, rc = STENO_OK;
    enum jrd_kind kind;
    while (!rc && (kind = jrd_next(j)) != JRD_CLOSE) {
        if (kind != JRD_KEY) return jrd_fail(j, e, "want a key");
        if (strcmp(j->s, "weight_map") != 0) jrd_skip(j, jrd_next(j));
        else if (n_maps++) return jrd_fail(j, e, "weight_map is written twice");
        else rc = read_map(j, list, e);
    }
    if (!rc && jrd_next(j) != JRD_EOF) rc = jrd_fail(j, e, "text follows the index");
    if (!rc && !n_maps) rc = jrd_fail(j, e, "no weight_map: this is no index of a sharded model; name the model's folder or its weights");
    return rc;
}

static int hash_names(struct promises *ps, const struct file *f, struct arena *a, steno_error *e)
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

/* Give equal file names one pointer and count them. */
static int count_files(const struct promises *ps, const char *file[MAX_SHARDS], uint32_t *n, const struct file *f, steno_error *e)
{
    *n = 0;
    for (uint32_t i = 0; i < ps->n; i++) {
        uint32_t k = *n;
        while (k && strcmp(file[k - 1], ps->p[i].file) != 0) k--; /* the latest is the likeliest */
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
        rc = place_find(&w->place, name[i], &w->arena, f, e);
        if (!rc) return err_set(e, STENO_EFORMAT, "%s: there is no file %s beside it, in which weights should lie", index->name, name[i]);
        if (rc < 0) return rc;
        w->n_shards = i + 1;
        rc = kind_check(f, e);
        if (!rc) rc = safetensors_read_file(w, f, ps, name[i], e);
        if (rc) return rc;
    }
    for (uint32_t i = 0; i < ps->n; i++)
        if (!ps->p[i].kept)
            return err_set(e, STENO_EFORMAT, "%s: tensor %.80s is not in %s, where the index puts it", index->name, ps->p[i].name,
                           ps->p[i].file);
    return STENO_OK;
}

int safetensors_read_index(struct weights *w, const struct file *index, steno_error *e)
{
    w->format = "safetensors";
    if (index->size > MAX_INDEX)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for an index", index->name, index->size, MAX_INDEX);
    struct arena scrap;
    struct jrd j;
    struct buf list = { 0 };
    struct promises ps = { 0 };
    arena_init(&scrap);
    int rc = jrd_open(&j, index, 0, index->size, &scrap, e);
    if (!rc) rc = read_index(&j, &list, e);
    ps.p = (struct promise *)(void *)list.p;
    ps.n = (uint32_t)(list.len / sizeof *ps.p);
    if (!rc) rc = hash_names(&ps, index, &scrap, e);
    if (!rc) rc = read_shards(w, &ps, index, e);
    buf_free(&list);
    arena_free(&scrap);
    return rc;
}
