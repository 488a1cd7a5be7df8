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

/* Take what the pipe has. @return 1, 0 at its end, or a status */
static int take(struct media_input *in, int fd, char *chunk, const char *dir, steno_error *e)
{
    if (wait_readable(fd, in)) return media_fail(e, STENO_ECANCELED, "%s: reading was canceled", in->name);
    const ssize_t got = read(fd, chunk, CHUNK_SZ);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 1;
    if (got < 0) return media_fail(e, STENO_EIO, "%s: read error: %s", in->name, strerror(errno));
    if (write_all(in->fd, chunk, (size_t)got) < 0)
        return media_fail(e, STENO_EIO, "%s: after %" PRId64 " bytes the temporary file in %s could not grow: %s; name a folder with more "
                          "room (TMPDIR), or save the audio in a file and name that", in->name, in->size, dir, strerror(errno));
    in->size += got;
    return got > 0;
}

int media_spool(struct media_input *in, int fd, const char *dir, const struct media_backend *backend, steno_error *e)
{
    in->fd = spool_open(dir ? dir : P_tmpdir);
    if (in->fd < 0 && !dir) in->fd = spool_open(dir = "/var/tmp");
    if (in->fd < 0)
        return media_fail(e, errno == ENOMEM ? STENO_ENOMEM : STENO_EIO, "%s: no temporary file can be made in %s: %s", in->name, dir,
                          strerror(errno));
    if (!dir) dir = P_tmpdir;
    char *chunk = malloc(CHUNK_SZ);
    if (!chunk) return media_nomem(e, CHUNK_SZ, "reading a pipe");
    int status = 1, probed = 0;
    while (status == 1) {
        status = take(in, fd, chunk, dir, e);
        if (status != 1 || probed || in->size < PROBE_SZ) continue;
        probed = 1;
        const int rc = backend->probe(in, e);
        if (rc != STENO_OK) status = rc;
    }
    free(chunk);
    return status;
}
