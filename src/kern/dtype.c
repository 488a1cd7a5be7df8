/* steno: stored types of weights. SPDX-License-Identifier: MIT
 *
 * The meaning of a stored row's bytes. Packing and every kernel must agree with this definition: a block's value is its scale times a small
 * integer (exact in f32), plus the minimum for the types that have one (rounded once). */
#include "kern/ref.h"

#include <math.h>

struct dtype_info { char name[12]; uint16_t block, block_sz; };

static const struct dtype_info info[DT_WRITTEN] = {
    [DT_F32]  = { "f32", 1, 4 },       [DT_F16]  = { "f16", 1, 2 },       [DT_BF16] = { "bf16", 1, 2 },
    [DT_Q4_0] = { "q4_0", QBLOCK, 18 }, [DT_Q4_1] = { "q4_1", QBLOCK, 20 }, [DT_Q5_0] = { "q5_0", QBLOCK, 22 },
    [DT_Q5_1] = { "q5_1", QBLOCK, 24 }, [DT_Q8_0] = { "q8_0", QBLOCK, 34 },
    [DT_Q2_K] = { "q2_k", KBLOCK, 84 }, [DT_Q3_K] = { "q3_k", KBLOCK, 110 }, [DT_Q4_K] = { "q4_k", KBLOCK, 144 },
    [DT_Q5_K] = { "q5_k", KBLOCK, 176 }, [DT_Q6_K] = { "q6_k", KBLOCK, 210 },
    [DT_IQ4_XS] = { "iq4_xs", KBLOCK, 136 }, [DT_Q4_1F] = { "q4_1f", QBLOCK, 24 }, [DT_Q8_1F] = { "q8_1f", QBLOCK, 40 },
    [DT_IQ4_NL] = { "iq4_nl", QBLOCK, 18 },
};

static const char lowp_name[PK_COUNT - PK_LOWP][12] = {
    [PK_BF16_PAIR - PK_LOWP] = "bf16x2", [PK_I16_PAIR - PK_LOWP] = "int16x2",    [PK_I8_QUAD - PK_LOWP] = "int8x4",
    [PK_Q8_QUAD - PK_LOWP] = "q8_0x4",   [PK_Q8_QUAD_A8 - PK_LOWP] = "q8_0x4a8", [PK_Q4_QUAD - PK_LOWP] = "q4_0x8",
    [PK_Q4_1_QUAD - PK_LOWP] = "q4_1x8", [PK_Q5_0_QUAD - PK_LOWP] = "q5_0x8",    [PK_Q5_1_QUAD - PK_LOWP] = "q5_1x8",
    [PK_Q2_K_QUAD - PK_LOWP] = "q2_kx8", [PK_Q3_K_QUAD - PK_LOWP] = "q3_kx8",    [PK_Q4_K_QUAD - PK_LOWP] = "q4_kx8",
    [PK_Q5_K_QUAD - PK_LOWP] = "q5_kx8", [PK_Q6_K_QUAD - PK_LOWP] = "q6_kx8",    [PK_IQ4_XS_QUAD - PK_LOWP] = "iq4_xsx4",
};

const char *dtype_name(enum dtype t) { return (unsigned)t < DT_WRITTEN && info[t].block ? info[t].name : "?"; }
enum dtype dtype_find(const char *name)
{
    int t = 0;
    while (t < DT_COUNT && strcmp(name, info[t].name) != 0) t++;
    return (enum dtype)t;
}

int dtype_block(enum dtype t) { return info[t].block; }
size_t dtype_row_sz(enum dtype t, size_t k) { return k / info[t].block * info[t].block_sz; }

const char *packed_name(enum packed_type t)
{
    if (!packed_is_lowp(t)) return dtype_name(packed_source(t));
    return (unsigned)t < PK_COUNT ? lowp_name[t - PK_LOWP] : "?";
}

/* Subnormals are integers times 2^-24, and are converted so because arithmetic on a subnormal f32 is slow. The others need their exponent
 * moved to f32's bias. */
float f16_to_f32(uint16_t h)
{
    const uint32_t mag = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    union { float f; uint32_t u; } v = { (float)mag * 0x1p-24f };
    if (mag >= 0x400u) v.u = (mag << 13) + (mag >= 0x7c00u ? 224u << 23 : 112u << 23);
    v.u |= sign;
    return v.f;
}

