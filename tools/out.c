/* steno: output files that are whole or absent. SPDX-License-Identifier: MIT */
#include "out.h"
#include "signals.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

char *out_join(const char *dir, const char *name)
{
    const size_t nd = dir ? strlen(dir) : 0, nn = strlen(name);
    const int slash = nd > 0 && dir[nd - 1] != '/';
    char *s = malloc(nd + nn + 2);
    if (!s) return NULL;
    if (nd) memcpy(s, dir, nd);
    if (slash) s[nd] = '/';
    memcpy(s + nd + slash, name, nn + 1);
    return s;
}

static const char temp_prefix[] = ".steno-";
enum { N_RANDOM = 6 }; /* letters and digits that mkostemp puts behind it */

/* "DIR/.steno-XXXXXX" beside `path`; short, so that a name of full length has room. */
static char *temp_name(const char *path)
{
    static const char pattern[] = ".steno-XXXXXX";
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *s = malloc(n + sizeof pattern);
    if (!s) return NULL;
    memcpy(s, path, n);
    memcpy(s + n, pattern, sizeof pattern);
    return s;
}

static void release(struct out *o, int remove_file)
{
    const int keep = errno;
    if (remove_file && o->tmp) unlink(o->tmp);
    if (o->f) fclose(o->f);
    if (o->lock >= 0) close(o->lock);
    signals_temp(NULL);
    free(o->path);
    free(o->tmp);
    memset(o, 0, sizeof *o);
    o->lock = -1;
    errno = keep;
}

/* mkdir -p for what stands before the last slash of `path`; with `all` for the whole. */
static int make_dirs(const char *path, int all)
{
    char *s = strdup(path);
    int bad = s ? 0 : -1;
    for (char *p = s && *s ? strchr(s + 1, '/') : NULL; p && !bad; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (mkdir(s, 0777) && errno != EEXIST) bad = -1;
        *p = '/';
    }
    if (!bad && all && mkdir(s, 0777) && errno != EEXIST) bad = -1;
    const int keep = errno;
    free(s);
    errno = keep;
    return bad;
}

/* A new, empty, locked file under o->tmp, which is a pattern at first. A sweeper that came between making and locking has removed it;
 * then another one is made. A file system without locks is no failure: there nothing is swept either. @return descriptor, or -1 */
static int temp_create(struct out *o)
{
    char *x = o->tmp + strlen(o->tmp) - N_RANDOM;
    for (int tries = 0; tries < 8; tries++) {
        struct stat st;
        memset(x, 'X', N_RANDOM);
        const int fd = mkostemp(o->tmp, O_CLOEXEC);
        if (fd < 0) return -1;
        if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(fd, &st) == 0 && st.st_nlink > 0) return fd;
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

int out_open(struct out *o, const char *path)
{
    memset(o, 0, sizeof *o);
    o->lock = -1;
    o->path = strdup(path);
    o->tmp = temp_name(path);
    if (!o->path || !o->tmp) {
        errno = ENOMEM;
        release(o, 0);
        return -1;
    }
    int fd = temp_create(o);
    if (fd < 0 && errno == ENOENT && make_dirs(path, 0) == 0) fd = temp_create(o);
    if (fd < 0) {
        release(o, 0);
        return -1;
    }
    signals_temp(o->tmp);
    const mode_t mask = umask(0); /* mkstemp gives 0600; an output file gets what any new file gets */
    umask(mask);
    o->lock = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (o->lock >= 0 && fchmod(fd, 0666 & ~mask) == 0) o->f = fdopen(fd, "w");
    if (o->f) return 0;
    close(fd);
    release(o, 1);
    return -1;
}

/* Make the rename itself durable; a file system that cannot sync a directory is no failure. */
static void sync_dir_of(const char *path)
{
    char *dir = temp_name(path);
    if (!dir) return;
    char *slash = strrchr(dir, '/');
    if (slash) slash[1] = '\0';
    const int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

int out_commit(struct out *o)
{
    const int before = ferror(o->f) ? EIO : 0; /* a write that failed earlier may have left no errno */
    int bad = fflush(o->f) || before;
    if (before && !errno) errno = before;
    if (!bad && fsync(fileno(o->f)) && errno != EINVAL && errno != EROFS) bad = 1;
    FILE *f = o->f;
    o->f = NULL;
    if (bad) {
        const int keep = errno;
        fclose(f);
        errno = keep;
    } else if (fclose(f) || rename(o->tmp, o->path)) {
        bad = 1;
    } else {
        sync_dir_of(o->path);
    }
    release(o, bad);
    return bad ? -1 : 0;
}

void out_abort(struct out *o)
{
    if (o->f) release(o, 1);
}

static int is_temp_name(const char *name)
{
    const size_t n = sizeof temp_prefix - 1;
    if (strncmp(name, temp_prefix, n) != 0 || strlen(name) != n + N_RANDOM) return 0;
    for (const char *p = name + n; *p; p++)
        if (!((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z'))) return 0;
    return 1;
}

void out_sweep(const char *path)
{
    struct stat st;
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (!is_temp_name(e->d_name)) continue;
        const int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d) closedir(d);
}

int out_dir_prepare(const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        if (errno != ENOENT || make_dirs(path, 1)) return -1;
    } else if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    struct out probe;
    char *name = out_join(path, "probe");
    const int bad = !name || out_open(&probe, name);
    const int keep = errno;
    free(name);
    if (!bad) {
        out_abort(&probe);
        out_sweep(path);
    }
    errno = keep;
    return bad ? -1 : 0;
}
