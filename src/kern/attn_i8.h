/* steno: attention in int8 over vectors. SPDX-License-Identifier: MIT
 *
 * Keys and values are panels of PK_I8_QUAD, weights are bytes.
 *
 * Before it includes this header, a file defines the primitives of lowp.h for unsigned bytes of x in plain order (QUAD_STEPS 1,
 * QUADS_SIGNED 0), and:
 *   vf_store_bytes(to, v)    lanes rounded to nearest even, as bytes, at most 255
 *   vi_word(a, b, c, d)      words of the low bytes of four vectors
 *   vf_as_words(v)           bits of lanes
 *   vi_flip(v)               bytes with their highest bits inverted */
#ifndef STENO_KERN_ATTN_I8_H
#define STENO_KERN_ATTN_I8_H
#include "kern/attn_run.h"

#if QUAD_STEPS != 1 || QUADS_SIGNED || ROWS_BY_TWOS
#error "attn_i8.h needs rows of unsigned bytes as they lie"
#endif

/* 2^x for results that become bytes: relative error 7.5e-5; less than FLT_MIN for x <= -126. */
INLINE vf vf_exp2_byte(vf x)
{
    vf n, p = vf_set1(5.517137606e-02f);
    const vf r = vf_split(x, &n);
    p = vf_fma(p, r, vf_set1(2.426112101e-01f));
    p = vf_fma(p, r, vf_set1(6.932610307e-01f));
    p = vf_fma(p, r, vf_set1(9.999280696e-01f));
    return vf_times_2n(p, n);
}

/* Turn a row's scores into weights. @return 1 / their sum, NaN if a score is NaN */
static float i8_weights(struct attn_run_scratch *s, uint32_t *row, const struct attn_run *a, float unit)
{
    (void)s;
    enum { SIDE = 32 / VF_N };
    const size_t n = a->n_keys, whole = n / PANEL * PANEL;
    vf top[SIDE];
    UNROLL
    for (size_t c = 0; c < SIDE; c++) top[c] = vf_set1(-INFINITY);
    for (size_t i = 0; i < whole; i += PANEL)
        UNROLL
        for (size_t c = 0; c < SIDE; c++) top[c] = vf_max(run_score_at(row, i + c * VF_N), top[c]);
    for (size_t i = whole; i < n; i += VF_N) top[0] = vf_max(first_or_absent(run_score_at(row, i), n - i), top[0]);
    for (size_t c = 1; c < SIDE; c++) top[0] = vf_max(top[0], top[c]);
    const float highest = vf_hmax(top[0]) * unit;
    const vf by = vf_set1(unit), most = vf_set1(RUN_LOG2_I8 - highest);
    uint8_t *weight = (uint8_t *)row;
    for (size_t i = 0; i < whole; i += VF_N) vf_store_bytes(weight + i, vf_exp2_byte(vf_fma(run_score_at(row, i), by, most)));
    for (size_t i = whole; i < n; i += VF_N)
        vf_store_bytes(weight + i, vf_exp2_byte(first_or_absent(vf_fma(run_score_at(row, i), by, most), n - i)));
    const size_t end = (n + VF_N - 1) / VF_N * VF_N;
    memset(weight + end, 0, (end + 4 * VF_N - 1) / (4 * VF_N) * (4 * VF_N) - end);
    vs sum = vs_zero();
    for (size_t i = 0; i < n; i += 4 * VF_N) sum = vs_dot_quads(sum, vi_load(weight + i), vi_set1(0x01010101));
    const float all = vf_sum(vf_of_ints(sum));
    return highest - highest == 0 ? 1 / all : NAN;
}

static void i8_outputs(struct attn_run_scratch *s, const struct attn_run *a, size_t r0, size_t rows, size_t ld)
{
    const size_t words = lowp_words(PK_I8_QUAD, a->n_keys), sz = panel_sz(PK_I8_QUAD, a->n_keys);
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const float *scale = (const float *)(const void *)((const char *)a->values + d0 / PANEL * sz);
        panel_sums(s->ints, PANEL, PK_I8_QUAD, s->score, ld, NULL, (const uint32_t *)(const void *)scale + 2 * PANEL, words, rows,
                   &(struct weight_words){ .ahead = (const char *)scale + sz });
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < PANEL && d0 + c < a->d_head; c += VF_N) {
                const vf sum = vf_of_ints(vs_load(s->ints + r * PANEL + c));
                const vf v = vf_fma(sum, vf_mul(vf_set1(s->share[r]), vf_load(scale + c)), vf_load(scale + PANEL + c));
                vf_store_n(a->out + (r0 + r) * a->ld_out + d0 + c, v, size_min(VF_N, a->d_head - d0 - c));
            }
    }
}

