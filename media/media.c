/* steno-media: from a path or a pipe to a seekable input. SPDX-License-Identifier: MIT
 *
 * Everything is read through one descriptor that this file opened: containers are never given a name they could open, and nothing they
 * mention is opened either. What cannot seek is copied to a temporary file without a name first. */
#include "media.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct steno_media {
    const struct media_backend *backend;
    void *decoder;
    struct media_input in;
    char *name;
    atomic_int stop;
    steno_error error;
};

int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n)
{
    if (at < 0) return -EINVAL;
    if (at >= in->size) return 0;
    if ((int64_t)n > in->size - at) n = (size_t)(in->size - at);
    if (in->mem) {
        memcpy(dst, in->mem + at, n);
        return (int64_t)n;
    }
    ssize_t got;
    do got = pread(in->fd, dst, n, (off_t)at);
    while (got < 0 && errno == EINTR && !atomic_load(in->stop));
    return got < 0 ? -errno : (int64_t)got;
}

/* ---- spooling ---------------------------------------------------------------------------------------------------------------- */

/* An empty file without a name, or -1 with errno set. */
static int spool_open(const char *dir)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) { /* the file system has no such files */
        char path[256];
        snprintf(path, sizeof path, "%s/steno-XXXXXX", dir);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) unlink(path);
    }
    return fd;
}

