/* steno: messages between the process that controls a batch and its workers. SPDX-License-Identifier: MIT */
#include "batch/pipes.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- buffers ----------------------------------------------------------------------------------------------------------------- */

int pipe_buffer_add(struct pipe_buffer *b, const void *bytes, size_t n)
{
    if (b->n + n > b->cap) {
        const size_t cap = 2 * (b->n + n);
        char *more = realloc(b->p, cap);
        if (!more) return -1;
        b->p = more;
        b->cap = cap;
    }
    if (n) memcpy(b->p + b->n, bytes, n);
    b->n += n;
    return 0;
}

const char *pipe_buffer_first(const struct pipe_buffer *b, struct pipe_message *m)
{
    if (b->n < sizeof *m) return NULL;
    memcpy(m, b->p, sizeof *m);
    return b->n - sizeof *m >= m->n ? b->p + sizeof *m : NULL;
}

void pipe_buffer_drop(struct pipe_buffer *b, size_t n)
{
    b->n -= n;
    memmove(b->p, b->p + n, b->n);
}

/* ---- a worker's end ---------------------------------------------------------------------------------------------------------- */

static int write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        const ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return EXIT_OUTPUT; /* the controller is gone */
        p += k;
        n -= (size_t)k;
    }
    return EXIT_OK;
}

/* Read n bytes. @return 1, 0: the pipe is closed, or a signal came before the first byte */
static int read_all(int fd, void *to, size_t n)
{
    char *p = to;
    for (size_t at = 0; at < n;) {
        const ssize_t k = read(fd, p + at, n - at);
        if (k < 0 && errno == EINTR && (at || !signals_pending())) continue;
        if (k <= 0) return 0;
        at += (size_t)k;
    }
    return 1;
}

static int reply(const struct pipe_worker *p, enum pipe_kind kind, const struct batch_work *w, const struct batch_done *d)
{
    struct pipe_message m;
    memset(&m, 0, sizeof m); /* its padding is written, too */
    m.kind = kind;
    m.tag = (int32_t)w->place;
    if (d) m.done = *d, m.n = (uint32_t)d->n;
    const int code = write_all(p->to, &m, sizeof m);
    return code == EXIT_OK && d ? write_all(p->to, d->line, d->n) : code;
}

/* Read an input that was sent. @return NULL: there is none any more, or no memory */
static struct batch_work *read_input(struct pipe_worker *p)
{
    struct pipe_message m;
    char why[MANIFEST_WHY];
    if (!read_all(p->from, &m, sizeof m)) return NULL;
    char *line = malloc((size_t)m.n + 1);
    if (!line || !read_all(p->from, line, m.n)) return free(line), NULL;
    line[m.n] = '\0';
    struct batch_work *w = batch_work_new(line);
    free(line);
    if (!w) return NULL;
    w->place = m.tag;
    w->attempt = m.attempt;
    w->is_alone = m.is_alone;
    w->number = m.number;
    if (manifest_item_read(&w->item, w->line, why) == MANIFEST_ITEM) return w;
    batch_work_free(w);
    return NULL;
}

static enum job_next next(void *user, int n_busy, struct batch_work **w)
{
    struct pipe_worker *p = user;
    struct pollfd ready = { .fd = p->from, .events = POLLIN };
    if (n_busy && poll(&ready, 1, 0) <= 0) return JOB_NEXT_LATER;
    *w = read_input(p);
    return *w ? JOB_NEXT_FILE : JOB_NEXT_NONE;
}

static int begun(void *user, struct batch_work *w)
{
    w->attempt++;
    w->begun_us = progress_now_us();
    return reply(user, PIPE_BEGUN, w, NULL);
}

static int done(void *user, struct batch_work *w, const struct batch_done *d)
{
    const int code = reply(user, PIPE_DONE, w, d);
    free(d->line);
    batch_work_free(w);
    return code;
}

static int stopped(void *user, struct batch_work *w)
{
    const int code = reply(user, PIPE_STOPPED, w, NULL);
    batch_work_free(w);
    return code;
}

struct batch_source pipe_worker_source(struct pipe_worker *p)
{
    return (struct batch_source){ next, begun, done, stopped, NULL, p };
}
