/* steno: element-wise kernels over vectors. SPDX-License-Identifier: MIT
 *
 * Whole vectors first, then one partial vector whose missing lanes are neither read nor written. */
#ifndef STENO_KERN_ELEM_H
#define STENO_KERN_ELEM_H
#include "kern/softmax.h"

enum { FSMN_USUAL = 11 /* taps of every published SAN-M network */ };

/* Mean, then variance about it: two passes over a row in the first-level cache, with four parallel sums. */
static void norm_layer(float *y, const float *x, const float *g, const float *b, float eps, size_t n)
{
    vf s[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    size_t i = 0;
    for (; i + 4 * VF_N <= n; i += 4 * VF_N)
        UNROLL
        for (int c = 0; c < 4; c++) s[c] = vf_add(s[c], vf_load(x + i + (size_t)c * VF_N));
    for (; i < n; i += VF_N) s[0] = vf_add(s[0], vf_load_n(x + i, size_min(VF_N, n - i)));
    const vf mean = vf_set1(vf_sum(vf_add(vf_add(s[0], s[1]), vf_add(s[2], s[3]))) / (float)n);

    vf q[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    for (i = 0; i + 4 * VF_N <= n; i += 4 * VF_N)
        UNROLL
        for (int c = 0; c < 4; c++) {
            const vf d = vf_sub(vf_load(x + i + (size_t)c * VF_N), mean);
            q[c] = vf_fma(d, d, q[c]);
        }
    float square = 0;
    for (; i + VF_N <= n; i += VF_N) {
        const vf d = vf_sub(vf_load(x + i), mean);
        q[0] = vf_fma(d, d, q[0]);
    }
    if (i < n) { /* lanes past the end would add mean^2 */
        float d[VF_N] = { 0 };
        vf_store_n(d, vf_sub(vf_load_n(x + i, n - i), mean), n - i);
        square = vf_sum(vf_mul(vf_load(d), vf_load(d)));
    }
    square += vf_sum(vf_add(vf_add(q[0], q[1]), vf_add(q[2], q[3])));
    const vf scale = vf_set1(1 / sqrtf(square / (float)n + eps));

    for (i = 0; i + VF_N <= n; i += VF_N) {
        const vf gain = vf_mul(scale, vf_load(g + i));
        vf_store(y + i, vf_fma(vf_sub(vf_load(x + i), mean), gain, b ? vf_load(b + i) : vf_zero()));
    }
    if (i < n) {
        const vf gain = vf_mul(scale, vf_load_n(g + i, n - i));
        vf_store_n(y + i, vf_fma(vf_sub(vf_load_n(x + i, n - i), mean), gain, b ? vf_load_n(b + i, n - i) : vf_zero()), n - i);
    }
}

/* Four parallel sums; lanes past the end are zeros and add nothing. */
static void norm_rms(float *y, const float *x, const float *g, float eps, size_t n)
{
    vf q[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    size_t i = 0;
    for (; i + 4 * VF_N <= n; i += 4 * VF_N)
        UNROLL
        for (int c = 0; c < 4; c++) {
            const vf v = vf_load(x + i + (size_t)c * VF_N);
            q[c] = vf_fma(v, v, q[c]);
        }
    for (; i < n; i += VF_N) {
        const vf v = vf_load_n(x + i, size_min(VF_N, n - i));
        q[0] = vf_fma(v, v, q[0]);
    }
    const vf scale = vf_set1(1 / sqrtf(vf_sum(vf_add(vf_add(q[0], q[1]), vf_add(q[2], q[3]))) / (float)n + eps));
    for (i = 0; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_mul(vf_mul(vf_load(x + i), scale), vf_load(g + i)));
    if (i < n) vf_store_n(y + i, vf_mul(vf_mul(vf_load_n(x + i, n - i), scale), vf_load_n(g + i, n - i)), n - i);
}

static void add(float *y, const float *a, const float *b, size_t n)
{
    size_t i = 0;
    for (; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_add(vf_load(a + i), vf_load(b + i)));
    if (i < n) vf_store_n(y + i, vf_add(vf_load_n(a + i, n - i), vf_load_n(b + i, n - i)), n - i);
}

static void mul(float *y, const float *a, const float *b, size_t n)
{
    size_t i = 0;
    for (; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_mul(vf_load(a + i), vf_load(b + i)));
    if (i < n) vf_store_n(y + i, vf_mul(vf_load_n(a + i, n - i), vf_load_n(b + i, n - i)), n - i);
}

INLINE void act_row(float *y, const float *x, size_t n, enum act act)
{
    size_t i = 0;
    for (; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_act(vf_load(x + i), act));
    if (i < n) vf_store_n(y + i, vf_act(vf_load_n(x + i, n - i), act), n - i);
}

static void act_gelu_erf(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_GELU_ERF); }
static void act_gelu_tanh(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_GELU_TANH); }
static void act_silu(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_SILU); }
static void act_tanh(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_TANH); }
static void act_sigmoid(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_SIGMOID); }
static void act_relu(float *y, const float *x, size_t n) { act_row(y, x, n, ACT_RELU); }

