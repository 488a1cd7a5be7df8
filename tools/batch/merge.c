/* steno: one result for each input of a manifest, from the journals of its shards. SPDX-License-Identifier: MIT
 *
 * The manifest's ids fill a set, which does not grow afterwards. Beside each of its entries stands where the input's result is. Then lines
 * are copied from the journals: in the journals' order, or by the manifest, which reads them here and there. */
#include "batch/merge.h"
#include "atomic_file.h"
#include "batch/ids.h"
#include "batch/journal.h"
#include "batch/journal_lines.h"
#include "batch/manifest_reader.h"
#include "cli/message.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place { int64_t at; uint32_t n, journal; }; /* of all lines of a result; n 0: none */

struct merging {
    const struct batch_merge *m;
    struct id_set ids;
    struct place *place;    /* [ids.size] */
    FILE *out;
    char *line, *copy;      /* [cap] */
    size_t cap;
    int *fd;                /* [m->n] the journals */
    int64_t n_failed, n_missing;
};

static int no_memory(void)
{
    message("out of memory for the results of the batch");
    return EXIT_MEMORY;
}

/* Call fn for the inputs of the manifest. @return EXIT_OK, or the first code that is not */
static int items_walk(struct merging *g, int (*fn)(struct merging *g, const struct manifest_reader *r, const struct manifest_item *it))
{
    struct manifest_reader r;
    struct manifest_item it;
    const char *line;
    int code = manifest_reader_open(&r, g->m->manifest);
    while (code == EXIT_OK && manifest_reader_next(&r, &it, &line)) {
        code = fn(g, &r, &it);
        manifest_item_free(&it);
    }
    manifest_reader_close(&r);
    return code == EXIT_OK ? r.code : code;
}

/* ---- where the results are --------------------------------------------------------------------------------------------------- */

static int enter_id(struct merging *g, const struct manifest_reader *r, const struct manifest_item *it)
{
    const struct id_key key = id_key_of(it->id);
    struct id_entry *e = id_enter(&g->ids, &key);
    if (!e) return no_memory();
    if (e->flags & ID_IN_MANIFEST) return manifest_reader_twice(r, it->id);
    e->flags |= ID_IN_MANIFEST;
    return EXIT_OK;
}

/* The place of an input's result. @return NULL: it is not in the manifest */
static struct place *place_of(const struct merging *g, const char *id, struct id_entry **e)
{
    const struct id_key key = id_key_of(id);
    *e = id_find(&g->ids, &key);
    return *e ? &g->place[*e - g->ids.entry] : NULL;
}

struct journal_walk { struct merging *g; int journal; struct batch_group group; };

static int enter_place(void *user, const struct text_lines *l, char *line, int64_t at)
{
    struct journal_walk *walk = user;
    struct merging *g = walk->g;
    struct batch_record r;
    const int64_t end = at + (int64_t)strlen(line) + 1;
    batch_record_read(&r, line);
    const int is_complete = batch_group_add(&walk->group, &r, at);
    const int64_t from = walk->group.at, n = end - from;
    if (r.kind == RECORD_BAD || (is_complete && n > UINT32_MAX))
        return message_usage("%s: line %lld is not a line of a batch's journal", g->m->journals[walk->journal], l->number);
    if (!is_complete) return EXIT_OK;
    struct id_entry *e;
    struct place *p = place_of(g, r.id, &e);
    if (!p || (e->flags & ID_DONE && r.class != CLASS_OK)) return EXIT_OK;
    e->flags |= r.class == CLASS_OK ? ID_DONE : ID_FAILED;
    *p = (struct place){ from, (uint32_t)n, (uint32_t)walk->journal };
    return EXIT_OK;
}

static int find_places(struct merging *g)
{
    int code = items_walk(g, enter_id);
    g->place = calloc(g->ids.size + 1, sizeof *g->place);
    if (code == EXIT_OK && !g->place) code = no_memory();
    for (int i = 0; i < g->m->n && code == EXIT_OK; i++) {
        struct journal_walk walk = { .g = g, .journal = i };
        const struct journal_lines places = { enter_place, &walk };
        code = journal_lines_walk(g->m->journals[i], &places, NULL);
    }
    return code;
}

/* ---- copies ------------------------------------------------------------------------------------------------------------------ */

static int reserve(struct merging *g, size_t n)
{
    if (n < g->cap) return EXIT_OK;
    char *line = realloc(g->line, 2 * n), *copy = line ? realloc(g->copy, 2 * n) : NULL;
    if (line) g->line = line;
    if (copy) g->copy = copy;
    if (!copy) return no_memory();
    g->cap = 2 * n;
    return EXIT_OK;
}

