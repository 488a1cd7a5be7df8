/* steno: plain access to packed panels. SPDX-License-Identifier: MIT
 *
 * The places of the parts of a packed panel, and the value of a weight: plain C access to the layouts that kern.h describes and pack.c
 * writes. Types are constants at all uses of these functions, so the compiler folds them. */
#ifndef STENO_KERN_PANEL_H
#define STENO_KERN_PANEL_H
#include "kern/bits.h"

/* DO(name, type) for each packed type that keeps the stored bits: one function per type, so that the type is a constant inside. */
#define EACH_STORED(DO)                                                                                                               \
    DO(f32, PK_F32) DO(f16, PK_F16) DO(bf16, PK_BF16)                                                                                 \
    DO(q4_0, PK_Q4_0) DO(q4_1, PK_Q4_1) DO(q5_0, PK_Q5_0) DO(q5_1, PK_Q5_1) DO(q8_0, PK_Q8_0)                                         \
    DO(q2_k, PK_Q2_K) DO(q3_k, PK_Q3_K) DO(q4_k, PK_Q4_K) DO(q5_k, PK_Q5_K) DO(q6_k, PK_Q6_K)    \
    DO(iq4_xs, PK_IQ4_XS) DO(q4_1f, PK_Q4_1F) DO(q8_1f, PK_Q8_1F)
/* The same for the low-precision types. */
#define EACH_LOWP(DO)                                                                                                                 \
    DO(pair, PK_BF16_PAIR) DO(ints, PK_I16_PAIR) DO(quad, PK_I8_QUAD)                                                                 \
    EACH_BLOCKS(DO)
/* Those by blocks. */
#define EACH_BLOCKS(DO)                                                                                                               \
    DO(q8_quad, PK_Q8_QUAD) DO(q8_quad_a8, PK_Q8_QUAD_A8)                                                                             \
    DO(q4_quad, PK_Q4_QUAD) DO(q4_1_quad, PK_Q4_1_QUAD) DO(q5_0_quad, PK_Q5_0_QUAD) DO(q5_1_quad, PK_Q5_1_QUAD)                       \
    DO(q2_k_quad, PK_Q2_K_QUAD) DO(q3_k_quad, PK_Q3_K_QUAD) DO(q4_k_quad, PK_Q4_K_QUAD) DO(q5_k_quad, PK_Q5_K_QUAD)                   \
    DO(q6_k_quad, PK_Q6_K_QUAD) DO(iq4_xs_quad, PK_IQ4_XS_QUAD)

static inline int packed_is_k(enum packed_type t) { return t >= PK_Q2_K && t <= PK_IQ4_XS; }
/* Scales and minima are f32. */
static inline int packed_has_wide(enum packed_type t) { return t == PK_Q4_1F || t == PK_Q8_1F; }
static inline int packed_has_min(enum packed_type t)
{
    return t == PK_Q4_1 || t == PK_Q5_1 || t == PK_Q2_K || t == PK_Q4_K || t == PK_Q5_K || packed_has_wide(t);
}
static inline int packed_has_fifth(enum packed_type t) { return t == PK_Q5_0 || t == PK_Q5_1 || t == PK_Q5_K; }
static inline int packed_is_byte(enum packed_type t) { return t == PK_Q8_0 || t == PK_Q6_K || t == PK_IQ4_XS || t == PK_Q8_1F; }
/* The offset of packed quants. */
static inline int packed_offset(enum packed_type t) { return t == PK_Q4_0 ? 8 : t == PK_Q5_0 ? 16 : t == PK_Q3_K ? 4 : 0; }

static inline size_t block_len(enum packed_type t) { return packed_is_k(t) ? KBLOCK : QBLOCK; }
static inline size_t run_len(enum packed_type t) { return t == PK_Q2_K || t == PK_Q3_K || t == PK_Q6_K ? 16 : QBLOCK; }
static inline size_t block_head_sz(enum packed_type t) { return PANEL * (packed_has_wide(t) ? 8 : packed_has_min(t) ? 4 : 2); }
static inline size_t run_head_sz(enum packed_type t) { return !packed_is_k(t) ? 0 : PANEL * (packed_has_min(t) ? 2 : 1); }
static inline size_t run_sz(enum packed_type t)
{
    return run_head_sz(t) + (packed_has_fifth(t) ? run_len(t) * 4 : 0) + run_len(t) * PANEL / (packed_is_byte(t) ? 1 : 2);
}
static inline size_t panel_block_sz(enum packed_type t)
{
    if (t == PK_F32) return (size_t)QBLOCK * PANEL * 4;
    if (t == PK_F16 || t == PK_BF16) return (size_t)QBLOCK * PANEL * 2;
    return block_head_sz(t) + block_len(t) / run_len(t) * run_sz(t);
}
static inline int packed_by_rows(enum packed_type t) { return t == PK_BF16_PAIR || t == PK_I16_PAIR || t == PK_I8_QUAD; }
/* ---- low-precision products by blocks ------------------------------------------------------------------------------------------------
 * f16 d[PANEL]; (f16 m[PANEL], as in the types that keep the stored bits;) for each 32 k: (K types: i8 scales [runs][PANEL]; with a minimum
 * i8 [runs][PANEL];) then weights without a sign, for each 16 outputs: upper bits, then low ones as in PK_Q4_QUAD. A fifth bit: u32 [16],
 * bit 8 j + i: k = 4 i + j. Two upper bits (q6_k): u32 [2][16], bits 8 j + 2 i of word w: k = 16 w + 4 i + j. iq4_xs: bytes as PK_Q8_QUAD.
 *
 * Bits of a weight in the panel, the offset that makes it unsigned, whether it has a minimum: */
