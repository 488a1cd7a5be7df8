/* steno: numbers become stored types. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_NARROW_H
#define STENO_KERN_NARROW_H
#include "kern/kern.h"

/* dtype_narrow_row where it is known how much the square of an error in a column counts: importance [k], none below 0; NULL: it is not
 * known. Either has the bits of the program that these types come from (llama.cpp, built so that products are not fused). */
void dtype_narrow_weighed(void *row, enum dtype t, const float *x, const float *importance, size_t k);
#endif
