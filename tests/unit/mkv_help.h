/* steno tests: small Matroska files, byte by byte. SPDX-License-Identifier: MIT
 *
 * Up to four tracks of PCM at 16 kHz, mono. A block has a time in ms and samples of a single value. */
#ifndef STENO_TESTS_MKV_HELP_H
#define STENO_TESTS_MKV_HELP_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"

struct mkv {
    uint8_t *p;
    size_t n, cap;
};

struct mkv_block {
    int track; /* from 1 */
    int64_t ms;
    int samples, value;
};

static inline void mkv_put(struct mkv *b, const void *data, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->p = realloc(b->p, b->cap);
        assert_non_null(b->p);
    }
    memcpy(b->p + b->n, data, n);
    b->n += n;
}

static inline void mkv_be(struct mkv *b, uint64_t v, int bytes)
{
    while (bytes-- > 0) mkv_put(b, &(uint8_t){ (uint8_t)(v >> 8 * bytes) }, 1);
}

/* The id of an element as it is stored, and its size in 8 bytes. */
static inline void mkv_head(struct mkv *b, uint32_t id, uint64_t size)
{
    mkv_be(b, id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
    mkv_be(b, size | (uint64_t)1 << 56, 8);
}

static inline void mkv_uint(struct mkv *b, uint32_t id, uint64_t v)
{
    mkv_head(b, id, 8);
    mkv_be(b, v, 8);
}

static inline void mkv_text(struct mkv *b, uint32_t id, const char *s)
{
    mkv_head(b, id, strlen(s));
    mkv_put(b, s, strlen(s));
}

static inline void mkv_f64(struct mkv *b, uint32_t id, double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    mkv_head(b, id, 8);
    mkv_be(b, u, 8);
}

/* Put `in` into `b` as the body of an element, and free it. */
static inline void mkv_wrap(struct mkv *b, uint32_t id, struct mkv *in)
{
    mkv_head(b, id, in->n);
    mkv_put(b, in->p, in->n);
    free(in->p);
}

static inline void mkv_tracks(struct mkv *b, int n)
{
    struct mkv all = { 0 };
    for (int i = 1; i <= n; i++) {
        struct mkv t = { 0 }, a = { 0 };
        mkv_uint(&t, 0xd7, (uint64_t)i);
        mkv_uint(&t, 0x73c5, (uint64_t)i);
        mkv_uint(&t, 0x83, 2);
        mkv_text(&t, 0x86, "A_PCM/INT/LIT");
        mkv_f64(&a, 0xb5, 16000);
        mkv_uint(&a, 0x9f, 1);
        mkv_uint(&a, 0x6264, 16);
        mkv_wrap(&t, 0xe1, &a);
        mkv_wrap(&all, 0xae, &t);
    }
    mkv_wrap(b, 0x1654ae6b, &all);
}

/* Make a file; *n: its size in bytes. duration_ms < 0: the file has no duration. Each block has its own cluster. */
static inline uint8_t *mkv_make(size_t *n, int tracks, double duration_ms, const struct mkv_block *block, size_t n_blocks)
{
    struct mkv b = { 0 }, ebml = { 0 }, segment = { 0 }, info = { 0 };
    mkv_text(&ebml, 0x4282, "matroska");
    mkv_uint(&ebml, 0x4287, 4);
    mkv_uint(&ebml, 0x4285, 2);
    mkv_wrap(&b, 0x1a45dfa3, &ebml);
    mkv_uint(&info, 0x2ad7b1, 1000000);
    if (duration_ms >= 0) mkv_f64(&info, 0x4489, duration_ms);
    mkv_wrap(&segment, 0x1549a966, &info);
    mkv_tracks(&segment, tracks);
    for (size_t i = 0; i < n_blocks; i++) {
        struct mkv cluster = { 0 };
        mkv_uint(&cluster, 0xe7, (uint64_t)block[i].ms);
        mkv_head(&cluster, 0xa3, 4 + 2 * (uint64_t)block[i].samples);
        mkv_be(&cluster, 0x80 | (uint64_t)block[i].track, 1);
        mkv_be(&cluster, 0x000080, 3);
        for (int k = 0; k < block[i].samples; k++)
            mkv_put(&cluster, (uint8_t[]){ (uint8_t)block[i].value, (uint8_t)((unsigned)block[i].value >> 8) }, 2);
        mkv_wrap(&segment, 0x1f43b675, &cluster);
    }
    mkv_wrap(&b, 0x18538067, &segment);
    *n = b.n;
    return b.p;
}
#endif