/* Write a line of a result. What its run adds to it differs from run to run, and is left out. */
static int write_line(struct merging *g, const char *line, size_t n)
{
    struct batch_record r;
    memcpy(g->copy, line, n);
    g->copy[n] = '\0';
    batch_record_read(&r, g->copy);
    if (r.kind != RECORD_RESULT) return message_usage("a journal changed while it was read"), EXIT_INPUT;
    fwrite(line, 1, r.run_at, g->out);
    fwrite(line + r.run_end, 1, n - r.run_end, g->out);
    if (!ferror(g->out)) return EXIT_OK;
    return strcmp(g->m->output, "-") ? message_not_written(g->m->output, errno) : message_flush();
}

static int copy_place(struct merging *g, const struct place *p)
{
    int code = reserve(g, p->n);
    if (code != EXIT_OK) return code;
    for (size_t at = 0; at < p->n;) {
        const ssize_t k = pread(g->fd[p->journal], g->line + at, p->n - at, (off_t)(p->at + (int64_t)at));
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) {
            message_file(g->m->journals[p->journal], k < 0 ? strerror(errno) : "it became shorter");
            return EXIT_INPUT;
        }
        at += (size_t)k;
    }
    for (size_t at = 0; at < p->n && code == EXIT_OK;) {
        const char *line = g->line + at, *end = memchr(line, '\n', p->n - at);
        const size_t n = end ? (size_t)(end - line) + 1 : p->n - at;
        code = write_line(g, line, n);
        at += n;
    }
    return code;
}

/* By the manifest: copy the result of each input, if ordered, and report the inputs that have none. */
static int copy_input(struct merging *g, const struct manifest_reader *r, const struct manifest_item *it)
{
    struct id_entry *e;
    const struct place *p = place_of(g, it->id, &e);
    (void)r;
    if (!p || !p->n) {
        message_file(it->id, "no result");
        g->n_missing++;
        return EXIT_OK;
    }
    if (!(e->flags & ID_DONE)) message_file(it->id, "failed");
    g->n_failed += !(e->flags & ID_DONE);
    return g->m->ordered ? copy_place(g, p) : EXIT_OK;
}

/* By a journal: copy the lines that count. */
static int copy_line(void *user, const struct text_lines *l, char *line, int64_t at)
{
    struct journal_walk *walk = user;
    struct merging *g = walk->g;
    struct batch_record r;
    const size_t n = strlen(line);
    (void)l;
    if (reserve(g, n + 1) != EXIT_OK) return EXIT_MEMORY;
    memcpy(g->line, line, n);
    g->line[n] = '\n';
    batch_record_read(&r, line);
    if (r.kind != RECORD_RESULT) return EXIT_OK;
    struct id_entry *e;
    const struct place *p = place_of(g, r.id, &e);
    const int counts = p && p->n && at >= p->at && at < p->at + (int64_t)p->n && p->journal == (uint32_t)walk->journal;
    return counts ? write_line(g, g->line, n + 1) : EXIT_OK;
}

static int copy_all(struct merging *g)
{
    int code = EXIT_OK;
    for (int i = 0; i < g->m->n && code == EXIT_OK; i++) {
        struct journal_walk walk = { .g = g, .journal = i };
        const struct journal_lines lines = { copy_line, &walk };
        if (!g->m->ordered) code = journal_lines_walk(g->m->journals[i], &lines, NULL);
        else if ((g->fd[i] = open(g->m->journals[i], O_RDONLY | O_CLOEXEC)) < 0) {
            message_file(g->m->journals[i], strerror(errno));
            code = EXIT_INPUT;
        }
    }
    return code == EXIT_OK ? items_walk(g, copy_input) : code;
}

/* ---- the whole --------------------------------------------------------------------------------------------------------------- */

static int write_all(struct merging *g)
{
    struct atomic_file file;
    const char *path = g->m->output;
    if (strcmp(path, "-") == 0) {
        g->out = stdout;
        const int code = copy_all(g), flushed = message_flush();
        return code == EXIT_OK ? flushed : code;
    }
    if (atomic_file_open(&file, path)) return message_not_written(path, errno);
    g->out = file.f;
    const int code = copy_all(g);
    if (code != EXIT_OK) atomic_file_abort(&file);
    else if (atomic_file_commit(&file)) return message_not_written(path, errno);
    return code;
}

int batch_merge(const struct batch_merge *m)
{
    struct merging g = { .m = m, .fd = malloc((size_t)m->n * sizeof *g.fd) };
    for (int i = 0; g.fd && i < m->n; i++) g.fd[i] = -1;
    int code = g.fd ? find_places(&g) : no_memory();
    if (code == EXIT_OK) code = write_all(&g);
    for (int i = 0; g.fd && i < m->n; i++)
        if (g.fd[i] >= 0) close(g.fd[i]);
    free(g.fd);
    free(g.place);
    free(g.line);
    free(g.copy);
    id_set_free(&g.ids);
    return code == EXIT_OK && (g.n_failed || g.n_missing) ? EXIT_SOME : code;
}
