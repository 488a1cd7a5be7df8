/* steno: intermediate results of a network, in files. SPDX-License-Identifier: MIT */
#include "verbs/dump.h"
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

/* ---- the spool --------------------------------------------------------------------------------------------------------------- */

static struct dump_spool *spool_of(struct dump *d, int slot)
{
    const struct dump_spool none = { .file.lock = -1 };
    if (slot >= d->n_spools) {
        struct dump_spool *more = realloc(d->spool, ((size_t)slot + 1) * sizeof *more);
        if (!more) return NULL;
        d->spool = more;
        while (d->n_spools <= slot) more[d->n_spools++] = none;
    }
    struct dump_spool *s = &d->spool[slot];
    if (s->file.f) return s;
    *s = none;
    char *path = path_join(d->dir, "rows");
    if (!path || atomic_file_open(&s->file, path)) s = NULL;
    free(path);
    return s;
}

static int spool_add(struct dump_spool *s, const float *row, size_t n)
{
    if (fwrite(row, sizeof *row, n, s->file.f) != n) return -1;
    s->size += (int64_t)(n * sizeof *row);
    return 0;
}

/* Copy a table's rows. @return 0, or -1 with errno set */
static int spool_copy(FILE *to, struct dump_spool *s, const struct dump_table *t)
{
    char bytes[1 << 15];
    if (fflush(s->file.f)) return -1;
    for (int i = 0; i < t->n_pieces; i++) {
        const struct dump_piece *p = &t->piece[i];
        for (int64_t at = 0; at < p->n;) {
            const size_t n = p->n - at < (int64_t)sizeof bytes ? (size_t)(p->n - at) : sizeof bytes;
            const ssize_t k = pread(fileno(s->file.f), bytes, n, (off_t)(p->at + at));
            if (k < 0 && errno == EINTR) continue;
            if (k == 0) errno = EIO; /* it became shorter */
            if (k <= 0 || fwrite(bytes, 1, (size_t)k, to) != (size_t)k) return -1;
            at += k;
        }
    }
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------ */

/* Find or add the table of such rows: they continue one, or begin one. @return NULL if out of memory */
static struct dump_table *table_of(struct dump *d, int slot, const steno_rows *r)
{
    int copy = 1;
    for (int i = d->n - 1; i >= 0; i--) {
        struct dump_table *t = &d->table[i];
        if (t->slot != slot || t->at_ms != r->at_ms || strcmp(t->name, r->name) != 0) continue;
        if (r->first && t->rows == r->first) return t;
        if (t->copy >= copy) copy = t->copy + 1;
    }
    struct dump_table *more = realloc(d->table, ((size_t)d->n + 1) * sizeof *more);
    if (!more) return NULL;
    d->table = more;
    struct dump_table *t = &more[d->n++];
    *t = (struct dump_table){ .slot = slot, .copy = copy, .at_ms = r->at_ms, .width = r->width };
    snprintf(t->name, sizeof t->name, "%s", r->name);
    return t;
}

/* Count n bytes from `at` on as the table's. */
static int piece_add(struct dump_table *t, int64_t at, int64_t n)
{
    struct dump_piece *last = t->n_pieces ? &t->piece[t->n_pieces - 1] : NULL;
    if (last && last->at + last->n == at) {
        last->n += n;
        return 0;
    }
    struct dump_piece *more = realloc(t->piece, ((size_t)t->n_pieces + 1) * sizeof *more);
    if (!more) return -1;
    t->piece = more;
    more[t->n_pieces++] = (struct dump_piece){ at, n };
    return 0;
}

/* @return 0, or -1 with errno set */
static int rows_add(struct dump *d, int slot, const steno_rows *r)
{
    struct dump_spool *s = spool_of(d, slot);
    struct dump_table *t = s ? table_of(d, slot, r) : NULL;
    const int64_t at = s ? s->size : 0;
    for (int32_t i = 0; t && i < r->n_rows; i++)
        if (spool_add(s, r->rows + i * r->stride, (size_t)r->width)) return -1;
    if (!t || piece_add(t, at, s->size - at)) return -1;
    t->rows += r->n_rows;
    return 0;
}

void dump_add(struct dump *d, int slot, const steno_rows *r)
{
    if (!d->dir || d->why) return;
    errno = 0;
    if (rows_add(d, slot, r)) d->why = errno ? errno : EIO;
}

/* Rows of width 1 are written as a list. */
static int write_one(struct dump *d, const char *stem, const char *mark, const struct dump_table *t)
{
    char name[700], head[NPY_HEAD], at[32] = "", copy[16] = "";
    struct atomic_file out;
    if (t->at_ms || t->copy > 1) snprintf(at, sizeof at, ".%lld", (long long)t->at_ms);
    if (t->copy > 1) snprintf(copy, sizeof copy, ".%d", t->copy);
    snprintf(name, sizeof name, "%.500s%.48s%s%s.%s.npy", stem, mark, at, copy, t->name);
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
        rc = spool_copy(out.f, &d->spool[t->slot], t);
        const int why = errno;
        if (!rc) rc = atomic_file_commit(&out);
        else atomic_file_abort(&out), errno = why;
    }
    const int code = rc ? message_not_written(path, errno) : EXIT_OK;
    free(path);
    return code;
}

