/* steno-media: from a path or a pipe to a seekable input. SPDX-License-Identifier: MIT
 *
 * Everything is read through one descriptor that this file opened. Containers never receive a name that they could open, and files that
 * they refer to are not opened. An input that cannot seek is first copied to a temporary file without a name. */
#include "media.h"

#include <errno.h>
#include <fcntl.h>
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
    struct media_wav_head wav_head;
    int is_begun;                          /* 1: samples were read since the last open or rewind */
    int64_t promised_size, promised_begin; /* see media_promised_size */
    steno_error error;
};

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* Spool a pipe, or read it as a stream if the caller asks for that. */
static int input_pipe(struct steno_media *m, int fd, const steno_media_params *p, steno_error *e)
{
    return (p->live ? media_live_begin(&m->in, fd, p->spool_dir, p->once, e) : media_spool(&m->in, fd, p->spool_dir, m->backend, e));
}

/* Standard input: read in place when it is a file at its start, else spooled. */
static int input_stdin(struct steno_media *m, const steno_media_params *p, steno_error *e)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    if (S_ISDIR(st.st_mode)) return media_fail(e, STENO_EIO, "%s is a directory, not a sound file", m->name);
    if (!S_ISREG(st.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return input_pipe(m, STDIN_FILENO, p, e);
    m->in.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (m->in.fd < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    m->in.size = m->in.head_sz + (int64_t)st.st_size;
    return STENO_OK;
}

/* Let the caller open the name. @return a descriptor, or STENO_MEDIA_PATH, STENO_MEDIA_FAILED */
static int open_other(const struct steno_media *m, const steno_media_params *p, steno_error *e)
{
    steno_error why = { .status = STENO_EIO };
    const int fd = p->open ? p->open(p->user, m->name, &why) : STENO_MEDIA_PATH;
    if (fd <= STENO_MEDIA_FAILED) media_fail(e, why.status ? why.status : STENO_EIO, "%s", why.text);
    return fd;
}

static int input_path(struct steno_media *m, const steno_media_params *p, steno_error *e)
{
    steno_error why = { 0 };
    int fd = open_other(m, p, &why);
    if (fd <= STENO_MEDIA_FAILED) return media_fail(e, why.status, "%s", why.text);
    while (fd < 0) {
        fd = open(m->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* O_NONBLOCK: opening a FIFO without a writer must not block */
        if (errno != EINTR) break;
    }
    if (fd < 0) return media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    struct stat st;
    int status = STENO_OK;
    if (fstat(fd, &st) < 0) status = media_fail(e, STENO_EIO, "%s: %s", m->name, strerror(errno));
    else if (S_ISDIR(st.st_mode)) status = media_fail(e, STENO_EIO, "%s: is a directory, not a sound file", m->name);
    else if (S_ISREG(st.st_mode)) {
        m->in.fd = fd;
        m->in.size = m->in.head_sz + (int64_t)st.st_size;
        return STENO_OK;
    } else if (S_ISFIFO(st.st_mode)) status = input_pipe(m, fd, p, e);
    else status = media_fail(e, STENO_EIO, "%s: is a device, not a sound file", m->name);
    if (m->in.live) media_live_own(m->in.live);
    else close(fd);
    return status;
}

void steno_media_params_init(steno_media_params *p)
{
    *p = (steno_media_params){ .size = sizeof *p };
}

int steno_media_open(steno_media **out, const char *path, int (*stop)(void *user), void *user, steno_error *e)
{
    steno_media_params p;
    steno_media_params_init(&p);
    p.stop = stop;
    p.user = user;
    return steno_media_open_params(out, path, &p, e);
}

/* Replace the header of a WAV file that would mislead FFmpeg. A pipe is then copied to its end. @return a status */
static int mend_head(struct steno_media *m, steno_error *e)
{
    if (m->in.head_sz > 0) return STENO_OK;
    const int64_t skip = media_wav_mend(&m->wav_head, &m->in);
    if (skip < 0) return STENO_OK;
    const int rc = m->in.live ? media_live_end(&m->in, m->backend, e) : STENO_OK;
    if (rc != STENO_OK) return rc;
    m->in.head = m->wav_head.bytes;
    m->in.head_sz = m->wav_head.size;
    m->in.skip = skip;
    m->in.size += m->in.head_sz - skip;
    return STENO_OK;
}

/* A pipe is decoded as its bytes arrive, or, if that is impossible, once it is complete. */
static int decoder_open(struct steno_media *m, steno_error *e)
{
    const int mended = mend_head(m, e);
    if (mended != STENO_OK) return mended;
    if (media_wav_is_plain(&m->in)) m->backend = &media_wav;
    const int status = m->backend->open(&m->decoder, &m->in, m->in.live ? NULL : e);
    if (!status && m->in.live) media_live_forget(m->in.live);
    if (!status || !m->in.live) return status;
    if (status == STENO_ENOMEM) return media_fail(e, status, "%s: out of memory while it is opened", m->name);
    const int rc = media_live_end(&m->in, m->backend, e);
    return rc ? rc : m->in.size == 0 ? media_fail(e, STENO_EFORMAT, "%s: is empty", m->name) : m->backend->open(&m->decoder, &m->in, e);
}

int steno_media_open_params(steno_media **out, const char *path, const steno_media_params *p, steno_error *e)
{
    if (!out) return media_fail(e, STENO_EARG, "steno_media_open: out is NULL");
    *out = NULL;
    if (!path) return media_fail(e, STENO_EARG, "steno_media_open: path is NULL");
    if (!p || p->size < sizeof *p) return media_fail(e, STENO_EARG, "steno_media_open_params: want steno_media_params_init first");
    const int is_stdin = !strcmp(path, "-");
    struct steno_media *m = calloc(1, sizeof *m);
    if (!m) return media_nomem(e, sizeof *m, "a sound file");
    m->backend = STENO_MEDIA_FFMPEG ? &media_ffmpeg : &media_wav;
    atomic_init(&m->stop, 0);
    m->name = strdup(is_stdin ? "standard input" : path);
    m->in = (struct media_input){ .name = m->name, .fd = -1, .stop = &m->stop, .ask = p->stop, .user = p->user,
                                  .track = p->track, .unclocked = p->unclocked, .head = p->head, .head_sz = p->head_sz };
    int status = m->name ? STENO_OK : media_nomem(e, strlen(path), "a file name");
    if (status == STENO_OK) status = is_stdin ? input_stdin(m, p, e) : input_path(m, p, e);
    if (status == STENO_OK && m->in.size == 0) status = media_fail(e, STENO_EFORMAT, "%s: is empty", m->name);
    if (status == STENO_OK) status = decoder_open(m, e);
    m->promised_size = -1; /* a size that only the end of a file gives is not available from a stream */
    if (status == STENO_OK && !m->in.live) m->promised_size = media_promised_size(&m->in, &m->promised_begin);
    m->in.ask = NULL; /* the caller's data may go away; later reads stop by steno_media_interrupt */
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
    media_live_close(m->in.live);
    free(m->name);
    free(m);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------- */

static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct steno_media *m = user;
    if (n <= 0) return media_fail(&m->error, STENO_EARG, "%s: a read of no samples", m->name);
    if (atomic_load(&m->stop)) return media_fail(&m->error, STENO_ECANCELED, "%s: reading was canceled", m->name);
    m->is_begun = 1;
    return m->backend->read(m->decoder, pcm, n, &m->error);
}

static int source_rewind(void *user)
{
    struct steno_media *m = user;
    if (atomic_load(&m->stop)) return media_fail(&m->error, STENO_ECANCELED, "%s: reading was canceled", m->name);
    if (media_live_has_forgotten(m->in.live))
        return media_fail(&m->error, STENO_EARG, "%s: was opened to be read once, and its beginning is kept no more", m->name);
    m->is_begun = 0;
    return m->backend->rewind(m->decoder, &m->error);
}

void steno_media_source(steno_media *m, steno_source *src)
{
    src->read = source_read;
    src->rewind = source_rewind;
    src->user = m;
}

int64_t steno_media_skip(steno_media *m, int64_t n)
{
    if (n < 0) return media_fail(&m->error, STENO_EARG, "%s: a skip of %lld samples", m->name, (long long)n);
    if (atomic_load(&m->stop)) return media_fail(&m->error, STENO_ECANCELED, "%s: reading was canceled", m->name);
    return n && !m->is_begun ? m->backend->skip(m->decoder, n, &m->error) : 0;
}

int steno_media_channels(const steno_media *m)
{
    return m->backend->channels(m->decoder);
}

int steno_media_select(steno_media *m, int channel)
{
    const int n = m->backend->channels(m->decoder);
    if (channel < STENO_MEDIA_MIX || channel >= n)
        return media_fail(&m->error, STENO_EARG, "%s: has no channel %d; the last one is %d", m->name, channel, n - 1);
    m->backend->select(m->decoder, channel);
    return source_rewind(m);
}

int steno_media_tracks(const steno_media *m)
{
    return m->backend->tracks(m->decoder);
}

int steno_media_select_track(steno_media *m, int track)
{
    const int n = m->backend->tracks(m->decoder);
    if (track < 1 || track > n) return media_no_track(&m->in, track, n, STENO_EARG, &m->error);
    m->in.track = track;
    m->backend->select(m->decoder, STENO_MEDIA_MIX);
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

int steno_media_status(const steno_media *m)
{
    return m->error.status;
}

int64_t steno_media_damaged_packets(const steno_media *m)
{
    struct media_decoded h = { .promised_ms = -1 };
    m->backend->decoded(m->decoder, &h);
    return h.damaged;
}

static int64_t to_ms(int64_t samples)
{
    return samples / (MEDIA_RATE / 1000);
}

int steno_media_state_get(const steno_media *m, steno_media_state *s)
{
    enum { SIZE_SLACK = 64 }; /* some writers count a header among the samples */
    struct media_decoded h = { .promised_ms = -1 };
    const uint32_t first_size = offsetof(steno_media_state, start_ms); /* size of its first version */
    if (!s || s->size < first_size) return STENO_EARG;
    m->backend->decoded(m->decoder, &h);
    const int lacks_bytes = m->promised_size > m->in.size + SIZE_SLACK, lacks_sound = h.promised_ms > h.ms + h.slack_ms;
    if (lacks_bytes && h.ended && h.promised_ms < 0 && m->promised_begin > 0 && m->promised_begin < m->in.size) {
        const double times = (double)(m->promised_size - m->promised_begin) / (double)(m->in.size - m->promised_begin);
        if (times < 1e6) h.promised_ms = (int64_t)((double)h.ms * times + 0.5);
    }
    const steno_media_state state = { .size = s->size, .ended = h.ended, .truncated = h.ended && (lacks_bytes || lacks_sound || h.broken),
                                      .promised_ms = h.promised_ms, .read_ms = h.ms, .damaged_packets = h.damaged,
                                      .start_ms = to_ms(h.moved.start), .gaps = h.moved.gaps, .gaps_ms = to_ms(h.moved.silence),
                                      .dropped_ms = to_ms(h.moved.dropped), .jumps = h.moved.jumps };
    memcpy(s, &state, s->size < sizeof state ? first_size : sizeof state);
    return STENO_OK;
}

void steno_media_interrupt(steno_media *m)
{
    atomic_store(&m->stop, 1);
}

const char *steno_media_backend(void)
{
    return STENO_MEDIA_FFMPEG ? media_ffmpeg.text : media_wav.text;
}
