/* steno-hub: writes cache files so that others never see an incomplete one. SPDX-License-Identifier: MIT */
#include "store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int failed(const char *path, const char *what, struct hub_error *e)
{
    return hub_fail(e, hub_write_status(errno), "%s: %s: %s", path, what, strerror(errno));
}

int store_folders(const char *path, struct hub_error *e)
{
    char *p = strdup(path);
    int rc = p ? HUB_OK : hub_no_memory(e, "a path");
    for (char *s = p ? strchr(p + 1, '/') : NULL; s && rc == HUB_OK; s = strchr(s + 1, '/')) {
        *s = '\0';
        if (mkdir(p, 0777) && errno != EEXIST) {
            struct stat st;
            const int why = errno;
            if (stat(p, &st)) errno = why, rc = failed(p, "the folder cannot be made", e); /* it exists, and its parent is not writable */
        }
        *s = '/';
    }
    free(p);
    return rc;
}

int store_has(const char *path, int64_t size)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size < 0 || st.st_size == size);
}

/* "path.steno.PID.tmp" beside it. */
static char *beside(const char *path)
{
    return hub_format("%s.steno.%ld.tmp", path, (long)getpid());
}

static int sync_folder(const char *path)
{
    char *p = strdup(path), *slash = p ? strrchr(p, '/') : NULL;
    if (slash) *slash = '\0';
    const int fd = slash ? open(p[0] ? p : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(p);
    if (fd < 0) return -1;
    fsync(fd); /* some file systems do not support it for folders */
    return close(fd);
}

int store_rename(const char *from, const char *to, struct hub_error *e)
{
    if (rename(from, to)) return failed(to, "cannot be put in place", e);
    sync_folder(to);
    return HUB_OK;
}

static int write_all(int fd, const char *text)
{
    for (size_t left = strlen(text); left;) {
        const ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        text += n;
        left -= (size_t)n;
    }
    return fsync(fd);
}

int store_text_at(int at, const char *name, const char *path, const char *text, struct hub_error *e)
{
    int rc = HUB_OK;
    char *tmp = beside(name);
    if (!tmp) return hub_no_memory(e, "a path");
    unlinkat(at, tmp, 0);
    const int fd = openat(at, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        rc = failed(path, "cannot be written", e);
    } else {
        if (write_all(fd, text)) rc = failed(path, "cannot be written", e);
        if (close(fd) && rc == HUB_OK) rc = failed(path, "cannot be written", e);
        if (rc == HUB_OK && renameat(at, tmp, at, name)) rc = failed(path, "cannot be put in place", e);
        if (rc != HUB_OK) unlinkat(at, tmp, 0);
    }
    free(tmp);
    return rc;
}

int store_text(const char *path, const char *text, struct hub_error *e)
{
    int rc = store_folders(path, e);
    if (rc == HUB_OK) rc = store_text_at(AT_FDCWD, path, path, text, e);
    if (rc == HUB_OK) sync_folder(path);
    return rc;
}

int store_link(const char *path, const char *target, struct hub_error *e)
{
    int rc = store_folders(path, e);
    char *tmp = rc == HUB_OK ? beside(path) : NULL;
    if (rc != HUB_OK) return rc;
    if (!tmp) return hub_no_memory(e, "a path");
    unlink(tmp);
    if (symlink(target, tmp)) {
        const int none = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS;
        rc = failed(path, "cannot be linked", e);
        if (none) rc = e->status = HUB_EARG;
    } else {
        rc = store_rename(tmp, path, e);
        if (rc != HUB_OK) unlink(tmp);
    }
    free(tmp);
    return rc;
}

int64_t store_room(const char *path)
{
    struct statvfs s;
    char *p = strdup(path);
    int64_t room = -1;
    while (p) {
        if (statvfs(p[0] ? p : "/", &s) == 0) {
            room = (int64_t)((uint64_t)s.f_bavail * s.f_frsize);
            break;
        }
        char *slash = strrchr(p, '/');
        if (!slash && (!p[0] || strcmp(p, ".") == 0)) break;
        if (slash) *slash = '\0';
        else memcpy(p, ".", p[0] ? 2 : 1);
    }
    free(p);
    return room;
}

int store_lock(struct store_lock *l, const char *path, int (*stop)(void *user), void *user, struct hub_error *e)
{
    struct stat st;
    const struct timespec nap = { 0, 100000000 };
    l->fd = -1;
    const int rc = store_folders(path, e);
    if (rc != HUB_OK) return rc;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0664);
    if (fd < 0) return failed(path, "the lock cannot be made", e);
    if (fstat(fd, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        close(fd);
        return hub_fail(e, HUB_EWRITE, "%s: the lock is not a regular file", path);
    }
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        const int why = errno;
        if (why != EWOULDBLOCK && why != EINTR) { /* some file systems have no locks */
            close(fd);
            return HUB_OK;
        }
        if (stop && stop(user)) {
            close(fd);
            return hub_fail(e, HUB_ESTOPPED, "ended while another program held %s", path);
        }
        nanosleep(&nap, NULL);
    }
    l->fd = fd;
    return HUB_OK;
}

void store_unlock(struct store_lock *l)
{
    if (l->fd >= 0) close(l->fd); /* also unlocks */
    l->fd = -1;
}
