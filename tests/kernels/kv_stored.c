/* steno: keys and values as kern.h lays them out, read plainly. SPDX-License-Identifier: MIT */
#include "check.h"

#include <math.h>
#include <string.h>

/* KV_INT, KV_Q8 (which has no low bits): bytes of 32 d of keys resp. values, behind the 32 scales: of four d (four positions) for 16
 * positions (16 d) a line; of keys' low bits eight d to a line. */
enum { SCALES = 64, LOW = SCALES + 32 * 32, KEYS = LOW + 32 * 16, VALUES = SCALES + 32 * 32 };

static size_t keys_of(enum kv_type t) { return t == KV_Q8 ? LOW : KEYS; }

static const uint8_t *part_of(enum kv_type t, const void *block, size_t d, size_t d_head, int value)
{
    return (const uint8_t *)block + (value ? d_head / 32 * keys_of(t) + d / 32 * VALUES : d / 32 * keys_of(t));
}

/* Of 32 k and 32 outputs, in a part of keys or of values. */
static size_t byte_at(size_t k, size_t output) { return SCALES + output / 16 * 512 + k / 4 * 64 + output % 16 * 4 + k % 4; }
static size_t nibble_at(size_t k, size_t output) { return LOW + output / 16 * 256 + k / 8 * 64 + output % 16 * 4 + k % 4; }

static int integer_of(enum kv_type t, const uint8_t *part, size_t slot, size_t d, int value)
{
    if (t == KV_Q8 && !value) return part[byte_at(d % 32, slot)] - 128;
    if (value) return part[byte_at(slot, d % 32)] - 128;
    return 16 * (part[byte_at(d % 32, slot)] - 128) + (part[nibble_at(d % 32, slot)] >> d / 4 % 2 * 4 & 15) - 8;
}

/* Of the other types, in elements. */
static size_t element_of(enum kv_type t, size_t slot, size_t d, size_t d_head, int value)
{
    if (t == KV_BF16) return value ? 32 * d_head + slot / 2 * d_head * 2 + d * 2 + slot % 2 : d / 2 * 64 + slot * 2 + d % 2;
    return value ? 32 * d_head + slot * d_head + d : d * 32 + slot;
}

float kv_scale(enum kv_type t, const void *block, size_t slot, size_t d, size_t d_head, int value)
{
    const uint8_t *scale = part_of(t, block, d, d_head, value) + 2 * slot;
    return bf16_to_f32((uint16_t)(scale[0] | scale[1] << 8));
}

double kv_read(enum kv_type t, const void *block, size_t slot, size_t d, size_t d_head, int value)
{
    uint16_t h;
    float f;
    if (kv_is_ints(t))
        return (double)kv_scale(t, block, slot, d, d_head, value) * integer_of(t, part_of(t, block, d, d_head, value), slot, d, value);
    const char *p = (const char *)block + element_of(t, slot, d, d_head, value) * kv_elem_sz(t);
    memcpy(&h, p, 2);
    if (t == KV_F16) return f16_to_f32(h);
    if (t == KV_BF16) return bf16_to_f32(h);
    memcpy(&f, p, 4);
    return f;
}

void kv_fill(enum kv_type t, void *block, size_t slot, size_t d_head, int value, int byte)
{
    char *p = block;
    for (size_t d = 0; d < d_head && !kv_is_ints(t); d++)
        memset(p + element_of(t, slot, d, d_head, value) * kv_elem_sz(t), byte, kv_elem_sz(t));
    for (size_t d = 0; d < d_head && kv_is_ints(t); d += 32) {
        char *part = p + (value ? d_head / 32 * keys_of(t) + d / 32 * VALUES : d / 32 * keys_of(t));
        memset(part + 2 * slot, byte, 2);
        for (size_t i = 0; i < 32; i++) part[value ? byte_at(slot, i) : byte_at(i, slot)] = (char)byte;
        for (size_t i = 0; i < 32 && !value && t == KV_INT; i++) part[nibble_at(i, slot)] = (char)byte;
    }
}

/* 32 numbers of KV_INT or KV_Q8. Their scale is the smallest bf16 that is not less than m / 2039 or m / 127. */
static void round_ints(float *x, int of)
{
    float m = 0;
    int is_number = 1;
    for (size_t i = 0; i < 32; i++) {
        is_number &= isfinite(x[i]) != 0;
        m = fmaxf(m, fabsf(x[i]));
    }
    uint16_t h = bf16_from_f32(m / (float)of);
    if (bf16_to_f32(h) < m / (float)of) h++;
    const float inverse = 1 / bf16_to_f32(h);
    for (size_t i = 0; i < 32; i++) x[i] = !is_number ? NAN : m < 0x1p-111f ? 0 : bf16_to_f32(h) * rintf(x[i] * inverse);
}

void kv_round(enum kv_type t, float *x, size_t d_head, int value)
{
    for (size_t d = 0; d < d_head; d++) {
        if (t == KV_F16) x[d] = f16_to_f32(f16_from_f32(x[d]));
        if (t == KV_BF16) x[d] = fabsf(x[d]) < 0x1p-126f ? 0 : bf16_to_f32(bf16_from_f32(x[d]));
        if (kv_is_ints(t) && d % 32 == 0) round_ints(x + d, value || t == KV_Q8 ? 127 : 2039);
    }
}
