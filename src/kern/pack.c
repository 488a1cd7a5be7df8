/* steno: packing weights. SPDX-License-Identifier: MIT
 *
 * Rows of a matrix become panels of 32 interleaved outputs, so that a kernel reads one short stream and needs no horizontal sums. Block
 * types keep their bits: packing moves quants and scales, it never changes a value. For low-precision products numbers are rounded. This
 * file is the definition, and also the implementation for types without rounding; pack.h is faster for the others. */
#include "kern/finite.h"
#include "kern/ref.h"

size_t pack_panel_sz(enum packed_type t, size_t k) { return panel_sz(t, k); }
size_t pack_sz(enum packed_type t, size_t n, size_t k) { return pack_panels(n) * pack_panel_sz(t, k); }

/* Eight k of all rows at a time: each row is read in short runs while the panel's lines stay in the first-level cache. */
enum { RUN = 8 };

static void pack_words(uint32_t *out, const void *const rows[PANEL], size_t k)
{
    for (size_t k0 = 0; k0 < k; k0 += RUN) {
        const size_t n = size_min(RUN, k - k0);
        for (size_t i = 0; i < PANEL; i++) {
            uint32_t v[RUN] = { 0 };
            if (rows[i]) memcpy(v, (const char *)rows[i] + k0 * 4, n * 4);
            for (size_t j = 0; j < n; j++) out[(k0 + j) * PANEL + i] = v[j];
        }
    }
}

static void pack_halves(uint16_t *out, const void *const rows[PANEL], size_t k)
{
    for (size_t k0 = 0; k0 < k; k0 += RUN) {
        const size_t n = size_min(RUN, k - k0);
        for (size_t i = 0; i < PANEL; i++) {
            uint16_t v[RUN] = { 0 };
            if (rows[i]) memcpy(v, (const char *)rows[i] + k0 * 2, n * 2);
            for (size_t j = 0; j < n; j++) out[(k0 + j) * PANEL + i] = v[j];
        }
    }
}

/* Bit j of word i becomes bit i of word j: halves, quarters, … are exchanged across the diagonal. */
static void transpose_bits(uint32_t a[32])
{
    uint32_t mask = 0x0000ffffu;
    for (unsigned s = 16; s; s >>= 1, mask ^= mask << s)
        for (unsigned i = 0; i < 32; i = (i + s + 1) & ~s) {
            const uint32_t swap = (a[i] >> s ^ a[i + s]) & mask;
            a[i + s] ^= swap;
            a[i] ^= swap << s;
        }
}

/* Copy one output's stored block into its column of the packed block; its fifth bits go to *fifth. */
static void pack_block(uint8_t *out, uint32_t *fifth, enum packed_type t, const uint8_t *p, size_t i)
{
    const size_t wide = packed_has_wide(t) ? 4 : 2; /* bytes of a scale, and of a minimum */
    memcpy(out + wide * i, p, wide);
    p += wide, out += PANEL * wide;
    if (packed_has_min(t)) {
        memcpy(out + wide * i, p, wide);
        p += wide, out += PANEL * wide;
    }
    if (packed_is_byte(t)) {
        for (size_t j = 0; j < QBLOCK; j++) out[j * PANEL + i] = p[j];
        return;
    }
    if (packed_has_fifth(t)) {
        *fifth = load_u32(p);
        p += 4, out += QBLOCK * 4;
    }
    for (size_t j = 0; j < QBLOCK / 4; j++) { /* stored: elements j and j + 16 share a byte; packed: elements 2j and 2j + 1 */
        out[j * PANEL + i] = (uint8_t)((p[2 * j] & 15) | (p[2 * j + 1] & 15) << 4);
        out[(j + QBLOCK / 4) * PANEL + i] = (uint8_t)(p[2 * j] >> 4 | (p[2 * j + 1] & 0xf0));
    }
}