/* Multiply and add are rounded separately here and in the next function, so that every level gives the twin's bits: memory limits the
 * speed. */
static void scale_row(float *y, const float *x, float scale, const float *add_to, size_t n)
{
    const vf s = vf_set1(scale);
    size_t i = 0;
    for (; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_add(vf_mul(vf_load(x + i), s), add_to ? vf_load(add_to + i) : vf_zero()));
    if (i < n)
        vf_store_n(y + i, vf_add(vf_mul(vf_load_n(x + i, n - i), s), add_to ? vf_load_n(add_to + i, n - i) : vf_zero()), n - i);
}

/* Halves are rotated as vectors, neighbours one pair after another. */
static void rope(float *x, const float *turn, size_t n, int neighbours)
{
    const size_t half = n / 2;
    size_t j = 0;
    for (; !neighbours && j < half; j += VF_N) {
        const size_t left = size_min(half - j, VF_N);
        const vf a = vf_load_n(x + j, left), b = vf_load_n(x + half + j, left);
        const vf cosine = vf_load_n(turn + j, left), sine = vf_load_n(turn + half + j, left);
        vf_store_n(x + j, vf_sub(vf_mul(a, cosine), vf_mul(b, sine)), left);
        vf_store_n(x + half + j, vf_add(vf_mul(a, sine), vf_mul(b, cosine)), left);
    }
    for (; j < half; j++) {
        const float ac = x[2 * j] * turn[j], as = x[2 * j] * turn[half + j];
        const float bc = x[2 * j + 1] * turn[j], bs = x[2 * j + 1] * turn[half + j];
        x[2 * j] = ac - bs;
        x[2 * j + 1] = as + bc;
    }
}

/* With a constant, only one of the two loads remains. */
INLINE vf load_lanes(const float *x, size_t lanes) { return lanes == VF_N ? vf_load(x) : vf_load_n(x, lanes); }
INLINE void store_lanes(float *y, vf v, size_t lanes)
{
    if (lanes == VF_N) vf_store(y, v);
    else vf_store_n(y, v, lanes);
}

/* Channels [i, i + lanes) of all rows; weights stay in registers where taps are a constant. */
INLINE void fsmn_channels(const struct fsmn *f, size_t i, size_t lanes, const size_t taps)
{
    vf w[FSMN_USUAL];
    UNROLL
    for (size_t j = 0; j < FSMN_USUAL && taps == FSMN_USUAL; j++) w[j] = load_lanes(f->w + j * f->n + i, lanes);
    for (size_t r = 0; r < f->rows; r++) {
        const float *const *x = f->x + r;
        float *y = f->y + r * f->ld_y + i;
        vf acc = load_lanes((f->start ? f->start : x[f->left]) + i, lanes);
        if (taps == FSMN_USUAL) {
            UNROLL
            for (size_t j = 0; j < FSMN_USUAL; j++)
                if (x[j]) acc = vf_add(acc, vf_mul(w[j], load_lanes(x[j] + i, lanes)));
        } else {
            for (size_t j = 0; j < taps; j++)
                if (x[j]) acc = vf_add(acc, vf_mul(load_lanes(f->w + j * f->n + i, lanes), load_lanes(x[j] + i, lanes)));
        }
        const vf add_to = f->add ? load_lanes(f->add + r * f->ld_add + i, lanes) : vf_zero();
        store_lanes(y, vf_add(add_to, acc), lanes);
    }
}

