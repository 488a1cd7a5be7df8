/* steno: what the kernels share among themselves. SPDX-License-Identifier: MIT
 *
 * Sizes of the scratch, where a position of keys and values lies, and one weight of a packed panel (the plain C reading of pack.c's
 * layout). Private to src/kern. */
#ifndef STENO_KERN_INNER_H
#define STENO_KERN_INNER_H
#include <float.h>
#include <math.h>
#include <string.h>
#include "kern/kern.h"

enum {
    K_STEP = 512,          /* most k widened at once */
    K_BLOCK = 256,         /* the same for many rows: 32 KiB of weights */
    PANEL_GROUP = 4,       /* panels that share a pass over a block of x */
    NARROW_WORDS = 131072, /* narrowed x that there is room for: 512 KiB */
    TILE_ROWS_MAX = 32,    /* rows whose sums narrow products have at a time, at most */
    ATTN_ROWS = 48,        /* query rows that share a widened block of keys: four register tiles of 12, or three tiles of 16 */
    SCORE_LD = ATTN_KEYS + 16,
    OUT_LD = HEAD_MAX + 32,       /* attn_partial_len at most */
    Q_LD = HEAD_MAX / 2 + 16,     /* words of two bf16 */
    Q_INT_WORDS = QBLOCK / 2 + 2 + QBLOCK / 4 + 2, /* a block of x as PK_Q8_QUAD takes it, and as PK_Q4_QUAD does */
    Q_INT_LD = HEAD_MAX / KV_INT_D * Q_INT_WORDS + 16,
    WEIGHT_LD = ATTN_KEYS / 2 + 16 /* words of two bf16, or integers of KV_INT, their scale and more */
};

/* Scratch of linear: accumulators [PANEL_GROUP][GEMM_ROWS][PANEL], then one panel's k-block as f32, which PK_F32 does without. */
struct linear_scratch {
    float acc[PANEL_GROUP * GEMM_ROWS * PANEL];
    float wide[K_STEP * PANEL];
};

/* Scratch of narrow products: rows of x as words of 32 bits, the sums of a tile, its integers of one group (PK_I16_PAIR), and the scales of
 * the rows (PK_I8_QUAD). */
struct narrow_scratch {
    uint32_t x[NARROW_WORDS + 32]; /* at least two rows of the longest k */
    float acc[TILE_ROWS_MAX * PANEL];
    float ints[TILE_ROWS_MAX * PANEL];
    float scale[GEMM_ROWS];
};

/* Weights of narrow products as a tile walks them. */
struct words {
    const uint32_t *const *run;  /* runs of run_len steps each */
    size_t ld, run_len, n;       /* words between steps; steps in all */
    const char *ahead;           /* a panel to bring to the second-level cache meanwhile */
};

/* Scratch of attention: scores (then weights) of a group of rows, its partials of one block and of all blocks so far; keys and values
 * widened where they are f16; for KV_BF16 queries and weights as words of two bf16, for KV_INT as blocks of integers. */
struct attn_scratch {
    float score[ATTN_ROWS * SCORE_LD];
    float out[ATTN_ROWS * OUT_LD];
    float merged[ATTN_ROWS * OUT_LD];
    float k_wide[KV_BLOCK * HEAD_MAX];
    union {
        uint32_t q[ATTN_ROWS * Q_LD];
        uint32_t q_int[ATTN_ROWS * Q_INT_LD];
    };
    uint32_t weight[ATTN_ROWS * WEIGHT_LD];
    float v_wide[ATTN_KEYS * HEAD_MAX]; /* last: as many as heads are wide */
};

/* Scratch of spectra, for the widest vectors: the points of as many frames as there are lanes, in whose place the powers go; then rows
 * of complex numbers, in whose place the bands go. */