static float i8_query(uint32_t *to, const float *q, size_t d_head) { return row_to_quads(to, q, d_head); }
static const struct run_body run_body_i8 = { i8_query, i8_weights, i8_outputs };
static void attn_i8(const struct attn_run *a, void *scratch) { attn_run_any(a, scratch, PK_I8_QUAD, &run_body_i8); }

/* ---- packing ------------------------------------------------------------------------------------------------------------------------ */
/* Pack a panel of keys: rows become bytes, then words of four d are transposed with keys. */
static void pack_keys_i8(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    enum { WORDS = HEAD_MAX / 4 };
    float key[HEAD_MAX];
    _Alignas(64) uint32_t row[PANEL][WORDS];
    float *scale = panel;
    int32_t *start = (int32_t *)panel + PANEL;
    uint32_t *to = (uint32_t *)panel + 2 * PANEL;
    const size_t words = lowp_words(PK_I8_QUAD, d_head);
    vs sum[PV];
    for (size_t r = 0; r < PANEL; r++) {
        for (size_t d = 0; r < n && d < d_head; d += VF_N)
            vf_store(key + d, vf_sub(load_some(x + r * ld + d, d_head - d), load_some(less + d, d_head - d)));
        scale[r] = r < n ? row_to_quads(row[r], key, d_head) : 0;
        if (!(scale[r] > 0)) memset(row[r], 0x80, words * 4);
    }
    for (size_t c = 0; c < PV; c++) sum[c] = vs_set1(128 * 128 * 4 * (int32_t)words);
    for (size_t k = 0; k < words; k += VF_N)
        for (size_t c = 0; c < PV; c++) {
            float turned[VF_N][VF_N];
            vf v[VF_N];
            UNROLL
            for (size_t i = 0; i < VF_N; i++) v[i] = vf_load((const float *)(const void *)(row[c * VF_N + i] + k));
            vf_transpose(v);
            UNROLL
            for (size_t i = 0; i < VF_N; i++) vf_store(turned[i], v[i]);
            for (size_t i = 0; i < VF_N && k + i < words; i++) {
                const vi four = vi_load(turned[i]);
                sum[c] = vs_dot_quads(sum[c], four, vi_set1(0x80808080u)); /* with 128 added, times -128 */
                vs_store((int32_t *)(void *)(to + (k + i) * PANEL + c * VF_N), vi_flip(four));
            }
        }
    for (size_t c = 0; c < PV; c++) vs_store(start + c * VF_N, sum[c]);
}

/* Lanes i to i + VF_N of n. */
INLINE vf i8_lanes(const float *x, size_t i, size_t n) { return i < n ? load_some(x + i, n - i) : vf_zero(); }

/* Pack a panel of values: n positions of n_d columns. */
static void pack_values_i8(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    float least[PANEL], most[PANEL], inverse[PANEL], *scale = panel, *middle = scale + PANEL;
    uint32_t *to = (uint32_t *)panel + 2 * PANEL;
    const vf magic = vf_set1(I16_MAGIC);
    for (size_t c = 0; c < PANEL; c += VF_N) {
        vf low = i8_lanes(x, c, n_d), high = low, none = vf_zero();
        for (size_t t = 0; t < n; t++) {
            const vf v = i8_lanes(x + t * ld, c, n_d);
            low = vf_min(v, low), high = vf_max(v, high), none = vf_fma(v, vf_zero(), none);
        }
        vf_store(least + c, vf_add(low, none));
        vf_store(most + c, vf_add(high, none));
    }
    for (size_t i = 0; i < PANEL; i++) {
        const struct i8_range g = i8_range_of(least[i], most[i]);
        scale[i] = g.scale, inverse[i] = g.inverse, middle[i] = g.middle;
    }
    for (size_t t = 0; t < n; t += 4, to += PANEL)
        for (size_t c = 0; c < PANEL; c += VF_N) {
            vi q[4];
            const vf by = vf_load(inverse + c), less = vf_load(middle + c);
            UNROLL
            for (size_t i = 0; i < 4; i++) {
                const vf v = t + i < n ? vf_sub(i8_lanes(x + (t + i) * ld, c, n_d), less) : vf_zero();
                q[i] = vf_as_words(vf_add(vf_mul(v, by), magic));
            }
            vs_store((int32_t *)to + c, vi_word(q[0], q[1], q[2], q[3]));
        }
}

INLINE void init_attn_i8(struct kern *k)
{
    *kern_run(k, KV_I8) = (struct run_kern){ attn_i8, NULL, pack_keys_i8, pack_values_i8 };
}
#endif
