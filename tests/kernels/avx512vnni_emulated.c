/* steno tests: level avx512vnni in instructions of AVX2. SPDX-License-Identifier: MIT */
#include "avx512_emulated.h"
#include "doubles.h"
#define kern_init_avx512vnni kern_init_avx512vnni_emulated
#include "kern/x86/kern_avx512vnni.c"
