/* steno-hub: downloads a file, complete and verified or not at all. SPDX-License-Identifier: MIT */
#include "download.h"
#include "digest.h"
#include "folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, WORTH_ANEW = 1 << 20 /* this number of new bytes resets the count of tries */ };

struct work {
    const struct download *d;
    struct http *h;
    int fd;
    int64_t at;            /* bytes in the partial file, all of them hashed */
    int from_start;        /* the server does not support ranges */
    int lost;              /* in this try, bytes were sent again */
    int failed;            /* e has the reason, which is not the connection */
    struct digest digest;
    struct hub_error e;
};

static int write_failed(struct work *w, int why)
{
    w->failed = 1;
    if (why == ENOSPC || why == EDQUOT || why == EFBIG)
        return hub_fail(&w->e, HUB_EWRITE, "%s: the disk is full (%s); %s keeps the partial download", w->d->what, strerror(why),
                        w->d->partial);
    return hub_fail(&w->e, hub_write_status(why), "%s: cannot be written: %s", w->d->partial, strerror(why));
}

/* Discards the partial file. */
static int start_over(struct work *w)
{
    digest_drop(&w->digest);
    digest_begin(&w->digest, strlen(w->d->hash), w->d->size);
    w->lost = 1;
    w->at = 0;
    if (ftruncate(w->fd, 0) || lseek(w->fd, 0, SEEK_SET) < 0) return write_failed(w, errno);
    return HUB_OK;
}

static int too_many_bytes(struct work *w)
{
    w->failed = 1;
    return hub_fail(&w->e, HUB_EDAMAGED, "%s: the server sent more than the %lld bytes that it promised", w->d->what,
                    (long long)w->d->size);
}

/* Does the body begin where the partial file ends? If not, starts over. */
static int on_begin(void *user, const struct http_answer *a)
{
    struct work *w = user;
    const struct http_fields *f = &a->fields;
    if (f->is_encoded) {
        w->failed = 1;
        hub_fail(&w->e, HUB_ENET, "%s: the server compresses the file, though it was asked not to", w->d->what);
        return 1;
    }
    if (a->code == 206) {
        if (f->range_begin == w->at && (f->range_total < 0 || f->range_total == w->d->size)) return 0;
        w->from_start = 1; /* bytes of another position */
        return 1;
    }
    if (f->length >= 0 && f->length != w->d->size) {
        w->failed = 1;
        hub_fail(&w->e, HUB_EDAMAGED, "%s: the server has %lld bytes of it, not the %lld that were promised", w->d->what,
                 (long long)f->length, (long long)w->d->size);
        return 1;
    }
    return w->at ? start_over(w) : 0;
}

static int on_bytes(void *user, const void *data, size_t n)
{
    struct work *w = user;
    const char *p = data;
    if ((int64_t)n > w->d->size - w->at) return too_many_bytes(w);
    digest_push(&w->digest, data, n);
    for (size_t left = n; left;) {
        const ssize_t got = write(w->fd, p, left);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return write_failed(w, errno);
        p += got;
        left -= (size_t)got;
    }
    w->at += (int64_t)n;
    if (w->d->progress) w->d->progress(w->d->user, w->at);
    return 0;
}

/* Hashes what an earlier run has left. A partial file larger than the size does not belong to this file. */
static int hash_partial(struct work *w)
{
    const struct http_settings *s = http_settings_of(w->h);
    struct stat st;
    if (fstat(w->fd, &st)) return write_failed(w, errno);
    digest_begin(&w->digest, strlen(w->d->hash), w->d->size);
    if (st.st_size > w->d->size) return start_over(w);
    unsigned char *chunk = malloc(CHUNK);
    if (!chunk) return w->failed = 1, hub_no_memory(&w->e, "reading a file");
    ssize_t got;
    while ((got = read(w->fd, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR)) {
        if (s->stop && s->stop(s->user)) {
            free(chunk);
            w->failed = 1;
            return hub_fail(&w->e, HUB_ESTOPPED, "%s: ended before the download was complete", w->d->what);
        }
        if (got < 0) continue;
        digest_push(&w->digest, chunk, (size_t)got);
        w->at += got;
    }
    free(chunk);
    return got < 0 || w->at > w->d->size ? start_over(w) : HUB_OK;
}

/* Fetches until all bytes are there. */
static int fetch(struct work *w, struct hub_error *e)
{
    const struct http_settings *s = http_settings_of(w->h);
    struct http_answer a;
    int64_t best = w->at; /* over all tries: bytes that a server without ranges sends again are no progress */
    for (int n = 0, odd = 0;; n++) {
        const struct http_request r = { .url = w->d->url, .what = w->d->what, .from = w->from_start ? 0 : w->at,
                                        .begin = on_begin, .bytes = on_bytes, .user = w };
        if (w->at == w->d->size) return HUB_OK;
        const int refused_range = w->from_start;
        w->lost = 0;
        if (w->from_start && w->at && start_over(w)) return *e = w->e, e->status;
        int rc = http_try(w->h, &r, &a, e);
        if (w->failed) return *e = w->e, e->status;
        if (w->at == w->d->size) return HUB_OK;
        if (rc == HUB_ESTOPPED && w->from_start && !refused_range && odd++ < 2) continue;
        if (rc == HUB_ESTOPPED) return rc;
        if (rc == HUB_OK && a.code == 416 && w->at && odd++ < 2) { /* nothing follows our bytes: they are not the start of this file */
            w->from_start = 1;
            continue;
        }
        if (rc == HUB_OK && a.code == 403 && odd++ < 2) continue; /* a signed URL has expired: the hub makes another */
        if (rc == HUB_OK && (a.code < 200 || a.code > 299)) rc = http_refused(w->h, &r, &a, e);
        else if (rc == HUB_OK)
            rc = hub_fail(e, HUB_ENET, "%s: the answer ended at byte %lld of %lld", w->d->what, (long long)w->at, (long long)w->d->size),
            a.again = 1;
        if (!w->lost && w->at - best >= WORTH_ANEW) n = 0;
        if (w->at > best) best = w->at;
        if (!a.again || n >= s->tries) return rc;
        const struct hub_error why = *e;
        if (http_wait(w->h, n + 1, &a, why.text, e)) return e->status;
    }
}

const char *partial_fault(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) return "is not a regular file, so the download cannot continue it";
    return st->st_nlink > 1 ? "is a file with more than one name (hard links), so the download cannot continue it" : NULL;
}