enum { SPECTRA_LANES = 16, SPECTRA_RADIX = 16, SPECTRA_ROWS = SPECTRA_RADIX / 2 + 1 };
static inline uint32_t spectra_inner(uint32_t m) { return m == 25 ? 5 : 8; } /* a row of m = 25 or 32 is some number of these */
static inline size_t spectra_row(size_t m) { return 2 * m + 2; } /* vectors from row to row: 2^n would meet in one cache set */

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__) /* "unroll" would do it by halves before functions are inlined, where counts are not constants yet */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* DO(name, type) for each packed type that keeps what is stored: one function per type, so that the type is a constant inside. */
#define EACH_STORED(DO)                                                                                                               \
    DO(f32, PK_F32) DO(f16, PK_F16) DO(bf16, PK_BF16)                                                                                 \
    DO(q4_0, PK_Q4_0) DO(q4_1, PK_Q4_1) DO(q5_0, PK_Q5_0) DO(q5_1, PK_Q5_1) DO(q8_0, PK_Q8_0)                                         \
    DO(q2_k, PK_Q2_K) DO(q3_k, PK_Q3_K) DO(q4_k, PK_Q4_K) DO(q5_k, PK_Q5_K) DO(q6_k, PK_Q6_K)

static inline size_t size_min(size_t a, size_t b) { return a < b ? a : b; }

/* Place in a row of n that stands for place i - before past its ends, the ends themselves not repeated; n > before. */
static inline size_t mirrored(size_t i, size_t before, size_t n)
{
    const size_t at = i < before ? before - i : i - before;
    return at < n ? at : 2 * n - 2 - at;
}

/* Where in a partial of attention the sum and the maximum stand. */
static inline size_t part_sum_at(size_t d_head) { return attn_partial_len(d_head) - 32; }
static inline size_t part_max_at(size_t d_head) { return attn_partial_len(d_head) - 16; }

static inline char *kv_block_at(const struct kv_view *v, size_t block)
{
    return (char *)v->base + (v->table ? v->table[block] : block) * v->block_stride;
}

/* Where in a block key resp. value d of position `slot` lies, in elements. */
static inline size_t kv_key_at(enum kv_type t, size_t slot, size_t d)
{
    return t == KV_BF16 ? (d / 2 * KV_BLOCK + slot) * 2 + d % 2 : d * KV_BLOCK + slot;
}

static inline size_t kv_value_at(enum kv_type t, size_t slot, size_t d, size_t d_head)
{
    return KV_BLOCK * d_head + (t == KV_BF16 ? (slot / 2 * d_head + d) * 2 + slot % 2 : slot * d_head + d);
}

/* Outputs [n0, n1) of `rows` rows from row m go to keys and values. src holds them in the cache's type already: [rows] of ld elements,
 * output n0 first. */
void kern_put_kv(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, const void *src, size_t ld);

/* Bias, activation, residual and store of one row's part of a panel, outputs [n0, n1), in plain C. */
void linear_finish_row_c(const struct linear *l, size_t m, size_t n0, size_t n1, const float *acc);

/* The twin of kern's pack. */
void pack_lossy(void *panel, struct q8_loss *loss, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k);

/* Parts of kern_init_c. */
void kern_init_linear_c(struct kern *k);
void kern_init_narrow_c(struct kern *k);
void kern_init_attn_c(struct kern *k);
void kern_init_spectra_c(struct kern *k);
void act_none_c(float *y, const float *x, size_t n);
void act_gelu_erf_c(float *y, const float *x, size_t n);
void act_gelu_tanh_c(float *y, const float *x, size_t n);
void act_relu_c(float *y, const float *x, size_t n);

/* ---- a packed panel, read plainly. A packed block is its head (f16 scales), then runs: small scales (K types), fifth bits, quants.
 * Types are constants where these are used, so all of it folds away. */
static inline int packed_is_k(enum packed_type t) { return t >= PK_Q2_K && t <= PK_Q6_K; }
static inline int packed_has_min(enum packed_type t)
{
    return t == PK_Q4_1 || t == PK_Q5_1 || t == PK_Q2_K || t == PK_Q4_K || t == PK_Q5_K;
}
static inline int packed_has_fifth(enum packed_type t) { return t == PK_Q5_0 || t == PK_Q5_1 || t == PK_Q5_K; }
static inline int packed_is_byte(enum packed_type t) { return t == PK_Q8_0 || t == PK_Q6_K; }
/* What packed quants are greater by than the quants meant. */
static inline int packed_offset(enum packed_type t) { return t == PK_Q4_0 ? 8 : t == PK_Q5_0 ? 16 : t == PK_Q3_K ? 4 : 0; }

