/* steno: tiles. SPDX-License-Identifier: MIT
 *
 * A thread has eight tiles of up to 16 rows of 64 bytes; the configuration defines the used part of each. Tiles are named by constants. The
 * instructions are written as assembly with all of memory as an operand, because compilers' intrinsics do not declare what they read:
 * stores that fill a tile could be dropped. tests/kernels has the same operations in plain C. */
#ifndef STENO_KERN_TILE_H
#define STENO_KERN_TILE_H
#include <stddef.h>
#include <stdint.h>

/* In the format of LDTILECFG. */
struct tile_config {
    uint8_t palette, start_row, zeros[14]; /* palette 1: the eight tiles */
    uint16_t row_sz[16];                   /* bytes used of a tile's rows */
    uint8_t rows[16];
};

#define tile_configure(config) __asm__ volatile("ldtilecfg (%0)" : : "r"(config) : "memory")
#define tile_release() __asm__ volatile("tilerelease" : : : "memory")
#define tile_zero(to) __asm__ volatile("tilezero %%tmm%c0" : : "i"(to))
/* Rows are stride bytes apart. */
#define tile_load(to, p, stride)                                                                                                        \
    __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(to), "r"(p), "r"((size_t)(stride)) : "memory")
#define tile_store(p, stride, from)                                                                                                     \
    __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(from), "r"(p), "r"((size_t)(stride)) : "memory")
/* sum[m][n] += x[m][i] * w[i][n] over words i: of two bf16; of four bytes, unsigned in x and signed in w, or as named by the letters of the
 * instruction. Pairs of bf16: products of all even halves are summed from 0 on, and those of all odd halves separately. Both sums are added
 * to each other, and the result to sum; subnormals are zeros. */
#define tile_dot_pairs(sum, x, w) __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w))
#define tile_dot_quads(sum, x, w) __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w))
#define tile_dot_bytes_ss(sum, x, w) __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w))
#define tile_dot_bytes_su(sum, x, w) __asm__ volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w))
#define tile_dot_bytes_uu(sum, x, w) __asm__ volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w))
#endif
