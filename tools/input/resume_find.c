/* steno: find results of which the names are not fully known. SPDX-License-Identifier: MIT */
#include "input/resume_find.h"
#include "path.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void resume_paths_free(struct resume_paths *p)
{
    for (size_t i = 0; i < p->n; i++) free(p->path[i]);
    free(p->path);
    *p = (struct resume_paths){ 0 };
}

void resume_folders_free(struct resume_folders *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct resume_paths names = { f->folder[i].name, f->folder[i].n };
        resume_paths_free(&names);
        free(f->folder[i].path);
    }
    free(f->folder);
    *f = (struct resume_folders){ 0 };
}

/* Takes over `text`; NULL means that memory has run out. @return 0, or -1: no memory */
static int add(struct resume_paths *p, char *text)
{
    const int is_full = (p->n & (p->n + 1)) == 0; /* its room is the next power of two minus one */
    char **more = text && is_full ? realloc(p->path, 2 * (p->n + 1) * sizeof *more) : p->path;
    if (!text || !more) {
        free(text);
        return -1;
    }
    p->path = more;
    p->path[p->n++] = text;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads the names in a folder, sorted. A folder that cannot be read has none. @return 0, or -1: no memory */
static int read_folder(struct resume_paths *names, const char *path)
{
    int bad = 0;
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e && !bad; e = readdir(d))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) bad = add(names, strdup(e->d_name));
    if (d) closedir(d);
    if (names->n) qsort(names->path, names->n, sizeof *names->path, by_name);
    return bad;
}

/* @return the folder, or NULL: no memory */
static const struct resume_folder *folder_of(struct resume_folders *f, const char *path)
{
    for (size_t i = f->n; i-- > 0;)
        if (strcmp(f->folder[i].path, path) == 0) return &f->folder[i];
    struct resume_folder *more = realloc(f->folder, (f->n + 1) * sizeof *more);
    if (more) f->folder = more;
    char *own = more ? strdup(path) : NULL;
    struct resume_paths names = { 0 };
    if (!own || read_folder(&names, path)) {
        resume_paths_free(&names);
        free(own);
        return NULL;
    }
    f->folder[f->n] = (struct resume_folder){ own, names.path, names.n };
    return &f->folder[f->n++];
}

/* First name in a folder that is not before text[n]. */
static size_t first_from(const struct resume_folder *f, const char *text, size_t n)
{
    size_t low = 0, high = f->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (strncmp(f->name[mid], text, n) < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Adds the paths in folder `dir` that match bytes [from, to) of a pattern. @return 0, or -1: no memory */
static int find_in(struct resume_paths *found, struct resume_folders *folders, const char *dir, const struct out_pattern *p, size_t from,
                   size_t to)
{
    size_t known = 0; /* bytes that precede the first unknown part */
    while (from + known < to && !p->kinds[from + known]) known++;
    if (from + known == to) {
        char *name = strndup(p->text + from, known);
        const int bad = !name || add(found, path_join(dir, name));
        free(name);
        return bad ? -1 : 0;
    }
    const struct resume_folder *f = folder_of(folders, dir);
    int bad = !f;
    for (size_t i = f ? first_from(f, p->text + from, known) : 0; !bad && i < f->n; i++) {
        if (strncmp(f->name[i], p->text + from, known) != 0) break;
        if (out_pattern_match(p, from, to, f->name[i])) bad = add(found, path_join(dir, f->name[i]));
    }
    return bad ? -1 : 0;
}

int resume_find(struct resume_paths *found, struct resume_folders *folders, const char *dir, const struct out_pattern *p)
{
    *found = (struct resume_paths){ 0 };
    int bad = add(found, strdup(dir));
    for (size_t from = 0, to; from <= p->n && !bad; from = to + 1) {
        struct resume_paths next = { 0 };
        for (to = from; to < p->n && (p->kinds[to] || p->text[to] != '/');) to++;
        for (size_t i = 0; i < found->n && !bad; i++) bad = find_in(&next, folders, found->path[i], p, from, to);
        resume_paths_free(found);
        *found = next;
    }
    return bad ? -1 : 0;
}
