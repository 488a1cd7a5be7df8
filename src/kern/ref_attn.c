/* steno: attention in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * One query row at a time: scores of up to ATTN_KEYS keys, their maximum, then exp and the weighted sum of values. That is a partial, which
 * is merged into the result of earlier keys. Keys past a row's length are never read, so their contents do not matter. With KV_BF16,
 * queries and weights are rounded, and their products added in pairs, the odd one first; with KV_INT they become integers. */
#include "kern/ref.h"

#include <math.h>

static inline float kv_value(enum kv_type t, const char *p, size_t i)
{
    if (t == KV_F16) return f16_to_f32(load_u16(p + 2 * i));
    if (t == KV_BF16) return bf16_to_f32(load_u16(p + 2 * i));
    return load_f32(p + 4 * i);
}

static inline float rounded(enum kv_type t, float x) { return t == KV_BF16 ? bf16_to_f32(bf16_rounded(x)) : x; }
/* The order of sums: i, or in pairs the odd one first; n is even. */
static inline size_t in_order(enum kv_type t, size_t i) { return t == KV_BF16 ? i ^ 1u : i; }

static void score_block(float s[KV_BLOCK], enum kv_type t, const char *k, const float *q, size_t d_head, float scale)
{
    memset(s, 0, KV_BLOCK * sizeof *s);
    for (size_t i = 0; i < d_head; i++) {
        const size_t d = in_order(t, i);
        const float qd = rounded(t, q[d]);
        for (size_t j = 0; j < KV_BLOCK; j++) s[j] = s[j] + qd * kv_value(t, k, kv_key_at(t, j, d));
    }
    for (size_t j = 0; j < KV_BLOCK; j++) s[j] *= scale;
}

/* ---- KV_INT, KV_Q8 */
/* Integer i of a block of x with one part, or with two. */
static inline int byte_of(const uint32_t *block, size_t i) { return ((const int8_t *)block)[i]; }
static inline int int_of(const uint32_t *block, size_t i) { return 256 * byte_of(block, i) + byte_of(block, i + QBLOCK); }

static void score_block_ints(float s[KV_BLOCK], enum kv_type t, const char *k, const float *q, size_t d_head, float scale)
{
    memset(s, 0, KV_BLOCK * sizeof *s);
    for (size_t d0 = 0; d0 < d_head; d0 += KV_INT_D) {
        const char *group = k + key_group_at(t, d0);
        uint32_t more[QBLOCK / 2 + 2], less[QBLOCK / 4 + 2];
        quantize_block(more, PK_Q8_QUAD, q + d0, KV_INT_D);
        quantize_block(less, PK_Q4_QUAD, q + d0, KV_INT_D);
        for (size_t j = 0; j < KV_BLOCK; j++) {
            const float scale_k = kv_group_scale(group, j), unit = t == KV_INT ? 16 : 1;
            int32_t high = 0, low = 0;
            for (size_t d = 0; d < KV_INT_D; d++) {
                high += int_of(more, d) * key_high(group, j, d);
                if (t == KV_INT) low += byte_of(less, d) * key_low(group, j, d);
            }
            s[j] = fmaf((float)high, load_f32(more + block_scale_at(PK_Q8_QUAD)) * (unit * scale_k), s[j]);
            if (t == KV_INT) s[j] = fmaf((float)low, load_f32(less + block_scale_at(PK_Q4_QUAD)) * scale_k, s[j]);
        }
    }
    for (size_t j = 0; j < KV_BLOCK; j++) s[j] *= scale;
}

static void weigh_ints(float *partial, enum kv_type t, const struct attn *a, const float *p, size_t key0, size_t n)
{
    for (size_t d0 = 0; d0 < a->d_head; d0 += KV_INT_D) {
        float w[ATTN_KEYS];
        uint32_t row[WEIGHT_LD];
        const char *v[ATTN_KEYS / KV_BLOCK];
        for (size_t j = 0; j < n; j++) {
            v[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK) + value_group_at(t, d0, a->d_head);
            w[j] = p[j] * kv_group_scale(v[j / KV_BLOCK], j % KV_BLOCK);
        }
        quantize_attn_weights(row, w, n);
        for (size_t d = 0; d < KV_INT_D; d++) {
            int32_t sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += int_of(row + j / QBLOCK * INT_WORDS, j % QBLOCK) * value_int(v[j / KV_BLOCK], j % KV_BLOCK, d);
            partial[d0 + d] = (float)sum * load_f32(row + INT_SCALE);
        }
    }
}

