/* steno tests: memory as a source of samples. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_TAP_H
#define STENO_TESTS_TAP_H
#include <steno/steno.h>
#include <string.h>

/* Memory as a source that gives at most `piece` samples at a time (0: as many as fit), and fails at sample `fail_at` where that is set. */
struct tap { const float *pcm; int64_t n, at, piece, fail_at; int reads; };

static inline int64_t tap_read(void *user, float *pcm, int64_t n)
{
    struct tap *t = user;
    int64_t take = t->n - t->at < n ? t->n - t->at : n;
    t->reads++;
    if (t->piece && take > t->piece) take = t->piece;
    if (t->fail_at && t->at >= t->fail_at) return -1;
    if (take > 0) memcpy(pcm, t->pcm + t->at, (size_t)take * sizeof *pcm);
    t->at += take;
    return take;
}

static inline int tap_rewind(void *user)
{
    ((struct tap *)user)->at = 0;
    return 0;
}

static inline steno_source tap_source(struct tap *t)
{
    return (steno_source){ tap_read, tap_rewind, t };
}
#endif
