/* steno: levels under test in other instructions. SPDX-License-Identifier: MIT
 *
 * Bodies of levels that few processors have, compiled a second time for those that many have. x86 only. */
#ifndef STENO_TESTS_KERNELS_DOUBLES_H
#define STENO_TESTS_KERNELS_DOUBLES_H
#include "kern/kern.h"

void kern_init_avxvnni_evex(struct kern *k); /* needs AVX512-VNNI */

/* These need AVX2 (avx512_emulated.h), and each those before it. */
void kern_init_avx512_emulated(struct kern *k);
void kern_init_avx512vnni_emulated(struct kern *k);
void kern_init_avx512bf16_emulated(struct kern *k);
void kern_init_amx_emulated(struct kern *k);
#endif
