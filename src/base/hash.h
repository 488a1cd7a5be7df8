/* steno: hashes of names. SPDX-License-Identifier: MIT
 *
 * FNV-1a with a final mix, so that the low bits, which tables use, depend on all bits. */
#ifndef STENO_BASE_HASH_H
#define STENO_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t hash_bytes(const void *s, size_t n)
{
    const uint8_t *p = s;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    h = (h ^ h >> 16) * 0x7feb352du;
    return h ^ h >> 15;
}

static inline uint32_t hash_text(const char *s)
{
    return hash_bytes(s, strlen(s));
}

/* For uses where the hash replaces the hashed bytes. */
static inline uint64_t hash_bytes_64(const void *s, size_t n)
{
    const uint8_t *p = s;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}
#endif