static inline size_t block_len(enum packed_type t) { return packed_is_k(t) ? KBLOCK : QBLOCK; }
static inline size_t run_len(enum packed_type t) { return t == PK_Q2_K || t == PK_Q3_K || t == PK_Q6_K ? 16 : QBLOCK; }
static inline size_t block_head_sz(enum packed_type t) { return PANEL * (packed_has_min(t) ? 4 : 2); }
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
static inline int packed_is_narrow(enum packed_type t) { return t == PK_BF16_PAIR || t == PK_I16_PAIR || t == PK_I8_QUAD; }
/* Narrow products by blocks: are weights bytes or nibbles, bytes per 32 k of a panel, and what is added to a weight to make it unsigned. */
static inline int quad_is_bytes(enum packed_type t) { return t == PK_Q8_QUAD || t == PK_Q8_QUAD_A8; }
static inline int packed_is_blocks(enum packed_type t) { return quad_is_bytes(t) || t == PK_Q4_QUAD; }
static inline size_t quad_block_sz(enum packed_type t) { return PANEL * (quad_is_bytes(t) ? 2 + QBLOCK : 2 + QBLOCK / 2); }
static inline int quad_offset(enum packed_type t) { return quad_is_bytes(t) ? 128 : 8; }
static inline size_t quad_blocks(size_t k) { return (k + QBLOCK - 1) / QBLOCK; }
/* Where weight k of output i stands behind the scales of a block. */
enum { QUAD_W = 16 }; /* outputs that a line has four k of */
static inline size_t quad_at(enum packed_type t, size_t k, size_t i)
{
    const size_t per_line = quad_is_bytes(t) ? 4 : 8, line = i / QUAD_W * (QBLOCK / per_line) + k / per_line;
    return (line * QUAD_W + i % QUAD_W) * 4 + k % 4;
}
/* Weight k of a block, offset added; block: behind the scales. */
static inline int quad_weight(enum packed_type t, const uint8_t *block, size_t k, size_t i)
{
    const uint8_t byte = block[quad_at(t, k, i)];
    return quad_is_bytes(t) ? byte : byte >> (k % 8 < 4 ? 0 : 4) & 15;
}
/* Words of 32 bits that a row of k becomes, and bytes before a panel's weights. */
static inline size_t narrow_words(enum packed_type t, size_t k) { return t == PK_I8_QUAD ? (k + 3) / 4 : (k + 1) / 2; }
static inline size_t narrow_head_sz(enum packed_type t) { return t == PK_I8_QUAD ? PANEL * 8 : t == PK_I16_PAIR ? PANEL * 4 : 0; }
/* Bytes of a panel of k weights; inside a block of a K type in proportion, which is good enough for prefetching. */
static inline size_t panel_sz(enum packed_type t, size_t k)
{
    if (packed_is_narrow(t)) return narrow_head_sz(t) + narrow_words(t, k) * PANEL * 4;
    if (packed_is_blocks(t)) return quad_blocks(k) * quad_block_sz(t);
    return k * panel_block_sz(t) / block_len(t);
}

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline float load_f32(const void *p) { float v; memcpy(&v, p, sizeof v); return v; }

