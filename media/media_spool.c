/* steno-media: pipes copied to a temporary file without a name. SPDX-License-Identifier: MIT
 *
 * Some containers have their index at the end, and audio is read twice, but a pipe can be read only once. Its beginning must look like a
 * sound file before more is copied: a pipe of other data may be endless. */
#include "media.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CHUNK_SZ = 1 << 16, PROBE_SZ = 1 << 20 }; /* FFmpeg examines at most this much to identify a file */
enum { FORGET_SZ = 1 << 20, MEMORY_SZ = 8 << 20, RESERVE_SZ = 32 << 20 }; /* for a pipe that is read once */

/* An empty file without a name, or -1 with errno set. */
static int spool_open(const char *dir)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) { /* the file system has no files without a name */
        const size_t n = strlen(dir) + sizeof "/steno-XXXXXX";
        char *path = malloc(n);
        if (!path) return -1;
        snprintf(path, n, "%s/steno-XXXXXX", dir);
        fd = mkostemp(path, O_CLOEXEC);
        const int why = errno;
        if (fd >= 0) unlink(path);
        free(path);
        errno = why;
    }
    return fd;
}

/* Wait until `fd` can be read, and check ten times a second whether to stop. @return 0, or 1 to stop */
static int wait_readable(int fd, const struct media_input *in)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    for (;;) {
        if (media_input_stopped(in)) return 1;
        const int r = poll(&p, 1, 100);
        if (r > 0 || (r < 0 && errno != EINTR)) return 0; /* the following read reports the error */
    }
}

static int write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

/* A pipe that is being copied to a temporary file. */
struct media_live {
    struct media_input *in;
    const char *dir;       /* folder of the file */
    int fd, ended, owns;
    int once;              /* read once: the pipe may be endless, and its beginning is kept in memory */
    int forgets;           /* 1: bytes that were read are dropped */
    int in_memory;         /* 1: the file is in memory, not on a disk */
    int64_t have;          /* bytes received; those before `gone` were dropped */
    int64_t gone;
    steno_error error;     /* why reading stopped */
    char chunk[CHUNK_SZ];
};

static int cannot_grow(const struct media_live *l, int why, steno_error *e)
{
    return media_fail(e, STENO_EIO, "%s: after %" PRId64 " bytes the temporary file in %s could not grow: %s; name a folder with more "
                      "room (TMPDIR), or save the audio in a file and name that", l->in->name, l->have, l->dir, strerror(why));
}

/* A file in `dir`, or else in a folder with room. */
static int disk_open(const struct media_input *in, const char **dir, steno_error *e)
{
    int fd = spool_open(*dir ? *dir : P_tmpdir);
    if (fd < 0 && !*dir) fd = spool_open(*dir = "/var/tmp");
    if (!*dir) *dir = P_tmpdir;
    if (fd < 0)
        media_fail(e, errno == ENOMEM ? STENO_ENOMEM : STENO_EIO, "%s: no temporary file can be made in %s: %s", in->name, *dir,
                   strerror(errno));
    return fd;
}

/* Move from memory to a disk: a container without sound at its beginning may need the whole pipe. */
static int move_to_disk(struct media_live *l, steno_error *e)
{
    const int fd = disk_open(l->in, &l->dir, e), from = l->in->fd;
    if (fd < 0) return e ? e->status : STENO_EIO;
    l->in->fd = fd;
    l->in_memory = 0;
    for (int64_t at = 0; at < l->have - l->gone;) {
        char part[4096];
        const ssize_t n = pread(from, part, sizeof part, (off_t)at);
        if (n <= 0 || write_all(fd, part, (size_t)n) < 0) {
            const int why = errno;
            close(from);
            return cannot_grow(l, why, e);
        }
        at += n;
    }
    close(from);
    return STENO_OK;
}

/* Check that there is room for a chunk: an endless pipe must not fill the disk. */
static int check_room(struct media_live *l, steno_error *e)
{
    struct statvfs s;
    if (!l->once) return STENO_OK;
    if (l->in_memory && l->have - l->gone > MEMORY_SZ) {
        const int rc = move_to_disk(l, e);
        if (rc != STENO_OK) return rc;
    }
    if (l->in_memory || fstatvfs(l->in->fd, &s)) return STENO_OK;
    const uint64_t all = (uint64_t)s.f_blocks * s.f_frsize, left = (uint64_t)s.f_bavail * s.f_frsize;
    const uint64_t reserve = all / 16 < RESERVE_SZ ? all / 16 : RESERVE_SZ;
    if (left > reserve + CHUNK_SZ) return STENO_OK;
    return media_fail(e, STENO_EIO,
                      "%s: can only be read when all of it has come, and after %" PRId64 " bytes %s is nearly full; send another container "
                      "(WAV, Ogg, MP3, FLAC), name a folder with more room (TMPDIR), or save the audio in a file",
                      l->in->name, l->have, l->dir);
}

