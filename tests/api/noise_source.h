/* steno tests: a source of noise. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_NOISE_SOURCE_H
#define STENO_TESTS_NOISE_SOURCE_H
#include "random_model.h"

struct noise { uint32_t seed; int64_t n, at; };

static inline int64_t noise_read(void *user, float *pcm, int64_t n)
{
    struct noise *s = user;
    const int64_t take = s->n - s->at < n ? s->n - s->at : n;
    for (int64_t i = 0; i < take; i++) pcm[i] = 0.1f * noise(&s->seed);
    s->at += take;
    return take;
}

static inline int noise_rewind(void *user)
{
    struct noise *s = user;
    s->seed = 1;
    s->at = 0;
    return 0;
}
#endif
