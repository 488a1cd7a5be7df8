/* steno: tables of a spectrum. SPDX-License-Identifier: MIT */
#include "kern/scratch.h"

/* out = exp(-2 pi i k / n) */
static void root(float out[2], uint32_t k, uint32_t n)
{
    const double turn = 2 * 3.14159265358979323846 * (k % n) / n;
    out[0] = (float)cos(turn);
    out[1] = (float)-sin(turn);
}

static void bands_find(struct spectrum *s)
{
    const uint32_t bins = s->n / 2 + 1;
    for (uint32_t b = 0; b < s->n_bands; b++) {
        const float *row = s->weight + (size_t)b * bins;
        uint32_t first = 0, last = bins;
        while (first < last && row[first] == 0.0f) first++;
        while (last > first && row[last - 1] == 0.0f) last--;
        s->first[b] = (uint16_t)first;
        s->last[b] = (uint16_t)last;
    }
}

void spectrum_init(struct spectrum *s, uint32_t n, const float *weight, uint32_t n_bands, const struct spectrum_log *log)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->n_bands = n_bands;
    s->weight = weight;
    s->log = *log;
    bands_find(s);
    const uint32_t m = n / SPECTRA_RADIX, b = spectra_inner(m);
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t k = 1; k < SPECTRA_ROWS; k++) root(s->turn[i][k - 1], i * k, n);
        root(s->row_turn[i], i / b * (i % b), m);
    }
}