/* The same for a K type; fifth: [runs][PANEL]. */
static void pack_k_block(uint8_t *out, uint32_t (*fifth)[PANEL], enum packed_type t, const uint8_t *stored, size_t i)
{
    struct k_block b;
    const size_t len = run_len(t);
    const int offset = packed_offset(t);
    k_block_split(&b, packed_source(t), stored);
    memcpy(out + 2 * i, &b.d, 2);
    b.dmin ^= 0x8000u;
    if (packed_has_min(t)) memcpy(out + 2 * PANEL + 2 * i, &b.dmin, 2);
    out += block_head_sz(t);
    for (size_t r = 0; r < KBLOCK / len; r++, out += run_sz(t)) {
        const int8_t *q = b.q + r * len;
        uint8_t *to = out + run_head_sz(t) + i;
        out[i] = (uint8_t)b.scale[r];
        if (packed_has_min(t)) out[PANEL + i] = (uint8_t)b.min[r];
        if (packed_is_byte(t)) {
            for (size_t j = 0; j < len; j++) to[j * PANEL] = (uint8_t)q[j];
            continue;
        }
        if (packed_has_fifth(t)) {
            for (size_t j = 0; j < len; j++) fifth[r][i] |= (uint32_t)(q[j] >> 4 & 1) << j;
            to += len * 4;
        }
        for (size_t j = 0; j < len / 2; j++)
            to[j * PANEL] = (uint8_t)(((q[2 * j] + offset) & 15) | ((q[2 * j + 1] + offset) & 15) << 4);
    }
}

static void pack_k(uint8_t *out, enum packed_type t, const void *const rows[PANEL], size_t k)
{
    memset(out, 0, panel_sz(t, k));
    for (size_t b = 0; b < k / KBLOCK; b++, out += panel_block_sz(t)) {
        uint32_t fifth[KBLOCK / QBLOCK][PANEL] = { 0 };
        for (size_t i = 0; i < PANEL; i++)
            if (rows[i]) pack_k_block(out, fifth, t, (const uint8_t *)rows[i] + dtype_row_sz(packed_source(t), b * KBLOCK), i);
        for (size_t r = 0; r < KBLOCK / QBLOCK && packed_has_fifth(t); r++) {
            transpose_bits(fifth[r]);
            memcpy(out + block_head_sz(t) + r * run_sz(t) + run_head_sz(t), fifth[r], sizeof fifth[r]);
        }
    }
}

/* n numbers of a row of f32, f16 or bf16 from number k0 on. */
static void widen_some(float *v, enum dtype from, const void *row, size_t k0, size_t n)
{
    dtype_widen_row(v, from, (const uint8_t *)row + dtype_row_sz(from, k0), n);
}

static void pack_pairs(uint16_t *out, enum dtype from, const void *const rows[PANEL], size_t k)
{
    memset(out, 0, panel_sz(PK_BF16_PAIR, k));
    for (size_t k0 = 0; k0 < k; k0 += RUN)
        for (size_t i = 0; i < PANEL; i++) {
            const size_t n = rows[i] ? size_min(RUN, k - k0) : 0;
            float v[RUN];
            if (n) widen_some(v, from, rows[i], k0, n);
            for (size_t j = 0; j < n; j++) out[((k0 + j) / 2 * PANEL + i) * 2 + j % 2] = bf16_rounded(v[j]);
        }
}

static void pack_quads(uint8_t *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    float scale[PANEL] = { 0 };
    int32_t start[PANEL] = { 0 };
    uint8_t *out = panel + lowp_head_sz(PK_I8_QUAD);
    memset(out, 0, lowp_words(PK_I8_QUAD, k) * PANEL * 4);
    for (size_t i = 0; i < PANEL; i++) {
        float v[QBLOCK];
        uint32_t max = 0;
        for (size_t k0 = 0; k0 < k && rows[i]; k0 += QBLOCK) {
            const size_t n = size_min(QBLOCK, k - k0);
            widen_some(v, from, rows[i], k0, n);
            const uint32_t mag = max_abs_bits(v, n);
            max = mag > max ? mag : max;
        }
        const struct int_scale s = i8_scale_of(max);
        scale[i] = s.scale;
        for (size_t k0 = 0; k0 < k && s.inverse > 0; k0 += QBLOCK) { /* otherwise zeros, or a row that is NaN for any q */
            const size_t n = size_min(QBLOCK, k - k0);
            widen_some(v, from, rows[i], k0, n);
            for (size_t j = 0; j < n; j++) {
                const int q = i8_rounded(v[j], s.inverse) - 128;
                out[((k0 + j) / 4 * PANEL + i) * 4 + j % 4] = (uint8_t)q;
                start[i] -= 128 * q;
            }
        }
    }
    memcpy(panel, scale, sizeof scale);
    memcpy(panel + sizeof scale, start, sizeof start);
}

