/* steno tests: PyTorch files byte by byte. SPDX-License-Identifier: MIT
 *
 * A zip archive is built from entries and an end record, each of which may have false numbers. A pickle is built from the instructions
 * that torch.save writes. */
#ifndef STENO_TESTS_TORCH_FILE_H
#define STENO_TESTS_TORCH_FILE_H
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "harness.h"

static inline void put_le(struct buf *b, uint64_t v, unsigned n)
{
    uint8_t p[16] = { 0 };
    assert_true(n <= sizeof p);
    for (unsigned i = 0; i < n && i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
    buf_add(b, p, n);
}

/* ---- zip ----------------------------------------------------------------------------------------------------------------------- */

/* An entry, and the false numbers of its headers. */
struct put_entry {
    const char *name;
    const void *data;
    size_t n;
    uint32_t flags, method;
    const char *local_name;              /* NULL: as `name` */
    uint64_t size_lie, local_size_lie;   /* added to the true size */
    int64_t header_lie;                  /* added to the header's offset */
    int zip64;                           /* 1: the directory's numbers are in a zip64 field; 2: that field is missing */
    uint32_t n_comment;                  /* bytes of the comment in the directory */
    uint64_t unpacked;                   /* unpacked size of deflated data (method 8); 0: the data is stored */
    uint32_t crc;
};

struct put_end {
    int zip64;            /* 1: with zip64 end records */
    int full;             /* 1: the old end record has 0xffff… */
    uint64_t n_lie, size_lie, offset_lie, end64_lie; /* added to the true numbers */
    uint32_t disk;
    const char *comment;  /* may be NULL */
};

static inline void put_header(struct buf *b, const struct put_entry *t, int local, uint64_t at)
{
    const char *name = local && t->local_name ? t->local_name : t->name;
    const uint64_t packed = t->n + (local ? t->local_size_lie : t->size_lie), size = t->unpacked ? t->unpacked : packed;
    const int wide = !local && t->zip64;
    const uint32_t n_extra = wide && t->zip64 == 1 ? 4 + 24 : 0;
    put_le(b, local ? 0x04034b50 : 0x02014b50, 4);
    if (!local) put_le(b, 0, 2);
    put_le(b, 0, 2);
    put_le(b, t->flags, 2);
    put_le(b, t->method, 2);
    put_le(b, 0, 4); /* time, date */
    put_le(b, t->crc, 4);
    put_le(b, wide ? 0xffffffff : packed, 4);
    put_le(b, wide ? 0xffffffff : size, 4);
    put_le(b, strlen(name), 2);
    put_le(b, n_extra, 2);
    if (!local) {
        put_le(b, t->n_comment, 2);
        put_le(b, 0, 8); /* disk, attributes */
        put_le(b, wide ? 0xffffffff : at + (uint64_t)t->header_lie, 4);
    }
    buf_str(b, name);
    if (n_extra) {
        put_le(b, 1, 2);
        put_le(b, 24, 2);
        put_le(b, size, 8);
        put_le(b, packed, 8);
        put_le(b, at + (uint64_t)t->header_lie, 8);
    }
    static const char comment[1 << 16];
    if (!local && t->n_comment) buf_add(b, comment, t->n_comment);
}

static inline void put_zip(struct buf *b, const struct put_entry *t, size_t n, const struct put_end *end)
{
    static const struct put_end plain = { 0 };
    uint64_t few[16], *at = n > 16 ? malloc(n * sizeof *at) : few;
    if (!end) end = &plain;
    assert_non_null(at);
    for (size_t i = 0; i < n; i++) {
        at[i] = b->len;
        put_header(b, &t[i], 1, 0);
        if (t[i].n) buf_add(b, t[i].data, t[i].n);
    }
    const uint64_t dir = b->len;
    for (size_t i = 0; i < n; i++) put_header(b, &t[i], 0, at[i]);
    if (at != few) free(at);
    const uint64_t dir_sz = b->len - dir + end->size_lie, end64 = b->len, count = n + end->n_lie, off = dir + end->offset_lie;
    if (end->zip64) {
        put_le(b, 0x06064b50, 4);
        put_le(b, 44, 8);
        put_le(b, 0, 12);
        put_le(b, count, 8);
        put_le(b, count, 8);
        put_le(b, dir_sz, 8);
        put_le(b, off, 8);
        put_le(b, 0x07064b50, 4);
        put_le(b, 0, 4);
        put_le(b, end64 + end->end64_lie, 8);
        put_le(b, 1, 4);
    }
    put_le(b, 0x06054b50, 4);
    put_le(b, end->disk, 2);
    put_le(b, 0, 2);
    put_le(b, end->full ? 0xffff : count, 2);
    put_le(b, end->full ? 0xffff : count, 2);
    put_le(b, end->full ? 0xffffffff : dir_sz, 4);
    put_le(b, end->full ? 0xffffffff : off, 4);
    put_le(b, end->comment ? strlen(end->comment) : 0, 2);
    if (end->comment) buf_str(b, end->comment);
    assert_false(b->err);
}

/* ---- pickle -------------------------------------------------------------------------------------------------------------------- */

static inline void put_text(struct buf *b, const char *s)
{
    buf_str(b, "X");
    put_le(b, strlen(s), 4);
    buf_str(b, s);
}

static inline void put_int(struct buf *b, int64_t v)
{
    if (v >= 0 && v < 256) {
        buf_str(b, "K");
        put_le(b, (uint64_t)v, 1);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
        buf_str(b, "J");
        put_le(b, (uint64_t)v, 4);
    } else {
        buf_str(b, "\x8a\x08");
        put_le(b, (uint64_t)v, 8);
    }
}

static inline void put_ints(struct buf *b, const int64_t *v, size_t n)
{
    buf_str(b, "(");
    for (size_t i = 0; i < n; i++) put_int(b, v[i]);
    buf_str(b, "t");
}

/* A tensor in the form of torch.save. */
struct put_tensor {
    const char *name, *storage, *key; /* storage: "FloatStorage" */
    int64_t n_stored, offset, size[6], stride[6];
    size_t n_size, n_stride;
    int parameter;
};

static inline void put_tensor(struct buf *b, const struct put_tensor *t)
{
    put_text(b, t->name);
    if (t->parameter) buf_str(b, "ctorch._utils\n_rebuild_parameter\n(");
    buf_str(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_text(b, "storage");
    buf_fmt(b, "ctorch\n%s\n", t->storage);
    put_text(b, t->key);
    put_text(b, "cpu");
    put_int(b, t->n_stored);
    buf_str(b, "tQ");
    put_int(b, t->offset);
    put_ints(b, t->size, t->n_size);
    put_ints(b, t->stride, t->n_stride);
    buf_str(b, "\x89" "ccollections\nOrderedDict\n)RtR");
    if (t->parameter) buf_str(b, "\x89" "ccollections\nOrderedDict\n)RtR");
}

static inline void put_begin(struct buf *b)
{
    buf_add(b, "\x80\2", 2);
}
#endif
