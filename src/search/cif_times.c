/* steno: times of tokens from integrate-and-fire. SPDX-License-Identifier: MIT */
#include "search/cif_times.h"
#include <math.h>
#include "search/cif.h"

static double const shift = -1.5, silence = 5, longest = 12; /* frames */
static float const fires = (float)(1 - 1e-4);

void cif_fires(float *peak, const float *weight, int32_t n)
{
    double sum = 0;
    float before = 0;
    for (int32_t t = 0; t < n; t++) {
        sum += (double)weight[t];
        const float whole = floorf((float)sum);
        peak[t] = (whole > before) + (float)sum - whole;
        before = whole;
    }
}

static int32_t count(const float *peak, int32_t n)
{
    int32_t k = 0;
    for (int32_t t = 0; t < n; t++) k += peak[t] >= fires;
    return k;
}

static void rescale(float *weight, int32_t n, int32_t want)
{
    double sum = 0;
    for (int32_t t = 0; t < n; t++) sum += (double)weight[t];
    const float by = (float)sum / (float)want;
    for (int32_t t = 0; t < n; t++) weight[t] /= by;
}

void cif_fine_peaks(float *peak, float *weight, int32_t n, int32_t n_tokens)
{
    double sum = 0;
    for (int32_t t = 0; t < n; t++) sum += (double)weight[t];
    const float by = (float)n_tokens / (float)sum;
    for (int32_t t = 0; t < n; t++) weight[t] *= by;
    cif_peaks(peak, weight, n, fires);
}

static int32_t next_fire(const float *peak, int32_t n, int32_t from)
{
    while (from < n && peak[from] < fires) from++;
    return from;
}

int32_t cif_times(double (*span)[2], int32_t n, const struct cif_frames *f, float *scratch)
{
    const float *peak = f->peak;
    if (n <= 0) return 0;
    if (count(peak, f->n) != n + 1) {
        rescale(f->weight, f->n, n + 1);
        cif_peaks(scratch, f->weight, f->n, fires);
        peak = scratch;
    }
    int32_t k = 0, at = next_fire(peak, f->n, 0);
    if (at == f->n) return 0;
    while (k < n) {
        const int32_t end = next_fire(peak, f->n, at + 1);
        if (end == f->n) break;
        const double first = at + shift, last = end - at <= longest ? end + shift : first + longest;
        span[k][0] = first * f->frame_s;
        span[k++][1] = last * f->frame_s;
        at = end;
    }
    if (!k) return 0;
    const double last = at + shift, rest = f->n - last;
    const int has_gap = span[k - 1][1] < last * f->frame_s; /* a shortened token: the silence after it grows instead */
    if (!has_gap) span[k - 1][1] = (rest > silence ? (f->n + last) * 0.5 : f->n) * f->frame_s;
    return k;
}