/* The number that the largest integer of a PK_I16_PAIR row represents. */
static float i16_row_max(enum dtype from, const void *row, size_t k)
{
    uint32_t max = 0, max_sum = 0; /* bits, see i8_scale_of */
    for (size_t k0 = 0; k0 < k; k0 += I16_GROUP) {
        const size_t n = size_min(I16_GROUP, k - k0);
        float v[I16_GROUP], sum = 0;
        widen_some(v, from, row, k0, n);
        for (size_t j = 0; j < n; j++) sum += fabsf(v[j]);
        const uint32_t mag = max_abs_bits(v, n), sum_bits = bits_of_f32(sum);
        max = mag > max ? mag : max;
        max_sum = sum_bits > max_sum ? sum_bits : max_sum;
    }
    return i16_weight_max(max, max_sum, I16_SUM);
}

static void pack_ints(uint8_t *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    float scale[PANEL] = { 0 };
    uint16_t *out = (uint16_t *)(void *)(panel + lowp_head_sz(PK_I16_PAIR));
    memset(out, 0, lowp_words(PK_I16_PAIR, k) * PANEL * 4);
    for (size_t i = 0; i < PANEL; i++) {
        if (!rows[i]) continue;
        const struct int_scale s = i16_scale_of(i16_row_max(from, rows[i], k), I16_W_MAX);
        scale[i] = s.scale;
        for (size_t k0 = 0; k0 < k && s.inverse > 0; k0 += QBLOCK) {
            const size_t n = size_min(QBLOCK, k - k0);
            float v[QBLOCK];
            widen_some(v, from, rows[i], k0, n);
            for (size_t j = 0; j < n; j++) out[((k0 + j) / 2 * PANEL + i) * 2 + j % 2] = i16_rounded(v[j], s.inverse);
        }
    }
    memcpy(panel, scale, sizeof scale);
}

/* Pack a block of n numbers into its column, which holds zeros, and add its loss. */
static void pack_block_q8(uint8_t *out, struct q8_loss *loss, const float *x, size_t n, size_t i)
{
    const struct q8_scale s = q8_scale_of(x, n);
    float error = 0, norm = 0;
    memcpy(out + 2 * i, &s.half, 2);
    for (size_t j = 0; j < n; j++) {
        const uint8_t q = s.inverse ? i8_rounded(x[j], s.inverse) : 128;
        const float near = s.d * (float)(q - 128), off = x[j] - near;
        out[2 * PANEL + quad_at(PK_Q8_QUAD, j, i)] = q;
        error += off * off;
        norm += near * near;
    }
    loss->error += (double)error;
    loss->norm += (double)norm;
}

static void pack_q8(uint8_t *out, struct q8_loss *loss, enum dtype from, const void *const rows[PANEL], size_t k)
{
    struct q8_loss of[PANEL] = { { 0 } };
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK, out += quad_block_sz(PK_Q8_QUAD)) {
        memset(out, 0, 2 * PANEL);
        memset(out + 2 * PANEL, 0x80, QBLOCK * PANEL);
        for (size_t i = 0; i < PANEL; i++) {
            const size_t n = size_min(QBLOCK, k - k0);
            float v[QBLOCK];
            if (!rows[i]) continue;
            widen_some(v, from, rows[i], k0, n);
            pack_block_q8(out, &of[i], v, n, i);
        }
    }
    if (loss) *loss = q8_loss_max(of);
}

/* Four k are a word, here as in the file. */
static void pack_block_q8_0(uint8_t *out, const uint8_t *p, size_t i)
{
    memcpy(out + 2 * i, p, 2);
    for (size_t j = 0; j < QBLOCK; j += 4) {
        const uint32_t q = load_u32(p + 2 + j) ^ 0x80808080u;
        memcpy(out + 2 * PANEL + quad_at(PK_Q8_QUAD, j, i), &q, 4);
    }
}

