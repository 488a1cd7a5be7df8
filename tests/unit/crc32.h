/* steno tests: CRC-32 as zlib computes it, for goldens that are too large to store. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_CRC32_H
#define STENO_TESTS_CRC32_H
#include <stddef.h>
#include <stdint.h>

/* Continue `crc` (0 at the start) over data[n]. */
static inline uint32_t crc32_add(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}
#endif
