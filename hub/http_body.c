/* steno-hub: retries, waits between them, and the bodies of responses in memory or in a temporary file. SPDX-License-Identifier: MIT */
#include "http.h"
#include "hub_name.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

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

static int memory_take(void *user, const void *data, size_t n)
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

static int memory_begin(void *user, const struct http_answer *a)
{
    struct memory *m = user;
    (void)a;
    m->n = 0;
    return memory_take(m, "", 0);
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

static int meta_enough(void *user, const struct http_answer *a)
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
    r.begin = meta_enough;
    return try_all(h, &r, 399, a, NULL, e);
}

int http_text(struct http *h, const char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e)
{
    struct memory m = { .most = (size_t)http_settings_of(h)->most, .what = what };
    const struct http_request r = { .url = url, .what = what, .accept = "application/json", .begin = memory_begin,
                                    .bytes = memory_take, .user = &m };
    struct http_answer a;
    const int rc = try_all(h, &r, 299, &a, &m, e);
    *text = rc == HUB_OK ? m.p : NULL;
    if (rc == HUB_OK) *fields = a.fields;
    else free(m.p);
    return rc;
}

/* ---- a URL as a temporary file ----------------------------------------------------------------------------------------------- */

struct url_work {
    const struct url_wish *w;
    const char *what;
    char etag[128];   /* of the content being fetched; "": a change of the content cannot be detected */
    int fd, failed;   /* failed: e has the reason, which is not the connection */
    int64_t at, total;
    struct hub_error e;
};

int url_is(const char *name)
{
    return strncasecmp(name, "http://", 7) == 0 || strncasecmp(name, "https://", 8) == 0;
}

static int anonymous_file(const char *folder)
{
    const char *dir = folder ? folder : "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char *name = hub_format("%s/steno-url-XXXXXX", dir);
    fd = name ? mkostemp(name, O_CLOEXEC) : -1;
    if (fd >= 0) unlink(name);
    free(name);
    return fd;
}

static int url_too_large(struct url_work *w)
{
    w->failed = 1;
    return hub_fail(&w->e, HUB_EARG, "%s: is larger than %.0f MB, the limit (--url-limit)", w->what, (double)w->w->most / 1e6);
}

static int url_begin(void *user, const struct http_answer *a)
{
    struct url_work *w = user;
    const struct http_fields *f = &a->fields;
    if (f->is_encoded) {
        w->failed = 1;
        return hub_fail(&w->e, HUB_ENET, "%s: the server compresses the file, though it was asked not to", w->what);
    }
    const int goes_on = a->code == 206 && f->range_begin == w->at && w->at && strcmp(f->etag, w->etag) == 0 && f->range_total == w->total;
    if (goes_on) return 0;
    if (a->code == 206 && f->range_begin != 0) { /* of other content, or of another position */
        w->at = 0;
        w->etag[0] = '\0';
        return 1;
    }
    w->at = 0;
    w->total = a->code == 206 ? f->range_total : f->length;
    snprintf(w->etag, sizeof w->etag, "%s", f->etag);
    if (w->total > w->w->most) return url_too_large(w);
    if (ftruncate(w->fd, 0) == 0 && lseek(w->fd, 0, SEEK_SET) == 0) return 0;
    w->failed = 1;
    return hub_fail(&w->e, hub_write_status(errno), "%s: cannot be kept: %s", w->what, strerror(errno));
}

static int url_bytes(void *user, const void *data, size_t n)
{
    struct url_work *w = user;
    const char *p = data;
    if ((int64_t)n > w->w->most - w->at) return url_too_large(w);
    for (size_t left = n; left;) {
        const ssize_t got = write(w->fd, p, left);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            w->failed = 1;
            return hub_fail(&w->e, hub_write_status(errno), "%s: cannot be kept: %s", w->what, strerror(errno));
        }
        p += got;
        left -= (size_t)got;
    }
    w->at += (int64_t)n;
    if (w->w->progress) w->w->progress(w->w->user, w->what, w->at, w->total);
    return 0;
}

static int url_refused(const struct url_work *w, const struct http_answer *a, struct hub_error *e)
{
    const char *why = "";
    if (a->code == 404 || a->code == 410) why = " (no such file)";
    if (a->code == 401 || a->code == 403) why = " (no access)";
    return hub_fail(e, HUB_ENET, "%s: the server answers %d%s", w->what, a->code, why);
}

static int url_fetch(struct url_work *w, struct http *h, const char *url, struct hub_error *e)
{
    struct http_answer a;
    for (int n = 0;; n++) {
        const int can_go_on = w->at > 0 && w->etag[0] && w->total > 0;
        const struct http_request r = { .url = url, .what = w->what, .from = can_go_on ? w->at : 0, .begin = url_begin, .bytes = url_bytes,
                                        .user = w };
        int rc = http_try(h, &r, &a, e);
        if (w->failed) return *e = w->e, e->status;
        if (rc == HUB_ESTOPPED && !(w->w->http.stop && w->w->http.stop(w->w->http.user)) && n < w->w->http.tries) continue;
        if (rc == HUB_OK && (a.code < 200 || a.code > 299)) rc = url_refused(w, &a, e);
        else if (rc == HUB_OK && (w->total < 0 || w->at == w->total)) return HUB_OK;
        else if (rc == HUB_OK) {
            rc = hub_fail(e, HUB_ENET, "%s: the answer ended at byte %lld of %lld", w->what, (long long)w->at, (long long)w->total);
            a.again = 1;
        }
        if (rc == HUB_ESTOPPED || !a.again || n >= w->w->http.tries) return rc;
        const struct hub_error why = *e;
        if (http_wait(h, n + 1, &a, why.text, e)) return e->status;
    }
}

int url_file(const char *url, const struct url_wish *wish, struct hub_error *e)
{
    struct url_work w = { .w = wish, .total = -1, .fd = -1, .what = wish->what };
    struct http *h = NULL;
    char origin[HUB_ORIGIN_SZ];
    int rc = HUB_OK;
    if (hub_origin(origin, url))
        rc = hub_fail(e, HUB_EARG, "%s: is not an address of the form https://HOST/FILE, without name and password", w.what);
    else rc = http_open(&h, &wish->http, e);
    if (rc == HUB_OK && (w.fd = anonymous_file(wish->folder)) < 0)
        rc = hub_fail(e, hub_write_status(errno), "%s: no temporary file can be made: %s", w.what, strerror(errno));
    if (rc == HUB_OK) rc = url_fetch(&w, h, url, e);
    http_close(h);
    if (rc == HUB_OK && lseek(w.fd, 0, SEEK_SET) == 0) return w.fd;
    if (w.fd >= 0) close(w.fd);
    return -1;
}
