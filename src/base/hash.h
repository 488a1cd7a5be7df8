/* steno: hashes of names. SPDX-License-Identifier: MIT
 *
 * FNV-1a with a final mix, so that the low bits, which tables use, depend on all bits. */
#ifndef STENO_BASE_HASH_H
#define STENO_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_BEGIN 2166136261u

/* Plain FNV-1a of HASH_BEGIN and s[n], or of more bytes after those of h. */
static inline uint32_t hash_more(uint32_t h, const void *s, size_t n)
{
    const uint8_t *p = s;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}

static inline uint32_t hash_bytes(const void *s, size_t n)
{
    uint32_t h = hash_more(HASH_BEGIN, s, n);
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