static inline float panel_value(enum packed_type t, const uint8_t *panel, size_t k, size_t i)
{
    if (t == PK_F32) return load_f32(panel + (k * PANEL + i) * 4);
    if (t == PK_BF16_PAIR) return bf16_to_f32(load_u16(panel + (k / 2 * PANEL + i) * 4 + k % 2 * 2));
    if (t == PK_I16_PAIR)
        return load_f32(panel + 4 * i) * (float)(int16_t)load_u16(panel + narrow_head_sz(t) + (k / 2 * PANEL + i) * 4 + k % 2 * 2);
    if (t == PK_I8_QUAD) return load_f32(panel + 4 * i) * (float)(int8_t)panel[narrow_head_sz(t) + (k / 4 * PANEL + i) * 4 + k % 4];
    if (t == PK_F16) return f16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    if (t == PK_BF16) return bf16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    if (packed_is_blocks(t)) {
        const uint8_t *block = panel + k / QBLOCK * quad_block_sz(t);
        return f16_to_f32(load_u16(block + 2 * i)) * (float)(quad_weight(t, block + 2 * PANEL, k % QBLOCK, i) - quad_offset(t));
    }
    const uint8_t *head = panel + k / block_len(t) * panel_block_sz(t);
    const uint8_t *p = head + block_head_sz(t) + k % block_len(t) / run_len(t) * run_sz(t);
    const size_t j = k % run_len(t);
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

/* ---- values of fewer bits. Branches that compilers turn into masks: these loops run over whole rows of x. */
static inline uint32_t bits_of_f32(float x) { uint32_t v; memcpy(&v, &x, sizeof v); return v; }

/* bf16 as the vector instructions make it: to nearest even, subnormals to zero. */
static inline uint16_t bf16_narrowed(float x)
{
    const uint32_t u = bits_of_f32(x), mag = u & 0x7fffffffu;
    const uint32_t round = (u + 0x7fffu + (u >> 16 & 1u)) >> 16, nan = u >> 16 | 0x40u, zero = u >> 16 & 0x8000u;
    return (uint16_t)(mag < 0x00800000u ? zero : mag > 0x7f800000u ? nan : round);
}

/* How integers are scaled: q = x * inverse, x = q * scale. */
struct int_scale { float scale, inverse; };

/* most: bits of the row's largest magnitude; as integers magnitudes, infinity and NaN are in order. */
static inline struct int_scale i8_scale_of(uint32_t most)
{
    const float m = load_f32(&most);
    if (most >= 0x7f800000u) return (struct int_scale) { m - m, 0 };         /* NaN */
    if (m < 0x1p-119f) return (struct int_scale) { 0, 0 };                   /* I8_MAX / m could be infinite */
    return (struct int_scale) { m / I8_MAX, I8_MAX / m };
}

static inline uint32_t largest_bits(const float *x, size_t k)
{
    uint32_t most = 0;
    for (size_t i = 0; i < k; i++) {
        const uint32_t mag = bits_of_f32(x[i]) & 0x7fffffffu;
        most = mag > most ? mag : most;
    }
    return most;
}

/* 128 + x * inverse rounded to nearest even: adding 1.5 * 2^23 + 128 leaves that integer in the low bits. */
#define I8_MAGIC 12583040.0f
static inline uint8_t i8_narrowed(float x, float inverse) { return (uint8_t)bits_of_f32(x * inverse + I8_MAGIC); }

/* PK_I16_PAIR. of: what stands for the largest magnitude m: I16_MOST of weights, I16_X_MAX of x. Where m is smaller than 2^-111 the scale
 * would be subnormal, and its inverse infinite. */
enum { I16_MOST = 32750 };
#define I16_MAGIC 12582912.0f /* 1.5 * 2^23: what is added to it is rounded to nearest even, and left in the low 16 bits */
static inline struct int_scale i16_scale_of(float m, int of)
{
    if (!(m < INFINITY)) return (struct int_scale) { NAN, 0 };
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };
    return (struct int_scale) { m / (float)of, (float)of / m };
}
/* What I16_MOST of an output's weights stands for, from bits: its largest magnitude, and the largest sum of magnitudes of a group. */
static inline float i16_weight_most(uint32_t most, uint32_t most_sum)
{
    const float m = load_f32(&most), eighth = load_f32(&most_sum) / 8;
    return eighth <= m ? m : eighth; /* NaN where one is: a sum is NaN, too, then */
}
static inline uint16_t i16_narrowed(float x, float inverse) { return (uint16_t)bits_of_f32(x * inverse + I16_MAGIC); }

static inline size_t i16_groups(size_t k) { return (k + I16_GROUP - 1) / I16_GROUP; }
/* Words before a row of x: the scales of its groups. */
static inline size_t i16_head(size_t k) { return (i16_groups(k) + 15) & ~(size_t)15; }

static inline void narrow_group(uint32_t *to, uint32_t *scale, const float *x, size_t n)
{
    const uint32_t most = largest_bits(x, n);
    const struct int_scale s = i16_scale_of(load_f32(&most), I16_X_MAX);
    *scale = bits_of_f32(s.scale);
    for (size_t i = 0; i < n / 2; i++) to[i] = (uint32_t)i16_narrowed(x[2 * i + 1], s.inverse) << 16 | i16_narrowed(x[2 * i], s.inverse);
    if (n % 2) to[n / 2] = i16_narrowed(x[n - 1], s.inverse);
}