static inline int packed_by_blocks(enum packed_type t) { return t >= PK_Q8_QUAD && t < PK_COUNT; }
static inline int quad_is_bytes(enum packed_type t) { return t == PK_Q8_QUAD || t == PK_Q8_QUAD_A8 || t == PK_IQ4_XS_QUAD; }
static inline int quad_is_k(enum packed_type t) { return packed_is_k(quad_stored(t)); }
static inline int quad_has_min(enum packed_type t) { return packed_has_min(quad_stored(t)); }
static inline size_t quad_bits(enum packed_type t)
{
    return quad_is_bytes(t) ? 8 : t == PK_Q6_K_QUAD ? 6 : packed_has_fifth(quad_stored(t)) ? 5 : 4;
}
static inline int quad_offset(enum packed_type t)
{
    return quad_is_bytes(t) ? 128 : t == PK_Q6_K_QUAD ? 32 : packed_offset(quad_stored(t));
}
/* Runs of 32 k that have a scale, 1 or 2; bytes before 32 k of a panel, of QUAD_W outputs' weights, and of all. */
enum { QUAD_W = 16 }; /* outputs per line of four k */
static inline size_t quad_runs(enum packed_type t) { return QBLOCK / run_len(quad_stored(t)); }
static inline size_t quad_head_sz(enum packed_type t) { return PANEL * (quad_has_min(t) ? 4 : 2); }
static inline size_t quad_run_head_sz(enum packed_type t) { return quad_is_k(t) ? PANEL * quad_runs(t) * (quad_has_min(t) ? 2 : 1) : 0; }
static inline size_t quad_outputs_sz(enum packed_type t) { return QUAD_W * QBLOCK * quad_bits(t) / 8; }
static inline size_t quad_run_sz(enum packed_type t) { return quad_run_head_sz(t) + PANEL / QUAD_W * quad_outputs_sz(t); }
/* Blocks of 32 k that share a head, and bytes of them. */
static inline size_t quad_per_head(enum packed_type t) { return quad_is_k(t) ? KBLOCK / QBLOCK : 1; }
static inline size_t quad_block_sz(enum packed_type t) { return quad_head_sz(t) + quad_per_head(t) * quad_run_sz(t); }
static inline size_t quad_blocks(size_t k) { return (k + QBLOCK - 1) / QBLOCK; }
/* The place of weight k of output i after the scales of a block; of its low four bits, if there are fewer than 8. */
static inline size_t quad_at(enum packed_type t, size_t k, size_t i)
{
    const size_t lines = quad_bits(t), line = i / QUAD_W * lines + (quad_is_bytes(t) ? k / 4 : lines - 4 + k / 8);
    return (line * QUAD_W + i % QUAD_W) * 4 + k % 4;
}
/* Weight k of a block, including the offset; block: after the scales. */
static inline int quad_weight(enum packed_type t, const uint8_t *block, size_t k, size_t i)
{
    const uint8_t byte = block[quad_at(t, k, i)];
    if (quad_is_bytes(t)) return byte;
    const int low = byte >> (k % 8 < 4 ? 0 : 4) & 15;
    const uint8_t *above = block + (i / QUAD_W * quad_bits(t) * QUAD_W + i % QUAD_W) * 4 + k % 4;
    if (quad_bits(t) == 5) return low | (*above >> k / 4 & 1) << 4;
    if (quad_bits(t) == 6) return low | (above[k / 16 * QUAD_W * 4] >> k % 16 / 4 * 2 & 3) << 4;
    return low;
}
/* Block b of a panel: its scales of f16, its own scales (K types), its weights. */
struct quad_place { const uint8_t *head, *scales, *weights; };
static inline struct quad_place quad_place_of(enum packed_type t, const uint8_t *panel, size_t b)
{
    const size_t per = quad_per_head(t);
    struct quad_place p = { .head = panel + b / per * quad_block_sz(t) };
    p.scales = p.head + quad_head_sz(t) + b % per * quad_run_sz(t);
    p.weights = p.scales + quad_run_head_sz(t);
    return p;
}
/* The factor of output i's weights in a run, and their minimum. */
static inline float quad_scale(enum packed_type t, struct quad_place p, size_t run, size_t i)
{
    const float d = f16_to_f32(load_u16(p.head + 2 * i));
    return quad_is_k(t) ? d * (float)(int8_t)p.scales[run * PANEL + i] : d;
}
static inline float quad_min(enum packed_type t, struct quad_place p, size_t run, size_t i)
{
    const float m = f16_to_f32(load_u16(p.head + 2 * PANEL + 2 * i));
    return quad_is_k(t) ? m * (float)(int8_t)p.scales[(quad_runs(t) + run) * PANEL + i] : m;
}
/* Words of 32 bits for a row of k, and bytes before a panel's weights. */
static inline size_t lowp_words(enum packed_type t, size_t k) { return t == PK_I8_QUAD ? (k + 3) / 4 : (k + 1) / 2; }
static inline size_t lowp_head_sz(enum packed_type t) { return t == PK_I8_QUAD ? PANEL * 8 : t == PK_I16_PAIR ? PANEL * 4 : 0; }
/* Bytes of a panel of k weights. Inside a block of a K type the value is proportional, which is accurate enough for prefetching. */
static inline size_t panel_sz(enum packed_type t, size_t k)
{
    if (packed_by_rows(t)) return lowp_head_sz(t) + lowp_words(t, k) * PANEL * 4;
    if (packed_by_blocks(t)) return quad_blocks(k) * quad_block_sz(t) / quad_per_head(t);
    return k * panel_block_sz(t) / block_len(t);
}