/* In the file, k and k + 16 share a byte; packed, k and k + 4 do. From two words of the file, both low nibbles form a word, and both high
 * ones. */
static void pack_block_q4_0(uint8_t *out, const uint8_t *p, size_t i)
{
    memcpy(out + 2 * i, p, 2);
    for (size_t j = 0; j < QBLOCK / 2; j += 8) {
        const uint32_t a = load_u32(p + 2 + j), b = load_u32(p + 6 + j), nibbles = 0x0f0f0f0fu;
        const uint32_t low = (a & nibbles) | (b & nibbles) << 4, high = (a >> 4 & nibbles) | (b & ~nibbles);
        memcpy(out + 2 * PANEL + quad_at(PK_Q4_QUAD, j, i), &low, 4);
        memcpy(out + 2 * PANEL + quad_at(PK_Q4_QUAD, j + 16, i), &high, 4);
    }
}

/* Five bits, in the file an unsigned number: a nibble, as in q4_0, and a bit of the word before the nibbles. */
static void pack_block_q5_0(uint8_t *out, const uint8_t *p, size_t i)
{
    const uint32_t fifth = load_u32(p + 2);
    memcpy(out + 2 * i, p, 2);
    for (size_t j = 0; j < QBLOCK; j++) {
        const unsigned nibble = p[6 + j % 16] >> (j < 16 ? 0 : 4) & 15;
        out[2 * PANEL + quad_at(PK_Q8_QUAD, j, i)] = (uint8_t)((nibble | (fifth >> j & 1) << 4) - 16 + 128);
    }
}

static void pack_stored_blocks(uint8_t *out, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k)
{
    for (size_t b = 0; b < quad_blocks(k); b++, out += quad_block_sz(t)) {
        memset(out, 0, 2 * PANEL);
        memset(out + 2 * PANEL, quad_is_bytes(t) ? 0x80 : 0x88, quad_block_sz(t) - 2 * PANEL);
        for (size_t i = 0; i < PANEL; i++) {
            if (!rows[i]) continue;
            const uint8_t *block = (const uint8_t *)rows[i] + dtype_row_sz(from, b * QBLOCK);
            if (from == DT_Q4_0) pack_block_q4_0(out, block, i);
            else if (from == DT_Q5_0) pack_block_q5_0(out, block, i);
            else pack_block_q8_0(out, block, i);
        }
    }
}

/* Write the weights of a block, q plus the offset, into their column: words of four k, then low bits two words to one, and those above. */
static void put_quads(uint8_t *weights, enum packed_type t, const uint8_t q[QBLOCK], size_t i)
{
    const size_t bits = quad_bits(t);
    uint8_t *above = weights + (i / QUAD_W * bits * QUAD_W + i % QUAD_W) * 4;
    uint32_t word[QBLOCK / 4], upper[2] = { 0 };
    memcpy(word, q, sizeof word);
    for (size_t j = 0; j < QBLOCK / 4; j++) {
        const uint32_t low = word[j] & 0x0f0f0f0fu, pair = j % 2 ? (word[j - 1] & 0x0f0f0f0fu) | low << 4 : 0;
        if (bits == 8) memcpy(weights + quad_at(t, 4 * j, i), word + j, 4);
        else if (j % 2) memcpy(weights + quad_at(t, 4 * j - 4, i), &pair, 4);
        if (bits == 5) upper[0] |= (word[j] >> 4 & 0x01010101u) << j;
        if (bits == 6) upper[j / 4] |= (word[j] >> 4 & 0x03030303u) << j % 4 * 2;
    }
    for (size_t j = 0; j + 4 < bits && bits < 8; j++) memcpy(above + j * QUAD_W * 4, upper + j, 4);
}

