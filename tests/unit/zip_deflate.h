/* steno tests: deflated entries of zip archives. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ZIP_DEFLATE_H
#define STENO_TESTS_ZIP_DEFLATE_H
#include <zlib.h>
#include "unit/torch_file.h"

/* Make the entry as numpy.savez_compressed writes it; *to receives its bytes and must outlive the entry. */
static inline void put_deflated(struct put_entry *t, struct buf *to)
{
    z_stream z = { 0 };
    Bytef out[1 << 12];
    int rc = deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    assert_int_equal(rc, Z_OK);
    union { const void *c; Bytef *b; } in = { t->data }; /* zlib only reads it, although its type is not const */
    z.next_in = in.b;
    z.avail_in = (uInt)t->n;
    t->crc = (uint32_t)crc32(crc32(0, NULL, 0), in.b, (uInt)t->n);
    t->unpacked = t->n;
    t->method = 8;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = deflate(&z, Z_FINISH);
        buf_add(to, out, sizeof out - z.avail_out);
    } while (rc == Z_OK);
    assert_true(rc == Z_STREAM_END && !to->err);
    deflateEnd(&z);
    t->data = to->p;
    t->n = to->len;
}
#endif