static const char *partial_name(const struct download *d)
{
    const char *slash = d->at == AT_FDCWD ? NULL : strrchr(d->partial, '/');
    return slash ? slash + 1 : d->partial;
}

/* A pipe or a device is opened without blocking and then rejected. */
static int partial_open(const struct download *d, struct hub_error *e)
{
    struct stat st;
    const int fd = openat(d->at, partial_name(d), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd < 0) {
        hub_fail(e, hub_write_status(errno), "%s: cannot be made: %s", d->partial, errno == ELOOP ? "a symbolic link is there; remove it"
                 : strerror(errno));
        return -1;
    }
    const char *fault = fstat(fd, &st) ? strerror(errno) : partial_fault(&st);
    if (!fault) return fd;
    close(fd);
    hub_fail(e, HUB_EWRITE, "%s: %s; remove it", d->partial, fault);
    return -1;
}

int download(struct http *h, const struct download *d, struct hub_error *e)
{
    struct work w = { .d = d, .h = h, .e.status = HUB_OK };
    w.fd = partial_open(d, e);
    if (w.fd < 0) return e->status;
    int rc = hash_partial(&w);
    for (int again = 0; rc == HUB_OK; again++) {
        char hash[SHA_HEX_SZ];
        rc = fetch(&w, e);
        if (rc == HUB_OK) {
            digest_hex(hash, &w.digest);
            if (strcmp(hash, d->hash) == 0) break;
            rc = hub_fail(e, HUB_EDAMAGED, "%s: its bytes are wrong: their hash is %s, not %s", d->what, hash, d->hash);
        }
        if (rc == HUB_EDAMAGED && !again) {
            w.failed = 0;
            rc = start_over(&w);
        }
    }
    if (w.failed) *e = w.e;
    if (rc == HUB_OK && fsync(w.fd)) {
        rc = write_failed(&w, errno);
        *e = w.e;
    }
    digest_drop(&w.digest);
    if (close(w.fd) && rc == HUB_OK) rc = hub_fail(e, hub_write_status(errno), "%s: cannot be written: %s", d->partial, strerror(errno));
    if (rc == HUB_EDAMAGED) unlinkat(d->at, partial_name(d), 0); /* cannot be resumed */
    return rc;
}

int file_verify(const char *path, int64_t size, const char *hash, int (*stop)(void *user), void *user, struct hub_error *e)
{
    struct stat st;
    struct digest d;
    char have[SHA_HEX_SZ];
    const int fd = regular_open(path);
    if (fd < 0 || fstat(fd, &st)) {
        const int why = errno;
        if (fd >= 0) close(fd);
        return hub_fail(e, HUB_EABSENT, "%s: cannot be read: %s", path, why == EINVAL ? "it is not a regular file" : strerror(why));
    }
    unsigned char *chunk = malloc(CHUNK);
    int rc = chunk ? HUB_OK : hub_no_memory(e, "reading a file");
    if (rc == HUB_OK && size >= 0 && st.st_size != size)
        rc = hub_fail(e, HUB_EDAMAGED, "%s: it has %lld bytes, not %lld", path, (long long)st.st_size, (long long)size);
    digest_begin(&d, strlen(hash), (int64_t)st.st_size);
    for (ssize_t got = 1; rc == HUB_OK && got;) {
        got = read(fd, chunk, CHUNK);
        if (stop && stop(user)) rc = hub_fail(e, HUB_ESTOPPED, "%s: ended before the check was complete", path);
        else if (got < 0 && errno != EINTR) rc = hub_fail(e, HUB_EABSENT, "%s: cannot be read: %s", path, strerror(errno));
        else if (got > 0) digest_push(&d, chunk, (size_t)got);
    }
    close(fd);
    free(chunk);
    if (rc != HUB_OK) return digest_drop(&d), rc;
    digest_hex(have, &d);
    if (strcmp(have, hash) == 0) return HUB_OK;
    return hub_fail(e, HUB_EDAMAGED, "%s: its bytes are wrong: their hash is %s, not %s", path, have, hash);
}
