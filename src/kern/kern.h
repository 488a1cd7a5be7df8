/* steno: the kernel table and its contracts. SPDX-License-Identifier: MIT
 *
 * A kernel is a function pointer in `struct kern`, filled once per opened model. First come the plain C twins (ref_*.c: the definition).
 * Then every level of the processor overrides the kernels that it does better. Kernels cannot fail, do not allocate and access only what
 * they are given.
 *
 * The contract for batching: an output row depends only on its own input row, the weights, their types and the level. It never depends on
 * the number of rows, on the tile, the thread or the row's place. Every linear output has ONE f32 accumulator that walks k in ascending
 * order (acc = acc + x[k] * w[k], fused if the level fuses), starting from 0. Attention computes a separate partial for each fixed block of
 * ATTN_KEYS keys, and merges partials in ascending order. Any blocking that keeps these orders therefore gives the same bits, few-row and
 * many-row bodies agree exactly, and partials of one row may come from several threads.
 * Low-precision products (see below) are exact, or summed in an order that only k determines, so they keep the contract, too.
 *
 * Tolerances against the C twin, checked by tests/kernels:
 *   linear     |y - y_c| <= 4 eps * sqrt(K) * sum_k |x[k] w[k]| + the activation's own error
 *   linear of PK_BF16_PAIR and PK_I8_QUAD: the same bits as the twin except for the activation's own error, and (PK_BF16_PAIR) except for
 *              products and sums below FLT_MIN, which some processors flush to zero: K * 2 FLT_MIN absolute
 *   linear of PK_I16_PAIR, and by blocks (from PK_Q8_QUAD on): the same bits as the twin, which fuses as all other
 *              levels do, except for the activation's own error
 *   linear of PK_BF16_PAIR at levels whose instructions add in another order (amx, neonbf16): 4 eps * sqrt(K) * sum_k |x w| from the
 *              twin's sum
 *   attention  relative to max |v|: 3e-6;  norm_*, softmax: 1e-6 relative to the largest output of the row; norm_layer, whose mean is
 *              an f32, also 1e-7 of the mean in standard deviations
 *   attention of KV_BF16: scores as sums of PK_BF16_PAIR; outputs, relative to max |v|, 4e-3 from the formula that does not round weights:
 *              rounding moves a weight by at most 2^-8 of itself, and so a mean by at most 2^-8 max |v|. From the twin 4e-3 as well:
 *              both round nearly the same weights, and one that rounds to the other side moves the mean by at most 2^-8 max |v|
 *   attention of integers: scores have the bits of the twin, which fuses as all levels do. Outputs, relative to max |v|: 3e-6 from the
 *              formula with q and weights rounded as written below, and 3.1e-5 more (1 of 32639 steps) for each weight that is within
 *              1e-5 of itself from a tie; from the twin 1e-4, three of those
 *   attn_weights  1e-5 relative to the largest weight of the row, with q as the type rounds it;  zscore: 1e-5 relative to the largest
 *              output of the column
 *   attn_rel   relative to max |value|: 3e-6; of a run in int16, from the twin 1e-4, from the formula 1e-3
 *   lstm       c: 1e-6 * (1 + |c_before|), h: 2e-6 * (1 + |c_before|), absolute
 *   spectra    against the definition in double: a bin by 8 eps * sqrt(sum of squares of the windowed frame), its logarithm to
 *              base 10 by 1e-6 + eps times itself more
 *   exp, erf and tanh bodies (except attention's exp): 4 ulp or 2e-7 absolute; data movement, widening and packing: exact */
#ifndef STENO_KERN_KERN_H
#define STENO_KERN_KERN_H
#include <stddef.h>
#include <stdint.h>
#include "base/cpu.h"

/* Stored types: those of files. Block types hold QBLOCK weights of one row that share a scale. K types hold KBLOCK weights whose scales are
 * small integers times one more scale (ggml's layouts). q4_1f and q8_1f occur in no file: f32 scale, f32 minimum, and 4 or 8 bits of QBLOCK
 * weights, for groups of MLX whose scales f16 cannot represent. */
enum dtype {
    DT_F32, DT_F16, DT_BF16, DT_Q4_0, DT_Q4_1, DT_Q5_0, DT_Q5_1, DT_Q8_0, DT_Q2_K, DT_Q3_K, DT_Q4_K, DT_Q5_K, DT_Q6_K,
    DT_IQ4_XS, DT_Q4_1F, DT_Q8_1F,
    DT_COUNT,
    DT_IQ4_NL = DT_COUNT + 1, /* written to files only: on reading, rows become q8_0 (load/tensor.h) */
    DT_WRITTEN
};

/* Packed types: the operands of kernels. The first keep the stored bits, and have the number of the stored type. The others are the
 * low-precision types. They are made from rows of numbers or from stored blocks, and occur in no file.
 *
 * A PAIR is two neighbours of k in a word of 32 bits, a QUAD is four: the operands of dot-product instructions (oneDNN calls the layouts
 * VNNI2 and VNNI4). "By blocks" means a scale for each 32 k, of weights and of x; otherwise an output has one scale. */