/* Wait until `fd` can be read, asking `stop` ten times a second. @return 0, or 1 to give up */
static int wait_readable(int fd, int (*stop)(void *user), void *user)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    for (;;) {
        if (stop && stop(user)) return 1;
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

/* Copy all that `fd` gives to a temporary file and put that in m->in. */
static int spool(struct steno_media *m, int fd, int (*stop)(void *user), void *user, steno_error *e)
{
    const char *dir = P_tmpdir;
    int tmp = spool_open(dir);
    if (tmp < 0) tmp = spool_open(dir = "/var/tmp");
    if (tmp < 0)
        return media_fail(e, STENO_EIO, "%s: no temporary file can be made in %s or /var/tmp: %s", m->name, P_tmpdir, strerror(errno));
    m->in.fd = tmp;
    static const size_t chunk_sz = 1 << 16;
    char *chunk = malloc(chunk_sz);
    if (!chunk) return media_nomem(e, chunk_sz, "reading a pipe");
    int status = STENO_OK;
    while (status == STENO_OK) {
        if (wait_readable(fd, stop, user)) {
            status = media_fail(e, STENO_ECANCELED, "%s: reading was canceled", m->name);
            break;
        }
        const ssize_t got = read(fd, chunk, chunk_sz);
        if (got == 0) break;
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) status = media_fail(e, STENO_EIO, "%s: read error: %s", m->name, strerror(errno));
        else if (write_all(tmp, chunk, (size_t)got) < 0)
            status = media_fail(e, STENO_EIO, "%s: after %" PRId64 " bytes the temporary file in %s could not grow: %s; save the audio "
                                "in a file and name that", m->name, m->in.size, dir, strerror(errno));
        else m->in.size += got;
    }
    free(chunk);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* Standard input: read in place when it is a file at its start, else spooled. */
static int input_stdin(struct steno_media *m, int (*stop)(void *user), void *user, steno_error *e)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    if (S_ISDIR(st.st_mode)) return media_fail(e, STENO_EIO, "%s is a directory, not a sound file", m->name);
    if (!S_ISREG(st.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return spool(m, STDIN_FILENO, stop, user, e);
    m->in.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (m->in.fd < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    m->in.size = (int64_t)st.st_size;
    return STENO_OK;
}

static int input_path(struct steno_media *m, int (*stop)(void *user), void *user, steno_error *e)
{
    int fd;
    do fd = open(m->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* O_NONBLOCK: a FIFO nobody writes to must not hang open */
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    struct stat st;
    int status = STENO_OK;
    if (fstat(fd, &st) < 0) status = media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    else if (S_ISDIR(st.st_mode)) status = media_fail(e, STENO_EIO, "%s: is a directory, not a sound file", m->name);
    else if (S_ISREG(st.st_mode)) {
        m->in.fd = fd;
        m->in.size = (int64_t)st.st_size;
        return STENO_OK;
    } else if (S_ISFIFO(st.st_mode)) status = spool(m, fd, stop, user, e);
    else status = media_fail(e, STENO_EIO, "%s: is a device, not a sound file", m->name);
    close(fd);
    return status;
}

int steno_media_open(steno_media **out, const char *path, int (*stop)(void *user), void *user, steno_error *e)
{
    if (!out) return media_fail(e, STENO_EARG, "steno_media_open: out is NULL");
    *out = NULL;
    if (!path) return media_fail(e, STENO_EARG, "steno_media_open: path is NULL");
    const int is_stdin = !strcmp(path, "-");
    struct steno_media *m = calloc(1, sizeof *m);
    if (!m) return media_nomem(e, sizeof *m, "a sound file");
    m->backend = STENO_MEDIA_FFMPEG ? &media_ffmpeg : &media_wav;
    m->in.fd = -1;
    m->in.stop = &m->stop;
    atomic_init(&m->stop, 0);
    m->name = strdup(is_stdin ? "standard input" : path);
    m->in.name = m->name;
    int status = m->name ? STENO_OK : media_nomem(e, strlen(path), "a file name");
    if (status == STENO_OK) status = is_stdin ? input_stdin(m, stop, user, e) : input_path(m, stop, user, e);
    if (status == STENO_OK && m->in.size == 0) status = media_fail(e, STENO_EFORMAT, "%s: is empty", m->name);
    if (status == STENO_OK && media_wav_is_plain(&m->in)) m->backend = &media_wav;
    if (status == STENO_OK) status = m->backend->open(&m->decoder, &m->in, e);
    if (status != STENO_OK) {
        steno_media_close(m);
        return status;
    }
    *out = m;
    return STENO_OK;
}

void steno_media_close(steno_media *m)
{
    if (!m) return;
    m->backend->close(m->decoder);
    if (m->in.fd >= 0) close(m->in.fd);
    free(m->name);
    free(m);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------- */

static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct steno_media *m = user;
    if (n <= 0) return media_fail(&m->error, STENO_EARG, "%s: a read of no samples", m->name);
    if (atomic_load(&m->stop)) return media_fail(&m->error, STENO_ECANCELED, "%s: reading was canceled", m->name);
    return m->backend->read(m->decoder, pcm, n, &m->error);
}

static int source_rewind(void *user)
{
    struct steno_media *m = user;
    if (atomic_load(&m->stop)) return media_fail(&m->error, STENO_ECANCELED, "%s: reading was canceled", m->name);
    return m->backend->rewind(m->decoder, &m->error);
}

void steno_media_source(steno_media *m, steno_source *src)
{
    src->read = source_read;
    src->rewind = source_rewind;
    src->user = m;
}

int steno_media_channels(const steno_media *m)
{
    return m->backend->channels(m->decoder);
}

int steno_media_select(steno_media *m, int channel)
{
    const int n = m->backend->channels(m->decoder);
    if (channel < 0 || channel > n)
        return media_fail(&m->error, STENO_EARG, "%s: has no channel %d; the last one is %d", m->name, channel, n);
    m->backend->select(m->decoder, channel);
    return source_rewind(m);
}

int64_t steno_media_duration_ms(const steno_media *m)
{
    return m->backend->duration_ms(m->decoder);
}

const char *steno_media_error(const steno_media *m)
{
    return m->error.text;
}

int64_t steno_media_damaged_packets(const steno_media *m)
{
    return m->backend->damaged(m->decoder);
}

void steno_media_interrupt(steno_media *m)
{
    atomic_store(&m->stop, 1);
}

const char *steno_media_backend(void)
{
    return STENO_MEDIA_FFMPEG ? media_ffmpeg.text : media_wav.text;
}
