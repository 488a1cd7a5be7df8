/* steno: hashes of files, names and words. SPDX-License-Identifier: MIT
 *
 * FNV-1a. Journals and stamps contain its values, so it must not change. The library has its own (src/base/hash.h), because a program sees
 * only its public header. */
#ifndef STENO_FILES_FNV_H
#define STENO_FILES_FNV_H
#include <stddef.h>
#include <stdint.h>

#define FNV_BASIS UINT64_C(14695981039346656037)

/* Continues from h, initially FNV_BASIS, over n bytes. */
static inline uint64_t fnv(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h;
}

/* The same in 32 bits, for checksums. */
#define FNV_32_BASIS UINT32_C(2166136261)

static inline uint32_t fnv_32(uint32_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT32_C(16777619);
    return h;
}
#endif
