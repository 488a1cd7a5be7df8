/* steno: checks that packed weights are finite. SPDX-License-Identifier: MIT
 *
 * A value whose exponent bits are all ones is not finite. Adding the lowest bit of the exponent then carries into the sign bit, which is
 * free once all other bits are masked. Rounding preserves this: a weight that is not finite gives such a bf16, or such a scale of its
 * output or block. For most types it is therefore enough to check the scales, which are adjacent. Included by the twin and by each level,
 * because their vectors differ. */
#ifndef STENO_KERN_FINITE_H
#define STENO_KERN_FINITE_H
#include "kern/ref.h"

static inline uint32_t ones_16(const uint8_t *p, size_t n, uint16_t exponent)
{
    const uint16_t lowest = exponent & (uint16_t)-exponent;
    uint16_t any = 0;
    for (size_t i = 0; i < n; i++) any |= (uint16_t)((load_u16(p + 2 * i) & exponent) + lowest);
    return any & 0x8000u;
}

static inline uint32_t ones_32(const uint8_t *p, size_t n)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) any |= (load_u32(p + 4 * i) & 0x7f800000u) + 0x00800000u;
    return any & 0x80000000u;
}

/* Whether one is so large that 255 times it, plus another, may overflow f32. The values must then be checked. */
static inline int near_end_32(const uint8_t *p, size_t n)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) any |= (load_u32(p + 4 * i) & 0x7fffffffu) + 0x04800000u; /* from 2^119 on */
    return any >> 31;
}

enum { FINITE_CHUNK = 256 }; /* numbers: a count known to the compiler */

static inline int finite_16(const uint8_t *p, size_t n, uint16_t exponent)
{
    for (; n >= FINITE_CHUNK; n -= FINITE_CHUNK, p += 2 * FINITE_CHUNK)
        if (ones_16(p, FINITE_CHUNK, exponent)) return 0;
    return !ones_16(p, n, exponent);
}

static inline int finite_32(const uint8_t *p, size_t n)
{
    for (; n >= FINITE_CHUNK; n -= FINITE_CHUNK, p += 4 * FINITE_CHUNK)
        if (ones_32(p, FINITE_CHUNK)) return 0;
    return !ones_32(p, n);
}

static inline int panel_finite(enum packed_type t, const void *panel, size_t k)
{
    enum { F16 = 0x7c00, BF16 = 0x7f80 }; /* exponents */
    const uint8_t *p = panel;
    if (t == PK_F32) return finite_32(p, PANEL * k);
    if (t == PK_F16) return finite_16(p, PANEL * k, F16);
    if (t == PK_BF16) return finite_16(p, PANEL * k, BF16);
    if (t == PK_BF16_PAIR) return finite_16(p, PANEL * ((k + 1) & ~(size_t)1), BF16);
    if (t == PK_I16_PAIR || t == PK_I8_QUAD) return !ones_32(p, PANEL);
    if (packed_by_blocks(t)) {
        for (size_t i = 0; i < quad_blocks(k); i += quad_per_head(t), p += quad_block_sz(t))
            if (ones_16(p, quad_head_sz(t) / 2, F16)) return 0;
        return 1;
    }
    const size_t block = block_len(t), sz = pack_panel_sz(t, block);
    if (packed_has_wide(t)) {
        for (size_t i = 0; i < k; i += block, p += sz)
            if (near_end_32(p, 2 * PANEL)) return 0;
        return 1;
    }
    for (size_t i = 0; i < k; i += block, p += sz)
        if (ones_16(p, PANEL, F16) || (packed_has_min(t) && ones_16(p + 2 * PANEL, PANEL, F16))) return 0;
    return 1;
}
#endif