/* ---- KV_INT: the parts of a block, KV_INT_D d of keys resp. values each, and where in them the integers begin. */
enum {
    KEY_MOST = 127 * 16 + 7,
    KEY_HIGH = 2 * KV_BLOCK, KEY_LOW = KEY_HIGH + KV_BLOCK * KV_INT_D, KEY_PART = KEY_LOW + KV_BLOCK * KV_INT_D / 2,
    VALUE_INTS = 2 * KV_BLOCK, VALUE_PART = VALUE_INTS + KV_BLOCK * KV_INT_D
};
static inline size_t key_part_at(size_t d) { return d / KV_INT_D * KEY_PART; }
static inline size_t value_part_at(size_t d, size_t d_head) { return d_head / KV_INT_D * KEY_PART + d / KV_INT_D * VALUE_PART; }

/* Of KV_INT_D numbers, from the bits of their largest magnitude. of: KEY_MOST or I8_MAX. */
static inline struct int_scale kv_scale_of(uint32_t most, int of)
{
    const float m = load_f32(&most);
    if (most >= 0x7f800000u) return (struct int_scale) { NAN, 0 };
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };
    const float exact = m / (float)of;
    const uint32_t up = (bits_of_f32(exact) + 0xffffu) & 0xffff0000u;
    return (struct int_scale) { load_f32(&up), 1 / load_f32(&up) };
}
static inline uint16_t kv_stored_scale(float scale) { return (uint16_t)(bits_of_f32(scale) >> 16); }

static inline uint16_t kv_narrow(int16_t q[KV_INT_D], const float *x, int of)
{
    const struct int_scale s = kv_scale_of(largest_bits(x, KV_INT_D), of);
    for (size_t d = 0; d < KV_INT_D; d++) q[d] = (int16_t)i16_narrowed(x[d], s.inverse);
    return kv_stored_scale(s.scale);
}

static inline float kv_part_scale(const char *part, size_t slot) { return bf16_to_f32(load_u16(part + 2 * slot)); }

/* An integer of a key is 16 times the first, in [-127, 127], plus the second, in [-8, 7]. */
static inline int int_in(enum packed_type t, const char *block, size_t k, size_t i)
{
    return quad_weight(t, (const uint8_t *)block, k, i) - quad_offset(t);
}
static inline int key_high(const char *part, size_t slot, size_t d) { return int_in(PK_Q8_QUAD, part + KEY_HIGH, d, slot); }
static inline int key_low(const char *part, size_t slot, size_t d) { return int_in(PK_Q4_QUAD, part + KEY_LOW, d, slot); }
static inline int value_int(const char *part, size_t slot, size_t d) { return int_in(PK_Q8_QUAD, part + VALUE_INTS, slot, d); }

/* Where KV_INT_D outputs from n0 on go in the block of their position, all heads counted. */
static inline size_t int_part_at(const struct linear *l, size_t n0)
{
    const int is_key = n0 < (size_t)l->n_y + l->n_kv;
    const size_t at = n0 - l->n_y - (is_key ? 0 : l->n_kv), d = at % l->d_head;
    return at / l->d_head * l->kv_head_sz + (is_key ? key_part_at(d) : value_part_at(d, l->d_head));
}

static inline void put_key_ints(char *part, size_t slot, uint16_t scale, const int16_t q[KV_INT_D])
{
    uint8_t high[KV_INT_D], low[KV_INT_D];
    for (size_t d = 0; d < KV_INT_D; d++) high[d] = (uint8_t)(((q[d] + 8) >> 4) + 128), low[d] = (uint8_t)((q[d] + 8) & 15);
    memcpy(part + 2 * slot, &scale, 2);
    for (size_t d = 0; d < KV_INT_D; d += 4) memcpy(part + KEY_HIGH + quad_at(PK_Q8_QUAD, d, slot), high + d, 4);
    for (size_t d = 0; d < KV_INT_D; d += 8) {
        const uint32_t both = load_u32(low + d) | load_u32(low + d + 4) << 4;
        memcpy(part + KEY_LOW + quad_at(PK_Q4_QUAD, d, slot), &both, 4);
    }
}

static inline void put_value_ints(char *part, size_t slot, uint16_t scale, const int16_t q[KV_INT_D])
{
    memcpy(part + 2 * slot, &scale, 2);
    for (size_t d = 0; d < KV_INT_D; d++) part[VALUE_INTS + quad_at(PK_Q8_QUAD, slot, d)] = (char)(uint8_t)(q[d] + 128);
}