/* Drop the bytes before `at`. Less than a chunk remains after it, because only requested bytes are received. @return 0, or -1 */
static int forget(struct media_live *l, int64_t at)
{
    const int64_t left = l->have - at;
    if (!l->forgets || at - l->gone < FORGET_SZ || left < 0 || left > CHUNK_SZ) return 0;
    if (left && pread(l->in->fd, l->chunk, (size_t)left, (off_t)(at - l->gone)) != left) return -1;
    if (ftruncate(l->in->fd, 0) || lseek(l->in->fd, 0, SEEK_SET) < 0 || write_all(l->in->fd, l->chunk, (size_t)left)) return -1;
    l->gone = at;
    l->in->skip = -at;
    return 0;
}

/* Receive the available bytes. @return 1, 0 at the end, or a status */
static int take(struct media_live *l, steno_error *e)
{
    const struct media_input *in = l->in;
    const int room = check_room(l, e);
    if (room != STENO_OK) return room;
    if (wait_readable(l->fd, in)) return media_fail(e, STENO_ECANCELED, "%s: reading was canceled", in->name);
    const ssize_t got = read(l->fd, l->chunk, CHUNK_SZ);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 1;
    if (got < 0) return media_fail(e, STENO_EIO, "%s: read error: %s", in->name, strerror(errno));
    if (write_all(in->fd, l->chunk, (size_t)got) < 0) return cannot_grow(l, errno, e);
    l->have += got;
    return got > 0;
}

static int64_t pull(struct media_live *l, int64_t at, int64_t want)
{
    if (l->error.status) return -EIO;
    if (forget(l, at)) return -errno;
    while (!l->ended && l->have < want) {
        const int status = take(l, &l->error);
        if (status == STENO_ECANCELED) l->error.status = STENO_OK;
        if (status < 0) return status == STENO_ECANCELED ? -EINTR : -EIO;
        if (status) continue;
        l->ended = 1;
        l->in->size = l->have;
    }
    return l->have;
}

int media_live_error(const struct media_live *l, steno_error *e)
{
    if (!l || !l->error.status) return STENO_OK;
    return media_fail(e, l->error.status, "%s", l->error.text);
}

int media_live_begin(struct media_input *in, int fd, const char *dir, int once, steno_error *e)
{
    struct media_live *l = in->live = malloc(sizeof *l);
    if (!l) return media_nomem(e, sizeof *l, "reading a pipe");
    *l = (struct media_live){ .in = in, .dir = dir, .fd = fd, .have = in->head_sz, .once = once };
    in->fd = once ? memfd_create("steno", MFD_CLOEXEC) : -1;
    l->in_memory = in->fd >= 0;
    if (in->fd < 0) in->fd = disk_open(in, &l->dir, e);
    if (in->fd < 0) return e ? e->status : STENO_EIO;
    if (write_all(in->fd, (const char *)in->head, (size_t)in->head_sz) < 0)
        return media_fail(e, STENO_EIO, "%s: the temporary file in %s could not grow: %s", in->name, l->dir, strerror(errno));
    in->head_sz = 0; /* the file now contains it */
    in->pull = pull;
    in->size = INT64_MAX / 4;
    return STENO_OK;
}

void media_live_forget(struct media_live *l)
{
    l->forgets = l->once;
}

int media_live_has_forgotten(const struct media_live *l)
{
    return l && l->gone > 0;
}

void media_live_own(struct media_live *l)
{
    l->owns = 1;
}

void media_live_close(struct media_live *l)
{
    if (l && l->owns) close(l->fd);
    free(l);
}

int media_live_end(struct media_input *in, const struct media_backend *backend, steno_error *e)
{
    struct media_live *l = in->live;
    int status = 1, probed = 0;
    in->live = NULL;
    in->size = l->have;
    if (l->error.status) status = media_live_error(l, e);
    while (status == 1 && !l->ended) {
        status = take(l, e);
        in->size = l->have;
        if (status != 1 || probed || in->size < PROBE_SZ) continue;
        probed = 1;
        const int rc = backend->probe(in, e);
        if (rc != STENO_OK) status = rc;
    }
    media_live_close(l);
    return status == 1 ? STENO_OK : status;
}

int media_spool(struct media_input *in, int fd, const char *dir, const struct media_backend *backend, steno_error *e)
{
    const int rc = media_live_begin(in, fd, dir, 0, e);
    return rc ? rc : media_live_end(in, backend, e);
}