static inline void score_any(float s[KV_BLOCK], enum kv_type t, const char *k, const float *q, size_t d_head, float scale)
{
    if (kv_is_ints(t)) score_block_ints(s, t, k, q, d_head, scale);
    else score_block(s, t, k, q, d_head, scale);
}

/* The partial of n keys from key0 on; keys before `first` have no weight. */
static void partial_c(float *partial, enum kv_type t, const struct attn *a, const float *q, size_t key0, size_t n, size_t first)
{
    const size_t d_head = a->d_head;
    float s[ATTN_KEYS], *sum = partial + partial_sum_at(d_head), *max = partial + partial_max_at(d_head);
    memset(partial, 0, attn_partial_len(d_head) * sizeof *partial);
    *max = -INFINITY;
    for (size_t j = 0; j < n; j += KV_BLOCK) score_any(s + j, t, kv_block_at(&a->kv, (key0 + j) / KV_BLOCK), q, d_head, a->scale);
    for (size_t j = 0; j < n && key0 + j < first; j++) s[j] = -INFINITY;
    for (size_t j = 0; j < n; j++) *max = s[j] > *max ? s[j] : *max;
    if ((kv_is_ints(t) || *max == -INFINITY) && any_nan(s, n)) {
        for (size_t d = 0; d < d_head; d++) partial[d] = NAN;
        *max = 0;
        return;
    }
    if (*max == -INFINITY) return;
    if (kv_is_ints(t)) {
        for (size_t j = 0; j < n; j++) *sum += s[j] = expf(s[j] - *max);
        weigh_ints(partial, t, a, s, key0, n);
        return;
    }
    for (size_t i = 0; i < n + n % 2; i++) {
        const size_t j = in_order(t, i);
        if (j >= n) continue;
        const char *v = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
        const float p = rounded(t, expf(s[j] - *max));
        *sum += p;
        for (size_t d = 0; d < d_head; d++) partial[d] = partial[d] + p * kv_value(t, v, kv_value_at(t, j % KV_BLOCK, d, d_head));
    }
}

static void merge_c(float *to, const float *from, size_t d_head)
{
    const size_t sum = partial_sum_at(d_head), max = partial_max_at(d_head);
    const int newer = from[max] > to[max];
    const float *more = newer ? from : to, *less = newer ? to : from;
    if (from[max] == -INFINITY) return;
    const float fade = expf(less[max] - more[max]);
    for (size_t d = 0; d < d_head; d++) to[d] = less[d] * fade + more[d];
    to[sum] = less[sum] * fade + more[sum];
    to[max] = more[max];
}

static void finish_c(float *out, const float *partial, size_t d_head)
{
    const float sum = partial[partial_sum_at(d_head)], scale = sum > 0 ? 1 / sum : 0;
    for (size_t d = 0; d < d_head; d++) out[d] = partial[d] * scale;
}

static inline size_t length_of(const struct attn *a, size_t r)
{
    const int32_t n = a->len ? a->len[r] : a->n_keys;
    return n > 0 ? (size_t)n : 0;
}

static inline void attn_c(const struct attn *a, struct attn_scratch *s, enum kv_type t)
{
    for (size_t r = 0; r < a->rows; r++) {
        const size_t len = length_of(a, r), first = attn_first_key(a, len);
        partial_c(s->merged, t, a, a->q + r * a->ld_q, 0, size_min(ATTN_KEYS, len), first);
        for (size_t k = ATTN_KEYS; k < len; k += ATTN_KEYS) {
            partial_c(s->out, t, a, a->q + r * a->ld_q, k, size_min(ATTN_KEYS, len - k), first);
            merge_c(s->merged, s->out, a->d_head);
        }
        finish_c(a->out + r * a->ld_out, s->merged, a->d_head);
    }
}

static inline void attn_partial_c(const struct attn *a, size_t b, float *partial, size_t ld_partial, enum kv_type t)
{
    for (size_t r = 0; r < a->rows; r++) {
        const size_t len = length_of(a, r), key0 = b * ATTN_KEYS;
        partial_c(partial + r * ld_partial, t, a, a->q + r * a->ld_q, key0, len > key0 ? size_min(ATTN_KEYS, len - key0) : 0,
                  attn_first_key(a, len));
    }
}

static void attn_merge(const struct attn *a, const float *partial, size_t ld_partial, size_t n)
{
    float merged[OUT_LD];
    for (size_t r = 0; r < a->rows; r++) {
        memcpy(merged, partial + r * ld_partial, attn_partial_len(a->d_head) * sizeof *merged);
        for (size_t b = 1; b < n; b++) merge_c(merged, partial + r * ld_partial + b * attn_partial_len(a->d_head), a->d_head);
        finish_c(a->out + r * a->ld_out, merged, a->d_head);
    }
}

