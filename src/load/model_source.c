/* steno: the location of a model. SPDX-License-Identifier: MIT */
#include "load/model_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"

static int is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* The folder part of a path, or the whole path of a folder; ends in a separator. */
static char *dir_of(const char *path, int is_folder)
{
    size_t n = strlen(path);
    while (!is_folder && n && !is_separator(path[n - 1])) n--;
    const int add = !n || !is_separator(path[n - 1]);
    char *dir = malloc(n + 3);
    if (!dir) return NULL;
    memcpy(dir, path, n);
    if (!n) dir[n++] = '.';
    if (add) dir[n++] = '/';
    dir[n] = 0;
    return dir;
}

/* Record that a file was opened. */
static int note_opened(const struct model_source *p, const char *path, steno_error *e)
{
    if (p->opened) buf_add(p->opened, path, strlen(path) + 1);
    return p->opened && p->opened->err ? err_nomem(e, strlen(path), "a path") : STENO_OK;
}

int model_source_open(struct model_source *p, const char *path, struct buf *opened, steno_error *e)
{
    *p = (struct model_source){ .name = path, .file = { .name = path, .fd = -1 }, .opened = opened };
    if (!path) return err_set(e, STENO_EARG, "cannot open a model: no path was given");
    p->is_folder = file_is_folder(path);
    p->dir = dir_of(path, p->is_folder);
    if (!p->dir) return err_nomem(e, strlen(path), "a path");
    int rc = p->is_folder ? STENO_OK : file_open(&p->file, path, e);
    if (!rc && !p->is_folder) rc = note_opened(p, path, e);
    if (rc) model_source_close(p);
    return rc;
}

void model_source_of_file(struct model_source *p, const struct file *f)
{
    *p = (struct model_source){ .name = f->name, .file = *f };
}

void model_source_close(struct model_source *p)
{
    file_close(&p->file);
    free(p->dir);
    *p = (struct model_source){ .file = { .fd = -1 } };
}

/* The name may contain a folder below the source. */
static int stays_inside(const char *name)
{
    int folders = 0, begins = 1;
    if (strlen(name) > 200) return 0;
    for (const char *c = name; *c; c++) {
        if ((begins && *c == '.') || *c == ':' || *c == '\\' || (unsigned char)*c < ' ') return 0;
        if (*c == '/' && (begins || folders++)) return 0;
        begins = *c == '/';
    }
    return !begins;
}

/* The path DIR/NAME, or DIR/INNER/NAME. *path NULL: no such file; then *lost becomes the first link to a missing file. */
static int path_find(const struct model_source *p, const char *name, struct arena *a, char **path, char **lost, steno_error *e)
{
    const char *const inner[] = { "", p->inner };
    *path = *lost = NULL;
    for (int i = 0; i < 2 && inner[i] && !*path; i++) {
        const size_t n = strlen(p->dir) + strlen(inner[i]) + strlen(name) + 2;
        char *s = arena_alloc(a, n);
        if (!s) return err_nomem(e, n, "a path");
        snprintf(s, n, "%s%s%s%s", p->dir, inner[i], *inner[i] ? "/" : "", name);
        if (file_exists(s)) *path = s;
        else if (!*lost && os_path_is_link(s)) *lost = s;
    }
    return STENO_OK;
}

/* *lost: as path_find has it. */
static int find(const struct model_source *p, const char *name, struct arena *a, struct file *f, char **lost, steno_error *e)
{
    char *path;
    *lost = NULL;
    *f = (struct file){ .fd = -1 };
    if (!stays_inside(name) || (p->inner && !stays_inside(p->inner)))
        return err_set(e, STENO_EFORMAT, "%s: '%s' is not the name of a file beside it", p->name, stays_inside(name) ? p->inner : name);
    if (!p->dir) return 0;
    int rc = path_find(p, name, a, &path, lost, e);
    if (rc || !path) return rc;
    rc = file_open(f, path, e);
    if (!rc) rc = note_opened(p, path, e);
    if (rc) file_close(f);
    return rc ? rc : 1;
}

int model_source_find_extra(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e)
{
    char *lost;
    return find(p, name, a, f, &lost, e);
}

int model_source_find(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e)
{
    return model_source_find_first(p, &name, 1, a, f, e);
}

int model_source_find_first(const struct model_source *p, const char *const *name, size_t n, struct arena *a, struct file *f,
                            steno_error *e)
{
    char *lost = NULL;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        char *here = NULL;
        if (name[i]) rc = find(p, name[i], a, f, &here, e);
        if (!lost) lost = here;
    }
    if (rc || !lost) return rc;
    return err_set(e, STENO_EIO, "cannot open '%s': it is a link, and the file that it leads to is not there; get the model again", lost);
}

int model_source_inner(const struct model_source *p, const char *name, struct arena *a, struct model_source *out, steno_error *e)
{
    *out = *p;
    if (!stays_inside(name)) return err_set(e, STENO_EFORMAT, "%s: '%s' is not the name of a folder in it", p->name, name);
    if (!p->dir) return STENO_OK;
    const size_t n = strlen(p->dir) + strlen(name) + 2;
    out->inner = NULL;
    out->dir = arena_alloc(a, n);
    if (!out->dir) return err_nomem(e, n, "a path");
    snprintf(out->dir, n, "%s%s/", p->dir, name);
    return STENO_OK;
}

int file_text(const struct file *f, uint64_t max_sz, struct arena *a, const char **text, steno_error *e)
{
    *text = NULL;
    if (f->size > max_sz)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %" PRIu64 " for such a file", f->name, f->size, max_sz);
    char *s = arena_alloc(a, (size_t)f->size + 1);
    if (!s) return err_nomem(e, (size_t)f->size, "a file's text");
    const int rc = file_read(f, 0, s, (size_t)f->size, e);
    if (rc) return rc;
    s[f->size] = 0;
    *text = s;
    return STENO_OK;
}
