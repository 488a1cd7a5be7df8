/* steno: layout of a block of keys and values. SPDX-License-Identifier: MIT
 *
 * The places of a position's numbers, and how KV_INT stores them as integers (kern.h has the layout). */
#ifndef STENO_KERN_KV_H
#define STENO_KERN_KV_H
#include "kern/quantize.h"

static inline char *kv_block_at(const struct kv_view *v, size_t block)
{
    return (char *)v->base + (v->table ? v->table[block] : block) * v->block_stride;
}

/* The index in a block, in elements, of key or value d of position `slot`. */
static inline size_t kv_key_at(enum kv_type t, size_t slot, size_t d)
{
    return t == KV_BF16 ? (d / 2 * KV_BLOCK + slot) * 2 + d % 2 : d * KV_BLOCK + slot;
}

static inline size_t kv_value_at(enum kv_type t, size_t slot, size_t d, size_t d_head)
{
    return KV_BLOCK * d_head + (t == KV_BF16 ? (slot / 2 * d_head + d) * 2 + slot % 2 : slot * d_head + d);
}

/* ---- KV_INT and KV_Q8: the parts of a block, KV_INT_D d of keys or values each, and the place of their integers. */
enum {
    KEY_MAX = 127 * 16 + 7,
    KEY_HIGH = 2 * KV_BLOCK, KEY_LOW = KEY_HIGH + KV_BLOCK * KV_INT_D, KEY_GROUP_SZ = KEY_LOW + KV_BLOCK * KV_INT_D / 2,
    VALUE_INTS = 2 * KV_BLOCK, VALUE_GROUP_SZ = VALUE_INTS + KV_BLOCK * KV_INT_D
};
static inline size_t key_group_sz(enum kv_type t) { return t == KV_Q8 ? KEY_LOW : KEY_GROUP_SZ; }
static inline size_t key_group_at(enum kv_type t, size_t d) { return d / KV_INT_D * key_group_sz(t); }
static inline size_t value_group_at(enum kv_type t, size_t d, size_t d_head)
{
    return d_head / KV_INT_D * key_group_sz(t) + d / KV_INT_D * VALUE_GROUP_SZ;
}
/* The integer for the largest magnitude of keys or values. */
static inline int kv_int_max(enum kv_type t, int is_key) { return is_key && t == KV_INT ? KEY_MAX : I8_MAX; }

/* The scale of KV_INT_D numbers, from the bits of their largest magnitude. of: KEY_MAX or I8_MAX. */
static inline struct int_scale kv_scale_of(uint32_t max, int of)
{
    const float m = load_f32(&max);
    if (max >= 0x7f800000u) return (struct int_scale) { NAN, 0 };
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };
    const float exact = m / (float)of;
    const uint32_t up = (bits_of_f32(exact) + 0xffffu) & 0xffff0000u;
    return (struct int_scale) { load_f32(&up), 1 / load_f32(&up) };
}
static inline uint16_t kv_stored_scale(float scale) { return (uint16_t)(bits_of_f32(scale) >> 16); }

static inline uint16_t kv_quantize(int16_t q[KV_INT_D], const float *x, int of)
{
    const struct int_scale s = kv_scale_of(max_abs_bits(x, KV_INT_D), of);
    for (size_t d = 0; d < KV_INT_D; d++) q[d] = (int16_t)i16_rounded(x[d], s.inverse);
    return kv_stored_scale(s.scale);
}

static inline float kv_group_scale(const char *group, size_t slot) { return bf16_to_f32(load_u16(group + 2 * slot)); }

/* An integer of a key is 16 times the first, in [-127, 127], plus the second, in [-8, 7]. */
static inline int int_in(enum packed_type t, const char *block, size_t k, size_t i)
{
    return quad_weight(t, (const uint8_t *)block, k, i) - quad_offset(t);
}
static inline int key_high(const char *group, size_t slot, size_t d) { return int_in(PK_Q8_QUAD, group + KEY_HIGH, d, slot); }
static inline int key_low(const char *group, size_t slot, size_t d) { return int_in(PK_Q4_QUAD, group + KEY_LOW, d, slot); }
static inline int value_int(const char *group, size_t slot, size_t d) { return int_in(PK_Q8_QUAD, group + VALUE_INTS, slot, d); }

/* The place of KV_INT_D outputs from n0 on in the block of their position, counted over all heads. */
static inline size_t int_group_at(const struct linear *l, size_t n0)
{
    const int is_key = n0 < (size_t)l->n_y + l->n_kv;
    const size_t at = n0 - l->n_y - (is_key ? 0 : l->n_kv), d = at % l->d_head;
    const enum kv_type t = (enum kv_type)l->kv_type;
    return at / l->d_head * l->kv_head_sz + (is_key ? key_group_at(t, d) : value_group_at(t, d, l->d_head));
}

static inline void put_key_ints(enum kv_type t, char *group, size_t slot, uint16_t scale, const int16_t q[KV_INT_D])
{
    uint8_t high[KV_INT_D], low[KV_INT_D];
    if (t == KV_Q8) {
        for (size_t d = 0; d < KV_INT_D; d++) high[d] = (uint8_t)(q[d] + 128);
        memcpy(group + 2 * slot, &scale, 2);
        for (size_t d = 0; d < KV_INT_D; d += 4) memcpy(group + KEY_HIGH + quad_at(PK_Q8_QUAD, d, slot), high + d, 4);
        return;
    }
    for (size_t d = 0; d < KV_INT_D; d++) high[d] = (uint8_t)(((q[d] + 8) >> 4) + 128), low[d] = (uint8_t)((q[d] + 8) & 15);
    memcpy(group + 2 * slot, &scale, 2);
    for (size_t d = 0; d < KV_INT_D; d += 4) memcpy(group + KEY_HIGH + quad_at(PK_Q8_QUAD, d, slot), high + d, 4);
    for (size_t d = 0; d < KV_INT_D; d += 8) {
        const uint32_t both = load_u32(low + d) | load_u32(low + d + 4) << 4;
        memcpy(group + KEY_LOW + quad_at(PK_Q4_QUAD, d, slot), &both, 4);
    }
}

static inline void put_value_ints(char *group, size_t slot, uint16_t scale, const int16_t q[KV_INT_D])
{
    memcpy(group + 2 * slot, &scale, 2);
    for (size_t d = 0; d < KV_INT_D; d++) group[VALUE_INTS + quad_at(PK_Q8_QUAD, slot, d)] = (char)(uint8_t)(q[d] + 128);
}

/* Of four positions, the first a multiple of four: whole words. */
static inline void put_value_words(char *group, size_t slot, const uint16_t scale[4], int16_t (*q)[KV_INT_D])
{
    memcpy(group + 2 * slot, scale, 8);
    for (size_t d0 = 0; d0 < KV_INT_D; d0 += QUAD_W) {
        uint32_t word[QUAD_W];
        for (size_t d = 0; d < QUAD_W; d++)
            word[d] = (uint32_t)(q[0][d0 + d] + 128) | (uint32_t)(q[1][d0 + d] + 128) << 8 | (uint32_t)(q[2][d0 + d] + 128) << 16 |
                      (uint32_t)(q[3][d0 + d] + 128) << 24;
        memcpy(group + VALUE_INTS + quad_at(PK_Q8_QUAD, slot, d0), word, sizeof word);
    }
}
#endif