enum packed_type {
    PK_F32 = DT_F32, PK_F16 = DT_F16, PK_BF16 = DT_BF16, PK_Q4_0 = DT_Q4_0, PK_Q4_1 = DT_Q4_1, PK_Q5_0 = DT_Q5_0, PK_Q5_1 = DT_Q5_1,
    PK_Q8_0 = DT_Q8_0, PK_Q2_K = DT_Q2_K, PK_Q3_K = DT_Q3_K, PK_Q4_K = DT_Q4_K, PK_Q5_K = DT_Q5_K, PK_Q6_K = DT_Q6_K,
    PK_IQ4_XS = DT_IQ4_XS, PK_Q4_1F = DT_Q4_1F, PK_Q8_1F = DT_Q8_1F,
    PK_LOWP,                    /* the first low-precision type: */
    PK_BF16_PAIR = PK_LOWP,     /* bf16 pairs (VNNI2) */
    PK_I16_PAIR,                /* int16 pairs (VNNI2), a scale per output; x has one per I16_GROUP k */
    PK_I8_QUAD,                 /* int8 fours (VNNI4), a scale per output; x has one per row */
    PK_Q8_QUAD,                 /* int8 fours by blocks, as q8_0; x has 16 bits */
    PK_Q8_QUAD_A8,              /* the same weights; x ("activations") has 8 bits */
    PK_Q4_QUAD, PK_Q4_1_QUAD,   /* stored blocks, in the order of their types: int4, two fours of k in a word; x has 8 bits for q4_0 */
    PK_Q5_0_QUAD, PK_Q5_1_QUAD, /* and a fifth bit; x has 16 bits, as for all that follow */
    PK_Q2_K_QUAD, PK_Q3_K_QUAD, PK_Q4_K_QUAD, PK_Q5_K_QUAD, PK_Q6_K_QUAD, PK_IQ4_XS_QUAD,
    PK_COUNT
};

enum {
    PANEL = 32,       /* outputs interleaved in a packed panel */
    QBLOCK = 32,      /* weights per stored block, and k per packed block */
    KBLOCK = 256,     /* the same of the K types */
    KV_BLOCK = 32,    /* positions per block of keys and values */
    HEAD_MAX = 256,   /* limit of d_head, a multiple of 4 */
    KV_INT_D = PANEL, /* d of KV_INT that share a scale: the part of a position that one call of linear's epilogue writes */
    ATTN_KEYS = 256,  /* keys of a partial of attention */
    MEDIAN_WIDTH = 7, /* window of median, including the value itself */
    ROW_PAD = 16,     /* floats between rows of a slot, so that rows 2^n wide do not share cache sets */
    GEMM_ROWS = 252,  /* most rows that linear processes at a time */
    I16_GROUP = 128,  /* k of PK_I16_PAIR whose products are summed as integers */
    I16_X_MAX = 8191, /* the integer for the largest magnitude of such a group of x */
    I8_MAX = 127,    /* the same for int8 */
    LOWP_K_MAX = 131072 /* largest k of low-precision products: sums of int8 products fit 32 bits */
};

extern int8_t const iq4_value[16]; /* values of the four bits of iq4_xs and of iq4_nl */
const char *dtype_name(enum dtype t);          /* "f32", …, "q8_1f" */
enum dtype dtype_find(const char *name);       /* DT_COUNT: unknown name */
const char *packed_name(enum packed_type t);   /* also "bf16x2", "int16x2", "int8x4", "q8_0x4", "q8_0x4a8", "q4_0x8", … */
int dtype_block(enum dtype t);                 /* weights per block: 1, QBLOCK or KBLOCK */
size_t dtype_row_sz(enum dtype t, size_t k);   /* bytes of a stored row of k weights, k a multiple of dtype_block */

static inline int packed_is_lowp(enum packed_type t) { return t >= PK_LOWP; }
/* The packed type that keeps rows of t unchanged. */
static inline enum packed_type packed_as_stored(enum dtype t) { return (enum packed_type)t; }
/* By blocks: the packed type with the same stored blocks. */
static inline enum packed_type quad_stored(enum packed_type t)
{
    return (enum packed_type)(t >= PK_Q2_K_QUAD ? t - PK_Q2_K_QUAD + PK_Q2_K : t >= PK_Q4_QUAD ? t - PK_Q4_QUAD + PK_Q4_0 : PK_Q8_0);
}
/* The stored type whose bits t keeps. For low-precision types, the type that they are made from: f32, or one of blocks. */
static inline enum dtype packed_source(enum packed_type t)
{
    return !packed_is_lowp(t) ? (enum dtype)t : t >= PK_Q4_QUAD ? (enum dtype)quad_stored(t) : DT_F32;
}
/* By blocks: bytes of the integers that x becomes. */
static inline int quad_x_parts(enum packed_type t) { return t == PK_Q8_QUAD || t > PK_Q4_QUAD ? 2 : 1; }

