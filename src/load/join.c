/* steno: models in two places. SPDX-License-Identifier: MIT */
#include "load/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "load/file_probe.h"
#include "load/gguf.h"

/* ---- keys ---------------------------------------------------------------------------------------------------------------------- */

/* Keys about the file itself are not joined. */
static int is_general(const char *key)
{
    return !strncmp(key, "general.", 8);
}

static int keys_join(struct meta *to, const struct meta *from, steno_error *e)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; i < from->n && !rc; i++)
        if (!is_general(from->entry[i].key) && !meta_find(to, from->entry[i].key)) rc = meta_add(to, &from->entry[i], e);
    for (uint32_t i = 0; i < from->n_lists && !rc; i++)
        if (!is_general(from->list[i].key) && !meta_find_list(to, from->list[i].key)) rc = meta_add_list(to, &from->list[i], e);
    return rc;
}

/* ---- a GGUF file --------------------------------------------------------------------------------------------------------------- */

static int is_of(const struct file *f, const char *architecture)
{
    static const char before[] = "a GGUF file of the architecture ";
    struct file_probe k;
    if (probe_file(&k, f, NULL) || k.form != PROBE_GGUF || strncmp(k.what, before, sizeof before - 1) != 0) return 0;
    return !strcmp(k.what + sizeof before - 1, architecture);
}

struct beside { const struct model_source *p; const char *architecture; char name[2][208]; int n, rc; };

static int look_at(void *user, const char *name)
{
    struct beside *l = user;
    struct arena scratch;
    struct file f;
    const size_t n = strlen(name);
    if (n < 5 || n >= sizeof l->name[0] || strcmp(name + n - 5, ".gguf") != 0) return 0;
    arena_init(&scratch);
    const int rc = model_source_find(l->p, name, &scratch, &f, NULL);
    if (rc > 0) {
        const int fits = is_of(&f, l->architecture);
        if (fits && l->n < 2) snprintf(l->name[l->n], sizeof l->name[0], "%s", name);
        l->n += fits;
        file_close(&f);
    }
    if (rc == STENO_ENOMEM) l->rc = rc;
    arena_free(&scratch);
    return l->rc || l->n > 1;
}

static int find_beside(struct file *f, struct weights *w, const char *architecture, steno_error *e)
{
    struct model_source quiet = w->source; /* looking for a match is not reading: the search is not reported to `opened` */
    struct beside l = { .p = &quiet, .architecture = architecture };
    quiet.opened = NULL;
    if (w->source.dir && os_folder_each(w->source.dir, look_at, &l) && !l.rc) l.n = 0;
    if (l.rc) return err_nomem(e, sizeof l, "a look at a folder");
    if (l.n > 1)
        return err_set(e, STENO_EFORMAT, "%s: two GGUF files of the architecture %s lie beside it, %.80s and %.80s: select its language "
                                         "model (llm)", w->name, architecture, l.name[0], l.name[1]);
    if (!l.n)
        return err_set(e, STENO_EFORMAT, "%s: its language model is missing: put the GGUF file of the architecture %s beside it, or give "
                                         "its path (llm)", w->name, architecture);
    const int rc = model_source_find(&w->source, l.name[0], &w->arena, f, e);
    return rc < 0 ? rc : rc ? STENO_OK : err_set(e, STENO_EIO, "%s has gone while it was looked at", l.name[0]);
}

static int file_at(struct file *f, struct weights *w, const char *path, steno_error *e)
{
    const char *name = arena_strdup(&w->arena, path, strlen(path));
    const int rc = name ? file_open(f, name, e) : err_nomem(e, strlen(path), "a path");
    if (!rc && w->source.opened) buf_add(w->source.opened, path, strlen(path) + 1);
    return rc ? rc : w->source.opened && w->source.opened->err ? err_nomem(e, strlen(path), "a path") : STENO_OK;
}

static int read_file(struct weights *w, const struct file *f, const char *architecture, steno_error *e)
{
    struct arena scratch;
    struct meta meta;
    uint64_t n;
    if (!is_of(f, architecture))
        return err_set(e, STENO_EFORMAT, "%s: not the language model of %s: want a GGUF file of the architecture %s", f->name, w->name,
                       architecture);
    w->joined = arena_strdup(&w->arena, f->name, strlen(f->name));
    if (!w->joined) return err_nomem(e, strlen(f->name), "a path");
    arena_init(&scratch);
    meta_init(&meta, &scratch);
    int rc = gguf_read_file(w, f, &meta, &n, e);
    if (!rc) rc = keys_join(&w->meta, &meta, e);
    arena_free(&scratch);
    const char *own = weights_speak_of(w, w->joined);
    if (!rc) rc = gguf_check_network(w, architecture, e);
    if (!rc) rc = gguf_read_vocab(w, e);
    weights_speak_of(w, own);
    return rc ? rc : weights_index(w, e);
}

const char *weights_speak_of(struct weights *w, const char *name)
{
    const char *was = w->name;
    if (name) w->name = name;
    return was;
}

int weights_join_gguf(struct weights *w, const char *architecture, const char *path, steno_error *e)
{
    struct file *shard = arena_array(&w->arena, (size_t)w->n_shards + 1, sizeof *shard);
    if (!shard) return err_nomem(e, sizeof *shard, "the files of a model");
    for (uint32_t i = 0; i < w->n_tensors; i++) /* tensors of an earlier shard refer to it by its index in the list */
        for (uint32_t k = 0; k < w->n_shards; k++)
            if (w->tensor[i].file == &w->shard[k]) w->tensor[i].file = &shard[k];
    if (w->n_shards) memcpy(shard, w->shard, w->n_shards * sizeof *shard);
    w->shard = shard;
    struct file *f = &shard[w->n_shards];
    *f = (struct file){ .fd = -1 };
    const int rc = path ? file_at(f, w, path, e) : find_beside(f, w, architecture, e);
    w->n_shards++; /* a file that is closed may be closed again */
    return rc ? rc : read_file(w, f, architecture, e);
}

/* ---- a folder ------------------------------------------------------------------------------------------------------------------ */

int weights_join_folder(struct weights *w, const char *name, steno_error *e)
{
    static const struct { const char *file, *prefix; } known[] = { { "config.json", NULL }, { "generation_config.json", "generation" } };
    struct arena scratch;
    struct meta meta;
    struct file f;
    struct model_source inner;
    int rc = model_source_inner(&w->source, name, &w->arena, &inner, e);
    if (rc) return rc;
    w->source.inner = arena_strdup(&w->arena, name, strlen(name));
    if (!w->source.inner) return err_nomem(e, strlen(name), "a path");
    arena_init(&scratch);
    meta_init(&meta, &scratch);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = (i ? model_source_find_extra : model_source_find)(&inner, known[i].file, &w->arena, &f, e);
        if (!rc && !i)
            rc = err_set(e, STENO_EFORMAT, "%s: there is no %s/%s: copy the folder of the language model there, with its config.json and "
                         "tokenizer.json", w->name, name, known[i].file);
        if (rc <= 0) continue;
        rc = meta_read_json(&meta, known[i].prefix, &f, e);
        file_close(&f);
    }
    meta.n_lists = 0; /* lists are not settings of a network, and their memory is temporary */
    if (!rc) rc = keys_join(&w->meta, &meta, e);
    arena_free(&scratch);
    return rc;
}