INLINE void fsmn_taps(const struct fsmn *f, const size_t taps)
{
    size_t i = 0;
    for (; i + VF_N <= f->n; i += VF_N) fsmn_channels(f, i, VF_N, taps);
    if (i < f->n) fsmn_channels(f, i, f->n - i, taps);
}

static void fsmn(const struct fsmn *f)
{
    if (f->taps == FSMN_USUAL) fsmn_taps(f, FSMN_USUAL);
    else fsmn_taps(f, f->taps);
}

/* The compiler vectorises this. */
static void unpair(float *restrict even, float *restrict odd, const uint32_t *restrict words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t low = words[i] << 16, high = words[i] & 0xffff0000u;
        memcpy(even + i, &low, sizeof low);
        memcpy(odd + i, &high, sizeof high);
    }
}

/* Columns are processed in parallel; the compiler vectorises this. Sums are double, because later steps choose between frames that are
 * nearly equal. */
static void zscore(float *x, size_t ld, size_t rows, size_t n)
{
    enum { SIDE_BY_SIDE = 16 };
    for (size_t at = 0; at < n; at += SIDE_BY_SIDE) {
        const size_t m = n - at < SIDE_BY_SIDE ? n - at : SIDE_BY_SIDE;
        double sum[SIDE_BY_SIDE] = { 0 }, square[SIDE_BY_SIDE] = { 0 }, std[SIDE_BY_SIDE];
        float farthest[SIDE_BY_SIDE] = { 0 };
        for (size_t r = 0; r < rows; r++) {
            const float *row = x + r * ld + at, *first = x + at;
            for (size_t i = 0; i < m; i++) {
                const float off = fabsf(row[i] - first[i]);
                sum[i] += (double)row[i];
                farthest[i] = off > farthest[i] ? off : farthest[i];
            }
        }
        for (size_t i = 0; i < m; i++) sum[i] /= (double)rows;
        for (size_t r = 0; r < rows; r++) {
            const float *row = x + r * ld + at;
            for (size_t i = 0; i < m; i++) square[i] += ((double)row[i] - sum[i]) * ((double)row[i] - sum[i]);
        }
        for (size_t i = 0; i < m; i++) std[i] = sqrt(square[i] / (double)rows);
        for (size_t r = 0; r < rows; r++) {
            float *row = x + r * ld + at;
            for (size_t i = 0; i < m; i++) row[i] = farthest[i] >= FLT_MIN ? (float)(((double)row[i] - sum[i]) / std[i]) : 0;
        }
    }
}

INLINE void put_in_order(vf *a, vf *b)
{
    const vf low = vf_min(*a, *b);
    *b = vf_max(*a, *b);
    *a = low;
}

/* The fourth of seven: Batcher's odd-even merge of eight, without the steps for the eighth and the outer places. */
INLINE vf median_of(vf v[MEDIAN_WIDTH])
{
    put_in_order(&v[0], &v[1]), put_in_order(&v[2], &v[3]), put_in_order(&v[4], &v[5]);
    put_in_order(&v[0], &v[2]), put_in_order(&v[1], &v[3]), put_in_order(&v[4], &v[6]);
    put_in_order(&v[1], &v[2]), put_in_order(&v[5], &v[6]);
    put_in_order(&v[0], &v[4]), put_in_order(&v[1], &v[5]), put_in_order(&v[2], &v[6]);
    put_in_order(&v[2], &v[4]), put_in_order(&v[3], &v[5]), put_in_order(&v[3], &v[4]);
    return v[3];
}

static void median(float *y, const float *x, const float *add, float scale, size_t n)
{
    enum { SIDE = MEDIAN_WIDTH / 2 };
    if (n <= SIDE) {
        scale_row(y, x, scale, add, n);
        return;
    }
    for (size_t i = 0; i < n; i += VF_N) {
        float near[VF_N + 2 * SIDE] = { 0 };
        const size_t lanes = size_min(VF_N, n - i);
        const int inside = i >= SIDE && i + VF_N + SIDE <= n;
        for (size_t j = 0; j < lanes + 2 * SIDE && !inside; j++) near[j] = x[mirrored(i + j, SIDE, n)];
        const float *from = inside ? x + i - SIDE : near;
        vf v[MEDIAN_WIDTH];
        for (size_t j = 0; j < MEDIAN_WIDTH; j++) v[j] = vf_load(from + j);
        const vf m = vf_mul(median_of(v), vf_set1(scale));
        if (lanes == VF_N) vf_store(y + i, vf_add(m, add ? vf_load(add + i) : vf_zero()));
        else vf_store_n(y + i, vf_add(m, add ? vf_load_n(add + i, lanes) : vf_zero()), lanes);
    }
}

