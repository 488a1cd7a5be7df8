/* steno-media: pipes are copied to a temporary file without a name. SPDX-License-Identifier: MIT
 *
 * Indexes stand at the end of some containers, and audio is heard twice; a pipe can be read once. Before more than its beginning is
 * copied that must look like a sound file: a pipe of something else may have no end. */
#include "media.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_SZ = 1 << 16, PROBE_SZ = 1 << 20 }; /* FFmpeg looks at no more to find out what a file is */

/* An empty file without a name, or -1 with errno set. */
static int spool_open(const char *dir)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) { /* the file system has no such files */
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

/* Wait until `fd` can be read, asking ten times a second whether to go on. @return 0, or 1 to give up */
static int wait_readable(int fd, const struct media_input *in)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    for (;;) {
        if (media_input_stopped(in)) return 1;
        const int r = poll(&p, 1, 100);
        if (r > 0 || (r < 0 && errno != EINTR)) return 0; /* the read that follows tells what is wrong */
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

/* A pipe on its way to a temporary file. */
struct media_live {
    struct media_input *in;
    const char *dir;       /* where the file is */
    int fd, ended, owns;
    int64_t have;          /* bytes in the file */
    char chunk[CHUNK_SZ];
};

/* Take what the pipe has. @return 1, 0 at its end, or a status */
static int take(struct media_live *l, steno_error *e)
{
    const struct media_input *in = l->in;
    if (wait_readable(l->fd, in)) return media_fail(e, STENO_ECANCELED, "%s: reading was canceled", in->name);
    const ssize_t got = read(l->fd, l->chunk, CHUNK_SZ);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 1;
    if (got < 0) return media_fail(e, STENO_EIO, "%s: read error: %s", in->name, strerror(errno));
    if (write_all(in->fd, l->chunk, (size_t)got) < 0)
        return media_fail(e, STENO_EIO, "%s: after %" PRId64 " bytes the temporary file in %s could not grow: %s; name a folder with more "
                          "room (TMPDIR), or save the audio in a file and name that", in->name, l->have, l->dir, strerror(errno));
    l->have += got;
    return got > 0;
}

static int64_t pull(struct media_live *l, int64_t want)
{
    while (!l->ended && l->have < want) {
        const int status = take(l, NULL);
        if (status < 0) return status == STENO_ECANCELED ? -EINTR : -EIO;
        if (status) continue;
        l->ended = 1;
        l->in->size = l->have;
    }
    return l->have;
}

int media_live_begin(struct media_input *in, int fd, const char *dir, steno_error *e)
{
    in->fd = spool_open(dir ? dir : P_tmpdir);
    if (in->fd < 0 && !dir) in->fd = spool_open(dir = "/var/tmp");
    if (in->fd < 0)
        return media_fail(e, errno == ENOMEM ? STENO_ENOMEM : STENO_EIO, "%s: no temporary file can be made in %s: %s", in->name, dir,
                          strerror(errno));
    struct media_live *l = in->live = malloc(sizeof *l);
    if (!l) return media_nomem(e, sizeof *l, "reading a pipe");
    *l = (struct media_live){ .in = in, .dir = dir ? dir : P_tmpdir, .fd = fd, .have = in->head_sz };
    if (write_all(in->fd, (const char *)in->head, (size_t)in->head_sz) < 0)
        return media_fail(e, STENO_EIO, "%s: the temporary file in %s could not grow: %s", in->name, l->dir, strerror(errno));
    in->head_sz = 0; /* it is in the file now */
    in->pull = pull;
    in->size = INT64_MAX / 4;
    return STENO_OK;
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
    const int rc = media_live_begin(in, fd, dir, e);
    return rc ? rc : media_live_end(in, backend, e);
}
