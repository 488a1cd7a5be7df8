/* steno: packing weights, over vectors. SPDX-License-Identifier: MIT
 *
 * 32 k of a panel's rows are transposed into a tile, in which the 32 outputs of a k are adjacent. An output is then a lane. Comparisons and
 * sums proceed from k to k, in pack.c's order, with plain loops over outputs that compilers vectorise. They round as pack.c does, so the
 * bits are the same. pack.c handles types without rounding, blocks, and rows with an incomplete last block. */
#ifndef STENO_KERN_PACK_H
#define STENO_KERN_PACK_H
#include "kern/finite.h"
#include "kern/vec.h"

INLINE void turn_as(float (*tile)[PANEL], enum dtype from, const void *const rows[PANEL], size_t k0, size_t n)
{
    for (size_t i = 0; i < PANEL; i += VF_N)
        for (size_t j = 0; j < n; j += VF_N) {
            vf v[VF_N];
            UNROLL
            for (size_t r = 0; r < VF_N; r++) v[r] = rows[i + r] ? load_weights(packed_as_stored(from), rows[i + r], k0 + j) : vf_zero();
            vf_transpose(v);
            UNROLL
            for (size_t r = 0; r < VF_N; r++) vf_store(tile[j + r] + i, v[r]);
        }
}

/* tile[j][i] = number k0 + j of row i, j < n, a multiple of VF_N. */
static void turn(float (*tile)[PANEL], enum dtype from, const void *const rows[PANEL], size_t k0, size_t n)
{
    if (from == DT_F16) turn_as(tile, DT_F16, rows, k0, n);
    else if (from == DT_BF16) turn_as(tile, DT_BF16, rows, k0, n);
    else turn_as(tile, DT_F32, rows, k0, n);
}

static void pack_f32_panel(float *out, const void *const rows[PANEL], size_t k)
{
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK, out += QBLOCK * PANEL) turn((float(*)[PANEL])(void *)out, DT_F32, rows, k0, QBLOCK);
}

/* Two k are transposed as one word. */
static void pack_half_panel(uint16_t *out, const void *const rows[PANEL], size_t k)
{
    for (size_t k0 = 0; k0 < k / 2; k0 += QBLOCK / 2) {
        _Alignas(64) float tile[QBLOCK / 2][PANEL];
        turn(tile, DT_F32, rows, k0, QBLOCK / 2);
        for (size_t j = 0; j < QBLOCK / 2; j++, out += 2 * PANEL) {
            for (size_t i = 0; i < PANEL; i++) out[i] = (uint16_t)bits_of_f32(tile[j][i]);
            for (size_t i = 0; i < PANEL; i++) out[PANEL + i] = (uint16_t)(bits_of_f32(tile[j][i]) >> 16);
        }
    }
}

static void pack_pair_panel(uint32_t *out, enum dtype from, const void *const rows[PANEL], size_t k)
{
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK) {
        _Alignas(64) float tile[QBLOCK][PANEL];
        turn(tile, from, rows, k0, QBLOCK);
        for (size_t j = 0; j < QBLOCK; j += 2, out += PANEL)
            for (size_t i = 0; i < PANEL; i++) out[i] = (uint32_t)bf16_rounded(tile[j + 1][i]) << 16 | bf16_rounded(tile[j][i]);
    }
}

INLINE void tile_max_abs(uint32_t max[PANEL], float tile[QBLOCK][PANEL])
{
    for (size_t j = 0; j < QBLOCK; j++)
        for (size_t i = 0; i < PANEL; i++) {
            const uint32_t mag = bits_of_f32(tile[j][i]) & 0x7fffffffu;
            max[i] = mag > max[i] ? mag : max[i];
        }
}

