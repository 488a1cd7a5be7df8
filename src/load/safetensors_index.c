/* steno: safetensors models in several files. SPDX-License-Identifier: MIT
 *
 * model.safetensors.index.json maps tensors to files. Both directions are checked: a tensor that the index names must be in that file, and
 * a tensor of a file must be in the index. Each file is opened once, and only in the folder of the index. */
#include "load/safetensors.h"

#include <inttypes.h>
#include <string.h>
#include "base/buf.h"
#include "load/json_reader.h"
#include "load/kind.h"

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

static int index_match(const struct kind *k, const struct file *f)
{
    return k->form < KIND_OTHER && (k->readable || file_name_ends(f, ".index.json"));
}

static int index_read(struct weights *w, const struct file *index, steno_error *e)
{
    if (index->size > MAX_INDEX)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for an index", index->name, index->size, MAX_INDEX);
    struct arena scrap;
    struct json_reader j;
    struct buf list = { 0 };
    struct promises ps = { 0 };
    arena_init(&scrap);
    int rc = json_open(&j, index, 0, index->size, &scrap, e);
    if (!rc) rc = read_index(&j, &list, e);
    ps.p = (struct promise *)(void *)list.p;
    ps.n = (uint32_t)(list.len / sizeof *ps.p);
    if (!rc) rc = promises_index(&ps, index, &scrap, e);
    if (!rc) rc = read_shards(w, &ps, index, e);
    buf_free(&list);
    arena_free(&scrap);
    return rc;
}

const struct format format_safetensors_index = { "safetensors", index_match, index_read };
