/* steno tests: GGUF files, piece by piece. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_GGUF_FILE_H
#define STENO_TESTS_GGUF_FILE_H
#include <string.h>
#include "base/buf.h"
#include "load/gguf.h"

static inline void put(struct buf *b, uint64_t v, int n) /* little-endian */
{
    for (int i = 0; i < n; i++) buf_add(b, &(uint8_t) { (uint8_t)(v >> 8 * i) }, 1);
}

static inline void put_text(struct buf *b, const char *s)
{
    put(b, strlen(s), 8);
    buf_str(b, s);
}

static inline void put_header(struct buf *b, uint32_t version, uint64_t n_tensors, uint64_t n_keys)
{
    buf_str(b, "GGUF");
    put(b, version, 4);
    put(b, n_tensors, 8);
    put(b, n_keys, 8);
}

static inline void put_key(struct buf *b, const char *key, uint32_t type)
{
    put_text(b, key);
    put(b, type, 4);
}

static inline void put_u32(struct buf *b, const char *key, uint32_t v)
{
    put_key(b, key, GGUF_U32);
    put(b, v, 4);
}

static inline void put_word(struct buf *b, const char *key, const char *v)
{
    put_key(b, key, GGUF_TEXT);
    put_text(b, v);
}

/* dims: fastest first, 0 after the last of fewer than four */
static inline void put_tensor(struct buf *b, const char *name, const uint64_t dims[4], uint32_t type, uint64_t offset)
{
    uint32_t n = 0;
    while (n < 4 && dims[n]) n++;
    put_text(b, name);
    put(b, n, 4);
    for (uint32_t i = 0; i < n; i++) put(b, dims[i], 8);
    put(b, type, 4);
    put(b, offset, 8);
}

/* Padding, then n bytes 0, 1, 2, ... of data. */
static inline void put_data(struct buf *b, size_t align, size_t n)
{
    while (b->len % align) put(b, 0, 1);
    for (size_t i = 0; i < n; i++) put(b, i, 1);
}
#endif
