/* steno tests: level avx512 in instructions of AVX2. SPDX-License-Identifier: MIT */
#include "avx512_emulated.h"
#include "doubles.h"
#include "kern/kern.h"
#define kern_init_avx512 kern_init_avx512_emulated
#include "kern/x86/kern_avx512.c"