/* ---- filter banks ------------------------------------------------------------------------------------------------------------ */

struct fbank_rows { struct dump *d; int slot; int32_t width; int64_t n; };

static int on_frames(void *user, const float *frames, int64_t n)
{
    struct fbank_rows *f = user;
    dump_add(f->d, f->slot, &(steno_rows){ .first = (int32_t)f->n, .n_rows = (int32_t)n, .width = f->width, .name = "fbank", .rows = frames,
                                           .stride = f->width });
    f->n += n;
    return f->d->why != 0;
}

/* Add the filter banks of the whole sound as a table. */
static void add_fbank(struct dump *d, int slot, const steno_model *m, const char *input)
{
    steno_model_info info = { .size = sizeof info };
    steno_media *media = NULL;
    steno_source src;
    steno_error e;
    steno_model_info_get(m, &info);
    if (strcmp(input, "-") == 0 || sound_open(&media, input, &e) != STENO_OK) return;
    steno_media_source(media, &src);
    struct fbank_rows f = { d, slot, info.n_mels, 0 };
    const int64_t made = steno_mel_read(m, &src, on_frames, &f);
    if (made == STENO_ENOMEM && !d->why) d->why = ENOMEM;
    if (made < 0 && f.n) free(d->table[--d->n].piece); /* it is not whole */
    steno_media_close(media);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------------------ */

void dump_begin(struct dump *d, int slot)
{
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        if (d->table[i].slot == slot) free(d->table[i].piece);
        else d->table[n++] = d->table[i];
    }
    d->n = n;
    if (slot < d->n_spools) atomic_file_abort(&d->spool[slot].file);
}

int dump_write(struct dump *d, int slot, const steno_model *m, const char *input, const char *mark, int fbank)
{
    if (!d->dir) return EXIT_OK;
    char *stem = out_stem(input);
    int code = EXIT_OK;
    if (fbank) add_fbank(d, slot, m, input);
    if (!stem || d->why == ENOMEM) {
        message("out of memory for the dump of %s", input);
        code = EXIT_MEMORY;
    } else if (d->why) code = message_not_written(d->dir, d->why);
    for (int i = 0; i < d->n && code == EXIT_OK; i++)
        if (d->table[i].slot == slot) code = write_one(d, stem, mark, &d->table[i]);
    free(stem);
    dump_begin(d, slot);
    return code;
}

void dump_free(struct dump *d)
{
    for (int i = 0; i < d->n; i++) free(d->table[i].piece);
    for (int i = 0; i < d->n_spools; i++) atomic_file_abort(&d->spool[i].file);
    free(d->table);
    free(d->spool);
    d->table = NULL;
    d->spool = NULL;
    d->n = d->n_spools = 0;
}
