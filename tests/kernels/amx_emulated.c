/* steno: the bodies of level amx over tiles in plain C. SPDX-License-Identifier: MIT
 *
 * So they are checked wherever there is AVX2. Vectors are half as wide here, which changes neither tiles nor their order. */
#define TILE_ROWS 6
#define LOWP_TILE_ROWS 16

#include "kern/x86/vec256.h"
#include "tile_emulated.h"

#include "doubles.h"

#include "kern/x86/pairs_f32.h"
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k) { return quantize_quads(to, x, k); }

#include "kern/x86/attn_tiles.h"
#include "kern/x86/ints_tiles.h"

void kern_init_amx_emulated(struct kern *k)
{
    init_pairs(k);
    init_int_tiles(k);
    init_quads(k);
    init_attn_tiles(k);
}
