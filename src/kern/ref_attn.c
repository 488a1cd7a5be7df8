/* steno: attention in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * One query row at a time: scores of up to ATTN_KEYS keys, their maximum, then exp and the weighted sum of values, merged into what
 * earlier keys gave. Keys past a row's length are never looked at, so what lies there does not matter. */
#include "kern/inner.h"

#include <math.h>

static inline float kv_value(enum kv_type t, const char *p, size_t i)
{
    if (t == KV_F16) return f16_to_f32(load_u16(p + 2 * i));
    float v;
    memcpy(&v, p + 4 * i, sizeof v);
    return v;
}

struct merge { float max, sum; };

static void score_block(float s[KV_BLOCK], enum kv_type t, const char *k, const float *q, size_t d_head, float scale)
{
    memset(s, 0, KV_BLOCK * sizeof *s);
    for (size_t d = 0; d < d_head; d++)
        for (size_t j = 0; j < KV_BLOCK; j++) s[j] = s[j] + q[d] * kv_value(t, k, d * KV_BLOCK + j);
    for (size_t j = 0; j < KV_BLOCK; j++) s[j] *= scale;
}

static void merge_keys(struct merge *m, float *out, enum kv_type t, const struct attn *a, const float *q, size_t key0, size_t n)
{
    const size_t d_head = a->d_head;
    float s[ATTN_KEYS], max = m->max;
    for (size_t j = 0; j < n; j += KV_BLOCK) score_block(s + j, t, kv_block_at(&a->kv, (key0 + j) / KV_BLOCK), q, d_head, a->scale);
    for (size_t j = 0; j < n; j++) max = s[j] > max ? s[j] : max;
    if (max == -INFINITY) return;
    const float fade = expf(m->max - max);
    m->sum *= fade, m->max = max;
    for (size_t d = 0; d < d_head; d++) out[d] *= fade;
    for (size_t j = 0; j < n; j++) {
        const char *v = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
        const size_t row = (KV_BLOCK + j % KV_BLOCK) * d_head;
        const float p = expf(s[j] - max);
        m->sum += p;
        for (size_t d = 0; d < d_head; d++) out[d] = out[d] + p * kv_value(t, v, row + d);
    }
}

static inline void attn_c(const struct attn *a, struct attn_scratch *s, enum kv_type t)
{
    for (size_t r = 0; r < a->rows; r++) {
        const int32_t want = a->len ? a->len[r] : a->n_keys;
        const size_t len = want > 0 ? (size_t)want : 0;
        struct merge m = { -INFINITY, 0 };
        memset(s->out, 0, a->d_head * sizeof(float));
        for (size_t k = 0; k < len; k += ATTN_KEYS) merge_keys(&m, s->out, t, a, a->q + r * a->ld_q, k, size_min(ATTN_KEYS, len - k));
        const float scale = m.sum > 0 ? 1 / m.sum : 0;
        for (size_t d = 0; d < a->d_head; d++) a->out[r * a->ld_out + d] = s->out[d] * scale;
    }
}

static void attn_f32(const struct attn *a, void *scratch) { attn_c(a, scratch, KV_F32); }
static void attn_f16(const struct attn *a, void *scratch) { attn_c(a, scratch, KV_F16); }

static inline void attn_weights_c(const struct attn *a, enum kv_type t)
{
    const size_t n = a->n_keys > 0 ? (size_t)a->n_keys : 0;
    for (size_t r = 0; r < a->rows; r++) {
        float *out = a->out + r * a->ld_out, s[KV_BLOCK], max = -INFINITY;
        double sum = 0;
        for (size_t j = 0; j < n; j += KV_BLOCK) {
            score_block(s, t, kv_block_at(&a->kv, j / KV_BLOCK), a->q + r * a->ld_q, a->d_head, a->scale);
            memcpy(out + j, s, size_min(KV_BLOCK, n - j) * sizeof *s);
        }
        for (size_t j = 0; j < n; j++) max = out[j] > max ? out[j] : max;
        for (size_t j = 0; j < n; j++) sum += max == -INFINITY ? 0 : exp((double)out[j] - max);
        for (size_t j = 0; j < n; j++) out[j] = sum > 0 ? (float)(exp((double)out[j] - max) / sum) : 0;
    }
}

static void attn_weights_f32(const struct attn *a, void *scratch)
{
    (void)scratch;
    attn_weights_c(a, KV_F32);
}

static void attn_weights_f16(const struct attn *a, void *scratch)
{
    (void)scratch;
    attn_weights_c(a, KV_F16);
}

static inline void kv_put_c(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head, enum kv_type t)
{
    const size_t elem = kv_elem_sz(t);
    char *key = kv_block_at(kv, pos / KV_BLOCK) + pos % KV_BLOCK * elem;
    char *value = kv_block_at(kv, pos / KV_BLOCK) + (KV_BLOCK + pos % KV_BLOCK) * (size_t)d_head * elem;
    for (size_t d = 0; d < d_head; d++, key += KV_BLOCK * elem, value += elem) {
        if (t == KV_F32) {
            memcpy(key, &k[d], 4);
            memcpy(value, &v[d], 4);
        } else {
            const uint16_t hk = f16_from_f32(k[d]), hv = f16_from_f32(v[d]);
            memcpy(key, &hk, 2);
            memcpy(value, &hv, 2);
        }
    }
}

static void kv_put_f32(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)
{
    kv_put_c(kv, pos, k, v, d_head, KV_F32);
}

static void kv_put_f16(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)
{
    kv_put_c(kv, pos, k, v, d_head, KV_F16);
}

void kern_init_attn_c(struct kern *k)
{
    k->attn[KV_F32] = attn_f32, k->attn[KV_F16] = attn_f16;
    k->attn_weights[KV_F32] = attn_weights_f32, k->attn_weights[KV_F16] = attn_weights_f16;
    k->kv_put[KV_F32] = kv_put_f32, k->kv_put[KV_F16] = kv_put_f16;
}