/* ---- packed weights (pack.c) --------------------------------------------------------------------------------------------------
 * A matrix w[n, k] becomes ceil(n / PANEL) panels; outputs past n are zero. Within a panel, for each k in order:
 *   f32, f16, bf16:  PANEL values, as stored.
 * Block types, for each 32 k:
 *   f16 d[PANEL]; (q4_1, q5_1: f16 m[PANEL];) then quants:
 *   q8_0:        for each k: int8 q[PANEL]                               value = d * q
 *   q4_0, q4_1:  for each pair (k, k+1): u8 [PANEL], low nibble k        value = d * (q - 8)   or  fma(d, q, m)
 *   q5_0, q5_1:  for each k: u32 of fifth bits (bit i: output i); then nibbles as q4:  d * (q - 16) or fma(d, q, m)
 *   q4_1f, q8_1f: f32 d[PANEL], m[PANEL]; quants as in q4_1, or for each k: u8 q[PANEL]     value = d * q + m, rounded twice
 * K types, for each 256 k:
 *   f16 d[PANEL]; (q2_k, q4_k, q5_k: f16 m[PANEL], the negated scale of the stored minimum;) then runs, each of 16 k (q2_k,
 *   q3_k, q6_k) or 32 k (q4_k, q5_k, iq4_xs): i8 s[PANEL]; (with m: i8 t[PANEL];) then quants:
 *   q2_k, q4_k:  as q4_1       value = fma(d * s, q, m * t)      5.125 and 4.625 bits a weight (stored: 2.625 and 4.5)
 *   q3_k:        as q4_0       value = d * s * (q - 4)           4.5625 (3.4375)
 *   q5_k:        as q5_1       value = fma(d * s, q, m * t)      5.625 (5.5)
 *   q6_k:        as q8_0       value = d * s * q                 8.5625 (6.5625)
 *   iq4_xs:      as q6_k, with the table value of each stored number    8.3125 (4.25)
 * Values are widened to f32 exactly as written here (products of an f16 and small integers are exact).
 *
 * Types of low-precision products; k missing at the end are zeros. From rows of f32, f16 or bf16:
 *   PK_BF16_PAIR: for each pair of k: u16 [PANEL][2], rounded to nearest even, subnormals to zero
 *   PK_I16_PAIR:  f32 scale[PANEL] = m / 32750, where m is the largest magnitude of the output's weights or an eighth of the largest sum of
 *                 magnitudes of I16_GROUP of them (f32, in ascending k), if that is more; 0: m is below 2^-111; NaN: m is not finite. Then
 *                 for each pair of k: int16 q[PANEL][2], q = x * (32750 / m) rounded to nearest even
 *                                                                           value = scale * q, |error| <= 0.51 scale
 *                 So the magnitudes of a group's q sum to less than 2^18, and their products with x's, at most 8191, to less than 2^31.
 *   PK_I8_QUAD:   f32 scale[PANEL] = largest magnitude of the output's weights / 127 (0: they are all below 2^-119; NaN: one of them is
 *                 not finite); int32 start[PANEL] = -128 * the sum of the output's q; then for each four k: int8 q[PANEL][4] in
 *                 [-127, 127]                                               value = scale * q, |error| <= scale / 2
 * By blocks, for each 32 k: f16 d[PANEL], then for each 16 outputs, so that a load gives a vector of them:
 *   PK_Q8_QUAD, PK_Q8_QUAD_A8 (which differ in the rounding of x):
 *                 for each four k: u8 [16][4] = q + 128                      value = d * q       34 bytes per 32 weights
 *                 From numbers as for q8_0: d = largest magnitude / 127, q = x * (1 / d) rounded to nearest even, in [-127, 127],
 *                 then d rounded to f16 (0: q are zeros; NaN: a weight, or d as f16, is not finite). From rows of q8_0 bit for bit; q may
 *                 be -128 there, and keeps that value.
 *   PK_Q4_QUAD:   for each eight k: u8 [16][4], the first four k in the low nibbles, the others in the high ones, nibble = q + 8, q in
 *                 [-8, 7]                                                    value = d * q       18 bytes per 32 weights
 *                 From rows of q4_0 only, bit for bit.
 *   The types after it: the same bits, from rows of their stored type only; panel.h has the layout. */
size_t pack_panel_sz(enum packed_type t, size_t k);
static inline size_t pack_panels(size_t n) { return (n + PANEL - 1) / PANEL; }
size_t pack_sz(enum packed_type t, size_t n, size_t k);
/* Whether rows of type `from` are packed as t directly: rounded types accept f32, f16 and bf16. Other rows must be widened to f32, which
 * the low-precision types before PK_Q4_QUAD accept. */
int pack_takes(enum packed_type t, enum dtype from);
/* rows[i]: row of output i of the panel, of a type `from` that pack_takes accepts, or NULL (zeros); no alignment is needed. The twin of
 * kern's pack. */
void pack_panel(void *panel, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k);

/* The loss of PK_Q8_QUAD: sums of squares of the errors |w - w'| and of the w'. Sums of a block are f32, those of blocks double. NaN if a
 * number has no value in the type. */
struct q8_loss { double error, norm; };
/* The loss of a row x [k] that linear of t rounds (PK_I8_QUAD, PK_Q8_QUAD or PK_Q8_QUAD_A8): a tight upper bound of the error, and |x|^2 in
 * place of |x'|^2. A row or block of magnitudes below 2^-80 counts as lost, with its largest magnitude for all its numbers. */
struct q8_loss q8_loss_of_x(enum packed_type t, const float *x, size_t k);
/* The largest error and the largest norm among the outputs of a PK_I8_QUAD panel, given the rows that it was packed from. */
struct q8_loss i8_loss_of_panel(const void *panel, enum dtype from, const void *const rows[PANEL], size_t k);

