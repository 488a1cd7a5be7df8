/* steno: a batch in processes of its own. SPDX-License-Identifier: MIT
 *
 * A worker has one input more than it can process at a time, so that it never waits for the controller. Such an input was not begun, and is
 * not suspected when the worker dies. Pipes to workers do not block, because a worker that writes a long result does not read. */
#include "batch/isolate.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { TICK_MS = 500, GRACE_S = 10, DEATHS_MAX = 3 /* of workers that began nothing */ };

struct worker {
    pid_t pid;               /* 0: not running */
    int to, from;
    struct pipe_buffer out, in;
    struct batch_work **work; /* [n_work] by tag; NULL: free */
    int n_dealt, is_alone;    /* is_alone: its input runs alone */
    int has_begun;            /* since it was started */
    struct batch_work *late;  /* the input for which it was killed */
};

struct isolate {
    const struct batch_isolate *b;
    struct worker *worker;   /* [b->n_workers] */
    int n_work, n_deaths, is_ending;
    int code;
};

static int fail(struct isolate *s, int code)
{
    if (s->code == EXIT_OK) s->code = code;
    return s->code;
}

/* ---- processes --------------------------------------------------------------------------------------------------------------- */

/* In the new process: close what belongs to the controller, and work. */
static void become_worker(const struct isolate *s, const struct worker *self, int to, int from)
{
    struct pipe_worker p = { from, to };
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    for (int i = 0; i < s->b->n_workers; i++) {
        const struct worker *w = &s->worker[i];
        if (w != self && w->pid) close(w->to), close(w->from);
    }
    batch_journal_close(&s->b->control->journal, 0); /* its lock ends with the controller */
    manifest_reader_close(&s->b->control->reader);
    const int code = s->b->worker(s->b->user, &p);
    fflush(NULL);
    _exit(code);
}

static int start(struct isolate *s, struct worker *w)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    const pid_t controller = getpid();
    fflush(NULL);
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) goto failed;
    const pid_t pid = fork();
    if (pid < 0) goto failed;
    if (!pid) {
        close(to[1]);
        close(from[0]);
        if (getppid() == controller) become_worker(s, w, from[1], to[0]);
        _exit(EXIT_OUTPUT);
    }
    close(to[0]);
    close(from[1]);
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    *w = (struct worker){ .pid = pid, .to = to[1], .from = from[0], .work = w->work, .in = w->in, .out = w->out };
    w->in.n = w->out.n = 0;
    return EXIT_OK;
failed:
    message("a worker cannot be started: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        if (to[i] >= 0) close(to[i]);
        if (from[i] >= 0) close(from[i]);
    }
    return fail(s, EXIT_MEMORY);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------------------ */

static int send_input(struct isolate *s, struct worker *w, struct batch_work *input)
{
    struct pipe_message m;
    int tag = 0;
    while (w->work[tag]) tag++;
    memset(&m, 0, sizeof m);
    m = (struct pipe_message){ .kind = PIPE_INPUT, .n = (uint32_t)strlen(input->line), .tag = tag, .attempt = input->attempt,
                               .is_alone = input->is_alone, .number = input->number };
    w->work[tag] = input;
    w->n_dealt++;
    w->is_alone = input->is_alone;
    input->begun_us = 0;
    if (!pipe_buffer_add(&w->out, &m, sizeof m) && !pipe_buffer_add(&w->out, input->line, m.n)) return EXIT_OK;
    message("out of memory for an input of the batch");
    return fail(s, EXIT_MEMORY);
}

/* Give the worker inputs, and start it if there are any. */
static void deal(struct isolate *s, struct worker *w)
{
    struct batch_work *input;
    while (s->code == EXIT_OK && !w->is_alone && w->n_dealt < s->n_work) {
        if (batch_control_next(s->b->control, w->n_dealt, &input) != JOB_NEXT_FILE) return;
        if (!w->pid && start(s, w) != EXIT_OK) {
            batch_control_returned(s->b->control, input);
            return;
        }
        send_input(s, w, input);
    }
}

