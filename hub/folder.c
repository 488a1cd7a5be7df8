/* steno-hub: safe access to files in a cache, and the names in its folders. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "hub_name.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files, reached part by part --------------------------------------------------------------------------------------------- */

int folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int enter_part(int at, const char *part, int make)
{
    enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    if (strcmp(part, "..") == 0) return errno = EINVAL, -1;
    const int fd = openat(at, part, HOW);
    if (fd >= 0 || errno != ENOENT || !make) return fd;
    return mkdirat(at, part, 0777) && errno != EEXIST ? -1 : openat(at, part, HOW);
}

/* Opens the folder that contains the last part of `path`. *last: that part. `make`: missing folders are created */
static int enter_parent(int at, const char *path, const char **last, int make)
{
    int fd = fcntl(at, F_DUPFD_CLOEXEC, 3);
    *last = path;
    for (const char *slash = strchr(path, '/'); fd >= 0 && slash; slash = strchr(*last, '/')) {
        char part[NAME_MAX + 1];
        const size_t n = (size_t)(slash - *last);
        int next = -1, why = ENAMETOOLONG;
        if (n && n < sizeof part) {
            memcpy(part, *last, n);
            part[n] = '\0';
            next = enter_part(fd, part, make);
            why = errno;
        }
        close(fd);
        errno = why;
        fd = next;
        *last = slash + 1;
    }
    return fd;
}

/* Opens the folder `path` below `at`; "" is `at` itself. @return a descriptor; -1: errno is ENOTDIR or ELOOP if a part is a link or not a
 * folder */
static int folder_enter(int at, const char *path)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0 || !*last) return parent;
    const int fd = openat(parent, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), why = errno;
    close(parent);
    errno = why;
    return fd;
}

int folder_make_parent(int at, const char *path)
{
    const char *last;
    return enter_parent(at, path, &last, 1);
}

int folder_look(int at, const char *path, struct stat *st)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0) return -1;
    const int rc = *last ? fstatat(parent, last, st, AT_SYMLINK_NOFOLLOW) : fstat(parent, st), why = errno;
    close(parent);
    errno = why;
    return rc;
}

static int take_away(int at, const char *path, int how)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0) return -1;
    const int rc = unlinkat(parent, last, how), why = errno;
    close(parent);
    errno = why;
    return rc;
}

int folder_unlink(int at, const char *path)
{
    return take_away(at, path, 0) == 0 || errno == ENOENT ? 0 : -1;
}

int folder_rmdir(int at, const char *path)
{
    return take_away(at, path, AT_REMOVEDIR);
}

char *folder_first_link(int at, const char *path)
{
    char *part = strdup(path);
    if (!part) return NULL;
    for (size_t n = 0; path[n]; n += path[n] == '/') {
        struct stat st;
        n += strcspn(path + n, "/");
        part[n] = '\0';
        if (folder_look(at, part, &st)) break;
        if (S_ISLNK(st.st_mode)) return part;
        part[n] = path[n];
    }
    free(part);
    errno = 0;
    return NULL;
}

int regular_open(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return -1;
    const int is = S_ISREG(st.st_mode), fd = is ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (is && fd < 0) return -1;
    if (is && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
    if (fd >= 0) close(fd);
    errno = EINVAL;
    return -1;
}

FILE *regular_read(const char *path)
{
    const int fd = regular_open(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !f) close(fd);
    return f;
}

/* ---- names in folders -------------------------------------------------------------------------------------------------------- */

enum { MOST_FOLDERS = 200000 };

int names_add(struct names *out, const char *name, struct hub_error *e)
{
    if (out->n == out->cap) {
        const size_t cap = out->cap ? 2 * out->cap : 32;
        char **p = realloc(out->name, cap * sizeof *p);
        if (!p) return hub_no_memory(e, "a list of files");
        out->name = p;
        out->cap = cap;
    }
    if (!(out->name[out->n] = strdup(name))) return hub_no_memory(e, "a list of files");
    out->n++;
    return HUB_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes ownership of the stream. */
static int names_of_stream(struct names *out, DIR *d, struct hub_error *e)
{
    int rc = HUB_OK;
    for (struct dirent *it = readdir(d); it && rc == HUB_OK; it = readdir(d))
        if (strcmp(it->d_name, ".") != 0 && strcmp(it->d_name, "..") != 0) rc = names_add(out, it->d_name, e);
    closedir(d);
    if (out->n) qsort(out->name, out->n, sizeof *out->name, by_name);
    return rc;
}

int names_of_folder(struct names *out, const char *folder, struct hub_error *e)
{
    *out = (struct names){ 0 };
    errno = 0;
    DIR *d = opendir(folder);
    if (d) return names_of_stream(out, d, e);
    return errno == ENOMEM ? hub_no_memory(e, "a list of files") : HUB_OK;
}

int names_has(const struct names *n, const char *name)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->name[i], name) == 0) return 1;
    return 0;
}

