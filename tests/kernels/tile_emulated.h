/* steno: tiles in plain C. SPDX-License-Identifier: MIT
 *
 * The operations of kern/x86/tile.h as the instruction set manual defines them, for processors without them; what would fault there stops
 * the program. It stands in that header's place: a file includes one of the two. */
#ifndef STENO_KERN_TILE_H
#define STENO_KERN_TILE_H
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kern/kern.h"

struct tile_config {
    uint8_t palette, start_row, zeros[14];
    uint16_t row_sz[16];
    uint8_t rows[16];
};

enum { TILES = 8, TILE_MAX = 16 };
static _Thread_local struct {
    struct tile_config c; /* palette 0: no tiles */
    uint32_t word[TILES][TILE_MAX][TILE_MAX];
} tile;

static inline void fault_unless(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "tiles: %s would fault\n", what);
    abort();
}

static inline void tile_configure(const struct tile_config *c)
{
    fault_unless(c->palette == 1 && !c->start_row, "ldtilecfg");
    for (int i = 0; i < 16; i++) {
        fault_unless(c->row_sz[i] <= 64 && c->row_sz[i] % 4 == 0 && c->rows[i] <= TILE_MAX, "ldtilecfg");
        fault_unless(!c->row_sz[i] == !c->rows[i] && (i < TILES || !c->rows[i]), "ldtilecfg");
    }
    memset(&tile, 0, sizeof tile);
    tile.c = *c;
}

static inline void tile_release(void) { memset(&tile, 0, sizeof tile); }

static inline void tile_zero(int to)
{
    fault_unless(tile.c.palette && tile.c.rows[to], "tilezero");
    memset(tile.word[to], 0, sizeof tile.word[to]);
}

static inline void tile_load(int to, const void *p, size_t stride)
{
    tile_zero(to);
    for (size_t m = 0; m < tile.c.rows[to]; m++) memcpy(tile.word[to][m], (const char *)p + m * stride, tile.c.row_sz[to]);
}

static inline void tile_store(void *p, size_t stride, int from)
{
    fault_unless(tile.c.palette && tile.c.rows[from], "tilestored");
    for (size_t m = 0; m < tile.c.rows[from]; m++) memcpy((char *)p + m * stride, tile.word[from][m], tile.c.row_sz[from]);
}

static inline void check_shapes(int sum, int x, int w)
{
    const struct tile_config *c = &tile.c;
    fault_unless(c->palette && sum != x && sum != w && x != w, "a product of tiles");
    fault_unless(c->rows[sum] && c->rows[sum] == c->rows[x] && c->row_sz[sum] == c->row_sz[w] && c->row_sz[x] == 4 * c->rows[w],
                 "a product of tiles");
}

/* Subnormals are zeros, given and made; whether a result is one is asked after it was rounded. */
static inline float flushed(float x) { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }
static inline float half_of(uint32_t word, int odd) { return flushed(bf16_to_f32((uint16_t)(odd ? word >> 16 : word))); }

static inline void tile_dot_pairs(int sum, int x, int w)
{
    check_shapes(sum, x, w);
    for (size_t m = 0; m < tile.c.rows[sum]; m++) {
        float even[TILE_MAX] = { 0 }, odd[TILE_MAX] = { 0 }, to[TILE_MAX];
        for (size_t k = 0; k < tile.c.rows[w]; k++) {
            const uint32_t xk = tile.word[x][m][k];
            for (size_t n = 0; n < TILE_MAX; n++) {
                even[n] = flushed(fmaf(half_of(xk, 0), half_of(tile.word[w][k][n], 0), even[n]));
                odd[n] = flushed(fmaf(half_of(xk, 1), half_of(tile.word[w][k][n], 1), odd[n]));
            }
        }
        memcpy(to, tile.word[sum][m], sizeof to);
        for (size_t n = 0; n < TILE_MAX; n++) to[n] = flushed(flushed(to[n]) + flushed(even[n] + odd[n]));
        memcpy(tile.word[sum][m], to, tile.c.row_sz[sum]);
    }
}

/* Sums wrap around. */
static inline int byte_of(uint32_t word, int shift, int is_signed)
{
    const uint8_t byte = (uint8_t)(word >> shift);
    return is_signed ? (int8_t)byte : byte;
}

static inline void dot_bytes(int sum, int x, int x_signed, int w, int w_signed)
{
    check_shapes(sum, x, w);
    for (size_t m = 0; m < tile.c.rows[sum]; m++)
        for (size_t k = 0; k < tile.c.rows[w]; k++)
            for (size_t n = 0; n < tile.c.row_sz[sum] / 4; n++)
                for (int b = 0; b < 32; b += 8) {
                    const int product = byte_of(tile.word[x][m][k], b, x_signed) * byte_of(tile.word[w][k][n], b, w_signed);
                    tile.word[sum][m][n] += (uint32_t)product;
                }
}

static inline void tile_dot_quads(int sum, int x, int w) { dot_bytes(sum, x, 0, w, 1); }
static inline void tile_dot_bytes_ss(int sum, int x, int w) { dot_bytes(sum, x, 1, w, 1); }
static inline void tile_dot_bytes_su(int sum, int x, int w) { dot_bytes(sum, x, 1, w, 0); }
static inline void tile_dot_bytes_uu(int sum, int x, int w) { dot_bytes(sum, x, 0, w, 0); }
#endif
