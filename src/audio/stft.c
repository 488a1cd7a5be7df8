/* steno: short-time spectra. SPDX-License-Identifier: MIT */
#include "audio/stft.h"

#include <math.h>
#include <string.h>

enum { GROUP = 16 }; /* frames that one thread takes at a time */

static size_t align64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t fft_size(int n_fft)
{
    size_t n = 0;
    kiss_fftr_alloc(n_fft, 0, NULL, &n);
    return n;
}

size_t stft_memory(int n_fft, int n_threads)
{
    const size_t n = (size_t)n_threads;
    return align64(n * sizeof(struct stft_thread)) + n * align64(fft_size(n_fft));
}

int stft_open(struct stft_thread **out, struct arena *a, int n_fft, int n_threads, const char *what, steno_error *e)
{
    struct stft_thread *t = arena_array(a, (size_t)n_threads, sizeof *t);
    *out = t;
    if (!t) return err_nomem(e, stft_memory(n_fft, n_threads), what);
    for (int i = 0; i < n_threads; i++) {
        size_t n = fft_size(n_fft);
        void *mem = arena_alloc(a, n);
        if (mem) t[i].fft = kiss_fftr_alloc(n_fft, 0, mem, &n);
        if (!t[i].fft) return err_nomem(e, n, "the Fourier transform's tables");
    }
    return STENO_OK;
}

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

void stft_power(struct stft_thread *t, int n_fft)
{
    const int half = n_fft / 2;
    kiss_fftr(t->fft, t->frame, t->spec);
    for (int k = 0; k < half; k++) t->power[k] = t->spec[k].r * t->spec[k].r + t->spec[k].i * t->spec[k].i;
    t->power[half] = t->spec[half].r * t->spec[half].r; /* the last one has no imaginary part */
}

void stft_bands_init(struct stft_bands *b, const float *weight, int n, int n_bins)
{
    b->n = n;
    b->n_bins = n_bins;
    b->weight = weight;
    for (int m = 0; m < n; m++) {
        const float *row = weight + (size_t)m * (size_t)n_bins;
        int first = 0, last = n_bins;
        while (first < last && row[first] == 0.0f) first++;
        while (last > first && row[last - 1] == 0.0f) last--;
        b->first[m] = (uint16_t)first;
        b->last[m] = (uint16_t)last;
    }
}

void stft_bands_sum(float *out, const float *power, const struct stft_bands *b)
{
    for (int m = 0; m < b->n; m++) {
        const float *w = b->weight + (size_t)m * (size_t)b->n_bins;
        float even = 0, odd = 0; /* two chains of sums: additions wait for each other */
        int k = b->first[m];
        for (; k + 1 < b->last[m]; k += 2) {
            even += w[k] * power[k];
            odd += w[k + 1] * power[k + 1];
        }
        if (k < b->last[m]) even += w[k] * power[k];
        out[m] = even + odd;
    }
}

/* With x = m 2^e and m near 1, ln m = 2 artanh((m - 1) / (m + 1)). */
static void log_lane(float *out, const float *x, const struct stft_log *l)
{
    const float lowest = l->floor, octave = l->octave, unit = l->unit;
    for (int i = 0; i < STFT_LANE; i++) {
        const float v = x[i] > lowest ? x[i] : lowest;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        const uint32_t shifted = bits - 0x3f3504f3u; /* sqrt(1/2): m is in [0.707, 1.414) */
        const int32_t e = (int32_t)shifted >> 23;
        const uint32_t m_bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
        float m;
        memcpy(&m, &m_bits, sizeof m);
        const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
        const float ln = 2.0f * s * (1.0f + z * (0.33333333f + z * (0.2f + z * (0.14285714f + z * 0.11111111f))));
        out[i] = (float)e * octave + ln * unit;
    }
}

void stft_log(float *out, const float *x, int n, const struct stft_log *l)
{
    for (int m = 0; m < n; m += STFT_LANE) {
        float in[STFT_LANE] = { 0 }, lane[STFT_LANE];
        const int k = n - m < STFT_LANE ? n - m : STFT_LANE;
        memcpy(in, x + m, k == STFT_LANE ? sizeof in : (size_t)k * sizeof *in);
        log_lane(lane, in, l);
        for (int i = 0; i < k; i++) out[m + i] = in[i] > l->floor ? lane[i] : l->floor_log;
    }
}

struct groups {
    void (*fn)(void *arg, int64_t frame, int thread);
    void *arg;
    int64_t n;
};

static void group_run(void *arg, int64_t group, int thread)
{
    const struct groups *g = arg;
    const int64_t end = (group + 1) * GROUP < g->n ? (group + 1) * GROUP : g->n;
    for (int64_t t = group * GROUP; t < end; t++) g->fn(g->arg, t, thread);
}

void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t frame, int thread), void *arg)
{
    struct groups g = { fn, arg, n };
    if (n <= 0) return;
    if (n <= GROUP) group_run(&g, 0, 0); /* a stream's small step: not worth waking anybody */
    else team_for(team, (n + GROUP - 1) / GROUP, group_run, &g);
}
