/* steno-serve: libmicrohttpd, loaded when a server is opened; time. SPDX-License-Identifier: MIT
 *
 * Linking it would add ten libraries to every start of the program. Its headers provide the types. The calls that are used have the same
 * form in 0.9.71 and in 1.0, so each of these versions works. */
#include "http_state.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int http_fail(steno_error *e, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (e) vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    if (e) e->status = status;
    return status;
}

/* It stays open until the program ends, because the libraries below it do not unload cleanly. */
int mhd_load(struct mhd *m, steno_error *e)
{
    static const char *const names[] = { "libmicrohttpd.so.12", "libmicrohttpd.so.13", "libmicrohttpd.so" };
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < sizeof names / sizeof *names && !m->lib; i++) m->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!m->lib) {
        return http_fail(e, STENO_EUNSUPPORTED, "libmicrohttpd is not installed, and the server needs it: install it (Debian, Ubuntu: "
                                                "libmicrohttpd12; Fedora: libmicrohttpd)");
    }
    void *p;
    const char *missing = NULL;
#define MHD_BIND(f) \
    p = dlsym(m->lib, #f); \
    if (!p) missing = #f; \
    memcpy(&m->f, &p, sizeof p);
    MHD_CALLS(MHD_BIND)
#undef MHD_BIND
    if (missing) return http_fail(e, STENO_EUNSUPPORTED, "the installed libmicrohttpd is too old: install 0.9.71 or newer");
    return STENO_OK;
}

/* ---- time and deadlines of all files ----------------------------------------------------------------------------------------- */

static void signal_to(int fd)
{
    const uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

void drive_wake(struct httpd *h)
{
    signal_to(h->drive.wake);
}

void watch_wake(struct httpd *h)
{
    signal_to(h->wake);
}

void conn_phase_set(struct conn *c, enum conn_phase phase, int64_t deadline_us)
{
    if (c->phase == CONN_CUT) return;
    c->phase = phase;
    c->deadline_us = deadline_us;
    if (deadline_us >= c->h->wake_us) return;
    c->h->wake_us = deadline_us;
    watch_wake(c->h);
}
