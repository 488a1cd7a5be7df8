/* steno: short-time spectra. SPDX-License-Identifier: MIT */
#include "audio/stft.h"

#include <math.h>
#include <string.h>

enum { ALONE = 256 }; /* so few frames end before anybody is awake */

void stft_samples(float *dst, const float *x, int64_t n, float limit)
{
    memcpy(dst, x, (size_t)n * sizeof *dst);
    uint32_t top;
    memcpy(&top, &limit, sizeof top); /* as integers, NaN compares above everything */
    for (int64_t i = 0; i < n; i += STFT_LANE) {
        uint32_t bits[STFT_LANE] = { 0 }, wild = 0;
        const int k = n - i < STFT_LANE ? (int)(n - i) : STFT_LANE;
        memcpy(bits, dst + i, k == STFT_LANE ? sizeof bits : (size_t)k * sizeof *bits);
        for (int l = 0; l < STFT_LANE; l++) wild |= (bits[l] & 0x7fffffffu) > top;
        if (!wild) continue;
        for (int l = 0; l < k; l++) dst[i + l] = isnan(dst[i + l]) ? 0.0f : fmaxf(-limit, fminf(limit, dst[i + l]));
    }
}

struct groups {
    void (*fn)(void *arg, int64_t first, int count, int thread);
    void *arg;
    int64_t n;
};

static void group_run(void *arg, int64_t group, int thread)
{
    const struct groups *g = arg;
    const int64_t first = group * STFT_GROUP, left = g->n - first;
    g->fn(g->arg, first, left < STFT_GROUP ? (int)left : STFT_GROUP, thread);
}

int stft_threads(const steno_team *team, int64_t n) { return n > ALONE ? team_threads(team) : 1; }

void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t first, int count, int thread), void *arg)
{
    struct groups g = { fn, arg, n };
    const int64_t n_groups = (n + STFT_GROUP - 1) / STFT_GROUP;
    if (n > ALONE) team_for(team, n_groups, group_run, &g);
    else
        for (int64_t i = 0; i < n_groups; i++) group_run(&g, i, 0);
}
