/* steno: output files that are complete or absent. SPDX-License-Identifier: MIT */
#include "atomic_file.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char temp_prefix[] = ".steno-";
enum { N_RANDOM = 6 }; /* letters and digits at its end */

/* Mode of an unfinished file: sticky, and not readable. A file has it from its creation until it is complete, and users do not create files
 * with it. So a name alone never marks a file as ours. */
enum { MARK = S_ISVTX | S_IWUSR, MODE_BITS = 07777 };

static void (*watch)(const char *temp, int is_there);

void atomic_file_watch(void (*named)(const char *temp, int is_there))
{
    watch = named;
}

static void report_watch(const char *temp, int is_there)
{
    const int keep = errno;
    if (watch) watch(temp, is_there);
    errno = keep;
}

/* Makes "DIR/.steno-XXXXXX" beside `path`. The name is short, so that it fits beside a name of maximum length. */
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

static void release(struct atomic_file *o, int remove_file)
{
    const int keep = errno;
    if (remove_file && o->tmp) unlink(o->tmp);
    if (o->f) fclose(o->f);
    if (o->lock >= 0) close(o->lock);
    if (o->tmp) report_watch(o->tmp, 0);
    free(o->path);
    free(o->tmp);
    memset(o, 0, sizeof *o);
    o->lock = -1;
    errno = keep;
}

/* mkdir -p for the part of `path` before its last slash, or for all of it with `all`. */
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

/* Fills in letters and digits that are probably unused; O_EXCL detects collisions. */
static void fill_random(char *x)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    unsigned char r[N_RANDOM];
    struct timespec now;
    if (getentropy(r, sizeof r)) {
        clock_gettime(CLOCK_REALTIME, &now);
        for (int i = 0; i < N_RANDOM; i++) r[i] = (unsigned char)((now.tv_nsec ^ getpid()) >> 3 * i);
    }
    for (int i = 0; i < N_RANDOM; i++) x[i] = digits[r[i] % (sizeof digits - 1)];
}

/* Creates an empty, marked and locked file under o->tmp, which is a pattern at first. If another process sweeps the file between creation
 * and lock, another file is created. A file system without locks or modes is not an error, because nothing is swept there either. The watch
 * receives the name before open(), because a signal may end the process right after open() has created the file. @return descriptor, or
 * -1 */
static int temp_create(struct atomic_file *o)
{
    char *x = o->tmp + strlen(o->tmp) - N_RANDOM;
    for (int tries = 0; tries < 64; tries++) {
        struct stat st;
        fill_random(x);
        if (lstat(o->tmp, &st) == 0) continue; /* a file of another process, which a signal here must not remove */
        report_watch(o->tmp, 1);
        const int fd = open(o->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MARK);
        if (fd < 0) {
            report_watch(o->tmp, 0);
            if (errno == EEXIST) continue;
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            if (fstat(fd, &st) == 0 && st.st_nlink > 0) {
                if ((st.st_mode & MODE_BITS) != MARK && fchmod(fd, MARK)) errno = 0; /* an unusual umask */
                return fd;
            }
        }
        close(fd);
        report_watch(o->tmp, 0);
    }
    errno = EBUSY;
    return -1;
}

const char *atomic_file_fault(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
    switch (st.st_mode & S_IFMT) {
    case S_IFDIR: return "it is a folder";
    case S_IFBLK: return "it is a block device";
    case S_IFSOCK: return "it is a socket";
    default: return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? strerror(errno) : NULL;
    }
}

/* Opens a FIFO or a character device directly, because it cannot be replaced by a new file. */
static int open_stream(struct atomic_file *o)
{
    const int fd = open(o->path, O_WRONLY | O_NOCTTY | O_CLOEXEC); /* waits for the reader of a FIFO */
    if (fd >= 0) o->f = fdopen(fd, "w");
    if (o->f) return 0;
    const int keep = errno;
    if (fd >= 0) close(fd);
    errno = keep;
    release(o, 0);
    return -1;
}