/* Widen a stored row to f32; this defines the block types. */
void dtype_widen_row(float *y, enum dtype t, const void *row, size_t k);
/* The inverse, for types that files of other programs use: dtype_is_quantized. x is finite; a value that is too large for the type becomes
 * infinite. kern/quantize_row.h has more. */
int dtype_is_quantized(enum dtype t);
void quantize_row(void *row, enum dtype t, const float *x, size_t k);

/* Index of the first weight that is not finite among k stored ones, in whole blocks. k: none. */
size_t dtype_find_nonfinite(enum dtype t, const void *weights, size_t k);

/* ---- f16 and bf16 conversion (plain C, exact, round to nearest even) */
float f16_to_f32(uint16_t h);
uint16_t f16_from_f32(float x);
static inline float bf16_to_f32(uint16_t h) { union { uint32_t u; float f; } v = { (uint32_t)h << 16 }; return v.f; }
uint16_t bf16_from_f32(float x);

/* ---- keys and values ------------------------------------------------------------------------------------------------------------
 * Per head, blocks of KV_BLOCK positions: K as [d_head][KV_BLOCK], then V as [KV_BLOCK][d_head]. Keys are transposed so that a score needs
 * no horizontal sum. Block i of a head begins at base + (table ? table[i] : i) * block_stride.
 *
 * KV_BF16 holds pairs, as PK_BF16_PAIR does, for products of bf16: K as u16 [d_head / 2][KV_BLOCK][2], pairs of d, then V as u16 [KV_BLOCK
 * / 2][d_head][2], pairs of positions. Values are rounded to nearest even, subnormals to zero.
 *
 * KV_INT holds integers q, keys of 12 bits and values of 8, for keys and values that are written once and read often; d_head is a multiple
 * of KV_INT_D. A position's KV_INT_D numbers share a scale: their largest magnitude m / 2039 (values: m / 127) rounded up to bf16; q = x *
 * (1 / scale) rounded to nearest even, value = scale * q. If m is below 2^-111, scale and q are 0; if it is not finite, the scale is NaN.
 * Keys' q are 16 high + low, low in [-8, 7]. Each KV_INT_D d of keys, as k of weights, and KV_BLOCK positions, as outputs, are stored as
 * packed blocks: bf16 scale[KV_BLOCK], high as in PK_Q8_QUAD, low as in PK_Q4_QUAD. Then follow, for each KV_INT_D d of values, with
 * positions as k and d as outputs: bf16 scale[KV_BLOCK], q as in PK_Q8_QUAD. Positions share no bytes. The size is 84 bytes where f16 needs
 * 128: a decoder's step over many windows is bound by reading them.
 *
 * KV_Q8 is KV_INT with keys of 8 bits: their scales are m / 127, too, q is high and there is no low part; 68 bytes where f16 needs 128. */
enum kv_type { KV_F32, KV_F16, KV_BF16, KV_INT, KV_Q8, KV_TYPES,
               /* Of one run as a whole, for run_kern only: panels of keys, then those of values; never in a state. */
               KV_I8 = KV_TYPES, KV_I16, KV_PANELS /* f32, for positions that are relative alone */, KV_ALL };
static inline int kv_is_run(enum kv_type t) { return t >= KV_TYPES; }
static inline enum packed_type kv_run_packed(enum kv_type t)
{
    return t == KV_I8 ? PK_I8_QUAD : t == KV_I16 ? PK_I16_PAIR : PK_F32;
}
static inline int kv_is_ints(enum kv_type t) { return t == KV_INT || t == KV_Q8; }
static inline size_t kv_elem_sz(enum kv_type t) { return t == KV_F32 ? 4 : 2; } /* not for integers */
size_t kv_block_sz(enum kv_type t, size_t d_head); /* of a block of one head; for a run's types, an upper bound */

struct kv_view {
    void *base;
    size_t block_stride;       /* bytes */
    const uint16_t *table;     /* block numbers, NULL: contiguous */
};
/* Key and value of a position of KV_F32, as kv_put stored them. */
void kv_get_f32(float *k, float *v, const struct kv_view *kv, uint32_t pos, size_t d_head);