/* Four k of each output as bytes with 128 added; outputs with inverse 0 count as zeros. */
INLINE void tile_quads(uint32_t word[PANEL], float (*tile)[PANEL], const float inverse[PANEL])
{
    for (size_t i = 0; i < PANEL; i++) {
        const float by = inverse[i];
        const uint32_t a = i8_rounded(tile[0][i], by), b = i8_rounded(tile[1][i], by);
        const uint32_t c = i8_rounded(tile[2][i], by), d = i8_rounded(tile[3][i], by);
        word[i] = by > 0 ? a | b << 8 | c << 16 | d << 24 : 0x80808080u;
    }
}

static void pack_quad_panel(uint8_t *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    _Alignas(64) float tile[QBLOCK][PANEL], scale[PANEL], inverse[PANEL];
    _Alignas(64) uint32_t max[PANEL] = { 0 };
    int32_t sum[PANEL] = { 0 };
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK) {
        turn(tile, from, rows, k0, QBLOCK);
        tile_max_abs(max, tile);
    }
    for (size_t i = 0; i < PANEL; i++) {
        const struct int_scale s = i8_scale_of(max[i]);
        scale[i] = s.scale, inverse[i] = s.inverse;
    }
    uint8_t *out = panel + lowp_head_sz(PK_I8_QUAD);
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK) {
        turn(tile, from, rows, k0, QBLOCK);
        for (size_t j = 0; j < QBLOCK; j += 4, out += 4 * PANEL) {
            uint32_t word[PANEL];
            tile_quads(word, tile + j, inverse);
            for (size_t i = 0; i < PANEL; i++) {
                const uint32_t w = word[i];
                sum[i] += (int32_t)((w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24)) - 4 * 128;
                word[i] = w ^ 0x80808080u;
            }
            memcpy(out, word, sizeof word);
        }
    }
    for (size_t i = 0; i < PANEL; i++) sum[i] *= -128;
    memcpy(panel, scale, sizeof scale);
    memcpy(panel + sizeof scale, sum, sizeof sum);
}

/* Sums of magnitudes of each output, over the tile and the previous ones of a group. */
INLINE void tile_magnitudes(float sum[PANEL], float tile[QBLOCK][PANEL])
{
    for (size_t j = 0; j < QBLOCK; j++)
        for (size_t i = 0; i < PANEL; i++) sum[i] += fabsf(tile[j][i]);
}

static void pack_int_panel(uint8_t *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    _Alignas(64) float tile[QBLOCK][PANEL], sum[PANEL], scale[PANEL], inverse[PANEL];
    _Alignas(64) uint32_t max[PANEL] = { 0 }, max_sum[PANEL] = { 0 };
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK) {
        if (k0 % I16_GROUP == 0) memset(sum, 0, sizeof sum);
        turn(tile, from, rows, k0, QBLOCK);
        tile_max_abs(max, tile);
        tile_magnitudes(sum, tile);
        for (size_t i = 0; i < PANEL; i++) { /* sums only grow, so partial sums of a group may be compared as well */
            const uint32_t bits = bits_of_f32(sum[i]);
            max_sum[i] = bits > max_sum[i] ? bits : max_sum[i];
        }
    }
    for (size_t i = 0; i < PANEL; i++) {
        const struct int_scale s = i16_scale_of(i16_weight_max(max[i], max_sum[i], I16_SUM), I16_W_MAX);
        scale[i] = s.scale, inverse[i] = s.inverse;
    }
    memcpy(panel, scale, sizeof scale);
    uint32_t *out = (uint32_t *)(void *)(panel + sizeof scale);
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK) {
        turn(tile, from, rows, k0, QBLOCK);
        for (size_t j = 0; j < QBLOCK; j += 2, out += PANEL)
            for (size_t i = 0; i < PANEL; i++) {
                const uint32_t even = i16_rounded(tile[j][i], inverse[i]), odd = i16_rounded(tile[j + 1][i], inverse[i]);
                out[i] = inverse[i] > 0 ? odd << 16 | even : 0;
            }
    }
}

