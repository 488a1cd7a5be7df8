/* steno: loudness of audio. SPDX-License-Identifier: MIT */
#include "level.h"
#include <math.h>

void level_add(struct level *l, const float *pcm, int64_t n)
{
    const float full = 32767.0f / 32768;
    for (int64_t i = 0; i < n; i++) {
        const float a = fabsf(pcm[i]);
        l->squares += (double)a * (double)a;
        l->n_full += a >= full;
        if ((double)a > l->peak) l->peak = (double)a;
    }
    l->n += n;
}

static double db(double power)
{
    const double v = power > 0 ? 10 * log10(power) : LEVEL_NONE;
    return v > LEVEL_NONE ? v : LEVEL_NONE;
}

double level_db(const struct level *l)
{
    return l->n ? db(l->squares / (double)l->n) : LEVEL_NONE;
}

double level_peak_db(const struct level *l)
{
    return db(l->peak * l->peak);
}

static int64_t read_measured(void *user, float *pcm, int64_t n)
{
    struct level_source *l = user;
    const int64_t got = l->from.read(l->from.user, pcm, n);
    if (got > 0) level_add(&l->level, pcm, got);
    return got;
}

static int rewind_measured(void *user)
{
    struct level_source *l = user;
    l->level = (struct level){ 0 };
    return l->from.rewind(l->from.user);
}

steno_source level_source(struct level_source *l, const steno_source *from)
{
    *l = (struct level_source){ .from = *from };
    return (steno_source){ read_measured, from->rewind ? rewind_measured : NULL, l };
}
