/* steno: rounding of numbers to bf16, int16 and int8. SPDX-License-Identifier: MIT
 *
 * The plain C that defines how weights and rows of x are rounded for low-precision products (kern.h has the contract). Levels do the same
 * in vectors, with the same bits. Compilers turn the branches here into masks, because the loops run over whole rows of x. */
#ifndef STENO_KERN_QUANTIZE_H
#define STENO_KERN_QUANTIZE_H
#include "kern/panel.h"

/* bf16 as in the vector instructions: to nearest even, subnormals to zero. */
static inline uint16_t bf16_rounded(float x)
{
    const uint32_t u = bits_of_f32(x), mag = u & 0x7fffffffu;
    const uint32_t round = (u + 0x7fffu + (u >> 16 & 1u)) >> 16, nan = u >> 16 | 0x40u, zero = u >> 16 & 0x8000u;
    return (uint16_t)(mag < 0x00800000u ? zero : mag > 0x7f800000u ? nan : round);
}

/* The scale of integers: q = x * inverse, x = q * scale. */
struct int_scale { float scale, inverse; };

/* max: bits of the row's largest magnitude; compared as integers, magnitudes, infinity and NaN are in order. */
static inline struct int_scale i8_scale_of(uint32_t max)
{
    const float m = load_f32(&max);
    if (max >= 0x7f800000u) return (struct int_scale) { m - m, 0 };         /* NaN */
    if (m < 0x1p-119f) return (struct int_scale) { 0, 0 };                   /* I8_MAX / m could be infinite */
    return (struct int_scale) { m / I8_MAX, I8_MAX / m };
}

static inline uint32_t max_abs_bits(const float *x, size_t k)
{
    uint32_t max = 0;
    for (size_t i = 0; i < k; i++) {
        const uint32_t mag = bits_of_f32(x[i]) & 0x7fffffffu;
        max = mag > max ? mag : max;
    }
    return max;
}

/* 128 + x * inverse rounded to nearest even: adding 1.5 * 2^23 + 128 leaves that integer in the low bits. */
#define I8_MAGIC 12583040.0f
static inline uint8_t i8_rounded(float x, float inverse) { return (uint8_t)bits_of_f32(x * inverse + I8_MAGIC); }

/* PK_I16_PAIR. of: the integer for the largest magnitude m: I16_W_MAX for weights, I16_X_MAX for x. If m is smaller than 2^-111, the scale
 * would be subnormal, and its inverse infinite. */
enum { I16_W_MAX = 32750 };
#define I16_MAGIC 12582912.0f /* 1.5 * 2^23: a number added to it is rounded to nearest even, and left in the low 16 bits */
static inline struct int_scale i16_scale_of(float m, int of)
{
    if (!(m < INFINITY)) return (struct int_scale) { NAN, 0 };
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };
    return (struct int_scale) { m / (float)of, (float)of / m };
}
/* The number that I16_W_MAX represents for an output's weights, from bits: its largest magnitude, or the largest sum of magnitudes of a
 * group divided by `of`. */
static inline float i16_weight_max(uint32_t max, uint32_t max_sum, float of)
{
    const float m = load_f32(&max), share = load_f32(&max_sum) / of;
    return share <= m ? m : share; /* NaN if one is: a sum is then NaN, too */
}
/* The divisor for attention's values, whose groups are RUN_GROUP keys with weights up to 16383: their sums are also below 2^17. */
enum { I16_SUM = 8, RUN_SUM = 4 };
static inline uint16_t i16_rounded(float x, float inverse) { return (uint16_t)bits_of_f32(x * inverse + I16_MAGIC); }

/* Words before a row of x: the scales of its groups. */
static inline size_t scales_room(size_t groups) { return (groups + 15) & ~(size_t)15; }
static inline size_t i16_groups(size_t k) { return (k + I16_GROUP - 1) / I16_GROUP; }
static inline size_t i16_head(size_t k) { return scales_room(i16_groups(k)); }

static inline void quantize_group(uint32_t *to, uint32_t *scale, const float *x, size_t n)
{
    const uint32_t max = max_abs_bits(x, n);
    const struct int_scale s = i16_scale_of(load_f32(&max), I16_X_MAX);
    *scale = bits_of_f32(s.scale);
    for (size_t i = 0; i < n / 2; i++) to[i] = (uint32_t)i16_rounded(x[2 * i + 1], s.inverse) << 16 | i16_rounded(x[2 * i], s.inverse);
    if (n % 2) to[n / 2] = i16_rounded(x[n - 1], s.inverse);
}