/* Take an input back from the worker. */
static struct batch_work *release(struct worker *w, int tag)
{
    struct batch_work *input = w->work[tag];
    w->work[tag] = NULL;
    w->n_dealt--;
    w->is_alone = 0;
    return input;
}

static void take_message(struct isolate *s, struct worker *w, const struct pipe_message *m, const char *bytes)
{
    struct batch_control *c = s->b->control;
    struct batch_done d = m->done;
    if (m->kind == PIPE_BEGUN) {
        s->n_deaths = 0;
        w->has_begun = 1;
        batch_control_begun(c, w->work[m->tag]);
        return;
    }
    struct batch_work *input = release(w, m->tag);
    if (m->kind == PIPE_STOPPED) {
        batch_control_stopped(c, input);
        return;
    }
    d.line = malloc((size_t)m->n + 1);
    if (d.line) memcpy(d.line, bytes, m->n);
    batch_control_done(c, input, &d);
}

/* Is the message about an input that the worker has? A process whose memory is damaged may write anything. */
static int is_valid(const struct isolate *s, const struct worker *w, const struct pipe_message *m)
{
    return m->kind >= PIPE_BEGUN && m->kind <= PIPE_STOPPED && m->tag >= 0 && m->tag < s->n_work && w->work[m->tag] != NULL;
}

