/* steno: the knobs of a level. SPDX-License-Identifier: MIT
 *
 * A level's file sets the knobs that differ from the defaults here. Then it includes its vectors (x86/vec256.h, x86/vec512.h,
 * arm/vec128.h), which set VF_N and include this file. The templates include it, too, so it cannot be forgotten.
 *
 * A knob describes the level's instructions or affects speed. No knob changes a result. */
#ifndef STENO_KERN_KNOBS_H
#define STENO_KERN_KNOBS_H

/* f32 lanes of a vector; the vectors' file sets it. */
#ifndef VF_N
#error "VF_N is not set: include the file of the level's vectors before the templates"
#endif

/* Rows of the register tile, which is two vectors wide: 12 with 32 registers (or if vectors are pairs of registers), 6 with 16. */
#ifndef TILE_ROWS
#error "TILE_ROWS is not set: a level's file sets it, to 6 or to 12, before it includes anything"
#elif TILE_ROWS != 6 && TILE_ROWS != 12
#error "TILE_ROWS must be 6 or 12: these are the tiles that gemm.h and lowp.h make"
#endif

/* 0: vf_fma rounds twice, because the instruction is missing. The file then has vf_fma_once for results that are equal at every level, and
 * ln 2 is subtracted in two parts, the first with few bits. */
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

/* Panels that linear computes in parallel for 1..8 rows (attention: blocks of keys): enough to hide the latency of a multiply-add. */
#ifndef FEW_PANELS
#define FEW_PANELS(rows) ((rows) == 1 ? TILE_ROWS / 3 : TILE_ROWS == 12 && (rows) <= 4 ? 2 : 1)
#endif

/* Rows of f16 up to which linear widens weights when it multiplies them, in tiles of six rows: with few registers, and an instruction. */
#ifndef F16_ROWS
#define F16_ROWS 0
#endif

/* ---- low-precision products by rows (lowp_rows.h, lowp.h, x86/lowp_tiles.h) */

/* Preferred number of rows at a time. */
#ifndef LOWP_TILE_ROWS
#define LOWP_TILE_ROWS TILE_ROWS
#endif

/* 1: rows of x are stored in pairs in scratch: two words of the first, two of the second, and so on. The file then has its own lowp_tile
 * (arm/lowp_matrix.h). */
#ifndef ROWS_BY_TWOS
#define ROWS_BY_TWOS 0
#elif ROWS_BY_TWOS && TILE_ROWS % 2
#error "ROWS_BY_TWOS needs an even number of TILE_ROWS"
#endif

/* Words of scratch for four k of int8 of x: 2 if bytes are widened to 16 bits for the products, even and odd bytes separately. The file
 * then has vi_quads(words of a panel, step). */
#ifndef QUAD_STEPS
#define QUAD_STEPS 1
#endif

/* 1: rows of x of int8 are signed bytes, and sums begin with 0; 0: 128 is added to the bytes, and sums begin with the correction. */
#ifndef QUADS_SIGNED
#define QUADS_SIGNED 0
#endif

/* ---- low-precision products by blocks (lowp_blocks.h), and attention over integers (attn_int.h) */

/* Vectors that a vector of 8-bit weights becomes: 2 if bytes are widened to 16 bits. */
#ifndef QUAD_PARTS
#define QUAD_PARTS 1
#endif

/* Vectors of outputs that share each word of x, if there are enough registers. */
#ifndef QUAD_VECTORS
#define QUAD_VECTORS 1
#endif

/* Rows (1 to 5) and vectors of outputs whose sums of a block stand in registers together. With more than one row the file has quad_part
 * (lowp_blocks.h), and attention over integers takes tiles of rows (attn_int_tiles.h). */
#ifndef BLOCK_ROWS
#define BLOCK_ROWS 1
#endif
#ifndef BLOCK_VECTORS
#define BLOCK_VECTORS QUAD_VECTORS
#endif
#endif
