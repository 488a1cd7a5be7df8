/* steno: attention over the keys of a run in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * Keys and values are panels of weights, so scores and outputs are products of PK_I8_QUAD or PK_I16_PAIR. x is q, or the attention weights
 * of the keys, which are already integers. */
#include <math.h>
#include "kern/ref.h"
#include "kern/rel_positions.h"

static const char *panel_at(const void *panels, enum packed_type t, size_t i, size_t k)
{
    return (const char *)panels + i * panel_sz(t, k);
}

static float scale_at(const char *panel, size_t i) { return load_f32(panel + 4 * i); }

static int32_t weight_at(const char *panel, enum packed_type t, size_t k, size_t i)
{
    const char *words = panel + lowp_head_sz(t);
    if (t == PK_I8_QUAD) return (int8_t)words[(k / 4 * PANEL + i) * 4 + k % 4];
    return (int16_t)load_u16(words + (k / 2 * PANEL + i) * 4 + k % 2 * 2);
}

/* Quantize a row of q. @return its scale */
static float query_of(int16_t q[HEAD_MAX], enum packed_type t, const float *x, size_t d_head)
{
    uint32_t words[HEAD_MAX / 2], bits;
    const float scale = t == PK_I8_QUAD ? quantize_quads(words, x, d_head) : (quantize_group(words, &bits, x, d_head), load_f32(&bits));
    for (size_t d = 0; d < d_head; d++)
        q[d] = t == PK_I8_QUAD ? (int16_t)(((const uint8_t *)words)[d] - 128) : (int16_t)load_u16((const char *)words + 2 * d);
    return scale;
}

/* In steps of the query. */
static float score_of(const struct attn_run *a, enum packed_type t, const int16_t *q, size_t key)
{
    const char *panel = panel_at(a->keys, t, key / PANEL, a->d_head);
    int32_t sum = 0;
    for (size_t d = 0; d < a->d_head; d++) sum += q[d] * weight_at(panel, t, d, key % PANEL);
    return (float)sum * scale_at(panel, key % PANEL);
}

/* Compute the row's scores and the highest. The memory has room for a score per key, plus one per group of keys. */
static float scores_of(float *score, const struct attn_run *a, enum packed_type t, const int16_t *q)
{
    float most = -INFINITY;
    for (size_t j = 0; j < a->n_keys; j++) {
        score[j] = score_of(a, t, q, j);
        if (!isnan(most) && !(score[j] <= most)) most = score[j];
    }
    return most;
}

static void attn_i8_row(const struct attn_run *a, const float *x, float *out, float *score)
{
    int16_t q[HEAD_MAX];
    float sum = 0;
    const float unit = query_of(q, PK_I8_QUAD, x, a->d_head) * (a->scale * RUN_LOG2_E), highest = scores_of(score, a, PK_I8_QUAD, q) * unit;
    for (size_t j = 0; j < a->n_keys; j++) sum += score[j] = nearbyintf(fminf(exp2f(fmaf(score[j], unit, RUN_LOG2_I8 - highest)), 255));
    const float share = isfinite(highest) ? 1 / sum : NAN;
    for (size_t d = 0; d < a->d_head; d++) {
        const char *panel = panel_at(a->values, PK_I8_QUAD, d / PANEL, a->n_keys);
        int32_t acc = 0;
        for (size_t j = 0; j < a->n_keys && !isnan(share); j++) acc += (int32_t)score[j] * weight_at(panel, PK_I8_QUAD, j, d % PANEL);
        out[d] = fmaf((float)acc, share * scale_at(panel, d % PANEL), scale_at(panel, PANEL + d % PANEL));
    }
}

static void attn_i16_row(const struct attn_run *a, const float *x, float *out, float *score)
{
    int16_t q[HEAD_MAX];
    float sum = 0, *const scale = score + a->n_keys;
    const float unit = query_of(q, PK_I16_PAIR, x, a->d_head) * (a->scale * RUN_LOG2_E);
    const float highest = scores_of(score, a, PK_I16_PAIR, q) * unit;
    for (size_t j0 = 0; j0 < a->n_keys; j0 += RUN_GROUP) {
        const size_t end = size_min(a->n_keys, j0 + RUN_GROUP);
        float top = -INFINITY, ints = 0;
        for (size_t j = j0; j < end; j++) top = score[j] > top ? score[j] : top;
        for (size_t j = j0; j < end; j++) ints += score[j] = nearbyintf(exp2f(fmaf(score[j], unit, RUN_LOG2_I16 - top * unit)));
        scale[j0 / RUN_GROUP] = exp2f(top * unit - highest);
        sum = fmaf(ints, scale[j0 / RUN_GROUP], sum);
    }
    const float share = isfinite(highest) ? 1 / sum : NAN;
    for (size_t d = 0; d < a->d_head; d++) {
        const char *panel = panel_at(a->values, PK_I16_PAIR, d / PANEL, a->n_keys);
        float acc = 0;
        for (size_t j0 = 0; j0 < a->n_keys && !isnan(share); j0 += RUN_GROUP) {
            int32_t ints = 0;
            for (size_t j = j0; j < size_min(a->n_keys, j0 + RUN_GROUP); j++)
                ints += (int32_t)score[j] * weight_at(panel, PK_I16_PAIR, j, d % PANEL);
            acc = fmaf((float)ints, scale[j0 / RUN_GROUP], acc);
        }
        out[d] = acc * (share * scale_at(panel, d % PANEL));
    }
}

static void attn_i8(const struct attn_run *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r++) attn_i8_row(a, a->q + r * a->ld_q, a->out + r * a->ld_out, scratch);
}

