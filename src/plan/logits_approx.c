/* steno: logits in two stages. SPDX-License-Identifier: MIT */
#include "plan/logits_approx.h"
#include <math.h>

/* Sums of k products in f32, in any order, are within k 2^-23 of the sum of magnitudes, which is at most |w| |x|. This counts twice, for
 * both kinds of logits. */
static double const sum_error = 0x1p-22;
static double const slack = 1.0001; /* for norms that are themselves rounded */

enum packed_type approx_type(const struct kern *kern) { return kern_gains(kern->level, PK_Q8_QUAD_A8) ? PK_Q8_QUAD_A8 : PK_Q8_QUAD; }

struct approx_panel approx_panel_of(const struct q8_loss *loss, size_t k)
{
    const double norm = sqrt(loss->norm) * slack;
    return (struct approx_panel){ (float)(sqrt(loss->error) * slack + (double)k * sum_error * norm), (float)norm };
}

struct approx_x approx_x_of(enum packed_type t, const float *x, size_t k)
{
    const struct q8_loss loss = q8_loss_of_x(t, x, k);
    return (struct approx_x){ (float)(sqrt(loss.norm) * slack), (float)(sqrt(loss.error) * slack) };
}

/* Rounding of low-precision types: steps of x and of weights, relative to the largest of each, which is at most their norm. An eighth of a
 * sum of I16_GROUP magnitudes is at most 1.42 norms. */
static double rounding_of(enum packed_type t, size_t k)
{
    if (t == PK_BF16_PAIR) return 0x1p-7 + 0x1p-14;
    if (t == PK_I16_PAIR) return 0.51 * sqrt((double)k) * (1.0 / I16_X_MAX + 1.42 / 32750);
    return t < PK_LOWP ? 0 : INFINITY;
}

/* |x| |w - w'| + |x - x'| |w'|, plus the rounding of t: |w| is at most |w'| + |w - w'|. */
struct approx_reach approx_reach_of(struct approx_x x, enum packed_type t, size_t k)
{
    const double norm = (double)x.norm, own = rounding_of(t, k) * norm;
    return (struct approx_reach){ (float)((norm + own) * slack), (float)(((double)x.error + own) * slack) };
}

/* Bits of the ids of panel p in [from, to). */
static uint32_t ids_in(size_t p, int32_t from, int32_t to)
{
    const int64_t base = (int64_t)p * PANEL, a = from > base ? from - base : 0, b = to - base < PANEL ? to - base : PANEL;
    if (a >= b) return 0;
    return ((b - a == PANEL ? 0 : 1u << (b - a)) - 1u) << a;
}

static float panel_max_of(const float *y, uint32_t ids)
{
    float max = -INFINITY;
    for (int i = 0; i < PANEL; i++)
        if (ids >> i & 1 && y[i] > max) max = y[i];
    return max;
}

/* Insert a number into the n largest, in descending order. */
static void take(float *top, int n, float v)
{
    if (!(v > top[n - 1])) return;
    int at = n - 1;
    for (; at && top[at - 1] < v; at--) top[at] = top[at - 1];
    top[at] = v;
}

void approx_bounds(float *max, float *lower, const struct approx_logits *l, size_t p0, size_t p1, const struct kern *kern)
{
    const struct logit_range *g = l->range;
    const float *y = l->y;
    const size_t from = ((size_t)g->text_from + PANEL - 1) / PANEL, to = (size_t)g->text_to / PANEL;
    const size_t a = from > p0 ? from : p0, b = to < p1 ? to : p1; /* panels with text only */
    if (a < b) kern->panel_max(max + a, y + a * PANEL, b - a);
    for (int i = 0; i < l->n; i++) lower[i] = -INFINITY;
    for (size_t p = p0; p < p1; p++) {
        const uint32_t masked = g->mask ? g->mask[p] : 0, text = ids_in(p, g->text_from, g->text_to) & ~masked;
        const float bound = ids_in(p, g->ts_from, g->ts_to) & ~masked ? INFINITY : -INFINITY;
        const float best = text == UINT32_MAX ? max[p] : text ? panel_max_of(y + p * PANEL, text) : 0;
        max[p] = bound;
        if (!text) continue;
        const float off = l->x.norm * l->panel[p].error + l->x.error * l->panel[p].norm;
        take(lower, l->n, best - off);
        if (bound < 0) max[p] = best + off;
    }
}

float approx_lower_bound(const float *lower, uint32_t slices, int n)
{
    float top[APPROX_TOPK];
    for (int i = 0; i < n; i++) top[i] = -INFINITY;
    for (uint32_t s = 0; s < slices; s++)
        for (int i = 0; i < n && lower[s * APPROX_TOPK + i] > top[n - 1]; i++) take(top, n, lower[s * APPROX_TOPK + i]);
    return top[n - 1];
}
