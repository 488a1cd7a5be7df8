/* steno-hub: tries, waits between them, and answers in memory. SPDX-License-Identifier: MIT */
#include "http.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int http_wait(struct http *h, int n, const struct http_answer *a, const char *why, struct hub_error *e)
{
    static const int usual[] = { 1, 2, 4, 8 };
    enum { LONGEST = 310 }; /* limits are per five minutes */
    const struct http_settings *s = http_settings_of(h);
    const double begun = now_s(), jitter = 0.25 * (begun - (double)(long long)begun);
    double wait = a->fields.retry_s >= 0 ? a->fields.retry_s : usual[n > 4 ? 3 : n - 1] + jitter;
    if (wait > LONGEST) wait = LONGEST;
    if (s->waiting) s->waiting(s->user, wait, why);
    for (;;) {
        const double left = begun + wait - now_s();
        if (s->stop && s->stop(s->user)) return hub_fail(e, HUB_ESTOPPED, "ended while waiting for another try");
        if (left <= 0) return HUB_OK;
        const struct timespec nap = { 0, (long)(1e9 * (left < 0.05 ? left : 0.05)) };
        nanosleep(&nap, NULL);
    }
}

int http_refused(const struct http *h, const struct http_request *r, const struct http_answer *a, struct hub_error *e)
{
    const struct http_fields *f = &a->fields;
    const int has_token = http_settings_of(h)->token != NULL;
    const char *reason = f->reason[0] ? f->reason : f->fault;
    if (strcmp(f->fault, "GatedRepo") == 0)
        return hub_fail(e, HUB_EABSENT, "%s: the owner gives it to those who accept the terms on the model's page; do so, and "
                        "set HF_TOKEN%s", r->what, has_token ? " (the one that is set may not read it)" : "");
    if (strcmp(f->fault, "RevisionNotFound") == 0) return hub_fail(e, HUB_EABSENT, "%s: there is no such revision", r->what);
    if (strcmp(f->fault, "EntryNotFound") == 0) return hub_fail(e, HUB_EABSENT, "%s: there is no such file", r->what);
    if (a->code == 401 || a->code == 403 || strcmp(f->fault, "RepoNotFound") == 0)
        return hub_fail(e, HUB_EABSENT, "%s: no such repository, or it is private%s", r->what,
                        has_token ? " and the token may not read it" : "; private ones need HF_TOKEN");
    if (a->code == 404 || a->code == 410)
        return hub_fail(e, HUB_EABSENT, "%s: not found%s%s%s", r->what, reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
    if (a->code == 429) return hub_fail(e, HUB_ENET, "%s: the hub takes no more requests for now; try later, or set HF_TOKEN", r->what);
    return hub_fail(e, HUB_ENET, "%s: the hub answers %d%s%s%s", r->what, a->code, reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
}

struct memory {
    char *p;
    size_t n, cap, most;
    const char *what;
    struct hub_error e;
    int failed;
};

static int take(void *user, const void *data, size_t n)
{
    struct memory *m = user;
    if (n > m->most - m->n) {
        hub_fail(&m->e, HUB_ENET, "%s: the answer is longer than %zu bytes", m->what, m->most);
        return m->failed = 1;
    }
    if (m->n + n + 1 > m->cap) {
        const size_t cap = 2 * (m->n + n + 1);
        char *p = realloc(m->p, cap);
        if (!p) {
            hub_no_memory(&m->e, m->what);
            return m->failed = 1;
        }
        m->p = p;
        m->cap = cap;
    }
    memcpy(m->p + m->n, data, n);
    m->n += n;
    m->p[m->n] = '\0';
    return 0;
}

static int begin(void *user, const struct http_answer *a)
{
    struct memory *m = user;
    (void)a;
    m->n = 0;
    return take(m, "", 0);
}

int http_text(struct http *h, const char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e)
{
    const struct http_settings *s = http_settings_of(h);
    struct memory m = { .most = (size_t)s->most, .what = what };
    const struct http_request r = { .url = url, .what = what, .accept = "application/json", .begin = begin, .bytes = take, .user = &m };
    struct http_answer a;
    int rc;
    *text = NULL;
    for (int n = 0;; n++) {
        rc = http_try(h, &r, &a, e);
        if (m.failed) {
            *e = m.e;
            rc = e->status;
        }
        if (rc == HUB_OK && (a.code < 200 || a.code > 299)) rc = http_refused(h, &r, &a, e);
        if (rc == HUB_OK && !m.p) rc = hub_fail(e, HUB_ENET, "%s: the answer is empty", what);
        if (rc == HUB_OK && strlen(m.p) != m.n) rc = hub_fail(e, HUB_ENET, "%s: the answer is not text", what);
        if (rc == HUB_OK || m.failed || rc == HUB_ESTOPPED || !a.again || n >= s->tries) break;
        const struct hub_error why = *e;
        rc = http_wait(h, n + 1, &a, why.text, e);
        if (rc != HUB_OK) break;
    }
    if (rc == HUB_OK) {
        *text = m.p;
        *fields = a.fields;
    } else {
        free(m.p);
    }
    return rc;
}