/* Rows of x as words of 32 bits, with the even k (the first of four) in the lowest bits; missing numbers of the last word are zero. */
static inline void round_pairs(uint32_t *to, const float *x, size_t k)
{
    for (size_t i = 0; i < k / 2; i++) to[i] = (uint32_t)bf16_rounded(x[2 * i + 1]) << 16 | bf16_rounded(x[2 * i]);
    if (k % 2) to[k / 2] = bf16_rounded(x[k - 1]);
}

static inline void quantize_bytes(uint8_t *q, const float *x, size_t k, float inverse)
{
    for (size_t i = 0; i < k; i++) q[i] = i8_rounded(x[i], inverse);
    for (size_t i = k; i % 4; i++) q[i] = 128;
}

/* Four int8 with 128 added; returns the row's scale. */
static inline float quantize_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    quantize_bytes((uint8_t *)to, x, k, s.inverse);
    return s.scale;
}

/* The scale of q8_0 for a block of f32: rounded to f16, and the inverse that weights are multiplied with. */
struct q8_scale { uint16_t half; float d, inverse; };

static inline struct q8_scale q8_scale_of(const float *x, size_t n)
{
    const uint32_t max = max_abs_bits(x, n);
    const float d = load_f32(&max) / I8_MAX;
    uint16_t half = f16_from_f32(d);
    if ((half & 0x7fffu) >= 0x7c00u) half = 0x7e00u; /* not finite, in f32 or in f16 */
    return (struct q8_scale){ half, f16_to_f32(half), !half || half == 0x7e00u ? 0 : 1 / d };
}

/* The largest error and the largest norm; NaN if one is NaN. */
static inline struct q8_loss q8_loss_max(const struct q8_loss of[PANEL])
{
    struct q8_loss max = { 0 };
    for (size_t i = 0; i < PANEL; i++) {
        if (of[i].error > max.error || isnan(of[i].error)) max.error = of[i].error;
        if (of[i].norm > max.norm || isnan(of[i].norm)) max.norm = of[i].norm;
    }
    return max;
}

/* A block of x for products by blocks: 32 integers, for each run of weights the start value of sums with unsigned weights, or what their
 * minimum is multiplied with, and a scale. The integers have one part, bytes, or two: their high bytes, then their low ones,
 * which are signed, too (q = 256 * high + low). A level may use the words of the integers in its own way: but beside nibbles with one
 * part, there is room for 16 bits of each, for levels with products of 16 bits. */
enum { BLOCK_MAX = I8_MAX * 256 + I8_MAX };
static inline int quad_x_is_wide(enum packed_type t) { return t != PK_Q4_QUAD; }
static inline size_t block_start_at(enum packed_type t) { return quad_x_is_wide(t) ? QBLOCK / 2 : QBLOCK / 4; }
static inline size_t block_scale_at(enum packed_type t) { return block_start_at(t) + quad_runs(t); }
static inline size_t block_words(enum packed_type t) { return block_scale_at(t) + 1; }
/* Words of a block's weights, four k each, that share a scale. */
struct quad_words { size_t from, to; };
static struct quad_words const all_words = { 0, QBLOCK / 4 };
static inline struct quad_words quad_words_of(enum packed_type t, size_t run)
{
    const size_t n = run_len(quad_stored(t)) / 4;
    return (struct quad_words){ run * n, (run + 1) * n };
}
/* The value that sums of a run begin with. */
static inline int32_t block_start(const uint32_t *x, enum packed_type t, size_t run)
{
    return quad_has_min(t) ? 0 : (int32_t)x[block_start_at(t) + run];
}

/* Words of a rounded row of x (quad_steps: words of four k of int8), and words between rows. The latter are whole lines and never a power
 * of two of them, so that rows do not share cache sets. */
