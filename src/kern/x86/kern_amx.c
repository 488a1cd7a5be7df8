/* steno: low-precision products for AMX with BF16 and INT8. SPDX-License-Identifier: MIT
 *
 * TDPBF16PS, TDPBUSD and its variants multiply whole tiles; the bodies are in lowp_tiles.h, ints_tiles.h, attn_tiles.h and
 * attn_i16_tiles.h. All other kernels are those of the previous level.
 *
 * Compiled with: -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16 -mfma -mf16c -mprefer-vector-width=512
 * -mamx-tile -mamx-bf16 -mamx-int8 */
#define TILE_ROWS 12
#define LOWP_TILE_ROWS 16

#include "kern/x86/ints512.h"
#include "kern/x86/pairs512.h"
#include "kern/x86/tile.h"

#include "kern/x86/attn_i16_tiles.h"
#include "kern/x86/attn_tiles.h"

void kern_init_amx(struct kern *k)
{
    init_pairs(k);
    init_int_tiles(k);
    init_quads(k);
    init_attn_tiles(k);
    init_attn_i16_tiles(k);
    k->level = CPU_AMX;
}
