/* steno tests: level avx512bf16 in instructions of AVX2. SPDX-License-Identifier: MIT */
#define TILE_ROWS 12
#include "avx512_emulated.h"
#include "doubles.h"
#include "pairs_emulated.h"
#undef TILE_ROWS
#define kern_init_avx512bf16 kern_init_avx512bf16_emulated
#include "kern/x86/kern_avx512bf16.c"
