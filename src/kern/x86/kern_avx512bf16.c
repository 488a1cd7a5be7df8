/* steno: products of bf16 for AVX-512 with BF16. SPDX-License-Identifier: MIT
 *
 * Attention of KV_BF16 uses them, too. All other kernels are those of the previous level. ints512.h is included because lowp.h needs
 * primitives of every type.
 *
 * Compiled with: -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16 -mfma -mf16c -mprefer-vector-width=512 */
#define TILE_ROWS 12

#include "kern/x86/ints512.h"
#include "kern/x86/pairs512.h"

#include "kern/attn_bf16.h"
#include "kern/lowp.h"

void kern_init_avx512bf16(struct kern *k)
{
    init_pairs(k);
    init_attn_bf16(k);
    k->level = CPU_AVX512BF16;
}
