/* steno-hub: downloads a URL to a temporary file. SPDX-License-Identifier: MIT */
#include "url_file.h"
#include "hub_name.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct work {
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

static int too_large(struct work *w)
{
    w->failed = 1;
    return hub_fail(&w->e, HUB_EARG, "%s: is larger than %.0f MB, the limit (--url-limit)", w->what, (double)w->w->most / 1e6);
}

static int on_begin(void *user, const struct http_answer *a)
{
    struct work *w = user;
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
    if (w->total > w->w->most) return too_large(w);
    if (ftruncate(w->fd, 0) == 0 && lseek(w->fd, 0, SEEK_SET) == 0) return 0;
    w->failed = 1;
    return hub_fail(&w->e, hub_write_status(errno), "%s: cannot be kept: %s", w->what, strerror(errno));
}

static int on_bytes(void *user, const void *data, size_t n)
{
    struct work *w = user;
    const char *p = data;
    if ((int64_t)n > w->w->most - w->at) return too_large(w);
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

static int refused(const struct work *w, const struct http_answer *a, struct hub_error *e)
{
    const char *why = "";
    if (a->code == 404 || a->code == 410) why = " (no such file)";
    if (a->code == 401 || a->code == 403) why = " (no access)";
    return hub_fail(e, HUB_ENET, "%s: the server answers %d%s", w->what, a->code, why);
}

static int fetch(struct work *w, struct http *h, const char *url, struct hub_error *e)
{
    struct http_answer a;
    for (int n = 0;; n++) {
        const int can_go_on = w->at > 0 && w->etag[0] && w->total > 0;
        const struct http_request r = { .url = url, .what = w->what, .from = can_go_on ? w->at : 0, .begin = on_begin, .bytes = on_bytes,
                                        .user = w };
        int rc = http_try(h, &r, &a, e);
        if (w->failed) return *e = w->e, e->status;
        if (rc == HUB_ESTOPPED && !(w->w->http.stop && w->w->http.stop(w->w->http.user)) && n < w->w->http.tries) continue;
        if (rc == HUB_OK && (a.code < 200 || a.code > 299)) rc = refused(w, &a, e);
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
    struct work w = { .w = wish, .total = -1, .fd = -1, .what = wish->what };
    struct http *h = NULL;
    char origin[HUB_ORIGIN_SZ];
    int rc = HUB_OK;
    if (hub_origin(origin, url))
        rc = hub_fail(e, HUB_EARG, "%s: is not an address of the form https://HOST/FILE, without name and password", w.what);
    else rc = http_open(&h, &wish->http, e);
    if (rc == HUB_OK && (w.fd = anonymous_file(wish->folder)) < 0)
        rc = hub_fail(e, hub_write_status(errno), "%s: no temporary file can be made: %s", w.what, strerror(errno));
    if (rc == HUB_OK) rc = fetch(&w, h, url, e);
    http_close(h);
    if (rc == HUB_OK && lseek(w.fd, 0, SEEK_SET) == 0) return w.fd;
    if (w.fd >= 0) close(w.fd);
    return -1;
}
