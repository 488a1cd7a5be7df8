/* steno: output of a model: one file, or a folder of files. SPDX-License-Identifier: MIT */
#include "verbs/model_out.h"
#include "cli/signals.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct model_out_part { char *path, *data; size_t n, cap; };

/* Remove temporary files that a killed process left beside the file. */
static void sweep_temporaries(const char *to)
{
    const char *slash = strrchr(to, '/');
    char *dir = slash ? strndup(to, (size_t)(slash - to) + 1) : strdup(".");
    if (dir) atomic_file_sweep(dir);
    free(dir);
}

/* @return 1, 0, or -1 with errno set */
static int is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    if (!d) return -1;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return !n;
}

static int open_folder(struct model_out *o)
{
    struct stat st;
    o->made = stat(o->to, &st) != 0 && errno == ENOENT;
    if (o->made) signals_remove(o->to, 1);
    const int is = atomic_file_prepare(o->to) ? -1 : is_empty(o->to);
    if (is < 0) {
        const int why = errno;
        if (o->made) rmdir(o->to);
        signals_remove(o->to, 0);
        errno = why;
        return -1;
    }
    if (is) return 0;
    signals_remove(o->to, 0);
    errno = ENOTEMPTY;
    return -1;
}

int model_out_open(struct model_out *o, const char *to, int is_folder)
{
    *o = (struct model_out){ .to = to, .is_folder = is_folder };
    if (is_folder) return open_folder(o);
    sweep_temporaries(to);
    return atomic_file_open(&o->file, to);
}

static struct model_out_part *last_part(const struct model_out *o)
{
    return o->n_parts ? &o->part[o->n_parts - 1] : NULL;
}

/* The current file is the last one, or large: write its bytes to disk from here on. */
static int spill(struct model_out *o)
{
    struct model_out_part *p = last_part(o);
    if (atomic_file_open(&o->file, p->path)) return errno;
    errno = 0;
    if (p->n && fwrite(p->data, 1, p->n, o->file.f) != p->n) return errno ? errno : EIO;
    free(p->data);
    p->data = NULL;
    return 0;
}

static int commit_spilled(struct model_out *o)
{
    return o->file.f && atomic_file_commit(&o->file) ? errno : 0;
}

int model_out_file(struct model_out *o, const char *name)
{
    struct model_out_part *more = realloc(o->part, ((size_t)o->n_parts + 1) * sizeof *more);
    if (more) o->part = more;
    o->failed = more ? commit_spilled(o) : ENOMEM;
    if (o->failed) return o->failed;
    o->part[o->n_parts] = (struct model_out_part){ .path = path_join(o->to, name) };
    if (!o->part[o->n_parts].path) return o->failed = ENOMEM;
    signals_remove(o->part[o->n_parts++].path, 1);
    return 0;
}

static int keep_bytes(struct model_out_part *p, const void *data, size_t n)
{
    if (p->n + n > p->cap) {
        const size_t cap = p->n + n > 2 * p->cap ? p->n + n : 2 * p->cap;
        char *more = realloc(p->data, cap);
        if (!more) return ENOMEM;
        p->data = more;
        p->cap = cap;
    }
    memcpy(p->data + p->n, data, n);
    p->n += n;
    return 0;
}

int model_out_write(struct model_out *o, const void *data, size_t n)
{
    enum { KEPT = 16 << 20 };
    struct model_out_part *p = last_part(o);
    o->n += (int64_t)n;
    errno = 0;
    if (p && !o->file.f && p->n + n <= KEPT) return o->failed = keep_bytes(p, data, n);
    if (p && !o->file.f && (o->failed = spill(o)) != 0) return o->failed;
    if (fwrite(data, 1, n, o->file.f) != n) o->failed = errno ? errno : EIO;
    return o->failed;
}

static int put_part(const struct model_out_part *p)
{
    struct atomic_file file;
    if (!p->data) return 0;
    if (atomic_file_open(&file, p->path)) return -1;
    if (fwrite(p->data, 1, p->n, file.f) != p->n) {
        const int why = errno ? errno : EIO;
        atomic_file_abort(&file);
        errno = why;
        return -1;
    }
    return atomic_file_commit(&file);
}

/* The model is now complete, so a signal removes none of its files. */
static void keep_names(const struct model_out *o)
{
    for (int i = 0; i < o->n_parts; i++) signals_remove(o->part[i].path, 0);
    if (o->is_folder) signals_remove(o->to, 0);
}

/* The last file completes a folder. Between that and keep_names a signal only sets a flag. All bytes are synced before, because a sync
 * may take long. */
static int put_folder(struct model_out *o)
{
    for (int i = 0; i < o->n_parts - 1; i++)
        if (put_part(&o->part[i])) return -1;
    if (o->file.f && (fflush(o->file.f) || (fsync(fileno(o->file.f)) && errno != EINVAL && errno != EROFS))) return -1;
    signals_defer(1);
    int bad = o->n_parts ? put_part(last_part(o)) : 0;
    if (!bad && o->file.f) bad = atomic_file_commit(&o->file);
    const int why = errno;
    if (!bad) keep_names(o);
    signals_defer(0);
    errno = why;
    return bad;
}

int model_out_end(struct model_out *o, int keep)
{
    int bad = !keep;
    if (keep && o->is_folder) bad = put_folder(o) != 0;
    else if (keep) bad = atomic_file_commit(&o->file) != 0;
    const int why = errno;
    if (o->file.f) atomic_file_abort(&o->file);
    for (int i = 0; i < o->n_parts && bad; i++) unlink(o->part[i].path);
    if (bad && o->made) rmdir(o->to);
    keep_names(o);
    for (int i = 0; i < o->n_parts; i++) {
        free(o->part[i].path);
        free(o->part[i].data);
    }
    free(o->part);
    errno = why;
    return bad && keep ? -1 : 0;
}