static void attn_i16(const struct attn_run *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r++) attn_i16_row(a, a->q + r * a->ld_q, a->out + r * a->ld_out, scratch);
}

/* Part of a score: the product of q and row `at` of panels, to base 2. */
static float rel_part(const struct attn_rel_run *a, const void *panels, const int16_t *q, float unit, size_t at)
{
    const char *panel = panel_at(panels, PK_I16_PAIR, at / PANEL, a->d_head);
    int32_t sum = 0;
    for (size_t d = 0; d < a->d_head; d++) sum += q[d] * weight_at(panel, PK_I16_PAIR, d, at % PANEL);
    return (float)sum * (unit * scale_at(panel, at % PANEL));
}

/* Scores of the keys that row i sees. @return the highest, NaN if one is not finite */
static float rel_scores_i16(float *score, const struct attn_rel_run *a, size_t i)
{
    const struct key_span sees = a->sees[i];
    float with[2][HEAD_MAX], unit[2], highest = -INFINITY;
    int16_t q[2][HEAD_MAX];
    for (size_t d = 0; d < a->d_head; d++) {
        with[0][d] = a->q[i * a->ld_q + d] + a->u[d];
        with[1][d] = a->q[i * a->ld_q + d] + a->v[d];
    }
    for (int k = 0; k < 2; k++) unit[k] = query_of(q[k], PK_I16_PAIR, with[k], a->d_head) * (a->scale * RUN_LOG2_E);
    for (size_t j = sees.from; j < sees.to; j++) {
        score[j] = rel_part(a, a->keys, q[0], unit[0], j) + rel_part(a, a->distances, q[1], unit[1], a->at + j - i);
        highest = isfinite(score[j]) && !isnan(highest) ? fmaxf(highest, score[j]) : NAN;
    }
    return highest;
}

static void attn_rel_i16_row(const struct attn_rel_run *a, size_t i, float *score)
{
    const struct key_span sees = a->sees[i];
    const float highest = rel_scores_i16(score, a, i);
    const size_t first = sees.from / RUN_GROUP * RUN_GROUP;
    double sum = 0, out[HEAD_MAX] = { 0 };
    for (size_t j0 = first; j0 < sees.to && !isnan(highest); j0 += RUN_GROUP) {
        const char *const panels = a->values;
        const size_t from = j0 > sees.from ? j0 : sees.from, to = size_min(sees.to, j0 + RUN_GROUP);
        float top = -INFINITY;
        for (size_t j = from; j < to; j++) top = fmaxf(top, score[j]);
        const double scale = exp2((double)top - (double)highest);
        for (size_t j = from; j < to; j++) {
            const float weight = nearbyintf(exp2f(score[j] + (RUN_LOG2_I16 - top)));
            sum += (double)weight * scale;
            for (size_t d = 0; d < a->d_head; d++)
                out[d] += (double)weight * scale *
                          weight_at(panel_at(panels, PK_I16_PAIR, d / PANEL, a->n_keys), PK_I16_PAIR, j, d % PANEL);
        }
    }
    for (size_t d = 0; d < a->d_head; d++) {
        const char *panel = panel_at(a->values, PK_I16_PAIR, d / PANEL, a->n_keys);
        a->out[i * a->ld_out + d] = isnan(highest) ? NAN : (float)(out[d] / sum) * scale_at(panel, d % PANEL);
    }
}

static void attn_rel_i16(const struct attn_rel_run *a, void *scratch)
{
    for (size_t i = 0; i < a->rows; i++) attn_rel_i16_row(a, i, scratch);
}

static void pack_keys(void *panel, enum packed_type t, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    const void *rows[PANEL] = { 0 };
    float key[PANEL][HEAD_MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < d_head; d++) key[i][d] = x[i * ld + d] - less[d];
        rows[i] = key[i];
    }
    pack_panel(panel, t, DT_F32, rows, d_head);
}

static void pack_keys_i8(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    pack_keys(panel, PK_I8_QUAD, x, ld, n, d_head, less);
}

static void pack_keys_i16(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    pack_keys(panel, PK_I16_PAIR, x, ld, n, d_head, less);
}

/* The start values of sums are not used: attention weights are already unsigned. */
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

static void pack_values_i16(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    memset(panel, 0, panel_sz(PK_I16_PAIR, n));
    for (size_t i = 0; i < n_d; i++) {
        uint32_t max = 0, max_sum = 0;
        float sum = 0;
        for (size_t t = 0; t < n; t++) {
            const float mag = fabsf(x[t * ld + i]);
            sum = t % RUN_GROUP ? sum + mag : mag;
            max = bits_of_f32(mag) > max ? bits_of_f32(mag) : max;
            max_sum = bits_of_f32(sum) > max_sum ? bits_of_f32(sum) : max_sum;
        }
        const struct int_scale s = i16_scale_of(i16_weight_max(max, max_sum, RUN_SUM), I16_W_MAX);
        memcpy((char *)panel + 4 * i, &s.scale, 4);
        for (size_t t = 0; t < n && s.inverse > 0; t++) {
            const uint16_t q = i16_rounded(x[t * ld + i], s.inverse);
            memcpy((char *)panel + lowp_head_sz(PK_I16_PAIR) + (t / 2 * PANEL + i) * 4 + t % 2 * 2, &q, 2);
        }
    }
}

void kern_init_attn_run_c(struct kern *k)
{
    *kern_run(k, KV_I8) = (struct run_kern){ attn_i8, NULL, pack_keys_i8, pack_values_i8 };
    *kern_run(k, KV_I16) = (struct run_kern){ attn_i16, attn_rel_i16, pack_keys_i16, pack_values_i16 };
}
