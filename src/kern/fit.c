/* steno: search for scales. SPDX-License-Identifier: MIT */
#include "kern/fit.h"

#include <math.h>
#include <string.h>

static float const as_good_as_zero = 1e-15f;

int fit_round(float x)
{
    const union { float f; uint32_t u; } v = { x + 12582912.0f }; /* 1.5 * 2^23: the integer is left in the low bits */
    return (int)(v.u & 0x7fffff) - 0x400000;
}

static int between(int q, int lo, int hi)
{
    return q < lo ? lo : q > hi ? hi : q;
}

/* ---- signed ---------------------------------------------------------------------------------------------------------------------- */

struct fit_sums { float xl, l2; }; /* of weight * x * l and weight * l * l */

static struct fit_sums signed_sums(const float *x, const float *weight, int n, int levels, float inverse)
{
    struct fit_sums s = { 0, 0 };
    for (int i = 0; i < n; i++) {
        const float l = (float)between(fit_round(inverse * x[i]), -levels, levels - 1), w = weight ? weight[i] : x[i] * x[i];
        s.xl += w * x[i] * l;
        s.l2 += w * l * l;
    }
    return s;
}

static void signed_store(uint8_t *q, const float *x, int n, int levels, float inverse)
{
    for (int i = 0; i < n; i++) q[i] = (uint8_t)(levels + between(fit_round(inverse * x[i]), -levels, levels - 1));
}

float fit_signed(uint8_t *q, const float *x, const float *weight, int n, int levels)
{
    enum { TRIES = 9 }; /* on either side, a tenth of a level apart */
    float most = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    if (fabsf(most) < as_good_as_zero) {
        memset(q, 0, (size_t)n);
        return 0;
    }
    float inverse = (float)-levels / most;
    struct fit_sums s = signed_sums(x, weight, n, levels, inverse);
    float scale = s.l2 != 0 ? s.xl / s.l2 : 0, best = scale * s.xl;
    signed_store(q, x, n, levels, inverse);
    for (int t = -TRIES; t <= TRIES; t++) {
        if (!t) continue;
        inverse = -((float)levels + 0.1f * (float)t) / most;
        s = signed_sums(x, weight, n, levels, inverse);
        if (!(s.l2 > 0 && s.xl * s.xl > best * s.l2)) continue;
        signed_store(q, x, n, levels, inverse);
        scale = s.xl / s.l2;
        best = scale * s.xl;
    }
    return scale;
}

float fit_in_turn(uint8_t *q, const float *x, int n, int levels)
{
    enum { ROUNDS = 5 };
    float most = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    for (int i = 0; i < n; i++) q[i] = 0;
    if (fabsf(most) < as_good_as_zero) return 0;
    const float inverse = (float)-levels / most;
    struct fit_sums s = signed_sums(x, NULL, n, levels, inverse);
    signed_store(q, x, n, levels, inverse);
    for (int round = 0, changed = 1; round < ROUNDS && changed; round++) {
        changed = 0;
        for (int i = 0; i < n; i++) {
            const float w = x[i] * x[i], l = (float)(q[i] - levels);
            struct fit_sums other = { s.xl - w * x[i] * l, s.l2 - w * l * l };
            if (!(other.xl > 0)) continue;
            const int v = between(fit_round(x[i] * other.l2 / other.xl), -levels, levels - 1);
            if (v == q[i] - levels) continue;
            other.xl += w * x[i] * (float)v;
            other.l2 += w * (float)v * (float)v;
            if (!(other.l2 > 0 && other.xl * other.xl * s.l2 > s.xl * s.xl * other.l2)) continue;
            q[i] = (uint8_t)(v + levels);
            s = other;
            changed = 1;
        }
    }
    return s.l2 > 0 ? s.xl / s.l2 : 0;
}

/* ---- places in a table ----------------------------------------------------------------------------------------------------------- */

uint8_t fit_place(const int8_t value[16], float x)
{
    int lo = 0, hi = 15;
    if (x <= (float)value[lo]) return (uint8_t)lo;
    if (x >= (float)value[hi]) return (uint8_t)hi;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (x < (float)value[mid]) hi = mid;
        else lo = mid;
    }
    return (uint8_t)(x - (float)value[lo] < (float)value[hi] - x ? lo : hi);
}

static struct fit_sums table_sums(const float *x, const float *weight, int n, const int8_t value[16], float inverse)
{
    struct fit_sums s = { 0, 0 };
    for (int i = 0; i < n; i++) {
        const float v = (float)value[fit_place(value, inverse * x[i])], w = weight ? weight[i] : x[i] * x[i];
        s.xl += w * v * x[i];
        s.l2 += w * v * v;
    }
    return s;
}

float fit_table(const float *x, const float *weight, int n, const int8_t value[16])
{
    enum { TRIES = 7 };
    float most = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    if (fabsf(most) < as_good_as_zero) return 0;
    const float first = -most / (float)value[0];
    struct fit_sums s = table_sums(x, weight, n, value, 1 / first);
    float scale = s.xl / s.l2, best = scale * s.xl;
    for (int t = -TRIES; t <= TRIES; t++) {
        s = table_sums(x, weight, n, value, ((float)t + (float)value[0]) / most);
        if (!(s.l2 > 0 && s.xl * s.xl > best * s.l2)) continue;
        scale = s.xl / s.l2;
        best = scale * s.xl;
    }
    return scale;
}

/* ---- from a minimum to a maximum -------------------------------------------------------------------------------------------------- */

struct line { float scale, min; };

/* The points of a line fit. */
struct points { const float *x, *weight; int n, top; float sum_w, sum_x; };

