/* steno: audio sources in memory. SPDX-License-Identifier: MIT */
#include "audio/source.h"
#include <string.h>

static int64_t pcm_read(void *user, float *x, int64_t n)
{
    struct pcm *p = user;
    const int64_t end = p->all > p->n ? p->all : p->n, take = end - p->at < n ? end - p->at : n;
    int64_t n_given = p->n - p->at < take ? p->n - p->at : take;
    if (n_given < 0) n_given = 0;
    if (n_given) memcpy(x, p->x + p->at, (size_t)n_given * sizeof *x);
    if (take > n_given) memset(x + n_given, 0, (size_t)(take - n_given) * sizeof *x);
    p->at += take;
    return take;
}

static int pcm_rewind(void *user)
{
    ((struct pcm *)user)->at = 0;
    return 0;
}

steno_source pcm_source(struct pcm *p)
{
    return (steno_source){ pcm_read, pcm_rewind, p };
}

static int64_t saw_read(void *user, float *pcm, int64_t n)
{
    int64_t *left = user;
    const int64_t take = *left < n ? *left : n;
    for (int64_t i = 0; i < take; i++) pcm[i] = (float)((*left - i) % 161 - 80) * 1e-3f;
    *left -= take;
    return take;
}

steno_source saw_source(int64_t *left)
{
    return (steno_source){ saw_read, NULL, left };
}
