/* steno: figures measured on machines, kept in a file. SPDX-License-Identifier: MIT */
#include "models/figures.h"
#include "atomic_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SZ = 512, MOST_LINES = 63, LOCK_TRIES = 1000 /* of 10 ms, far longer than a write takes */ };

static int is_of(const char *line, const char *key)
{
    const size_t n = strlen(key);
    return strncmp(line, key, n) == 0 && line[n] == '\t';
}

int figures_line(double *v, int n, const char *line, const char *key)
{
    double read[FIGURES_MOST];
    if (!is_of(line, key)) return 0;
    const char *at = line + strlen(key);
    for (int i = 0; i < n; i++) {
        char *end = NULL;
        if (*at != '\t') return 0;
        read[i] = strtod(at + 1, &end);
        if (end == at + 1 || !(read[i] > 0.01 && read[i] < 1e6)) return 0;
        at = end;
    }
    if (*at && strcmp(at, "\n") != 0) return 0;
    memcpy(v, read, (size_t)n * sizeof *v);
    return 1;
}

/* The next line that may be of this program: others are empty, longer, or have a NUL. The last one may lack its end, which is added.
 * @return 1, or 0 at the end */
static int next_line(char line[LINE_SZ], FILE *f)
{
    size_t n = 0;
    int c, is_ours = 1;
    do {
        c = getc(f);
        if (c != EOF && c != '\n') {
            if (!c || n + sizeof "\n" >= LINE_SZ) is_ours = 0;
            else line[n++] = (char)c;
        } else if (n && is_ours) {
            memcpy(line + n, "\n", sizeof "\n");
            return 1;
        } else n = 0, is_ours = 1;
    } while (c != EOF);
    return 0;
}

int figures_find(double *v, int n, const char *path, const char *key)
{
    char line[LINE_SZ];
    FILE *f = fopen(path, "rb");
    int found = 0;
    while (f && !found && next_line(line, f)) found = figures_line(v, n, line, key);
    if (f) fclose(f);
    return found;
}

/* Locks the file of a descriptor, which is closed if that fails. @return -1 with errno: there are no locks, or the holder does not end */
static int lock_wait(int fd)
{
    const struct timespec nap = { 0, 10000000 };
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB); i++) {
        const int why = errno;
        if ((why == EWOULDBLOCK || why == EINTR) && i < LOCK_TRIES) {
            nanosleep(&nap, NULL);
            continue;
        }
        close(fd);
        errno = why;
        fd = -1;
    }
    return fd;
}

/* Locks the folder of `path` until the descriptor is closed. Windows has no locks of folders, so a file beside `path` is locked there.
 * @return -1: there are no locks, or the holder does not end */
static int lock_folder(const char *folder, const char *path)
{
    char *beside = NULL;
    int fd = lock_wait(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd >= 0 || errno != EISDIR) return fd;
    const size_t n = strlen(path) + sizeof ".lock";
    if ((beside = malloc(n))) {
        snprintf(beside, n, "%s.lock", path);
        fd = lock_wait(open(beside, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    }
    free(beside);
    return fd;
}

/* Copies the latest lines of other keys. */
static void copy_others(FILE *to, FILE *from, const char *key)
{
    char line[LINE_SZ];
    long n = 0;
    while (next_line(line, from)) n += !is_of(line, key);
    rewind(from);
    while (next_line(line, from))
        if (!is_of(line, key) && n-- <= MOST_LINES) fputs(line, to);
}

static int replace(const char *path, const char *key, const double *v, int n)
{
    struct atomic_file out;
    if (atomic_file_open(&out, path) != 0) return 0;
    FILE *old = fopen(path, "rb");
    if (old) {
        copy_others(out.f, old, key);
        fclose(old);
    }
    fputs(key, out.f);
    for (int i = 0; i < n; i++) fprintf(out.f, "\t%.4g", v[i]);
    fputc('\n', out.f);
    return atomic_file_commit(&out) == 0;
}

int figures_keep(const char *path, const char *key, const double *v, int n)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) *slash = '\0';
    int kept = slash && atomic_file_prepare(folder) == 0;
    if (kept) {
        const int lock = lock_folder(folder, path);
        kept = replace(path, key, v, n);
        if (lock >= 0) close(lock);
    }
    free(folder);
    return kept;
}