uint16_t f16_from_f32(float x)
{
    union { float f; uint32_t u; } v = { x };
    const uint16_t sign = (uint16_t)(v.u >> 16 & 0x8000u);
    v.u &= 0x7fffffffu;
    if (v.u > 0x7f800000u) return sign | 0x7e00u | (uint16_t)(v.u >> 13 & 0x1ffu);
    if (v.u >= 0x477ff000u) return sign | 0x7c00u;   /* 65520 and above round to infinity */
    if (v.u < 0x38800000u) {                         /* below 2^-14: adding 0.5 leaves multiples of 2^-24 in the low bits */
        v.f += 0.5f;
        return sign | (uint16_t)(v.u - 0x3f000000u);
    }
    v.u += 0xfffu + (v.u >> 13 & 1u);
    return sign | (uint16_t)((v.u - (112u << 23)) >> 13);
}

uint16_t bf16_from_f32(float x)
{
    union { float f; uint32_t u; } v = { x };
    if ((v.u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(v.u >> 16) | 0x40u;
    return (uint16_t)((v.u + 0x7fffu + (v.u >> 16 & 1u)) >> 16);
}

static void widen_q4(float *y, const uint8_t *qs, uint32_t fifth, float d, float m, int bias)
{
    for (int i = 0; i < QBLOCK; i++) {
        const int nibble = i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
        const int q = nibble | (int)(fifth >> i & 1u) << 4;
        y[i] = d * (float)(q - bias) + m;
    }
}

static void widen_k(float *y, enum dtype t, const uint8_t *p)
{
    struct k_block b;
    k_block_split(&b, t, p);
    const float d = f16_to_f32(b.d), m = f16_to_f32(b.dmin);
    for (size_t i = 0; i < KBLOCK; i++) {
        const size_t run = i / run_len(packed_as_stored(t));
        y[i] = d * (float)b.scale[run] * (float)b.q[i] - m * (float)b.min[run];
    }
}

static void widen_wide(float *y, enum dtype t, const uint8_t *p)
{
    const float d = load_f32(p), m = load_f32(p + 4);
    for (int i = 0; i < QBLOCK; i++) {
        const int q = t == DT_Q8_1F ? p[8 + i] : i < 16 ? p[8 + i] & 15 : p[8 + i - 16] >> 4;
        y[i] = d * (float)q + m;
    }
}

static void widen_iq4_nl(float *y, const uint8_t *p)
{
    const float d = f16_to_f32(load_u16(p));
    for (int i = 0; i < QBLOCK; i++) y[i] = d * (float)iq4_value[i < 16 ? p[2 + i] & 15 : p[2 + i - 16] >> 4];
}

static void widen_block(float *y, enum dtype t, const uint8_t *p)
{
    if (t == DT_IQ4_NL) { widen_iq4_nl(y, p); return; }
    if (packed_is_k(packed_as_stored(t))) { widen_k(y, t, p); return; }
    if (packed_has_wide(packed_as_stored(t))) { widen_wide(y, t, p); return; }
    const float d = f16_to_f32(load_u16(p));
    switch (t) {
    case DT_Q4_0: widen_q4(y, p + 2, 0, d, 0, 8); break;
    case DT_Q4_1: widen_q4(y, p + 4, 0, d, f16_to_f32(load_u16(p + 2)), 0); break;
    case DT_Q5_0: widen_q4(y, p + 6, load_u32(p + 2), d, 0, 16); break;
    case DT_Q5_1: widen_q4(y, p + 8, load_u32(p + 4), d, f16_to_f32(load_u16(p + 2)), 0); break;
    default:
        for (int i = 0; i < QBLOCK; i++) y[i] = d * (float)(int8_t)p[2 + i];
    }
}

void dtype_widen_row(float *y, enum dtype t, const void *row, size_t k)
{
    const uint8_t *p = row;
    switch (t) {
    case DT_F32: memcpy(y, p, k * 4); break;
    case DT_F16: for (size_t i = 0; i < k; i++) y[i] = f16_to_f32(load_u16(p + 2 * i)); break;
    case DT_BF16: for (size_t i = 0; i < k; i++) y[i] = bf16_to_f32(load_u16(p + 2 * i)); break;
    default:
        for (size_t i = 0; i < k; i += info[t].block, p += info[t].block_sz) widen_block(y + i, t, p);
    }
}

size_t dtype_find_nonfinite(enum dtype t, const void *row, size_t k)
{
    float y[KBLOCK];
    const uint8_t *p = row;
    for (size_t i = 0; i < k; i += info[t].block, p += info[t].block_sz) {
        dtype_widen_row(y, t, p, info[t].block);
        for (size_t j = 0; j < info[t].block; j++)
            if (!isfinite(y[j])) return i + j;
    }
    return k;
}