/* Of four positions, the first a multiple of four: whole words. */
static inline void put_value_words(char *part, size_t slot, const uint16_t scale[4], int16_t (*q)[KV_INT_D])
{
    memcpy(part + 2 * slot, scale, 8);
    for (size_t d0 = 0; d0 < KV_INT_D; d0 += QUAD_W) {
        uint32_t word[QUAD_W];
        for (size_t d = 0; d < QUAD_W; d++)
            word[d] = (uint32_t)(q[0][d0 + d] + 128) | (uint32_t)(q[1][d0 + d] + 128) << 8 | (uint32_t)(q[2][d0 + d] + 128) << 16 |
                      (uint32_t)(q[3][d0 + d] + 128) << 24;
        memcpy(part + VALUE_INTS + quad_at(PK_Q8_QUAD, slot, d0), word, sizeof word);
    }
}

/* Rows of x as words of 32 bits, the even k (the first of four) in the lowest bits; what is missing in the last word is zero. */
static inline void narrow_pairs(uint32_t *to, const float *x, size_t k)
{
    for (size_t i = 0; i < k / 2; i++) to[i] = (uint32_t)bf16_narrowed(x[2 * i + 1]) << 16 | bf16_narrowed(x[2 * i]);
    if (k % 2) to[k / 2] = bf16_narrowed(x[k - 1]);
}

static inline void narrow_bytes(uint8_t *q, const float *x, size_t k, float inverse)
{
    for (size_t i = 0; i < k; i++) q[i] = i8_narrowed(x[i], inverse);
    for (size_t i = k; i % 4; i++) q[i] = 128;
}

/* Four int8 with 128 added; returns the row's scale. */
static inline float narrow_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(largest_bits(x, k));
    narrow_bytes((uint8_t *)to, x, k, s.inverse);
    return s.scale;
}

/* What q8_0 makes of a block of f32: its scale, rounded to f16, and what weights are multiplied with. */
struct q8_scale { uint16_t half; float d, inverse; };

static inline struct q8_scale q8_scale_of(const float *x, size_t n)
{
    const uint32_t most = largest_bits(x, n);
    const float d = load_f32(&most) / I8_MAX;
    uint16_t half = f16_from_f32(d);
    if ((half & 0x7fffu) >= 0x7c00u) half = 0x7e00u; /* not finite, here or as f16 */
    return (struct q8_scale){ half, f16_to_f32(half), !half || half == 0x7e00u ? 0 : 1 / d };
}

/* The largest error and the largest norm; NaN where one is. */
static inline struct q8_loss q8_loss_most(const struct q8_loss of[PANEL])
{
    struct q8_loss most = { 0 };
    for (size_t i = 0; i < PANEL; i++) {
        if (of[i].error > most.error || isnan(of[i].error)) most.error = of[i].error;
        if (of[i].norm > most.norm || isnan(of[i].norm)) most.norm = of[i].norm;
    }
    return most;
}

/* A block of x for products by blocks: 32 integers, in one part, as bytes, or in two (PK_Q8_QUAD), as their high bytes, then their low
 * ones, which are signed like the others (q = 256 * high + low), what sums with unsigned weights begin with, and a scale. The words before
 * the last two are the level's own: beside bytes there is room for 16 bits of each integer, for levels whose products have as many. */
enum { BLOCK_MOST = I8_MAX * 256 + I8_MAX };
static inline int quad_x_parts(enum packed_type t) { return t == PK_Q8_QUAD ? 2 : 1; }
static inline size_t block_words(enum packed_type t) { return quad_is_bytes(t) ? QBLOCK / 2 + 2 : QBLOCK / 4 + 2; }
static inline size_t block_start_at(enum packed_type t) { return block_words(t) - 2; }
static inline size_t block_scale_at(enum packed_type t) { return block_words(t) - 1; }

/* How a block of x is scaled, from the bits of its largest magnitude; see i8_scale_of. */
static inline struct int_scale block_scale_of(enum packed_type t, uint32_t most)
{
    const float m = load_f32(&most);
    if (quad_x_parts(t) == 1) return i8_scale_of(most);
    if (most >= 0x7f800000u) return (struct int_scale) { m - m, 0 };         /* NaN */
    if (m < 0x1p-111f) return (struct int_scale) { 0, 0 };                   /* the scale would be subnormal, and its inverse infinite */
    return (struct int_scale) { m / BLOCK_MOST, BLOCK_MOST / m };
}

