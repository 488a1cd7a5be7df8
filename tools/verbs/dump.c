/* steno: intermediate results of a network, in files. SPDX-License-Identifier: MIT */
#include "verbs/dump.h"
#include "atomic_file.h"
#include "cli/npy_file.h"
#include "input/sound.h"
#include "out_name.h"
#include "out_names.h"
#include "path.h"
#include "writers.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_there(const char *path)
{
    message("%s: cannot write: it exists, and --dump replaces nothing; name another folder", path);
    return EXIT_OUTPUT;
}

static int by_stem(const void *key, const void *entry)
{
    return strcmp(key, ((const struct out_names_entry *)entry)->path);
}

/* Does the file's name look like a dump of one of the inputs: STEM. ... .npy? */
static int is_dumped(const struct out_names *stems, const char *name)
{
    char stem[NAME_MAX + 1];
    const size_t n = strlen(name);
    if (n < 5 || n > NAME_MAX || strcmp(name + n - 4, ".npy") != 0) return 0;
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        memcpy(stem, name, (size_t)(dot - name));
        stem[dot - name] = '\0';
        if (bsearch(stem, stems->entry, stems->n, sizeof *stems->entry, by_stem)) return 1;
    }
    return 0;
}

static int look_into(const struct dump *d, const struct out_names *stems)
{
    DIR *dir = opendir(d->dir);
    int code = EXIT_OK;
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e && code == EXIT_OK; e = readdir(dir)) {
        char *path = is_dumped(stems, e->d_name) ? path_join(d->dir, e->d_name) : NULL;
        if (path) code = is_there(path);
        free(path);
    }
    if (dir) closedir(dir);
    return code;
}

