/* steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
 *
 * Signals belong to the process, hence the static state. Everything the handler calls is safe in a handler. */
#include "signals.h"
#include "message.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t pending, deferred, temp_set, open_line;
static steno_session *_Atomic session;
static steno_media *_Atomic media;
static char temp[PATH_MAX];

static void on_signal(int sig)
{
    const int keep = errno;
    if (pending || !deferred) {
        if (temp_set) unlink(temp);
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
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = SIG_IGN; /* a reader that goes away is an error of write(), told in words */
    sigaction(SIGPIPE, &sa, NULL);
    sigaction(SIGXFSZ, &sa, NULL); /* so is a full quota */
    sa.sa_handler = on_signal; /* no SA_RESTART: a blocked read has to come back */
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) sigaddset(&sa.sa_mask, stop[i]);
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++)
        if (sigaction(stop[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(stop[i], &sa, NULL); /* nohup stays nohup */
}

void signals_watch(steno_session *s, steno_media *m)
{
    atomic_store(&session, s);
    atomic_store(&media, m);
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

void signals_temp(const char *path)
{
    temp_set = 0;
    if (!path || strlen(path) >= sizeof temp) return;
    strcpy(temp, path);
    temp_set = 1;
}
