/* steno: conversion of numbers to stored types. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_QUANTIZE_ROW_H
#define STENO_KERN_QUANTIZE_ROW_H
#include "kern/kern.h"

/* quantize_row with weights of squared errors by column: importance [k], none negative; NULL: not known. Both have the bits of
 * llama.cpp (compiled without fused products), the origin of these types. */
void quantize_row_weighed(void *row, enum dtype t, const float *x, const float *importance, size_t k);
#endif
