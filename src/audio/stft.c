/* steno: short-time spectra. SPDX-License-Identifier: MIT */
#include "audio/stft.h"

#include <math.h>
#include <string.h>

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

void stft_copy(float *dst, const struct stft_span *s, int64_t from, int64_t n)
{
    const int64_t left = s->n_held > from ? s->n_held - from : 0, held = left < n ? left : n;
    if (held) memmove(dst, s->held + from, (size_t)held * sizeof *dst);
    if (n > held) stft_samples(dst + held, s->pcm + (from + held - s->n_held), n - held, s->limit);
}

struct groups {
    void (*fn)(void *arg, int64_t first, int count, int slot);
    void *arg;
    int64_t n;
    int n_slots;
    _Atomic int64_t next;
    atomic_int slots;
};

static void groups_run(void *arg, int thread)
{
    struct groups *g = arg;
    const int slot = atomic_fetch_add_explicit(&g->slots, 1, memory_order_relaxed);
    (void)thread;
    if (slot >= g->n_slots) return;
    for (int64_t first; (first = atomic_fetch_add_explicit(&g->next, STFT_GROUP, memory_order_relaxed)) < g->n;)
        g->fn(g->arg, first, g->n - first < STFT_GROUP ? (int)(g->n - first) : STFT_GROUP, slot);
}

int stft_threads(const steno_team *team, int64_t n)
{
    const int all = team_threads(team);
    return n <= STFT_ALONE ? 1 : all < STFT_THREADS ? all : STFT_THREADS;
}

void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t first, int count, int slot), void *arg)
{
    struct groups g = { .fn = fn, .arg = arg, .n = n, .n_slots = stft_threads(team, n) };
    atomic_init(&g.next, 0);
    atomic_init(&g.slots, 0);
    team_run(g.n_slots > 1 ? team_here(team) : NULL, groups_run, &g);
}