/* ---- linear: y = act(x w^T + bias) (+ res) ---------------------------------------------------------------------------------------
 * Outputs [0, n_y) go to rows y[m * ld_y + n]. Outputs from n_y on, if any, go head-major into keys and values: the next n_kv to keys (n_kv
 * = 0: none), the rest to values. The position of row m is kv_pos + m, head h covers d_head outputs, and head h's view begins at kv.base +
 * h * kv_head_sz. Residual and activation apply to the y part only, bias to all. y may equal res (same ld). For integer keys and values,
 * n_y and n_kv are multiples of KV_INT_D.
 *
 * Low-precision products. The type of w determines how x is rounded, row by row, before it is multiplied:
 *   PK_BF16_PAIR  x as the weights: rounded to bf16, subnormals to zero. For each pair of k, the f32 accumulator adds first the product
 *                 of the odd k and then that of the even one (as VDPBF16PS does; products of bf16 are exact, so fusing makes no
 *                 difference). Level amx sums even and odd k separately, from 0 on for every 32 k, adds both sums, and adds the result
 *                 to the accumulator.
 *   PK_I16_PAIR   each I16_GROUP k of x separately: sx = largest magnitude of the group / 8191, q = x * (8191 / largest magnitude)
 *                 rounded to nearest even; the sum of q * q over a group is an exact integer; the f32 accumulator adds groups in
 *                 ascending order, acc = fma((float)sum, sx, acc); y = acc * the scale of the output. A group with a NaN or an infinity
 *                 makes its row NaN for every output; a group of magnitudes below 2^-111 counts as zeros.
 *   PK_I8_QUAD    x as the weights: scale = largest magnitude of the row / 127, q = x * (127 / largest magnitude) rounded to nearest even;
 *                 the sum of q * q is an exact integer; y = sum * (scale of the row * scale of the output), each step rounded to f32.
 *                 A row with a NaN or an infinity gives NaN for every output, a row of magnitudes below 2^-119 zeros.
 *   PK_Q8_QUAD    each 32 k of x as PK_I8_QUAD does a row: sx = largest magnitude of the block / 127, q = x * (127 / largest magnitude)
 *   PK_Q8_QUAD_A8 rounded to nearest even; the sum of q * q over a block is an exact integer; the f32 accumulator adds blocks in ascending
 *   PK_Q4_QUAD    order, acc = fma((float)sum, d * sx, acc), with d * sx rounded to f32. A block with a NaN or an infinity makes its row
 *                 NaN for every output; a block of magnitudes below 2^-119 counts as zeros.
 *                 PK_Q8_QUAD keeps 16 bits of x, so that only its weights have low precision: 32639 = 127 * 256 + 127 replaces 127, and
 *                 2^-111 replaces 2^-119. So do all others with 16 bits of x.
 *   other blocks  the same for each run of weights with a scale: d is the factor of q, an exact f32. With a minimum m, acc = fma(m, s, acc)
 *                 follows, where s = sx * (float)(the sum of the run's q of x), rounded to f32.
 * Each call rounds its rows of x again, so a call with many rows should compute all panels (kern_slices). Few rows may be cut like f32,
 * because they are bound by reading weights. By blocks, where rounding a row takes longer, a thread's next call may declare the rows
 * unchanged. */
enum act { ACT_NONE, ACT_GELU_ERF, ACT_GELU_TANH, ACT_RELU, ACT_SILU, ACT_TANH, ACT_SIGMOID, ACT_COUNT };

struct linear {
    const void *w;             /* packed panels, 64-byte aligned */
    const float *bias;         /* [n] or NULL */
    uint32_t n, k;
    uint32_t n_y, n_kv;        /* n_y == n: no keys and values */
    uint8_t act;               /* enum act */
    uint8_t kv_type;           /* enum kv_type */
    uint16_t d_head;
    int x_cached;              /* products by blocks: the last call with this scratch had the same rows of x, so they may still be in it */

    const float *x;            /* row m at x + m * ld_x, [k] readable */
    size_t ld_x;
    float *y;
    size_t ld_y;
    const float *res;          /* [rows, n_y] or NULL */
    size_t ld_res;
    struct kv_view kv;
    size_t kv_head_sz;         /* bytes between heads */
    uint32_t kv_pos;
};

/* Query rows of one head against that head's keys. Row i attends to keys [0, len[i]). len[i] == 0 gives zeros. out may not equal q.
 *
 * Block b, the keys [ATTN_KEYS * b, ATTN_KEYS * (b + 1)) that the row attends to, gives a partial: the maximum of its scaled scores, the
 * sum of its weights exp(score - maximum), and the sum of weights times values, one f32 accumulator per output that walks the keys in
 * ascending order from 0. Partials are merged in ascending order of b: of two, the one with the smaller maximum is scaled by exp(its
 * maximum - the other's) and added (fused if the level fuses) to the other. A partial without a score above -infinity is skipped, but if
 * one of its scores is NaN, every output of the row is NaN. Finally values are divided by the sum.
 *
 * With KV_BF16 q is rounded as keys are. A score is one f32 accumulator over pairs of d, the odd one first. Scale, maximum and exp are f32.
 * Then a block's weights are rounded to bf16, subnormals to zero (exp's own error: 2^-18 of itself). The sum that an output is divided by
 * is that of the rounded weights. Outputs accumulate pairs of positions in f32, the odd one first. If a row attends only to the even
 * position of its last pair, the odd one is not multiplied at all.
 * Level amx sums both, for any number of rows, as linear does there: for every 32 d, and for every block of positions, even and odd ones
 * separately. In a row's last block, positions past its length count as values of 0, whatever is stored there.
 *
 * With KV_INT q becomes integers, as x does in PK_Q8_QUAD for keys' high bits, and in PK_Q4_QUAD for their low ones. From 0 on and for each
 * KV_INT_D d in ascending order, a score is computed as acc = fma((float)sum of the high ones, sx * (16 * scale of the key), acc), then acc
 * = fma((float)sum of the low ones, sx * scale of the key, acc). Sums are exact integers, products of scales are rounded to f32. The f32
 * weights times the scales of the values of KV_INT_D d become integers as x does in PK_Q8_QUAD, but with one scale for all keys of the
 * block that the row attends to. The sum of q * q is again an exact integer, and the output is (float)sum * that scale. The sum that an
 * output is divided by is that of the f32 weights. A row that has a NaN or an infinity in q, or attends to a key with one, gives NaN for
 * every output (the result of attn_weights is then undefined). Values with one give NaN for their KV_INT_D outputs, for any weight, unless
 * their block is skipped. KV_Q8 is the same without the sums of low ones, and with the scale of the key not multiplied by 16. */
