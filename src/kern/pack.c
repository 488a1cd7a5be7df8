/* steno: packing weights. SPDX-License-Identifier: MIT
 *
 * Rows of a matrix become panels of 32 interleaved outputs, so that a kernel reads one short stream and needs no horizontal sums.
 * Block types keep their bits: packing moves quants and scales, it never changes a value. */
#include "kern/inner.h"

size_t pack_panel_sz(enum dtype t, size_t k)
{
    return dtype_block(t) == 1 ? k * (panel_block_sz(t) / QBLOCK) : k / QBLOCK * panel_block_sz(t);
}

size_t pack_sz(enum dtype t, size_t n, size_t k) { return pack_panels(n) * pack_panel_sz(t, k); }

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

/* One output's stored block into its column of the packed block. */
static void pack_block(uint8_t *out, enum dtype t, const uint8_t *p, size_t i)
{
    memcpy(out + 2 * i, p, 2);
    p += 2, out += PANEL * 2;
    if (dtype_has_min(t)) {
        memcpy(out + 2 * i, p, 2);
        p += 2, out += PANEL * 2;
    }
    if (t == DT_Q8_0) {
        for (size_t j = 0; j < QBLOCK; j++) out[j * PANEL + i] = p[j];
        return;
    }
    if (dtype_has_fifth(t)) {
        const uint32_t fifth = load_u32(p);
        for (size_t j = 0; j < QBLOCK; j++) {
            const uint32_t bits = load_u32(out + 4 * j) | (fifth >> j & 1u) << i;
            memcpy(out + 4 * j, &bits, sizeof bits);
        }
        p += 4, out += QBLOCK * 4;
    }
    for (size_t j = 0; j < QBLOCK / 4; j++) { /* stored: elements j and j + 16 share a byte; packed: elements 2j and 2j + 1 */
        out[j * PANEL + i] = (uint8_t)((p[2 * j] & 15) | (p[2 * j + 1] & 15) << 4);
        out[(j + QBLOCK / 4) * PANEL + i] = (uint8_t)(p[2 * j] >> 4 | (p[2 * j + 1] & 0xf0));
    }
}

void pack_panel(void *panel, enum dtype t, const void *const rows[PANEL], size_t k)
{
    if (t == DT_F32) { pack_words(panel, rows, k); return; }
    if (dtype_block(t) == 1) { pack_halves(panel, rows, k); return; }
    const size_t sz = panel_block_sz(t), row_block = dtype_row_sz(t, QBLOCK);
    memset(panel, 0, k / QBLOCK * sz);
    for (size_t b = 0; b < k / QBLOCK; b++)
        for (size_t i = 0; i < PANEL; i++)
            if (rows[i]) pack_block((uint8_t *)panel + b * sz, t, (const uint8_t *)rows[i] + b * row_block, i);
}
