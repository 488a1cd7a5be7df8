/* steno: the knobs of a level. SPDX-License-Identifier: MIT
 *
 * A level's file sets the knobs that differ from what stands here. Then it includes its vectors (x86/vec256.h, x86/vec512.h, arm/vec128.h),
 * which set VF_N and include this file. The templates include it, too, so nobody can forget it.
 *
 * A knob says what the level's instructions want, or decides speed. No knob changes a result. */
#ifndef STENO_KERN_KNOBS_H
#define STENO_KERN_KNOBS_H

/* f32 lanes of a vector; the vectors' file sets it. */
#ifndef VF_N
#error "VF_N is not set: include the file of the level's vectors before the templates"
#endif

/* Rows of the register tile, by two vectors: 12 where there are 32 registers (or vectors are pairs of them), 6 where there are 16. */
#ifndef TILE_ROWS
#error "TILE_ROWS is not set: a level's file sets it, to 6 or to 12, before it includes anything"
#elif TILE_ROWS != 6 && TILE_ROWS != 12
#error "TILE_ROWS must be 6 or 12: these are the tiles that gemm.h and lowp.h make"
#endif

/* 0: vf_fma rounds twice, for want of an instruction. Then the file has vf_fma_once, for what is the same at every level, and ln 2 is taken
 * off in a first part that has few bits. */
#ifndef ONE_ROUNDING
#define ONE_ROUNDING 1
#endif
#if ONE_ROUNDING
#define LN2_FIRST 0.693147182f
#define LN2_REST (-1.9046542e-9f)
#else
#define LN2_FIRST 0.693359375f
#define LN2_REST (-2.12194440e-4f)
#endif

/* Panels that linear takes side by side for 1..8 rows (attention: blocks of keys): as many as hide the latency of a multiply-add. */
#ifndef FEW_PANELS
#define FEW_PANELS(rows) ((rows) == 1 ? TILE_ROWS / 3 : TILE_ROWS == 12 && (rows) <= 4 ? 2 : 1)
#endif

/* ---- low-precision products by rows (lowp_rows.h, lowp.h, x86/lowp_tiles.h) */

/* Rows that the body likes to have at a time. */
#ifndef LOWP_TILE_ROWS
#define LOWP_TILE_ROWS TILE_ROWS
#endif

/* 1: rows of x lie by twos in scratch: two words of the first, two of the second, and so on. The file has a lowp_tile of its own for them
 * (arm/lowp_matrix.h). */
#ifndef ROWS_BY_TWOS
#define ROWS_BY_TWOS 0
#elif ROWS_BY_TWOS && TILE_ROWS % 2
#error "ROWS_BY_TWOS wants an even number of TILE_ROWS"
#endif

/* Words that four k of int8 of x take in scratch: 2 where bytes are widened to 16 bits for the products, the even and the odd ones. Then
 * the file has vi_quads(words of a panel, step). */
#ifndef QUAD_STEPS
#define QUAD_STEPS 1
#endif

/* 1: rows of x of int8 are signed bytes, so that sums begin with 0; else 128 is added to them, and sums begin with what that adds. */
#ifndef QUADS_SIGNED
#define QUADS_SIGNED 0
#endif

/* ---- low-precision products by blocks (lowp_blocks.h), and attention over integers (attn_int.h) */

/* Vectors that a vector of weights of 8 bits becomes: 2 where bytes are widened to 16 bits. */
#ifndef QUAD_PARTS
#define QUAD_PARTS 1
#endif

/* Vectors of outputs that share each word of x, where there are registers for them. */
#ifndef QUAD_VECTORS
#define QUAD_VECTORS 1
#endif
#endif
