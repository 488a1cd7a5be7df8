/* steno: unpacking stored blocks of the K types. SPDX-License-Identifier: MIT
 *
 * 256 weights of a row are split into runs of 16 or 32 with a small integer scale each (in some types also a small minimum). Two- and
 * three-bit quants are stored as planes over 32 bytes, four-bit ones as halves of 32 bytes, six-bit ones as nibbles and two more bits. Only
 * this file knows the layout; widening and packing use its result. */
#include "kern/ref.h"

int8_t const iq4_value[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

/* Two bits of each of 128 elements: four planes over 32 bytes. */
static inline int two_bits(const uint8_t *p, size_t e)
{
    return p[e / 128 * 32 + e % 32] >> 2 * (e % 128 / 32) & 3;
}

/* u8 scales[16] (low nibble scale, high nibble minimum), qs[64], f16 d, dmin */
static void split_q2(struct k_block *b, const uint8_t *p)
{
    for (size_t i = 0; i < 16; i++) b->scale[i] = (int8_t)(p[i] & 15), b->min[i] = (int8_t)(p[i] >> 4);
    for (size_t e = 0; e < KBLOCK; e++) b->q[e] = (int8_t)two_bits(p + 16, e);
    b->d = load_u16(p + 80);
    b->dmin = load_u16(p + 82);
}

/* u8 hmask[32] (a clear bit subtracts 4), qs[64], scales[12] (sixteen of 6 bits, offset by 32), f16 d */
static void split_q3(struct k_block *b, const uint8_t *p)
{
    const uint8_t *s = p + 96;
    for (size_t i = 0; i < 16; i++) {
        const int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4, high = s[8 + i % 4] >> 2 * (i / 4) & 3;
        b->scale[i] = (int8_t)((low | high << 4) - 32);
    }
    for (size_t e = 0; e < KBLOCK; e++) b->q[e] = (int8_t)(two_bits(p + 32, e) - (p[e % 32] >> e / 32 & 1 ? 0 : 4));
    b->d = load_u16(p + 108);
}

/* f16 d, dmin, then eight scales and eight minima of 6 bits in 12 bytes */
static void split_scales_45(struct k_block *b, const uint8_t *p)
{
    const uint8_t *s = p + 4;
    b->d = load_u16(p);
    b->dmin = load_u16(p + 2);
    for (size_t j = 0; j < 4; j++) {
        b->scale[j] = (int8_t)(s[j] & 63);
        b->min[j] = (int8_t)(s[j + 4] & 63);
        b->scale[j + 4] = (int8_t)((s[j + 8] & 15) | s[j] >> 6 << 4);
        b->min[j + 4] = (int8_t)(s[j + 8] >> 4 | s[j + 4] >> 6 << 4);
    }
}

/* Low nibbles of 32 bytes, then their high ones, four times. */
static inline int nibble(const uint8_t *p, size_t e)
{
    return p[e / 64 * 32 + e % 32] >> 4 * (e / 32 % 2) & 15;
}

static void split_q4(struct k_block *b, const uint8_t *p)
{
    split_scales_45(b, p);
    for (size_t e = 0; e < KBLOCK; e++) b->q[e] = (int8_t)nibble(p + 16, e);
}

/* as q4, with u8 qh[32] of fifth bits before the nibbles: bit e / 32 of byte e % 32 */
static void split_q5(struct k_block *b, const uint8_t *p)
{
    split_scales_45(b, p);
    for (size_t e = 0; e < KBLOCK; e++) b->q[e] = (int8_t)(nibble(p + 48, e) | (p[16 + e % 32] >> e / 32 & 1) << 4);
}

/* u8 ql[128] (of each 64 bytes the low nibbles, then the high ones), qh[64], i8 scales[16], f16 d; quants are offset by 32 */
static void split_q6(struct k_block *b, const uint8_t *p)
{
    memcpy(b->scale, p + 192, 16);
    for (size_t e = 0; e < KBLOCK; e++) {
        const int low = p[e / 128 * 64 + e % 64] >> 4 * (e / 64 % 2) & 15;
        b->q[e] = (int8_t)((low | two_bits(p + 128, e) << 4) - 32);
    }
    b->d = load_u16(p + 208);
}

/* f16 d, u16 of the upper two bits of eight scales, u8[4] of their lower four, then for each 32 the low nibbles of 16 bytes and the high
 * ones; scales are offset by 32, a nibble is an index in the table */
static void split_iq4_xs(struct k_block *b, const uint8_t *p)
{
    const int high = load_u16(p + 2);
    for (size_t j = 0; j < 8; j++) b->scale[j] = (int8_t)(((p[4 + j / 2] >> 4 * (j % 2) & 15) | (high >> 2 * j & 3) << 4) - 32);
    for (size_t e = 0; e < KBLOCK; e++) {
        const uint8_t two = p[8 + e / 32 * 16 + e % 16];
        b->q[e] = iq4_value[e % 32 < 16 ? two & 15 : two >> 4];
    }
    b->d = load_u16(p);
}

void k_block_split(struct k_block *b, enum dtype t, const uint8_t *stored)
{
    b->dmin = 0;
    memset(b->min, 0, sizeof b->min);
    switch (t) {
    case DT_Q2_K: split_q2(b, stored); break;
    case DT_Q3_K: split_q3(b, stored); break;
    case DT_Q4_K: split_q4(b, stored); break;
    case DT_Q5_K: split_q5(b, stored); break;
    case DT_IQ4_XS: split_iq4_xs(b, stored); break;
    default: split_q6(b, stored);
    }
}