/* Integers of a block; returns their sum. n: k of the block, at most QBLOCK; the others are zeros. With I8_MAGIC q + 128 is left in the
 * low bits: q's high byte, as rounded to the nearest 256, and above it the low one with 128 added. */
static inline int32_t narrow_block_ints(uint32_t *to, enum packed_type t, const float *x, size_t n, float inverse)
{
    const int two = quad_x_parts(t) == 2;
    uint8_t low[QBLOCK], high[QBLOCK];
    int32_t sum = 0;
    for (size_t i = 0; i < QBLOCK; i++) {
        const uint32_t q = bits_of_f32((i < n ? x[i] * inverse : 0) + I8_MAGIC);
        low[i] = (uint8_t)(q ^ 0x80), high[i] = (uint8_t)(q >> 8);
        sum += (two ? 256 * (int8_t)high[i] : 0) + (int8_t)low[i];
    }
    memcpy(to, two ? high : low, QBLOCK);
    if (two) memcpy(to + QBLOCK / 4, low, QBLOCK);
    return sum;
}

static inline void narrow_block(uint32_t *to, enum packed_type t, const float *x, size_t n)
{
    const struct int_scale s = block_scale_of(t, largest_bits(x, n));
    to[block_start_at(t)] = (uint32_t)(-quad_offset(t) * narrow_block_ints(to, t, x, n, s.inverse));
    to[block_scale_at(t)] = bits_of_f32(s.scale);
}

static inline void narrow_block_row(uint32_t *to, enum packed_type t, const float *x, size_t k)
{
    for (size_t i = 0; i < k; i += QBLOCK, to += block_words(t)) narrow_block(to, t, x + i, size_min(QBLOCK, k - i));
}

/* ---- weights of a partial of KV_INT, [n], n <= ATTN_KEYS, times scales of values: integers as PK_Q8_QUAD's x, but all with one scale.
 * Blocks of INT_WORDS words, of missing numbers zeros; in row[INT_START] what sums with unsigned values begin with, then the scale. */
enum { INT_WORDS = QBLOCK / 2, INT_START = ATTN_KEYS / QBLOCK * INT_WORDS, INT_SCALE };

static inline void narrow_weights(uint32_t *row, const float *x, size_t n)
{
    const struct int_scale s = block_scale_of(PK_Q8_QUAD, largest_bits(x, n));
    int32_t sum = 0;
    for (size_t b = 0; b < n; b += QBLOCK)
        sum += narrow_block_ints(row + b / QBLOCK * INT_WORDS, PK_Q8_QUAD, x + b, size_min(QBLOCK, n - b), s.inverse);
    row[INT_START] = (uint32_t)(-quad_offset(PK_Q8_QUAD) * sum);
    row[INT_SCALE] = bits_of_f32(s.scale);
}

/* ---- a stored block of a K type, taken apart (dtype_k.c): element e is d * scale[e / run_len] * q[e] - dmin * min[e / run_len]. */
struct k_block {
    uint16_t d, dmin;                                /* f16 */
    int8_t scale[KBLOCK / 16], min[KBLOCK / 16];     /* min and dmin are zeros where the type has no minimum */
    int8_t q[KBLOCK];
};
void k_block_split(struct k_block *b, enum dtype t, const uint8_t *stored);

/* Columns of x to mean 0 and standard deviation 1, a few side by side; sums in double. */
static inline void standard_columns(float *x, size_t ld, size_t rows, size_t n)
{
    enum { SIDE_BY_SIDE = 16 };
    for (size_t at = 0; at < n; at += SIDE_BY_SIDE) {
        const size_t m = n - at < SIDE_BY_SIDE ? n - at : SIDE_BY_SIDE;
        double sum[SIDE_BY_SIDE] = { 0 }, square[SIDE_BY_SIDE] = { 0 }, std[SIDE_BY_SIDE];
        float most[SIDE_BY_SIDE] = { 0 };
        for (size_t r = 0; r < rows; r++) {
            const float *row = x + r * ld + at, *first = x + at;
            for (size_t i = 0; i < m; i++) {
                const float far = fabsf(row[i] - first[i]);
                sum[i] += (double)row[i];
                most[i] = far > most[i] ? far : most[i];
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
            for (size_t i = 0; i < m; i++) row[i] = most[i] >= FLT_MIN ? (float)(((double)row[i] - sum[i]) / std[i]) : 0;
        }
    }
}
#endif
