/* steno: attention in int8 in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * Keys and values are panels of weights, so scores and outputs are products of PK_I8_QUAD, whose x is q and the weights of keys, which are
 * whole numbers by themselves. */
#include <math.h>
#include "kern/ref.h"

static const char *panel_at(const void *panels, size_t i, size_t k) { return (const char *)panels + i * panel_sz(PK_I8_QUAD, k); }
static float scale_at(const char *panel, size_t i) { return load_f32(panel + 4 * i); }
static int32_t weight_at(const char *panel, size_t k, size_t i)
{
    return (int8_t)panel[lowp_head_sz(PK_I8_QUAD) + (k / 4 * PANEL + i) * 4 + k % 4];
}

/* In steps of the query. */
static float score_of(const struct attn_i8 *a, const uint8_t *q, size_t key)
{
    const char *panel = panel_at(a->keys, key / PANEL, a->d_head);
    int32_t sum = 0;
    for (size_t d = 0; d < a->d_head; d++) sum += (q[d] - 128) * weight_at(panel, d, key % PANEL);
    return (float)sum * scale_at(panel, key % PANEL);
}

static void attn_row(const struct attn_i8 *a, const float *x, float *out, float *score)
{
    uint32_t q[HEAD_MAX / 4];
    float most = -INFINITY, sum = 0;
    const float unit = quantize_quads(q, x, a->d_head) * (a->scale * I8_LOG2_E);
    for (size_t j = 0; j < a->n_keys; j++) {
        score[j] = score_of(a, (const uint8_t *)q, j);
        if (!isnan(most) && !(score[j] <= most)) most = score[j];
    }
    const float highest = most * unit;
    for (size_t j = 0; j < a->n_keys; j++) sum += score[j] = nearbyintf(fminf(exp2f(fmaf(score[j], unit, I8_LOG2_MOST - highest)), 255));
    const float share = isfinite(highest) ? 1 / sum : NAN;
    for (size_t d = 0; d < a->d_head; d++) {
        const char *panel = panel_at(a->values, d / PANEL, a->n_keys);
        int32_t acc = 0;
        for (size_t j = 0; j < a->n_keys && !isnan(share); j++) acc += (int32_t)score[j] * weight_at(panel, j, d % PANEL);
        out[d] = fmaf((float)acc, share * scale_at(panel, d % PANEL), scale_at(panel, PANEL + d % PANEL));
    }
}

static void attn_i8(const struct attn_i8 *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r++) attn_row(a, a->q + r * a->ld_q, a->out + r * a->ld_out, scratch);
}

static void pack_keys_i8(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    const void *rows[PANEL] = { 0 };
    float key[PANEL][HEAD_MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < d_head; d++) key[i][d] = x[i * ld + d] - less[d];
        rows[i] = key[i];
    }
    pack_panel(panel, PK_I8_QUAD, DT_F32, rows, d_head);
}

/* What sums begin with is not wanted: weights of keys are unsigned as they are. */
static void pack_values_i8(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    memset(panel, 0, panel_sz(PK_I8_QUAD, n));
    for (size_t i = 0; i < n_d; i++) {
        float least = x[i], most = x[i], none = 0;
        for (size_t t = 0; t < n; t++) {
            const float v = x[t * ld + i];
            least = v < least ? v : least, most = v > most ? v : most, none += v * 0;
        }
        const struct i8_range g = i8_range_of(least + none, most + none);
        memcpy((char *)panel + 4 * i, &g.scale, 4);
        memcpy((char *)panel + 4 * (PANEL + i), &g.middle, 4);
        for (size_t t = 0; t < n && g.inverse > 0; t++)
            ((uint8_t *)panel)[lowp_head_sz(PK_I8_QUAD) + (t / 4 * PANEL + i) * 4 + t % 4] =
                i8_rounded(x[t * ld + i] - g.middle, g.inverse) ^ 0x80;
    }
}

void kern_init_attn_i8_c(struct kern *k)
{
    k->attn_i8 = attn_i8;
    k->pack_keys_i8 = pack_keys_i8;
    k->pack_values_i8 = pack_values_i8;
}
