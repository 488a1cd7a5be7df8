/* steno: divides audio into equal parts. SPDX-License-Identifier: MIT */
#include "parts.h"

enum { SOME = 4096 };

int64_t parts_edge(int64_t samples, int64_t offset, int n, int k)
{
    if (offset > samples) offset = samples;
    return k <= 0 ? 0 : k >= n ? samples : offset + k * ((samples - offset) / n);
}

int64_t parts_count(const steno_source *from, int (*stops)(void *user), void *user)
{
    float pcm[SOME];
    int64_t n = 0, got;
    while ((got = from->read(from->user, pcm, SOME)) > 0) {
        n += got;
        if (stops(user)) return STENO_ECANCELED;
    }
    if (got < 0) return got;
    const int rc = from->rewind(from->user);
    return rc == STENO_OK ? n : rc;
}

void parts_begin(struct parts *p, int n, int64_t samples, int64_t offset, const steno_source *from, steno_media *media)
{
    *p = (struct parts){ .n = n, .samples = samples, .offset = offset < samples ? offset : samples, .from = *from, .media = media };
}

int64_t parts_start(const struct parts *p)
{
    return parts_edge(p->samples, p->offset, p->n, p->at);
}

int64_t parts_end(const struct parts *p)
{
    return parts_edge(p->samples, p->offset, p->n, p->at + 1);
}

void parts_enter(struct parts *p, int k)
{
    p->at = k;
    p->next = parts_start(p);
}

/* Skips `from` to the next sample needed. @return > 0, 0: it ended before that, or < 0 */
static int64_t go_there(struct parts *p)
{
    if (p->pos > p->next) {
        const int rc = p->from.rewind(p->from.user);
        if (rc != STENO_OK) return rc < 0 ? rc : STENO_ESOURCE;
        p->pos = 0;
    }
    if (!p->pos && p->media && p->next) {
        const int64_t passed = steno_media_skip(p->media, p->next);
        if (passed < 0) return passed;
        p->pos = passed;
    }
    while (p->pos < p->next) {
        float pcm[SOME];
        const int64_t left = p->next - p->pos, got = p->from.read(p->from.user, pcm, left < SOME ? left : SOME);
        if (got <= 0) return got;
        p->pos += got;
    }
    return 1;
}

static int64_t read_part(void *user, float *pcm, int64_t n)
{
    struct parts *p = user;
    const int64_t left = parts_end(p) - p->next;
    if (left <= 0) return 0;
    const int64_t there = go_there(p);
    if (there <= 0) return there;
    const int64_t got = p->from.read(p->from.user, pcm, n < left ? n : left);
    if (got <= 0) return got;
    p->pos += got;
    p->next += got;
    return got;
}

static int rewind_part(void *user)
{
    struct parts *p = user;
    parts_enter(p, p->at);
    return STENO_OK;
}

steno_source parts_source(struct parts *p)
{
    return (steno_source){ read_part, rewind_part, p };
}
