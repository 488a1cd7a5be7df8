/* steno: continuous integrate-and-fire. SPDX-License-Identifier: MIT */
#include "search/cif.h"
#include <math.h>

float cif_alpha(float x, float smooth, float noise)
{
    const float alpha = (float)(1 / (1 + exp(-(double)x))) * smooth - noise;
    return alpha > 0 ? alpha : 0; /* also for NaN */
}

int32_t cif_tokens(struct cif_token *token, float *weight, int32_t max, const float *alpha, int32_t n)
{
    double sum = 0, rest = 0; /* rest: weight left by the frame that ended the previous token */
    int32_t n_tokens = 0, first = 0, at = 0;
    for (int32_t t = 0; t < n && n_tokens < max; t++) {
        const double before = floor(sum);
        sum += (double)alpha[t];
        if (floor(sum) <= before) continue;
        const int32_t begin = at;
        for (int32_t i = first; i < t; i++) weight[at++] = n_tokens && i == first ? (float)rest : alpha[i];
        rest = sum - floor(sum);
        weight[at++] = (float)((double)alpha[t] - rest);
        token[n_tokens++] = (struct cif_token){ (uint32_t)first, (uint32_t)(at - begin), (uint32_t)begin };
        first = t;
    }
    return n_tokens;
}

int32_t cif_go_on(struct cif_token *token, float *weight, float *rest, const float *alpha, int32_t n)
{
    float sum = 0;
    int32_t n_tokens = 0;
    uint32_t first = 0, begin = 0, at = 0;
    for (int32_t t = 0; t < n; t++) {
        if (alpha[t] + sum < 1) {
            sum += alpha[t];
            weight[at++] = t ? alpha[t] : 1;
            continue;
        }
        weight[at++] = 1 - sum;
        token[n_tokens++] = (struct cif_token){ first, at - begin, begin };
        sum += alpha[t];
        sum -= 1;
        first = (uint32_t)t;
        begin = at;
        weight[at++] = sum;
    }
    token[n_tokens] = (struct cif_token){ first, at - begin, begin };
    *rest = sum;
    return n_tokens;
}

void cif_peaks(float *peak, const float *alpha, int32_t n, float threshold)
{
    float sum = 0;
    for (int32_t t = 0; t < n; t++) {
        sum += alpha[t];
        peak[t] = sum;
        if (sum >= threshold) sum -= threshold;
    }
}

/* ---- times of tokens --------------------------------------------------------------------------------------------------------- */

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

static int32_t fires_count(const float *peak, int32_t n)
{
    int32_t k = 0;
    for (int32_t t = 0; t < n; t++) k += peak[t] >= fires;
    return k;
}

static void weights_rescale(float *weight, int32_t n, int32_t want)
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
    if (fires_count(peak, f->n) != n + 1) {
        weights_rescale(f->weight, f->n, n + 1);
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