/* ---- int16 as bytes (PK_I16_PAIR): an integer is 256 times its high byte, which is signed, plus its low byte, which is unsigned. In
 * place of CUT words of pairs are CUT / 2 words of low bytes, then CUT / 2 of high ones. Word j of them holds the bytes of words j and
 * j + CUT / 2 of pairs. */
enum { CUT = 32 };
static inline uint32_t cut_low(uint32_t a, uint32_t b) { return (a & 0x00ff00ffu) | (b & 0x00ff00ffu) << 8; }
static inline uint32_t cut_high(uint32_t a, uint32_t b) { return (a >> 8 & 0x00ff00ffu) | (b & 0xff00ff00u); }

/* Cut a panel's whole steps of CUT words; the rest stays as it is. */
static inline void panel_cut(uint32_t *w, size_t words)
{
    enum { HALF = CUT / 2 * PANEL };
    for (; words >= CUT; words -= CUT, w += 2 * HALF)
        for (size_t i = 0; i < HALF; i++) {
            const uint32_t a = w[i], b = w[i + HALF];
            w[i] = cut_low(a, b), w[i + HALF] = cut_high(a, b);
        }
}

static inline float panel_value(enum packed_type t, const uint8_t *panel, size_t k, size_t i)
{
    if (t == PK_F32) return load_f32(panel + (k * PANEL + i) * 4);
    if (t == PK_BF16_PAIR) return bf16_to_f32(load_u16(panel + (k / 2 * PANEL + i) * 4 + k % 2 * 2));
    if (t == PK_I16_PAIR)
        return load_f32(panel + 4 * i) * (float)(int16_t)load_u16(panel + lowp_head_sz(t) + (k / 2 * PANEL + i) * 4 + k % 2 * 2);
    if (t == PK_I8_QUAD) return load_f32(panel + 4 * i) * (float)(int8_t)panel[lowp_head_sz(t) + (k / 4 * PANEL + i) * 4 + k % 4];
    if (t == PK_F16) return f16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    if (t == PK_BF16) return bf16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    if (packed_by_blocks(t)) {
        const struct quad_place p = quad_place_of(t, panel, k / QBLOCK);
        const size_t run = k % QBLOCK / run_len(quad_stored(t));
        const float value = quad_scale(t, p, run, i) * (float)(quad_weight(t, p.weights, k % QBLOCK, i) - quad_offset(t));
        return quad_has_min(t) ? value + quad_min(t, p, run, i) : value;
    }
    const uint8_t *head = panel + k / block_len(t) * panel_block_sz(t);
    const uint8_t *p = head + block_head_sz(t) + k % block_len(t) / run_len(t) * run_sz(t);
    const size_t j = k % run_len(t);
    if (packed_has_wide(t)) {
        const int q = packed_is_byte(t) ? p[j * PANEL + i] : p[j / 2 * PANEL + i] >> 4 * (j & 1) & 15;
        return load_f32(head + 4 * i) * (float)q + load_f32(head + 4 * PANEL + 4 * i);
    }
    float d = f16_to_f32(load_u16(head + 2 * i)), m = packed_has_min(t) ? f16_to_f32(load_u16(head + PANEL * 2 + 2 * i)) : 0;
    if (packed_is_k(t)) {
        d *= (float)(int8_t)p[i];
        if (packed_has_min(t)) m *= (float)(int8_t)p[PANEL + i];
        p += run_head_sz(t);
    }
    if (packed_is_byte(t)) return d * (float)(int8_t)p[j * PANEL + i];
    int q = 0;
    if (packed_has_fifth(t)) {
        q = (int)(load_u32(p + 4 * j) >> i & 1u) << 4;
        p += QBLOCK * 4;
    }
    const uint8_t pair = p[j / 2 * PANEL + i];
    q |= j & 1 ? pair >> 4 : pair & 15;
    return d * (float)(q - packed_offset(t)) + m;
}
#endif