static void lstm(float *h, float *c, const float *gates, const float *c_before, size_t n)
{
    for (size_t i = 0; i < n; i += VF_N) {
        const size_t left = size_min(n - i, VF_N);
        const vf input = vf_sigmoid(vf_load_n(gates + i, left)), forget = vf_sigmoid(vf_load_n(gates + n + i, left));
        const vf cell = vf_tanh(vf_load_n(gates + 2 * n + i, left)), output = vf_sigmoid(vf_load_n(gates + 3 * n + i, left));
        const vf kept = c_before ? vf_mul(forget, vf_load_n(c_before + i, left)) : vf_zero(), now = vf_fma(input, cell, kept);
        vf_store_n(c + i, now, left);
        vf_store_n(h + i, vf_mul(output, vf_tanh(now)), left);
    }
}

/* Bits [id, id + n) of the mask, n <= VF_N; never reads past the word of the last id. */
INLINE uint32_t mask_bits(const uint32_t *mask, size_t id, size_t n)
{
    const unsigned at = id % 32;
    uint32_t bits = mask[id / 32] >> at;
    if (at + n > 32) bits |= mask[id / 32 + 1] << (32 - at);
    return bits;
}

INLINE vf load_logits(const float *x, const uint32_t *mask, size_t id, size_t n)
{
    const vf v = load_or_absent(x, n);
    return mask ? vf_drop(v, mask_bits(mask, id, size_min(n, VF_N))) : v;
}

/* Find the maximum and its position first, then exp relative to it: the second pass reads the slice from the first-level cache. */
static void logits_reduce(struct logit_partial *partial, const float *x, const uint32_t *mask, int32_t first, size_t n)
{
    const size_t id = (size_t)first;
    vf m = vf_set1(-INFINITY), sum = vf_zero();
    for (size_t i = 0; i < n; i += VF_N) m = vf_max(load_logits(x + i, mask, id + i, n - i), m);
    const float max = vf_hmax(m);
    *partial = (struct logit_partial) { max, 0, -1 };
    if (max == -INFINITY) return;
    const vf top = vf_set1(max);
    for (size_t i = 0; i < n; i += VF_N) {
        const vf v = load_logits(x + i, mask, id + i, n - i);
        const unsigned here = vf_eq_bits(v, top);
        if (here && partial->arg < 0) partial->arg = first + (int32_t)i + __builtin_ctz(here);
        sum = vf_add(sum, vf_exp(vf_sub(v, top)));
    }
    partial->sum = vf_sum(sum);
}

static void panel_max(float *max, const float *y, size_t panels)
{
    for (size_t p = 0; p < panels; p++, y += PANEL) {
        vf m = vf_set1(-INFINITY);
        UNROLL
        for (size_t i = 0; i < PANEL; i += VF_N) m = vf_max(vf_load(y + i), m);
        max[p] = vf_hmax(m);
    }
}

static void init_elem(struct kern *k)
{
    k->norm_layer = norm_layer;
    k->norm_rms = norm_rms;
    k->softmax = softmax;
    k->add = add;
    k->mul = mul;
    k->rope = rope;
    k->act[ACT_GELU_ERF] = act_gelu_erf;
    k->act[ACT_GELU_TANH] = act_gelu_tanh;
    k->act[ACT_RELU] = act_relu;
    k->act[ACT_SILU] = act_silu;
    k->act[ACT_TANH] = act_tanh;
    k->act[ACT_SIGMOID] = act_sigmoid;
    k->scale = scale_row;
    k->fsmn = fsmn;
    k->unpair = unpair;
    k->lstm = lstm;
    k->zscore = zscore;
    k->median = median;
    k->logits_reduce = logits_reduce;
    k->panel_max = panel_max;
}
#endif
