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
