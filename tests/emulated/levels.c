/* steno tests: whole models at levels that this processor lacks. SPDX-License-Identifier: MIT
 *
 * A program that is linked with this has the levels of AVX-512 and AMX, emulated (kernels/avx512_emulated.h), beside its own. The best
 * level, which is the default, remains the processor's; an emulated one has to be named. */
#define cpu_level_usable cpu_level_native
#include "base/cpu.c"
#undef cpu_level_usable
#include "kernels/doubles.h"

int cpu_level_usable(int level); /* what cpu.h declares is named native above */
int cpu_level_usable(int level)
{
    return level >= CPU_AVX512 && level < CPU_LEVELS ? cpu_level_native(CPU_AVX2) : cpu_level_native(level);
}

void kern_init_avx512(struct kern *k) { kern_init_avx512_emulated(k); }
void kern_init_avx512vnni(struct kern *k) { kern_init_avx512vnni_emulated(k); }
void kern_init_avx512bf16(struct kern *k) { kern_init_avx512bf16_emulated(k); }
void kern_init_amx(struct kern *k) { kern_init_amx_emulated(k); }