static inline void attn_weights_c(const struct attn *a, enum kv_type t)
{
    const size_t n = a->n_keys > 0 ? (size_t)a->n_keys : 0;
    for (size_t r = 0; r < a->rows; r++) {
        float *out = a->out + r * a->ld_out, s[KV_BLOCK], max = -INFINITY;
        double sum = 0;
        for (size_t j = 0; j < n; j += KV_BLOCK) {
            score_any(s, t, kv_block_at(&a->kv, j / KV_BLOCK), a->q + r * a->ld_q, a->d_head, a->scale);
            memcpy(out + j, s, size_min(KV_BLOCK, n - j) * sizeof *s);
        }
        for (size_t j = 0; j < n; j++) max = out[j] > max ? out[j] : max;
        for (size_t j = 0; j < n; j++) sum += max == -INFINITY ? 0 : exp((double)out[j] - max);
        for (size_t j = 0; j < n; j++) out[j] = sum > 0 ? (float)(exp((double)out[j] - max) / sum) : 0;
    }
}

static inline void kv_put_c(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head, enum kv_type t)
{
    const size_t elem = kv_elem_sz(t), slot = pos % KV_BLOCK;
    char *block = kv_block_at(kv, pos / KV_BLOCK);
    for (size_t d = 0; d < d_head; d++) {
        char *key = block + kv_key_at(t, slot, d) * elem, *value = block + kv_value_at(t, slot, d, d_head) * elem;
        if (t == KV_F32) {
            memcpy(key, &k[d], 4);
            memcpy(value, &v[d], 4);
        } else {
            const uint16_t hk = t == KV_F16 ? f16_from_f32(k[d]) : bf16_rounded(k[d]);
            const uint16_t hv = t == KV_F16 ? f16_from_f32(v[d]) : bf16_rounded(v[d]);
            memcpy(key, &hk, 2);
            memcpy(value, &hv, 2);
        }
    }
}

#define TYPED(name, t)                                                                                                              \
    static void attn_##name(const struct attn *a, void *scratch) { attn_c(a, scratch, t); }                                         \
    static void attn_partial_##name(const struct attn *a, size_t b, float *partial, size_t ld_partial, void *scratch)               \
    {                                                                                                                               \
        (void)scratch;                                                                                                              \
        attn_partial_c(a, b, partial, ld_partial, t);                                                                               \
    }                                                                                                                               \
    static void attn_weights_##name(const struct attn *a, void *scratch)                                                            \
    {                                                                                                                               \
        (void)scratch;                                                                                                              \
        attn_weights_c(a, t);                                                                                                       \
    }
TYPED(f32, KV_F32)
TYPED(f16, KV_F16)
TYPED(bf16, KV_BF16)
TYPED(int, KV_INT)
TYPED(q8, KV_Q8)
#undef TYPED

#define TYPED(name, t)                                                                                                              \
    static void kv_put_##name(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)              \
    {                                                                                                                               \
        kv_put_c(kv, pos, k, v, d_head, t);                                                                                         \
    }
TYPED(f32, KV_F32)
TYPED(f16, KV_F16)
TYPED(bf16, KV_BF16)
#undef TYPED

static inline void kv_put_ints(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head, enum kv_type t)
{
    char *block = kv_block_at(kv, pos / KV_BLOCK);
    int16_t q[KV_INT_D];
    for (size_t d = 0; d < d_head; d += KV_INT_D) {
        const uint16_t scale_k = kv_quantize(q, k + d, kv_int_max(t, 1));
        put_key_ints(t, block + key_group_at(t, d), pos % KV_BLOCK, scale_k, q);
        const uint16_t scale_v = kv_quantize(q, v + d, I8_MAX);
        put_value_ints(block + value_group_at(t, d, d_head), pos % KV_BLOCK, scale_v, q);
    }
}

static void kv_put_int(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)
{
    kv_put_ints(kv, pos, k, v, d_head, KV_INT);
}

static void kv_put_q8(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)
{
    kv_put_ints(kv, pos, k, v, d_head, KV_Q8);
}

void kern_init_attn_c(struct kern *k)
{
#define SET(t, name)                                                                                                                \
    k->attn[t] = attn_##name, k->attn_partial[t] = attn_partial_##name;                                                             \
    k->attn_weights[t] = attn_weights_##name, k->kv_put[t] = kv_put_##name
    SET(KV_F32, f32);
    SET(KV_F16, f16);
    SET(KV_BF16, bf16);
    SET(KV_INT, int);
    SET(KV_Q8, q8);
#undef SET
    k->attn_merge = attn_merge;
}
