/* steno: hashes of files and names. SPDX-License-Identifier: MIT
 *
 * 64-bit FNV-1a. Journals and stamps contain its values, so it must not change. */
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
#endif
