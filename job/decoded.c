/* steno: audio of an input that is decoded once. SPDX-License-Identifier: MIT */
#include "decoded.h"
#include <math.h>

enum { CHUNK = 2048 }; /* samples */

void decoded_begin(struct decoded *d, struct decoded_store *store, const steno_source *from)
{
    *d = (struct decoded){ .store = store, .from = *from, .first = store->n };
}

int decoded_fail(struct decoded *d, int status)
{
    if (!d->status) d->status = status;
    return STENO_ESOURCE;
}

const char *decoded_reason(const struct decoded *d)
{
    return d->status == DECODED_TOO_LONG ? "the audio is longer than the limit" : "the decoded audio cannot be stored";
}

static int16_t to_s16(float x)
{
    const float v = rintf(x * 32768);
    return v >= 32767 ? 32767 : v <= -32768 ? -32768 : (int16_t)v;
}

/* Decodes samples and appends them to the store. */
static int64_t decode(struct decoded *d, float *pcm, int64_t n)
{
    int16_t s16[CHUNK];
    const int64_t got = d->is_whole ? 0 : d->from.read(d->from.user, pcm, n < CHUNK ? n : CHUNK);
    if (got < 0) return got;
    if (got == 0) d->is_whole = 1;
    if (d->n + got > d->store->max) return decoded_fail(d, DECODED_TOO_LONG);
    for (int64_t i = 0; i < got; i++) s16[i] = to_s16(pcm[i]);
    const int rc = got ? d->store->write(d->store->user, s16, (size_t)got * sizeof *s16) : 0;
    if (rc) return decoded_fail(d, rc);
    d->store->n += got * (int64_t)sizeof *s16;
    d->n += got;
    d->at += got;
    return got;
}

static int64_t decoded_read(void *user, float *pcm, int64_t n)
{
    struct decoded *d = user;
    int16_t s16[CHUNK];
    if (d->status) return STENO_ESOURCE;
    if (d->at == d->n) return decode(d, pcm, n);
    if (n > CHUNK) n = CHUNK;
    if (n > d->n - d->at) n = d->n - d->at;
    const int rc = d->store->read(d->store->user, s16, (size_t)n * sizeof *s16, d->first + d->at * (int64_t)sizeof *s16);
    if (rc) return decoded_fail(d, rc);
    for (int64_t i = 0; i < n; i++) pcm[i] = (float)s16[i] / 32768;
    d->at += n;
    return n;
}

static int decoded_rewind(void *user)
{
    struct decoded *d = user;
    d->at = 0;
    return d->status ? STENO_ESOURCE : STENO_OK;
}

steno_source decoded_source(struct decoded *d)
{
    return (steno_source){ decoded_read, decoded_rewind, d };
}
