/* steno tests: level amx in instructions of AVX2, and its tiles, too. SPDX-License-Identifier: MIT */
#define TILE_ROWS 12
#define LOWP_TILE_ROWS 16
#include "avx512_emulated.h"
#include "doubles.h"
#include "pairs_emulated.h"
#include "tile_emulated.h"
#undef TILE_ROWS
#undef LOWP_TILE_ROWS
#define kern_init_amx kern_init_amx_emulated
#include "kern/x86/kern_amx.c"