/* q8_scale_of for each output's block. */
struct q8_scales { _Alignas(64) float d[PANEL], inverse[PANEL]; uint16_t half[PANEL]; };

INLINE void tile_scales(struct q8_scales *s, float tile[QBLOCK][PANEL])
{
    uint32_t max[PANEL] = { 0 };
    float exact[PANEL];
    tile_max_abs(max, tile);
    for (size_t i = 0; i < PANEL; i++) exact[i] = load_f32(max + i) / I8_MAX;
    for (size_t i = 0; i < PANEL; i += VF_N) vf_store_f16(s->half + i, vf_load(exact + i));
    for (size_t i = 0; i < PANEL; i++) s->half[i] = (s->half[i] & 0x7fffu) >= 0x7c00u ? 0x7e00u : s->half[i];
    for (size_t i = 0; i < PANEL; i += VF_N) vf_store(s->d + i, vf_load_f16(s->half + i));
    for (size_t i = 0; i < PANEL; i++) s->inverse[i] = s->d[i] > 0 ? 1 / exact[i] : 0; /* otherwise 0 or NaN */
}

/* The sums over a block are f32, as in pack.c. */
INLINE void tile_loss(struct q8_loss of[PANEL], float tile[QBLOCK][PANEL], const struct q8_scales *s)
{
    float error[PANEL] = { 0 }, norm[PANEL] = { 0 };
    for (size_t j = 0; j < QBLOCK; j++)
        for (size_t i = 0; i < PANEL; i++) {
            const float near = s->d[i] * (tile[j][i] * s->inverse[i] + I8_MAGIC - I8_MAGIC), off = tile[j][i] - near;
            error[i] += off * off;
            norm[i] += near * near;
        }
    for (size_t i = 0; i < PANEL; i++) of[i].error += (double)error[i], of[i].norm += (double)norm[i];
}

static void pack_q8_panel(uint8_t *out, struct q8_loss *loss, enum dtype from, const void *const rows[PANEL], size_t k)
{
    struct q8_loss of[PANEL] = { { 0 } };
    for (size_t k0 = 0; k0 < k; k0 += QBLOCK, out += quad_block_sz(PK_Q8_QUAD)) {
        _Alignas(64) float tile[QBLOCK][PANEL];
        struct q8_scales s;
        turn(tile, from, rows, k0, QBLOCK);
        tile_scales(&s, tile);
        memcpy(out, s.half, sizeof s.half);
        for (size_t j = 0; j < QBLOCK; j += 4) {
            uint32_t word[PANEL];
            tile_quads(word, tile + j, s.inverse);
            for (size_t i = 0; i < PANEL; i += QUAD_W) memcpy(out + 2 * PANEL + quad_at(PK_Q8_QUAD, j, i), word + i, QUAD_W * 4);
        }
        if (loss) tile_loss(of, tile, &s);
    }
    if (loss) *loss = q8_loss_max(of);
}

static void pack_turned(void *panel, struct q8_loss *loss, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k)
{
    if (k % QBLOCK || dtype_block(from) != 1) pack_lossy(panel, loss, t, from, rows, k);
    else if (t == PK_F32) pack_f32_panel(panel, rows, k);
    else if (t == PK_BF16_PAIR) pack_pair_panel(panel, from, rows, k);
    else if (t == PK_I16_PAIR) pack_int_panel(panel, from, rows, k);
    else if (t == PK_I8_QUAD) pack_quad_panel(panel, from, rows, k);
    else if (quad_is_bytes(t)) pack_q8_panel(panel, loss, from, rows, k);
    else pack_half_panel(panel, rows, k);
}

static int panel_finite_fast(enum packed_type t, const void *panel, size_t k) { return panel_finite(t, panel, k); }

INLINE void init_pack(struct kern *k)
{
    k->pack = pack_turned;
    k->panel_finite = panel_finite_fast;
}
#endif