int dump_open(struct dump *d)
{
    static const struct out_naming stem = { .template = "{stem}", .formats = 1u << WRITER_TXT };
    struct out_names stems;
    int code = EXIT_OK;
    if (!d->dir) return EXIT_OK;
    switch (out_names_list(&stems, &stem, d->inputs, d->n_inputs)) {
    case OUT_NAMES_NO_MEMORY: code = message_model_error(NULL, STENO_ENOMEM, "out of memory for the names of inputs"); break;
    case OUT_NAMES_TWO_INPUTS:
        code = message_usage("--dump: two inputs would be written as %s/%s...: %s and %s; give each a run and a folder of its own", d->dir,
                             stems.bad, sound_name(d->inputs[stems.first]), sound_name(d->inputs[stems.second]));
        break;
    default: code = look_into(d, &stems);
    }
    out_names_free(&stems);
    if (code != EXIT_OK || atomic_file_prepare(d->dir) == 0) return code;
    const int why = errno;
    message("%s: cannot write there: %s", d->dir, strerror(why));
    return why == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

/* Find or add the table of such rows. @return NULL if out of memory */
static struct dump_table *table_of(struct dump *d, int slot, const steno_rows *r)
{
    for (int i = 0; i < d->n; i++)
        if (d->table[i].slot == slot && d->table[i].at_ms == r->at_ms && strcmp(d->table[i].name, r->name) == 0) return &d->table[i];
    struct dump_table *more = realloc(d->table, ((size_t)d->n + 1) * sizeof *more);
    if (!more) return NULL;
    d->table = more;
    struct dump_table *t = &more[d->n++];
    *t = (struct dump_table){ .slot = slot, .at_ms = r->at_ms, .width = r->width };
    snprintf(t->name, sizeof t->name, "%s", r->name);
    return t;
}

void dump_add(struct dump *d, int slot, const steno_rows *r)
{
    struct dump_table *t = d->dir ? table_of(d, slot, r) : NULL;
    d->failed |= d->dir && !t;
    if (!t) return;
    struct sink to = sink_to_memory(&t->bytes);
    for (int32_t i = 0; i < r->n_rows; i++)
        sink_bytes(&to, (const char *)(const void *)(r->rows + i * r->stride), (size_t)r->width * sizeof *r->rows);
    t->rows += r->n_rows;
    d->failed |= to.failed;
}

/* Rows of width 1 are written as a list. */
static int write_one(const struct dump *d, const char *stem, const char *mark, const struct dump_table *t)
{
    char name[700], head[NPY_HEAD], at[32] = "";
    struct atomic_file out;
    if (t->at_ms) snprintf(at, sizeof at, ".%lld", (long long)t->at_ms);
    snprintf(name, sizeof name, "%.500s%.48s%s.%s.npy", stem, mark, at, t->name);
    char *path = path_join(d->dir, name);
    if (!path) return message("out of memory for the name of an output"), EXIT_MEMORY;
    if (access(path, F_OK) == 0) {
        const int code = is_there(path);
        free(path);
        return code;
    }
    npy_head(head, t->rows, t->width > 1 ? t->width : 0);
    int rc = atomic_file_open(&out, path);
    if (!rc) {
        fwrite(head, 1, sizeof head, out.f);
        fwrite(t->bytes.p, 1, t->bytes.n, out.f);
        rc = atomic_file_commit(&out);
    }
    const int code = rc ? message_not_written(path, errno) : EXIT_OK;
    free(path);
    return code;
}

/* Read all samples of a sound into malloc'd memory. @return NULL if it cannot be read, or is too long for memory */
static float *read_all(const char *input, int64_t *n)
{
    steno_media *m = NULL;
    steno_source src;
    steno_error e;
    float *pcm = NULL, piece[4096];
    struct sink_memory all = { 0 };
    struct sink to = sink_to_memory(&all);
    int64_t got = sound_open(&m, input, &e) == STENO_OK ? 1 : -1;
    if (got > 0) steno_media_source(m, &src);
    while (got > 0 && (got = src.read(src.user, piece, 4096)) > 0)
        sink_bytes(&to, (const char *)(const void *)piece, (size_t)got * sizeof *piece);
    steno_media_close(m);
    *n = (int64_t)(all.n / sizeof *pcm);
    if (got == 0 && !to.failed) pcm = (float *)(void *)all.p;
    else free(all.p);
    return pcm;
}

/* Add the filter banks of the whole sound as a table. */
static void add_fbank(struct dump *d, int slot, const steno_model *m, const char *input)
{
    steno_model_info info = { .size = sizeof info };
    int64_t n = 0;
    float *pcm = strcmp(input, "-") == 0 ? NULL : read_all(input, &n);
    steno_model_info_get(m, &info);
    const int64_t frames = pcm ? steno_mel(m, pcm, n, NULL, 0) : 0;
    float *v = frames > 0 ? calloc((size_t)frames * (size_t)info.n_mels, sizeof *v) : NULL;
    if (v && steno_mel(m, pcm, n, v, frames) == frames)
        dump_add(d, slot, &(steno_rows){ .n_rows = (int32_t)frames, .width = info.n_mels, .name = "fbank", .rows = v,
                                         .stride = info.n_mels });
    free(v);
    free(pcm);
}

void dump_begin(struct dump *d, int slot)
{
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        if (d->table[i].slot == slot) free(d->table[i].bytes.p);
        else d->table[n++] = d->table[i];
    }
    d->n = n;
}

int dump_write(struct dump *d, int slot, const steno_model *m, const char *input, const char *mark, int fbank)
{
    if (!d->dir) return EXIT_OK;
    char *stem = out_stem(input);
    int code = EXIT_OK;
    if (fbank) add_fbank(d, slot, m, input);
    if (!stem || d->failed) {
        message("out of memory for the dump of %s", input);
        code = EXIT_MEMORY;
    }
    for (int i = 0; i < d->n && code == EXIT_OK; i++)
        if (d->table[i].slot == slot) code = write_one(d, stem, mark, &d->table[i]);
    free(stem);
    dump_begin(d, slot);
    return code;
}

void dump_free(struct dump *d)
{
    for (int i = 0; i < d->n; i++) free(d->table[i].bytes.p);
    free(d->table);
    d->table = NULL;
    d->n = 0;
}