struct attn {
    float *out;                /* row i at out + i * ld_out, [d_head] */
    size_t ld_out;
    const float *q;            /* row i at q + i * ld_q */
    size_t ld_q;
    struct kv_view kv;
    const int32_t *len;        /* [rows] number of keys of row i; NULL: n_keys for all */
    int32_t n_keys;            /* used when len is NULL */
    uint32_t rows, d_head;
    uint32_t window;           /* a row attends to the last `window` of its keys; 0: all. Earlier keys have no weight, but are read, and
                                * must be finite */
    float scale;               /* of the f32 score; > 0 */
    struct kv_view next;       /* a hint: keys that the caller will use next */
    uint32_t n_next;           /* number of their blocks */
};

/* The first key with a weight, for a row that attends to len keys. */
static inline size_t attn_first_key(const struct attn *a, size_t len) { return a->window && len > a->window ? len - a->window : 0; }

/* ---- attention over the keys of a run, in integers ----------------------------------------------------------------------------------
 * Query rows of one head, each of which attends to all n_keys keys of a run, 1 <= n_keys <= RUN_KEYS_MAX. Keys and values are packed as
 * weights of kv_run_packed. Keys: [n_keys, d_head], with a scale for each key; a part that all keys share may be subtracted before, which
 * changes no weight. Values: transposed, [d_head, n_keys], with a scale for each d. q is rounded as a row of x is for that type. s =
 * (float)sum of q * q * scale of the key, in steps of the query; u = scale of the query * (scale * log2 e), rounded once each.
 *
 * KV_I8: the panels of values store, in place of the start values of sums, the middle of each d's range, and integers relative to it. A
 * weight is 2^(s * u + (log2 254 - the row's largest s * u)), 255 at most, rounded to nearest even. The sum of weight * q of an output is
 * an exact integer; y = fma(sum, 1 / sum of the weights * scale of the d, middle of the d). d_head: multiples of 4 up to HEAD_MAX.
 * KV_I16: each RUN_GROUP keys have a scale, 2^(their largest s * u - the row's largest), and a weight is 2^(s * u + (log2 16380 - the
 * group's largest s * u)), rounded to nearest even, times that scale. Values are scaled as weights are, but by a quarter of the largest sum
 * of magnitudes of such a group. Sums are those of linear over PK_I16_PAIR, by groups of keys; y = sum * (1 / sum of the weights * scale of
 * the d). d_head: multiples of 4 up to I16_GROUP. (With 8190 and groups of I16_GROUP keys, a group with low weights next to a high one lost
 * them: the error of the worst row was three times as large.)
 *
 * A row of q, a key, or a d of values with a NaN or an infinity gives NaN for the row, all rows, and that d of all rows.
 * Tolerance, relative to max |v|, from the formula with rounded weights: 3e-6, and one step of a weight for each weight that is within 1e-4
 * of itself from a tie; the same from the twin. Packing: the twin's bits, which panel_cut (panel.h) has changed if i16_is_cut. */
enum { RUN_KEYS_MAX = 65536, RUN_GROUP = 64 };
struct attn_run {
    float *out;                /* row i at out + i * ld_out, [d_head] */
    size_t ld_out;
    const float *q;            /* row i at q + i * ld_q */
    size_t ld_q;
    const void *keys, *values; /* packed, 64-byte aligned */
    uint32_t rows, d_head, n_keys;
    float scale;               /* of the score; > 0 */
};

struct attn_rel_run; /* rel_positions.h */

struct run_kern {
    void (*attn)(const struct attn_run *a, void *scratch); /* scratch: kern_attn_run_scratch bytes; not KV_PANELS */
    void (*attn_rel)(const struct attn_rel_run *a, void *scratch); /* scratch: kern_attn_rel_run_scratch bytes; not KV_I8 */
    /* Pack a panel of keys: n rows of x, at most PANEL, minus less[d_head] each. Pack a panel of values: all n rows, n_d columns, at most
     * PANEL. */
    void (*pack_keys)(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less);
    void (*pack_values)(void *panel, const float *x, size_t ld, size_t n, size_t n_d);
};

/* Floats between partials: whole cache lines of d_head values, one of the sum's lanes and one of the maximum. Only the level that computed
 * a partial can read it. */
static inline size_t attn_partial_len(size_t d_head) { return ((d_head + 15) & ~(size_t)15) + 32; }

/* Rows of an FSMN memory (Zhang et al. 2018, a depthwise filter over time with an identity): for each channel
 *   y[r] = add[r] + (x[r + left] + sum over j of w[j] x[r + j])
 * with one f32 accumulator that begins with x[r + left], or with `start`, and walks j upwards. y may equal add. */
struct fsmn {
    float *y;                  /* [rows, n], ld_y apart */
    const float *add;          /* [rows, n], ld_add apart, or NULL */
    const float *const *x;     /* [rows + taps - 1] rows of [n]; NULL: a row of zeros (never x[r + left] without start) */
    const float *w;            /* [taps, n] */
    const float *start;        /* [n] in place of x[r + left]: a filter without the identity; may be NULL */
    size_t taps, left, n, rows, ld_y, ld_add;
};

