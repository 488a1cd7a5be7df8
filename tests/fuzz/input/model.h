/* steno: a fuzzer's input as a model file. SPDX-License-Identifier: MIT
 *
 * The mel filters are 64 KB of numbers that teach a fuzzer nothing: when the first byte is odd, they are put in after the header's
 * 56 bytes, so that a seed is a few hundred bytes; when it is even, the rest is the file as it is. */
#ifndef STENO_TESTS_FUZZ_MODEL_INPUT_H
#define STENO_TESTS_FUZZ_MODEL_INPUT_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 56, FILTERS = 80 * 201 * 4 };

/* The file in a block of its own, so that reading past the end is seen; free() it. NULL: no input, or no memory. */
static inline uint8_t *model_input(const uint8_t *data, size_t n, size_t *size)
{
    if (!n) return NULL;
    const int with_filters = *data & 1 && n > HEADER;
    const size_t head = with_filters ? HEADER : n - 1, tail = n - 1 - head;
    *size = n - 1 + (with_filters ? FILTERS : 0);
    uint8_t *bytes = calloc(*size ? *size : 1, 1);
    if (!bytes) return NULL;
    memcpy(bytes, data + 1, head);
    if (tail) memcpy(bytes + *size - tail, data + 1 + head, tail);
    return bytes;
}
#endif