/* Creates a new file beside the destination, which it replaces in the end. */
static int open_temp(struct atomic_file *o, int make_folders)
{
    o->tmp = temp_name(o->path);
    if (!o->tmp) {
        errno = ENOMEM;
        release(o, 0);
        return -1;
    }
    int fd = temp_create(o);
    if (fd < 0 && errno == ENOENT && make_folders && make_dirs(o->path, 0) == 0) fd = temp_create(o);
    if (fd < 0) {
        const int why = errno;
        free(o->tmp); /* the file does not exist */
        o->tmp = NULL;
        release(o, 0);
        errno = why;
        return -1;
    }
    o->lock = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (o->lock >= 0) o->f = fdopen(fd, "w");
    if (o->f) return 0;
    close(fd);
    release(o, 1);
    return -1;
}

int atomic_file_open(struct atomic_file *o, const char *path)
{
    struct stat st;
    memset(o, 0, sizeof *o);
    o->lock = -1;
    o->path = path_target(path);
    if (!o->path) return -1;
    if (stat(o->path, &st)) return open_temp(o, strcmp(o->path, path) == 0); /* folders are not made through a link */
    if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) return open_stream(o);
    if (S_ISREG(st.st_mode) && faccessat(AT_FDCWD, o->path, W_OK, AT_EACCESS) == 0) return open_temp(o, 0);
    if (!S_ISREG(st.st_mode)) errno = S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
    release(o, 0);
    return -1;
}

/* Sets owner, group and mode: those of the replaced file as far as possible, else those of any new file. A different group gets only what
 * all users may do, and a file of another owner never becomes set-uid. */
static int finish_mode(const struct atomic_file *o)
{
    struct stat old, st;
    mode_t mode = 0666;
    if (stat(o->path, &old) == 0 && S_ISREG(old.st_mode) && fstat(o->lock, &st) == 0) {
        mode = old.st_mode & MODE_BITS;
        const int owner = st.st_uid != old.st_uid && fchown(o->lock, old.st_uid, (gid_t)-1);
        const int group = st.st_gid != old.st_gid && fchown(o->lock, (uid_t)-1, old.st_gid);
        if (owner || group) mode &= 0777;
        if (group) mode &= ~(mode_t)070 | (mode & 07) << 3;
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        mode &= ~mask;
    }
    return fchmod(o->lock, mode);
}

/* Makes the rename durable. A file system that cannot sync a directory is not an error. */
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

/* Flushes and closes the stream. */
static int close_stream(struct atomic_file *o)
{
    const int before = ferror(o->f) ? EIO : 0; /* an earlier failed write may have left no errno */
    int bad = fflush(o->f) || before;
    if (before && !errno) errno = before;
    if (!bad && o->tmp && fsync(fileno(o->f)) && errno != EINVAL && errno != EROFS) bad = 1;
    const int keep = errno;
    FILE *f = o->f;
    o->f = NULL;
    if (fclose(f)) return -1;
    errno = keep;
    return bad ? -1 : 0;
}

int atomic_file_commit(struct atomic_file *o)
{
    int bad = close_stream(o);
    if (!bad && o->tmp) bad = finish_mode(o) || rename(o->tmp, o->path);
    if (!bad && o->tmp) sync_dir_of(o->path);
    release(o, bad);
    return bad ? -1 : 0;
}

void atomic_file_abort(struct atomic_file *o)
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

/* Is it an unfinished file of this user? */
static int is_temp(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_mode & MODE_BITS) == MARK && st->st_uid == geteuid() && st->st_nlink == 1;
}

void atomic_file_sweep(const char *path)
{
    struct stat st;
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (!is_temp_name(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !is_temp(&st)) continue;
        const int fd = openat(dirfd(d), e->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        if (fstat(fd, &st) == 0 && is_temp(&st) && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d) closedir(d);
}

int atomic_file_prepare(const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        if (errno != ENOENT || make_dirs(path, 1)) return -1;
    } else if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    char *name = path_join(path, "");
    struct atomic_file probe = { .lock = -1, .tmp = name ? temp_name(name) : NULL };
    const int fd = probe.tmp ? temp_create(&probe) : -1, keep = errno;
    if (fd >= 0) {
        unlink(probe.tmp);
        report_watch(probe.tmp, 0);
        close(fd);
        atomic_file_sweep(path);
    }
    free(probe.tmp);
    free(name);
    errno = keep;
    return fd < 0 ? -1 : 0;
}
