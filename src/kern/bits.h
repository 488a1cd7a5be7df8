/* steno: plain C helpers of all kernels. SPDX-License-Identifier: MIT
 *
 * Attributes for inlining and unrolling, unaligned loads, the bits of a number. Private to src/kern. */
#ifndef STENO_KERN_BITS_H
#define STENO_KERN_BITS_H
#include <float.h>
#include <math.h>
#include <string.h>
#include "kern/kern.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__) /* "unroll" would unroll partly before inlining, when counts are not constants yet */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

static inline size_t size_min(size_t a, size_t b) { return a < b ? a : b; }

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline float load_f32(const void *p) { float v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t bits_of_f32(float x) { uint32_t v; memcpy(&v, &x, sizeof v); return v; }
#endif
