/* steno: tiles in plain C. SPDX-License-Identifier: MIT
 *
 * The operations of kern/x86/tile.h as the instruction set manual defines them, for processors without them; what would fault there stops
 * the program. It stands in that header's place: a file includes one of the two. */
#ifndef STENO_KERN_TILE_H
#define STENO_KERN_TILE_H
#include <immintrin.h>
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

/* Products of bf16: sums of the even k and of the odd ones, each in rising order. noinline: by the flags of the register
 * subnormals are zeros, as operands and results; whether a result is one is asked after it was rounded, as tiles do. */
static __attribute__((noinline)) void dot_pairs(int sum, int x, int w, size_t rows, size_t steps)
{
    __m256 wide[TILE_MAX][4];
    for (size_t k = 0; k < steps; k++)
        for (int n = 0; n < 2; n++) {
            const __m256i word = _mm256_loadu_si256((const __m256i *)tile.word[w][k] + n);
            wide[k][n] = _mm256_castsi256_ps(_mm256_slli_epi32(word, 16));
            wide[k][2 + n] = _mm256_castsi256_ps(_mm256_and_si256(word, _mm256_set1_epi32((int)0xffff0000)));
        }
    for (size_t m = 0; m < rows; m++) {
        __m256 part[4] = { _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps() };
        for (size_t k = 0; k < steps; k++) {
            const __m256 even = _mm256_castsi256_ps(_mm256_set1_epi32((int)(tile.word[x][m][k] << 16)));
            const __m256 odd = _mm256_castsi256_ps(_mm256_set1_epi32((int)(tile.word[x][m][k] & 0xffff0000)));
            for (int n = 0; n < 4; n++) part[n] = _mm256_fmadd_ps(n < 2 ? even : odd, wide[k][n], part[n]);
        }
        for (int n = 0; n < 2; n++) {
            float *to = (float *)(void *)tile.word[sum][m] + 8 * n;
            _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), _mm256_add_ps(part[n], part[2 + n])));
        }
    }
}

static inline void tile_dot_pairs(int sum, int x, int w)
{
    enum { SUBNORMALS_ARE_ZEROS = 0x8040 };
    const unsigned saved = _mm_getcsr();
    check_shapes(sum, x, w);
    fault_unless(tile.c.row_sz[sum] == sizeof tile.word[sum][0], "a product of narrower tiles than these");
    _mm_setcsr(saved | SUBNORMALS_ARE_ZEROS);
    dot_pairs(sum, x, w, tile.c.rows[sum], tile.c.rows[w]);
    _mm_setcsr(saved);
}

/* The bytes 0 and 2 of each word, or 1 and 3, in 16 bits each. */
static inline __m256i bytes_widened(__m256i words, int odd, int is_signed)
{
    if (is_signed) return _mm256_srai_epi16(odd ? words : _mm256_slli_epi16(words, 8), 8);
    return odd ? _mm256_srli_epi16(words, 8) : _mm256_and_si256(words, _mm256_set1_epi16(255));
}

/* Sums wrap around. Two products of bytes fit the 32 bits that VPMADDWD adds them in. */
static inline void dot_bytes(int sum, int x, int x_signed, int w, int w_signed)
{
    __m256i wide[TILE_MAX][4];
    check_shapes(sum, x, w);
    fault_unless(tile.c.row_sz[sum] == sizeof tile.word[sum][0], "a product of narrower tiles than these");
    for (size_t k = 0; k < tile.c.rows[w]; k++)
        for (int n = 0; n < 4; n++)
            wide[k][n] = bytes_widened(_mm256_loadu_si256((const __m256i *)tile.word[w][k] + n % 2), n / 2, w_signed);
    for (size_t m = 0; m < tile.c.rows[sum]; m++) {
        __m256i *to = (__m256i *)(void *)tile.word[sum][m], part[2] = { _mm256_loadu_si256(to), _mm256_loadu_si256(to + 1) };
        for (size_t k = 0; k < tile.c.rows[w]; k++) {
            const __m256i words = _mm256_set1_epi32((int)tile.word[x][m][k]);
            const __m256i half[2] = { bytes_widened(words, 0, x_signed), bytes_widened(words, 1, x_signed) };
            for (int n = 0; n < 4; n++) part[n % 2] = _mm256_add_epi32(part[n % 2], _mm256_madd_epi16(half[n / 2], wide[k][n]));
        }
        _mm256_storeu_si256(to, part[0]);
        _mm256_storeu_si256(to + 1, part[1]);
    }
}

static inline void tile_dot_quads(int sum, int x, int w) { dot_bytes(sum, x, 0, w, 1); }
static inline void tile_dot_bytes_ss(int sum, int x, int w) { dot_bytes(sum, x, 1, w, 1); }
static inline void tile_dot_bytes_su(int sum, int x, int w) { dot_bytes(sum, x, 1, w, 0); }
static inline void tile_dot_bytes_uu(int sum, int x, int w) { dot_bytes(sum, x, 0, w, 0); }
#endif