void names_free(struct names *n)
{
    for (size_t i = 0; i < n->n; i++) free(n->name[i]);
    free(n->name);
    *n = (struct names){ 0 };
}

struct walk {
    struct names *rest, *folders;
    int at, lenient;
    const char *root;
    struct hub_error *e;
};

static int depth_of(const char *path)
{
    int n = *path != '\0';
    for (; *path; path++) n += *path == '/';
    return n;
}

/* Sorts one name of a folder: a folder is visited later, anything else is listed. */
static int sort_out(const struct walk *w, int fd, const char *folder, const char *name)
{
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) return HUB_OK; /* removed meanwhile */
    char *path = hub_format("%s%s%s", folder, folder[0] ? "/" : "", name);
    if (!path) return hub_no_memory(w->e, "a path");
    int rc = HUB_OK;
    if (!S_ISDIR(st.st_mode)) rc = names_add(w->rest, path, w->e);
    else if (depth_of(path) <= HUB_MOST_DEPTH) rc = names_add(w->folders, path, w->e);
    else if (!w->lenient) rc = hub_fail(w->e, HUB_EABSENT, "%s: folders lie in it deeper than %d", w->root, HUB_MOST_DEPTH);
    free(path);
    return rc;
}

static int look_into(const struct walk *w, const char *folder)
{
    struct names in = { 0 };
    const int fd = folder_enter(w->at, folder), own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    const int why = errno;
    int rc = HUB_OK;
    if (d) rc = names_of_stream(&in, d, w->e);
    else if (why == ENOMEM) rc = hub_no_memory(w->e, "a list of files");
    else if (!w->lenient && why != ENOENT && why != ENOTDIR && why != ELOOP)
        rc = hub_fail(w->e, hub_write_status(why), "%s%s%s: cannot be read: %s", w->root, folder[0] ? "/" : "", folder, strerror(why));
    if (!d && own >= 0) close(own);
    for (size_t i = 0; i < in.n && rc == HUB_OK; i++) rc = sort_out(w, fd, folder, in.name[i]);
    if (fd >= 0) close(fd);
    names_free(&in);
    return rc;
}

static int walk(struct walk *w)
{
    int rc = names_add(w->folders, "", w->e);
    for (size_t i = 0; i < w->folders->n && rc == HUB_OK; i++) {
        if (i < MOST_FOLDERS) rc = look_into(w, w->folders->name[i]);
        else if (w->lenient) break;
        else rc = hub_fail(w->e, HUB_EABSENT, "%s: more than %d folders lie in it", w->root, MOST_FOLDERS);
    }
    if (w->rest->n) qsort(w->rest->name, w->rest->n, sizeof *w->rest->name, by_name);
    return rc;
}

int names_walk_at(struct names *rest, struct names *folders, int at, const char *path, struct hub_error *e)
{
    struct walk w = { rest, folders, folder_enter(at, path), 0, path, e };
    *rest = *folders = (struct names){ 0 };
    if (w.at < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        return hub_fail(e, hub_write_status(errno), "%s: cannot be read: %s", path, strerror(errno));
    if (w.at < 0) return HUB_OK;
    const int rc = walk(&w);
    close(w.at);
    return rc;
}

static int walk_from(struct walk *w)
{
    w->at = folder_open(w->root);
    if (w->at < 0) return errno == ENOMEM ? hub_no_memory(w->e, "a list of files") : HUB_OK;
    const int rc = walk(w);
    close(w->at);
    return rc;
}

int names_walk(struct names *rest, struct names *folders, const char *root, struct hub_error *e)
{
    struct walk w = { .rest = rest, .folders = folders, .root = root, .e = e };
    *rest = *folders = (struct names){ 0 };
    return walk_from(&w);
}

int names_below(struct names *out, const char *folder, struct hub_error *e)
{
    struct names rest = { 0 }, folders = { 0 };
    struct walk w = { .rest = &rest, .folders = &folders, .lenient = 1, .root = folder, .e = e };
    int rc = walk_from(&w);
    *out = (struct names){ 0 };
    for (size_t i = 0; i < rest.n && rc == HUB_OK; i++) {
        struct stat st;
        char *path = hub_format("%s/%s", folder, rest.name[i]);
        if (!path) rc = hub_no_memory(e, "a path");
        else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) rc = names_add(out, rest.name[i], e);
        free(path);
    }
    names_free(&rest);
    names_free(&folders);
    return rc;
}