/* Read what the worker has written. @return 0: it has closed its pipe, or is killed because it wrote something else than messages */
static int receive(struct isolate *s, struct worker *w)
{
    char bytes[1 << 16];
    struct pipe_message m;
    for (;;) {
        const ssize_t n = read(w->from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 1;
        if (n <= 0) return 0;
        if (pipe_buffer_add(&w->in, bytes, (size_t)n)) {
            message("out of memory for a result of the batch");
            fail(s, EXIT_MEMORY);
            return 1;
        }
        for (const char *after; (after = pipe_buffer_first(&w->in, &m)); pipe_buffer_drop(&w->in, sizeof m + m.n)) {
            if (!is_valid(s, w, &m)) return kill(w->pid, SIGKILL), 0;
            take_message(s, w, &m, after);
        }
    }
}

static void flush(struct worker *w)
{
    while (w->out.n) {
        const ssize_t n = write(w->to, w->out.p, w->out.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return; /* the pipe is full; or the worker is gone, which is found when it is read */
        pipe_buffer_drop(&w->out, (size_t)n);
    }
}

/* ---- ends -------------------------------------------------------------------------------------------------------------------- */

/* Share out the inputs of a worker that is gone: those that it had begun may have killed it. */
static void recover(struct isolate *s, struct worker *w)
{
    struct batch_control *c = s->b->control;
    for (int tag = 0; tag < s->n_work; tag++) {
        if (!w->work[tag]) continue;
        struct batch_work *input = release(w, tag);
        if (!input->begun_us) batch_control_returned(c, input);
        else if (signals_pending() || s->is_ending) batch_control_stopped(c, input);
        else if (input == w->late) batch_control_expired(c, input, s->b->timeout_s);
        else if (w->late) batch_control_spared(c, input);
        else batch_control_killed(c, input);
    }
    w->late = NULL;
}

/* Report a worker that ended with inputs. Workers that cannot even begin end the run. */
static void report_end(struct isolate *s, const struct worker *w, int status)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OK;
    if (!w->n_dealt) return;
    if (!w->has_begun && code != EXIT_OK) {
        fail(s, code); /* after its message */
        return;
    }
    if (WIFSIGNALED(status) && !w->late) message("a worker was killed by signal %d; another one takes its place", WTERMSIG(status));
    if (w->has_begun || ++s->n_deaths < DEATHS_MAX) return;
    message("%d workers ended before they began an input", s->n_deaths);
    fail(s, EXIT_MEMORY);
}

static void end(struct isolate *s, struct worker *w)
{
    int status = 0;
    close(w->to);
    close(w->from);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    w->pid = 0;
    if (!signals_pending() && !s->is_ending) report_end(s, w, status);
    recover(s, w);
}

/* Kill a worker with an input that is long past its time. */
static void check_time(const struct isolate *s, struct worker *w)
{
    const int64_t now = progress_now_us();
    for (int tag = 0; tag < s->n_work && s->b->timeout_s > 0 && !w->late; tag++) {
        struct batch_work *input = w->work[tag];
        if (!input || !input->begun_us || (double)(now - input->begun_us) < (s->b->timeout_s + GRACE_S) * 1e6) continue;
        w->late = input;
        kill(w->pid, SIGKILL);
    }
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

static void wait_for_workers(struct isolate *s, struct pollfd *fd)
{
    const int n = s->b->n_workers;
    for (int i = 0; i < n; i++) {
        const struct worker *w = &s->worker[i];
        fd[i] = (struct pollfd){ .fd = w->pid ? w->from : -1, .events = POLLIN };
        fd[n + i] = (struct pollfd){ .fd = w->pid && w->out.n ? w->to : -1, .events = POLLOUT };
    }
    poll(fd, (nfds_t)(2 * n), TICK_MS);
}

/* @return the number of workers that run */
static int turn(struct isolate *s, struct pollfd *fd)
{
    int n_running = 0;
    for (int i = 0; i < s->b->n_workers; i++) {
        struct worker *w = &s->worker[i];
        if (s->b->control->code != EXIT_OK) fail(s, s->b->control->code);
        deal(s, w);
        if (w->pid) flush(w);
    }
    for (int i = 0; i < s->b->n_workers; i++) n_running += s->worker[i].n_dealt > 0;
    if (!n_running || s->code != EXIT_OK || signals_pending()) return 0;
    wait_for_workers(s, fd);
    for (int i = 0; i < s->b->n_workers; i++) {
        struct worker *w = &s->worker[i];
        if (w->pid && !receive(s, w)) end(s, w);
        else if (w->pid) check_time(s, w);
    }
    batch_control_tick(s->b->control);
    return 1;
}

/* End all workers: idle ones end when their pipe is closed, others by a signal. */
static void end_all(struct isolate *s)
{
    const int kills = signals_pending() || s->code != EXIT_OK;
    s->is_ending = 1;
    for (int i = 0; i < s->b->n_workers; i++) {
        struct worker *w = &s->worker[i];
        if (!w->pid) continue;
        if (kills) kill(w->pid, SIGTERM);
        close(w->to);
        w->to = -1;
    }
    for (int i = 0; i < s->b->n_workers; i++) {
        struct worker *w = &s->worker[i];
        struct pollfd fd = { .fd = w->from, .events = POLLIN };
        const int64_t begun = progress_now_us();
        while (w->pid && receive(s, w)) {
            if (progress_now_us() - begun > GRACE_S * INT64_C(1000000)) kill(w->pid, SIGKILL);
            poll(&fd, 1, TICK_MS);
        }
        if (w->pid) end(s, w);
    }
}

int batch_isolate(const struct batch_isolate *b)
{
    struct isolate s = { .b = b, .n_work = b->n_slots + 1 };
    struct pollfd *fd = calloc(2 * (size_t)b->n_workers, sizeof *fd);
    s.worker = calloc((size_t)b->n_workers, sizeof *s.worker);
    for (int i = 0; s.worker && i < b->n_workers; i++)
        if (!(s.worker[i].work = calloc((size_t)s.n_work, sizeof *s.worker->work))) fail(&s, EXIT_MEMORY);
    if (!fd || !s.worker || s.code != EXIT_OK) {
        message("out of memory for %d workers", b->n_workers);
        fail(&s, EXIT_MEMORY);
    }
    signals_defer(1);
    while (s.code == EXIT_OK && turn(&s, fd)) continue;
    if (s.worker) end_all(&s);
    signals_defer(0);
    for (int i = 0; s.worker && i < b->n_workers; i++) {
        free(s.worker[i].work);
        free(s.worker[i].in.p);
        free(s.worker[i].out.p);
    }
    free(s.worker);
    free(fd);
    return s.code;
}