/* The processing of a frame of samples: a window, the power spectrum, weighted sums of bins (bands), their logarithms. Read-only and shared
 * by threads; filled by spectrum_init. */
enum { SPECTRUM_MAX = 512, SPECTRUM_BANDS = 128 };

struct spectrum_log {
    float floor, floor_log;    /* sums of at most floor / 2 give exactly floor_log, the minimum; floor / 2 is a normal number */
    float octave, unit;        /* logarithms of 2 and of e */
    float guard;               /* added to a sum before its logarithm; usually 0 */
};

struct spectrum {
    uint32_t n, n_bands;       /* points: 400 or 512 */
    float window[SPECTRUM_MAX];
    const float *weight;       /* [n_bands, n / 2 + 1]; weights may be anywhere in a band */
    uint16_t first[SPECTRUM_BANDS], last[SPECTRUM_BANDS]; /* bins with weight: [first, last) per band */
    struct spectrum_log log;
    float turn[SPECTRUM_MAX / 16][8][2], row_turn[SPECTRUM_MAX / 16][2]; /* roots of unity, in the order of the transform */
};
/* The caller fills the window. weight is kept, not copied. n_bands <= SPECTRUM_BANDS. */
void spectrum_init(struct spectrum *s, uint32_t n, const float *weight, uint32_t n_bands, const struct spectrum_log *log);

/* The result of one pass over a slice of logits, separately for text ids and timestamp ids. sum is relative to max: sum of exp(x - max).
 * Masked ids (-inf) count as absent. If all are absent: max = -INFINITY, arg = -1, sum = 0. Ties go to the lower id. */
struct logit_partial { float max, sum; int32_t arg; };

struct attn_rel; /* rel_positions.h */
struct kern {
    int level, i16_is_cut; /* enum cpu_level the table was made for; panels of KV_I16 are cut into bytes, for tiles */
    size_t cache; /* bytes of a core's second-level cache; set by kern_init, may be changed */
    size_t quad_steps; /* words of scratch for four k of int8 of x */
    size_t ints_panel_sz; /* bytes of scratch per panel for linear[PK_I16_PAIR], after the rows of x */
    /* pack_panel, bit for bit. loss: of PK_Q8_QUAD and PK_Q8_QUAD_A8 packed from numbers, not from q8_0, the largest error and the largest
     * norm of the panel's outputs; may be NULL. */
    void (*pack)(void *panel, struct q8_loss *loss, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k);
    /* 0: a packed weight may not be finite. It may also be finite, but too large to be rounded. */
    int (*panel_finite)(enum packed_type t, const void *panel, size_t k);
    /* Rows [m0, m1), panels [p0, p1). scratch: kern_linear_scratch bytes, 64-byte aligned, one per thread. */
    void (*linear[PK_COUNT])(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch);
    /* y[k] = row `id` of packed weights, widened. */
    void (*embed[PK_COUNT])(float *y, const void *w, size_t id, size_t k);

    /* scratch: kern_attn_scratch bytes. */
    void (*attn[KV_TYPES])(const struct attn *a, void *scratch);
    /* The same bits in two steps. First, row i's partial of block b is written to partial + i * ld_partial. Then out is computed from n
     * partials, that of row i and block b at partial + i * ld_partial + b * attn_partial_len(d_head). The n blocks contain every key of a
     * row. */
    void (*attn_partial[KV_TYPES])(const struct attn *a, size_t b, float *partial, size_t ld_partial, void *scratch);
    void (*attn_merge)(const struct attn *a, const float *partial, size_t ld_partial, size_t n);
    /* The weights that attn multiplies values with: row i of out, [n_keys], = softmax(scale q_i k^T) over keys [0, n_keys). len is NULL.
     * The same scratch. */
    void (*attn_weights[KV_TYPES])(const struct attn *a, void *scratch);
    struct run_kern run[KV_ALL - KV_TYPES]; /* kern_run */
    void (*attn_rel)(const struct attn_rel *a, void *scratch); /* scratch: kern_attn_rel_scratch bytes */
    /* Write position pos of one head: k[d_head], v[d_head]. */
    void (*kv_put[KV_TYPES])(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head);

