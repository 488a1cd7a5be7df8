/* steno: compression ratio of a text. SPDX-License-Identifier: MIT */
#include "text/compression.h"
#include <zlib.h>

double compression_ratio(const char *text, size_t n)
{
    z_stream z = { 0 };
    Bytef out[1024];
    union { const char *c; Bytef *b; } in = { text }; /* zlib only reads, despite the type */
    if (deflateInit(&z, 6) != Z_OK) return -1;
    z.next_in = in.b;
    z.avail_in = (uInt)n;
    int rc;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = deflate(&z, Z_FINISH);
    } while (rc == Z_OK);
    const double ratio = rc == Z_STREAM_END ? (double)n / (double)z.total_out : 0;
    deflateEnd(&z);
    return ratio;
}