/* Four or five bits without a sign, and a minimum. */
static void pack_block_min(uint8_t *out, enum packed_type t, const uint8_t *p, size_t i)
{
    const int has_fifth = quad_bits(t) == 5;
    uint8_t q[QBLOCK];
    memcpy(out + 2 * i, p, 2);
    p += 2;
    if (quad_has_min(t)) memcpy(out + 2 * PANEL + 2 * i, p, 2), p += 2;
    const uint32_t fifth = has_fifth ? load_u32(p) : 0;
    if (has_fifth) p += 4;
    for (size_t j = 0; j < QBLOCK; j++) q[j] = (uint8_t)((p[j % 16] >> (j < 16 ? 0 : 4) & 15) | (fifth >> j & 1) << 4);
    put_quads(out + quad_head_sz(t), t, q, i);
}

static void pack_block_k(uint8_t *out, enum packed_type t, const uint8_t *stored, size_t i)
{
    const size_t runs = quad_runs(t);
    struct k_block b;
    k_block_split(&b, packed_source(t), stored);
    b.dmin ^= 0x8000u;
    memcpy(out + 2 * i, &b.d, 2);
    if (quad_has_min(t)) memcpy(out + 2 * PANEL + 2 * i, &b.dmin, 2);
    out += quad_head_sz(t);
    for (size_t at = 0; at < KBLOCK / QBLOCK; at++, out += quad_run_sz(t)) {
        uint8_t q[QBLOCK];
        for (size_t r = 0; r < runs; r++) {
            out[r * PANEL + i] = (uint8_t)b.scale[at * runs + r];
            if (quad_has_min(t)) out[(runs + r) * PANEL + i] = (uint8_t)b.min[at * runs + r];
        }
        for (size_t j = 0; j < QBLOCK; j++) q[j] = (uint8_t)(b.q[at * QBLOCK + j] + quad_offset(t));
        put_quads(out + quad_run_head_sz(t), t, q, i);
    }
}

static void pack_quads_as_stored(uint8_t *out, enum packed_type t, const void *const rows[PANEL], size_t k)
{
    const size_t sz = dtype_row_sz(packed_source(t), QBLOCK * quad_per_head(t));
    memset(out, 0, panel_sz(t, k));
    for (size_t b = 0; b < quad_blocks(k) / quad_per_head(t); b++, out += quad_block_sz(t))
        for (size_t i = 0; i < PANEL; i++) {
            if (!rows[i]) continue;
            const uint8_t *stored = (const uint8_t *)rows[i] + b * sz;
            if (quad_is_k(t)) pack_block_k(out, t, stored, i);
            else pack_block_min(out, t, stored, i);
        }
}

int pack_takes(enum packed_type t, enum dtype from)
{
    if (!packed_is_lowp(t) || t >= PK_Q4_QUAD) return from == packed_source(t);
    return dtype_block(from) == 1 || (quad_is_bytes(t) && (from == DT_Q5_0 || from == DT_Q8_0));
}

void pack_lossy(void *panel, struct q8_loss *loss, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k)
{
    if (quad_is_bytes(t) && dtype_block(from) == 1) { pack_q8(panel, loss, from, rows, k); return; }
    if (t > PK_Q4_QUAD) { pack_quads_as_stored(panel, t, rows, k); return; }
    if (packed_by_blocks(t)) { pack_stored_blocks(panel, t, from, rows, k); return; }
    if (t == PK_F32) { pack_words(panel, rows, k); return; }
    if (t == PK_BF16_PAIR) { pack_pairs(panel, from, rows, k); return; }
    if (t == PK_I16_PAIR) { pack_ints(panel, from, rows, k); return; }
    if (t == PK_I8_QUAD) { pack_quads(panel, from, rows, k); return; }
    if (t == PK_F16 || t == PK_BF16) { pack_halves(panel, rows, k); return; }
    if (packed_is_k(t)) { pack_k(panel, t, rows, k); return; }
    const size_t sz = panel_block_sz(t), row_block = dtype_row_sz(packed_source(t), QBLOCK);
    memset(panel, 0, k / QBLOCK * sz);
    for (size_t b = 0; b < k / QBLOCK; b++) {
        uint8_t *out = (uint8_t *)panel + b * sz;
        uint32_t fifth[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL; i++)
            if (rows[i]) pack_block(out, &fifth[i], t, (const uint8_t *)rows[i] + b * row_block, i);
        if (!packed_has_fifth(t)) continue;
        transpose_bits(fifth);
        memcpy(out + PANEL * (packed_has_min(t) ? 4 : 2), fifth, sizeof fifth);
    }
}