    /* y = (x - mean) / sqrt(var + eps) * g + b, biased variance; b may be NULL; y may equal x. */
    void (*norm_layer)(float *y, const float *x, const float *g, const float *b, float eps, size_t n);
    /* y = x / sqrt(mean of x^2 + eps) * g; y may equal x. */
    void (*norm_rms)(float *y, const float *x, const float *g, float eps, size_t n);
    void (*softmax)(float *y, const float *x, size_t n);              /* -inf gives 0; all -inf gives all 0; y may equal x */
    void (*add)(float *y, const float *a, const float *b, size_t n);  /* y may equal a or b */
    void (*mul)(float *y, const float *a, const float *b, size_t n);  /* y may equal a or b */
    /* Rotary positions: n / 2 pairs of numbers turn by angles; turn: [n / 2] cosines, then n / 2 sines. A pair is x[j] and x[j + n / 2], or
     * neighbours, x[2 j] and x[2 j + 1]. The twin's bits. */
    void (*rope)(float *x, const float *turn, size_t n, int neighbours);
    void (*act[ACT_COUNT])(float *y, const float *x, size_t n);       /* ACT_NONE copies; y may equal x */
    /* y = x * scale + add; add may be NULL; y may equal x or add. */
    void (*scale)(float *y, const float *x, float scale, const float *add, size_t n);
    void (*fsmn)(const struct fsmn *f);
    /* Two rows of [n], stored as words of two bf16 with the even row in the lower half, as f32. */
    void (*unpair)(float *even, float *odd, const uint32_t *words, size_t n);
    /* A step of an LSTM. gates [4 n]: input, forget, cell, output, before their activations. c_before: the state of the cell; NULL: zeros.
     * c = sigmoid(forget) c_before + sigmoid(input) tanh(cell), h = sigmoid(output) tanh(c). c may be gates or c_before. */
    void (*lstm)(float *h, float *c, const float *gates, const float *c_before, size_t n);
    /* y[i] = sqrt(x[i]^2 + x[n + i]^2); one body, the twin's. */
    void (*magnitude)(float *y, const float *x, size_t n);
    /* Columns of x, [rows, n] with rows ld apart, in place: (x - mean) / std over the rows, with the population's std. 0 for a whole column
     * whose values differ by less than FLT_MIN from its first one (the quotient has no value there). rows >= 1. */
    void (*zscore)(float *x, size_t ld, size_t rows, size_t n);
    /* y[i] = add[i] + scale * the median of x[i - 3 .. i + 3], where x is mirrored at both ends (x[-1] is x[1]); a row of 3 or fewer is not
     * filtered. add may be NULL; y may equal add, but not x. */
    void (*median)(float *y, const float *x, const float *add, float scale, size_t n);

    /* Row i of out, [rows, n_bands], = the logarithms of the bands of frame x[i * hop .. i * hop + s->n). A row's bits do not depend on the
     * other frames of the call. scratch: kern_spectra_scratch() bytes, 64-byte aligned, one per thread. */
    void (*spectra)(float *out, const float *x, size_t hop, size_t rows, const struct spectrum *s, void *scratch);

    /* Logits x[0, n) of ids first .. first+n-1; ids whose bit is set in mask are absent (bit id of mask; mask may be NULL). */
    void (*logits_reduce)(struct logit_partial *partial, const float *x, const uint32_t *mask, int32_t first, size_t n);
    /* max[p] = the largest of y[p * PANEL, (p + 1) * PANEL), ignoring NaN; -inf if all are NaN. */
    void (*panel_max)(float *max, const float *y, size_t panels);
};

/* Are low-precision products of t faster than those of f32 at this level? Products of bf16 and int8 are faster on levels with instructions
 * for them, products by blocks from SSE4.1 on. Products of int16 are also faster at SSE4.1 and AVX2: PMADDWD computes two per lane, and the
 * addition after it can use one more port. They are not faster at AVX-512 without VNNI, where both share the two ports of 512-bit vectors,
 * nor on ARM. For PK_Q8_QUAD_A8: is it faster than PK_Q8_QUAD? */
int kern_gains(int level, enum packed_type t);
static inline struct run_kern *kern_run(struct kern *k, enum kv_type t) { return &k->run[t - KV_TYPES]; }
static inline const struct run_kern *kern_run_of(const struct kern *k, enum kv_type t) { return &k->run[t - KV_TYPES]; }
int kern_gains_attn(int level, enum kv_type t); /* is attention in t, KV_INT or of a run, faster than in types with more bits? */
void kern_init(struct kern *k, int level); /* level: highest to use; must be usable */
void kern_init_c(struct kern *k);
#define LEVEL(NAME, name, gains) void kern_init_##name(struct kern *k); /* overrides the kernels that it does better */
EACH_CPU_LEVEL(LEVEL)
#undef LEVEL

/* Preferred slices of many rows in linear: multiples of `step`, at most `max`. With `max` rows, the rounded part of x that linear keeps
 * (part of each row, or all of it) fills half of the second-level cache, or its scratch. Slices below `min` rows read the weights too
 * often. tile: the rows of its highest register tile. A step is a tile if lower tiles are slower, else less: rows are then shared among
 * tiles of equal height. */
struct slices { size_t tile, step, min, max; };
struct slices kern_slices(const struct kern *k, enum packed_type t, size_t n_k);

/* Bytes that a call of linear with at most `rows` rows, or a call of attention (d_head: multiples of 4 up to 256), may write; and a size
 * that is enough for each call at each level. */
size_t kern_linear_scratch(const struct kern *k, enum packed_type t, size_t n_k, size_t rows);
size_t kern_attn_scratch(const struct kern *k, enum kv_type t, size_t d_head);
size_t kern_attn_run_scratch(const struct kern *k, enum kv_type t, size_t n_keys);
size_t kern_attn_rel_scratch(size_t n_keys); /* n_keys: of the sequence */
size_t kern_attn_rel_run_scratch(size_t n_keys);
size_t kern_linear_scratch_max(void);
size_t kern_attn_scratch_max(void);
size_t kern_spectra_scratch(uint32_t n);   /* n points */
#endif
