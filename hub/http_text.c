/* steno-hub: retries, waits between them, and responses in memory. SPDX-License-Identifier: MIT */
#include "hub_clock.h"
#include "http.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

int http_wait(struct http *h, int n, const struct http_answer *a, const char *why, struct hub_error *e)
{
    static const int usual[] = { 1, 2, 4, 8 };
    enum { LONGEST = 310 }; /* rate limits are per five minutes */
    const struct http_settings *s = http_settings_of(h);
    const double begun = hub_now_s(), jitter = 0.25 * (begun - (double)(long long)begun);
    const double wait = a->fields.retry_s >= 0 ? a->fields.retry_s : usual[n > 4 ? 3 : n - 1] + jitter;
    if (wait > LONGEST)
        return hub_fail(e, HUB_ENET, "%s; the server asks for a pause of %.0f s, which is too long to wait: try later", why, wait);
    if (s->waiting) s->waiting(s->user, wait, why);
    for (;;) {
        const double left = begun + wait - hub_now_s();
        if (s->stop && s->stop(s->user)) return hub_fail(e, HUB_ESTOPPED, "ended while waiting to retry");
        if (left <= 0) return HUB_OK;
        const struct timespec nap = { 0, (long)(1e9 * (left < 0.05 ? left : 0.05)) };
        nanosleep(&nap, NULL);
    }
}

/* A refusal without a hub's error code may come from a mirror that does not support the request. */
static int unserved(int status, const struct http_fields *f, struct hub_error *e)
{
    e->unserved = !f->fault[0];
    return status;
}

int http_refused(const struct http *h, const struct http_request *r, const struct http_answer *a, struct hub_error *e)
{
    const struct http_fields *f = &a->fields;
    const int has_token = http_settings_of(h)->token != NULL;
    const char *reason = f->reason[0] ? f->reason : f->fault;
    if (strcmp(f->fault, "GatedRepo") == 0)
        return hub_fail(e, HUB_EABSENT, "%s: the owner gives it to those who accept the terms on the model's page; do so, and "
                        "set HF_TOKEN%s", r->what, has_token ? " (the current token has no access)" : "");
    if (strcmp(f->fault, "RevisionNotFound") == 0) return hub_fail(e, HUB_EABSENT, "%s: there is no such revision", r->what);
    if (strcmp(f->fault, "EntryNotFound") == 0) return hub_fail(e, HUB_EABSENT, "%s: there is no such file", r->what);
    if (a->code == 401 || a->code == 403 || strcmp(f->fault, "RepoNotFound") == 0)
        return unserved(hub_fail(e, HUB_EABSENT, "%s: no such repository, or it is private%s", r->what,
                                 has_token ? " and the token has no access" : "; private ones need HF_TOKEN"), f, e);
    if (a->code == 404 || a->code == 410)
        return unserved(hub_fail(e, HUB_EABSENT, "%s: not found%s%s%s", r->what, reason[0] ? " (" : "", reason, reason[0] ? ")" : ""),
                        f, e);
    if (a->code == 429) return hub_fail(e, HUB_ENET, "%s: the hub accepts no more requests for now; try later, or set HF_TOKEN", r->what);
    hub_fail(e, HUB_ENET, "%s: the hub answers %d%s%s%s", r->what, a->code, reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
    return a->code < 500 || a->code == 501 ? unserved(HUB_ENET, f, e) : HUB_ENET;
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

/* Retries until there is a response with a code of 200 to `last`. `m` receives its body; may be NULL. */
static int try_all(struct http *h, const struct http_request *r, int last, struct http_answer *a, const struct memory *m,
                   struct hub_error *e)
{
    const struct http_settings *s = http_settings_of(h);
    for (int n = 0;; n++) {
        int rc = http_try(h, r, a, e);
        if (m && m->failed) return *e = m->e, e->status;
        if (rc == HUB_ESTOPPED && r->first && a->code) rc = HUB_OK; /* the body is not needed */
        if (rc == HUB_OK && (a->code < 200 || a->code > last)) rc = http_refused(h, r, a, e);
        if (rc == HUB_OK && m && !m->p) rc = hub_fail(e, HUB_ENET, "%s: the answer is empty", r->what);
        if (rc == HUB_OK && m && strlen(m->p) != m->n) rc = hub_fail(e, HUB_ENET, "%s: the answer is not text", r->what);
        if (rc == HUB_OK || rc == HUB_ESTOPPED || !a->again || n >= s->tries) return rc;
        const struct hub_error why = *e;
        rc = http_wait(h, n + 1, a, why.text, e);
        if (rc != HUB_OK) return rc;
    }
}

static int enough(void *user, const struct http_answer *a)
{
    (void)user, (void)a;
    return 1;
}

int http_meta(struct http *h, const char *url, const char *what, struct http_answer *a, struct hub_error *e)
{
    struct http_request r = { .url = url, .what = what, .head = 1, .stay = 1 };
    const int rc = try_all(h, &r, 399, a, NULL, e);
    if (rc == HUB_OK || (a->code != 405 && a->code != 501)) return rc;
    r.head = 0;
    r.first = 1;
    r.begin = enough;
    return try_all(h, &r, 399, a, NULL, e);
}

int http_text(struct http *h, const char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e)
{
    struct memory m = { .most = (size_t)http_settings_of(h)->most, .what = what };
    const struct http_request r = { .url = url, .what = what, .accept = "application/json", .begin = begin, .bytes = take, .user = &m };
    struct http_answer a;
    const int rc = try_all(h, &r, 299, &a, &m, e);
    *text = rc == HUB_OK ? m.p : NULL;
    if (rc == HUB_OK) *fields = a.fields;
    else free(m.p);
    return rc;
}