void pack_panel(void *panel, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k)
{
    pack_lossy(panel, NULL, t, from, rows, k);
}

/* A whole block of x in steps of its scale: the squares of its numbers, and of their rounding errors. Sums are computed in parallel, so
 * that compilers vectorise them. */
static struct q8_loss block_steps(const float *x, float inverse)
{
    enum { SUMS = 8 };
    float left[SUMS] = { 0 }, all[SUMS] = { 0 };
    for (size_t j = 0; j < QBLOCK; j += SUMS)
        for (size_t i = 0; i < SUMS; i++) {
            const float u = x[j + i] * inverse, off = u - (u + I8_MAGIC - I8_MAGIC);
            left[i] += off * off;
            all[i] += u * u;
        }
    for (size_t i = 1; i < SUMS; i++) left[0] += left[i], all[0] += all[i];
    return (struct q8_loss){ (double)left[0], (double)all[0] };
}

/* For a block with scale s and inverse v: u = x * v as linear rounds it, and q, the integer nearest to u. u - q is exact. s, v and u
 * each have a relative error of 2^-24, so x = s u (1 + e) with |e| at most slightly more than 3 * 2^-24, and x - s q = s (u - q) + e s
 * u. For whole rows: |x - x'| is at most the root of the sum of all (s (u - q))^2, plus 3 * 2^-24 |x|. That also exceeds the rounding of
 * f32 sums. */
struct q8_loss q8_loss_of_x(enum packed_type t, const float *x, size_t k)
{
    static double const smallest = 0x1p-80; /* if the largest magnitude is smaller, scales of a block may be flushed to zero: the block
                                             * counts as lost */
    static double const rounding = 0x3.0001p-24;
    struct q8_loss loss = { 0 };
    const uint32_t row = t == PK_I8_QUAD ? max_abs_bits(x, k) : 0;
    for (size_t b = 0; b < k; b += QBLOCK, x += QBLOCK) {
        const size_t n = size_min(QBLOCK, k - b);
        float last[QBLOCK] = { 0 };
        const float *block = n == QBLOCK ? x : memcpy(last, x, n * sizeof *x);
        const uint32_t bits = t == PK_I8_QUAD ? row : max_abs_bits(block, QBLOCK);
        const double max = (double)load_f32(&bits);
        const struct int_scale s = block_scale_of(t, bits);
        const struct q8_loss steps = block_steps(block, s.inverse);
        const double square = (double)s.scale * (double)s.scale;
        const int is_lost = max < smallest;
        loss.error += is_lost ? (double)n * max * max : square * steps.error;
        loss.norm += is_lost ? (double)n * max * max : square * steps.norm;
    }
    const double off = sqrt(loss.error) + rounding * sqrt(loss.norm);
    loss.error = off * off;
    return loss;
}

/* The loss of output i of a panel, whose row has type `from`. */
static struct q8_loss i8_loss_of_row(const uint8_t *panel, size_t i, enum dtype from, const uint8_t *row, size_t k)
{
    enum { PART = 256 };
    const double scale = (double)load_f32(panel + 4 * i);
    const int8_t *q = (const int8_t *)panel + lowp_head_sz(PK_I8_QUAD);
    struct q8_loss loss = { 0 };
    for (size_t at = 0; at < k; at += PART) {
        float w[PART];
        const size_t n = size_min(PART, k - at);
        dtype_widen_row(w, from, row + dtype_row_sz(from, at), n);
        for (size_t j = 0; j < n; j++) {
            const double is = scale * q[((at + j) / 4 * PANEL + i) * 4 + (at + j) % 4], off = (double)w[j] - is;
            loss.error += off * off;
            loss.norm += is * is;
        }
    }
    return loss;
}

struct q8_loss i8_loss_of_panel(const void *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    struct q8_loss of[PANEL] = { { 0 } };
    for (size_t i = 0; i < PANEL; i++)
        if (rows[i]) of[i] = i8_loss_of_row(panel, i, from, rows[i], k);
    return q8_loss_max(of);
}

int panel_finite_c(enum packed_type t, const void *panel, size_t k) { return panel_finite(t, panel, k); }
