/* steno: linear with products of 16 and 8 bits in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * A row of x is rounded as the weights were. Every output is then one accumulator: f32 for pairs of bf16, where the odd k of a pair comes
 * first, and int32 for int8, where the order does not matter. The sums of int8 use q with 128 added, as unsigned bytes; accumulators begin
 * with the correction.
 *
 * Products by blocks have such an integer for each 32 k, those of int16 for each I16_GROUP. One fused multiply-add scales it and adds it to
 * an f32 accumulator, as in vectors, so that the twin has their bits. */
#include "kern/ref.h"

static void sum_pairs(float sum[PANEL], const uint32_t *x, const uint8_t *panel, size_t k)
{
    memset(sum, 0, PANEL * sizeof *sum);
    for (size_t pair = 0; pair < lowp_words(PK_BF16_PAIR, k); pair++)
        for (size_t odd = 2; odd-- > 0;) {
            const float xk = bf16_to_f32((uint16_t)(x[pair] >> 16 * odd));
            for (size_t i = 0; i < PANEL; i++) sum[i] = sum[i] + xk * panel_value(PK_BF16_PAIR, panel, 2 * pair + odd, i);
        }
}

static void quantize_groups(uint32_t *to, const float *x, size_t k)
{
    for (size_t g = 0; g < i16_groups(k); g++)
        quantize_group(to + i16_head(k) + g * (I16_GROUP / 2), to + g, x + g * I16_GROUP, size_min(I16_GROUP, k - g * I16_GROUP));
}

static void sum_ints(float sum[PANEL], const uint32_t *x, const uint8_t *panel, size_t k)
{
    const uint32_t *words = x + i16_head(k);
    memset(sum, 0, PANEL * sizeof *sum);
    for (size_t g = 0; g < i16_groups(k); g++) {
        const size_t end = size_min(lowp_words(PK_I16_PAIR, k), (g + 1) * I16_GROUP / 2);
        uint32_t acc[PANEL] = { 0 }; /* if x is NaN its words are undefined, and so is their sum */
        for (size_t pair = g * I16_GROUP / 2; pair < end; pair++) {
            const int32_t even = (int16_t)words[pair], odd = (int16_t)(words[pair] >> 16);
            const uint8_t *w = panel + lowp_head_sz(PK_I16_PAIR) + pair * PANEL * 4;
            for (size_t i = 0; i < PANEL; i++) {
                acc[i] += (uint32_t)(even * (int16_t)load_u16(w + 4 * i));
                acc[i] += (uint32_t)(odd * (int16_t)load_u16(w + 4 * i + 2));
            }
        }
        for (size_t i = 0; i < PANEL; i++) sum[i] = fmaf((float)(int32_t)acc[i], load_f32(x + g), sum[i]);
    }
    for (size_t i = 0; i < PANEL; i++) sum[i] *= load_f32(panel + 4 * i);
}

static void sum_quads(float sum[PANEL], const uint8_t *x, float scale, const uint8_t *panel, size_t k)
{
    const int8_t *w = (const int8_t *)panel + lowp_head_sz(PK_I8_QUAD);
    int32_t acc[PANEL];
    memcpy(acc, panel + PANEL * 4, sizeof acc);
    for (size_t j = 0; j < lowp_words(PK_I8_QUAD, k) * 4; j++)
        for (size_t i = 0; i < PANEL; i++) acc[i] += x[j] * w[(j / 4 * PANEL + i) * 4 + j % 4];
    for (size_t i = 0; i < PANEL; i++) sum[i] = (float)acc[i] * (scale * load_f32(panel + 4 * i));
}

/* The integer of a run of a block for output i. */
static int32_t run_sum(enum packed_type t, const uint32_t *x, const uint8_t *weights, size_t run, size_t i)
{
    const size_t len = run_len(quad_stored(t));
    const int8_t *q = (const int8_t *)x;
    int32_t sum = block_start(x, t, run);
    for (size_t j = run * len; j < (run + 1) * len; j++) {
        const int32_t xj = quad_x_parts(t) == 2 ? 256 * q[j] + q[j + QBLOCK] : q[j];
        sum += xj * quad_weight(t, weights, j, i);
    }
    return sum;
}

static void sum_blocks(float sum[PANEL], enum packed_type t, const uint32_t *x, const uint8_t *panel, size_t k)
{
    memset(sum, 0, PANEL * sizeof *sum);
    for (size_t b = 0; b < quad_blocks(k); b++, x += block_words(t)) {
        const struct quad_place p = quad_place_of(t, panel, b);
        const float scale = load_f32(x + block_scale_at(t));
        for (size_t run = 0; run < quad_runs(t); run++)
            for (size_t i = 0; i < PANEL; i++) {
                sum[i] = fmaf((float)run_sum(t, x, p.weights, run, i), quad_scale(t, p, run, i) * scale, sum[i]);
                if (quad_has_min(t)) sum[i] = fmaf(quad_min(t, p, run, i), load_f32(x + block_start_at(t) + run), sum[i]);
            }
    }
}

static inline void linear_c(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct lowp_scratch *s,
                            enum packed_type t)
{
    for (size_t m = m0; m < m1; m++) {
        const float *x = l->x + m * l->ld_x;
        float scale = 1;
        if (t == PK_BF16_PAIR) round_pairs(s->x, x, l->k);
        else if (t == PK_I16_PAIR) quantize_groups(s->x, x, l->k);
        else if (t == PK_I8_QUAD) scale = quantize_quads(s->x, x, l->k);
        else quantize_blocks(s->x, t, x, l->k);
        for (size_t p = p0; p < p1; p++) {
            const uint8_t *panel = (const uint8_t *)l->w + p * panel_sz(t, l->k);
            if (t == PK_BF16_PAIR) sum_pairs(s->acc, s->x, panel, l->k);
            else if (t == PK_I16_PAIR) sum_ints(s->acc, s->x, panel, l->k);
            else if (t == PK_I8_QUAD) sum_quads(s->acc, (const uint8_t *)s->x, scale, panel, l->k);
            else sum_blocks(s->acc, t, s->x, panel, l->k);
            linear_epilogue_c(l, m, p * PANEL, size_min(l->n, (p + 1) * PANEL), s->acc);
        }
    }
}

EACH_LOWP(LINEAR_C)

void kern_init_lowp_c(struct kern *k)
{
    EACH_LOWP(SET_LINEAR_C)
}