static inline size_t x_words(enum packed_type t, size_t k, size_t quad_steps)
{
    if (packed_by_blocks(t)) return quad_blocks(k) * block_words(t);
    return t == PK_I16_PAIR ? i16_head(k) + lowp_words(t, k) : lowp_words(t, k) * (t == PK_I8_QUAD ? quad_steps : 1);
}
static inline size_t x_ld(size_t words) { return ((words + 15) & ~(size_t)15) + 16; }

/* The scale of a block of x, from the bits of its largest magnitude; see i8_scale_of. */
static inline struct int_scale block_scale_of(enum packed_type t, uint32_t max)
{
    const float m = load_f32(&max);
    if (quad_x_parts(t) == 1) return i8_scale_of(max);
    if (max >= 0x7f800000u) return (struct int_scale) { m - m, 0 };         /* NaN */
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };                   /* the scale would be subnormal, and its inverse infinite */
    return (struct int_scale) { m / BLOCK_MAX, BLOCK_MAX / m };
}

/* Sums of the integers of a block's halves. */
struct block_sums { int32_t half[2]; };

/* Compute the integers of a block; returns their sums. n: k of the block, at most QBLOCK; the others are zeros. I8_MAGIC leaves q + 128 in
 * the low bits: q's high byte, as rounded to the nearest 256, and above it the low one with 128 added. */
static inline struct block_sums quantize_block_ints(uint32_t *to, enum packed_type t, const float *x, size_t n, float inverse)
{
    const int two = quad_x_parts(t) == 2;
    uint8_t low[QBLOCK], high[QBLOCK];
    struct block_sums sum = { { 0, 0 } };
    for (size_t i = 0; i < QBLOCK; i++) {
        const uint32_t q = bits_of_f32((i < n ? x[i] * inverse : 0) + I8_MAGIC);
        low[i] = (uint8_t)(q ^ 0x80), high[i] = (uint8_t)(q >> 8);
        sum.half[i / 16] += (two ? 256 * (int8_t)high[i] : 0) + (int8_t)low[i];
    }
    memcpy(to, two ? high : low, QBLOCK);
    if (two) memcpy(to + QBLOCK / 4, low, QBLOCK);
    return sum;
}

/* Complete a block: what follows its integers. */
static inline void block_end(uint32_t *to, enum packed_type t, struct block_sums sum, float scale)
{
    if (quad_runs(t) == 1) sum.half[0] += sum.half[1];
    uint32_t *run = to + block_start_at(t);
    for (size_t i = 0; i < quad_runs(t); i++)
        run[i] = quad_has_min(t) ? bits_of_f32((float)sum.half[i] * scale) : (uint32_t)(-quad_offset(t) * sum.half[i]);
    to[block_scale_at(t)] = bits_of_f32(scale);
}

static inline void quantize_block(uint32_t *to, enum packed_type t, const float *x, size_t n)
{
    const struct int_scale s = block_scale_of(t, max_abs_bits(x, n));
    block_end(to, t, quantize_block_ints(to, t, x, n, s.inverse), s.scale);
}

static inline void quantize_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k)
{
    for (size_t i = 0; i < k; i += QBLOCK, to += block_words(t)) quantize_block(to, t, x + i, size_min(QBLOCK, k - i));
}

/* ---- weights of a partial of KV_INT, [n], n <= ATTN_KEYS, times scales of values: integers as x in PK_Q8_QUAD, but all with one scale.
 * Blocks of INT_WORDS words, missing numbers are zeros; row[INT_START] has the start value of sums with unsigned values, then the scale. */
enum { INT_WORDS = QBLOCK / 2, INT_START = ATTN_KEYS / QBLOCK * INT_WORDS, INT_SCALE };

static inline void quantize_attn_weights(uint32_t *row, const float *x, size_t n)
{
    const struct int_scale s = block_scale_of(PK_Q8_QUAD, max_abs_bits(x, n));
    int32_t sum = 0;
    for (size_t b = 0; b < n; b += QBLOCK) {
        uint32_t *to = row + b / QBLOCK * INT_WORDS;
        const struct block_sums of = quantize_block_ints(to, PK_Q8_QUAD, x + b, size_min(QBLOCK, n - b), s.inverse);
        sum += of.half[0] + of.half[1];
    }
    row[INT_START] = (uint32_t)(-quad_offset(PK_Q8_QUAD) * sum);
    row[INT_SCALE] = bits_of_f32(s.scale);
}
#endif