static void line_round(uint8_t *q, const struct points *p, float inverse, float min)
{
    for (int i = 0; i < p->n; i++) q[i] = (uint8_t)between(fit_round(inverse * (p->x[i] - min)), 0, p->top);
}

static float line_error(const uint8_t *q, const struct points *p, struct line l, int plain)
{
    float sum = 0;
    for (int i = 0; i < p->n; i++) {
        const float off = l.scale * (float)q[i] + l.min - p->x[i];
        sum += p->weight[i] * (plain ? fabsf(off) : off * off);
    }
    return sum;
}

/* Weighted least squares. @return 0: no solution */
static int line_fit(struct line *l, const uint8_t *q, const struct points *p)
{
    float sl = 0, sl2 = 0, sxl = 0;
    for (int i = 0; i < p->n; i++) {
        const float v = (float)q[i], w = p->weight[i];
        sl += w * v;
        sl2 += w * v * v;
        sxl += w * v * p->x[i];
    }
    const float d = p->sum_w * sl2 - sl * sl;
    if (!(d > 0)) return 0;
    *l = (struct line){ (p->sum_w * sxl - p->sum_x * sl) / d, (sl2 * p->sum_x - sl * sxl) / d };
    if (l->min > 0) *l = (struct line){ sxl / sl2, 0 };
    return 1;
}

float fit_ranged(uint8_t *q, float *min, const float *x, const float *weight, int n, int top, const struct fit_steps *steps)
{
    uint8_t tried[QBLOCK];
    struct points p = { x, weight, n, top, weight[0], weight[0] * x[0] };
    float lo = x[0], hi = x[0];
    for (int i = 1; i < n; i++) {
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
        p.sum_w += weight[i];
        p.sum_x += weight[i] * x[i];
    }
    if (lo > 0) lo = 0;
    *min = -lo;
    memset(q, 0, (size_t)n);
    if (hi <= lo) return 0;
    const float inverse = (float)top / (hi - lo);
    struct line best = { 1 / inverse, lo }, l;
    line_round(q, &p, inverse, lo);
    float least = line_error(q, &p, best, steps->plain);
    for (int i = 0; i <= steps->last; i++) { /* from the best minimum so far */
        line_round(tried, &p, (steps->first + steps->step * (float)i + (float)top) / (hi - best.min), best.min);
        if (!line_fit(&l, tried, &p)) continue;
        const float error = line_error(tried, &p, l, steps->plain);
        if (!(error < least)) continue;
        memcpy(q, tried, (size_t)n);
        least = error;
        best = l;
    }
    *min = -best.min;
    return best.scale;
}

/* ---- scales of scales ------------------------------------------------------------------------------------------------------------- */

/* The inverse scale with the smallest error. */
static float scales_inverse(const float *x, const float *weight, int n, int top, float most)
{
    enum { TRIES = 4 };
    float best = (float)top / most, least = 0;
    for (int t = 0; t <= 2 * TRIES; t++) { /* the middle first, then from below */
        const int at = t ? t - TRIES - (t <= TRIES) : 0;
        const float inverse = t ? (0.1f * (float)at + (float)top) / most : best, scale = 1 / inverse;
        float error = 0;
        for (int i = 0; i < n; i++) {
            const int l = fit_round(inverse * x[i]);
            const float off = x[i] - scale * (float)(t && l > top ? top : l);
            error += weight[i] * off * off;
        }
        if (t && !(error < least)) continue;
        least = error;
        best = inverse;
    }
    return best;
}

/* Optimise the integers one by one, given the others. @return 1: one has changed */
static int scales_polish(uint8_t *q, const float *x, const float *weight, int n, int top, struct fit_sums *s)
{
    int changed = 0;
    for (int i = 0; i < n; i++) {
        const float w = weight[i], l = (float)q[i];
        struct fit_sums other = { s->xl - w * x[i] * l, s->l2 - w * l * l };
        if (!(other.xl > 0 && other.l2 > 0)) continue;
        int v = fit_round(x[i] * other.l2 / other.xl);
        if (v > top) v = top;
        if (v == q[i]) continue;
        other.xl += w * x[i] * (float)v;
        other.l2 += w * (float)v * (float)v;
        if (!(other.xl * other.xl * s->l2 > s->xl * s->xl * other.l2)) continue;
        q[i] = (uint8_t)v;
        *s = other;
        changed = 1;
    }
    return changed;
}

float fit_scales(uint8_t *q, const float *x, const float *weight, int n, int top)
{
    enum { ROUNDS = 5 };
    float most = 0;
    for (int i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    for (int i = 0; i < n; i++) q[i] = 0;
    if (most < as_good_as_zero) return 0;
    const float inverse = scales_inverse(x, weight, n, top, most);
    struct fit_sums s = { 0, 0 };
    for (int i = 0; i < n; i++) {
        q[i] = (uint8_t)between(fit_round(inverse * x[i]), 0, top);
        const float w = weight[i], l = (float)q[i];
        s.xl += w * x[i] * l;
        s.l2 += w * l * l;
    }
    for (int i = 0; i < ROUNDS && scales_polish(q, x, weight, n, top, &s);) i++;
    return s.l2 > 0 ? s.xl / s.l2 : 0;
}

/* ---- of blocks -------------------------------------------------------------------------------------------------------------------- */

void fit_codes_by_largest(uint8_t *code, uint16_t *d, const float *v, int n, int top)
{
    float most = 0;
    for (int j = 0; j < n; j++) most = v[j] > most ? v[j] : most;
    for (int j = 0; j < n; j++) code[j] = (uint8_t)between(fit_round(most > 0 ? (float)top / most * v[j] : 0), 0, top);
    *d = f16_from_f32(most / (float)top);
}

float fit_sum_of_squares(const float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

void fit_store_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
