/* steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
 *
 * Signals belong to the process, so the state is static. The handler calls only async-signal-safe functions. */
#include "cli/signals.h"
#include "atomic_file.h"
#include "cli/message.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t pending, deferred, open_line;
static steno_session *_Atomic session;
static steno_media *_Atomic media;
static void (*_Atomic handler)(void *user, int sig);
static void *handler_user;

/* A path that is removed when a signal ends the program. A thread first reserves the place, then sets the name. */
enum { FREE, TAKEN, SET, N_NAMES = 64 };
static struct { atomic_int state; char path[PATH_MAX]; } doomed[N_NAMES];

/* Files come first, so that folders are empty. */
static void remove_doomed(void)
{
    for (int i = 0; i < N_NAMES; i++)
        if (atomic_load(&doomed[i].state) == SET) unlink(doomed[i].path);
    for (int i = 0; i < N_NAMES; i++)
        if (atomic_load(&doomed[i].state) == SET) rmdir(doomed[i].path);
}

static void on_signal(int sig)
{
    const int keep = errno;
    void (*own)(void *, int) = atomic_load(&handler);
    if (own) {
        own(handler_user, sig);
        errno = keep;
        return;
    }
    if (pending || !deferred) {
        remove_doomed();
        if (open_line && write(STDERR_FILENO, "\n", 1) < 0) _exit(EXIT_SIGNAL + sig);
        _exit(EXIT_SIGNAL + sig);
    }
    pending = sig;
    steno_session *s = atomic_load(&session);
    steno_media *m = atomic_load(&media);
    if (s) steno_cancel(s);
    if (m) steno_media_interrupt(m);
    errno = keep;
}

void signals_install(void)
{
    static const int stop[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction sa, old;
    atomic_file_watch(signals_remove);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = SIG_IGN; /* a closed reader becomes an error of write(), which is reported */
    sigaction(SIGPIPE, &sa, NULL);
    sigaction(SIGXFSZ, &sa, NULL); /* a full quota becomes an error, too */
    sa.sa_handler = on_signal; /* no SA_RESTART: a blocked read must return */
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) sigaddset(&sa.sa_mask, stop[i]);
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++)
        /* keep the ignored signals of nohup */
        if (sigaction(stop[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(stop[i], &sa, NULL);
}

void signals_watch(steno_session *s, steno_media *m)
{
    atomic_store(&session, s);
    atomic_store(&media, m);
}

void signals_handle(void (*fn)(void *user, int sig), void *user)
{
    atomic_store(&handler, NULL);
    handler_user = user;
    atomic_store(&handler, fn);
}

void signals_defer(int on)
{
    deferred = on;
}

int signals_pending(void)
{
    return pending;
}

void signals_forget(void)
{
    pending = 0;
}

void signals_open_line(int on)
{
    open_line = on;
}

int signals_stop(void *user)
{
    (void)user;
    return pending;
}

static void enter(const char *path)
{
    for (int i = 0; i < N_NAMES && strlen(path) < PATH_MAX; i++) {
        int free_place = FREE;
        if (!atomic_compare_exchange_strong(&doomed[i].state, &free_place, TAKEN)) continue;
        strcpy(doomed[i].path, path);
        atomic_store(&doomed[i].state, SET);
        return;
    }
}

void signals_remove(const char *path, int is_there)
{
    if (is_there) enter(path);
    for (int i = 0; i < N_NAMES && !is_there; i++)
        if (atomic_load(&doomed[i].state) == SET && strcmp(doomed[i].path, path) == 0) atomic_store(&doomed[i].state, FREE);
}
