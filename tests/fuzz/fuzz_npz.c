/* steno: fuzzing of the reader of npz files. SPDX-License-Identifier: MIT
 *
 * The input is a file; or, when its first byte is 0x93, an array, which is put into an archive with scales and offsets of one group, so
 * that every change of it reaches the reader of heads. Behind a first byte of 0x94 there is such an array, which is deflated; behind 0x95,
 * and two bytes for its stated size, a deflated text as it is. */
#include <string.h>
#include <zlib.h>
#include "base/buf.h"
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct entry { const char *name; const void *data; size_t n, at, unpacked; /* 0: it is stored */ uint32_t crc; };

static void put_le(struct buf *b, uint64_t v, unsigned n)
{
    for (; n--; v >>= 8) buf_add(b, &(uint8_t){ (uint8_t)v }, 1);
}

static void put_header(struct buf *b, const struct entry *t, int local)
{
    put_le(b, local ? 0x04034b50 : 0x02014b50, 4);
    put_le(b, 0, local ? 4 : 6);
    put_le(b, t->unpacked ? 8 : 0, 2);
    put_le(b, 0, 4);
    put_le(b, t->crc, 4);
    put_le(b, t->n, 4);
    put_le(b, t->unpacked ? t->unpacked : t->n, 4);
    put_le(b, strlen(t->name), 2);
    put_le(b, 0, local ? 2 : 12);
    if (!local) put_le(b, t->at, 4);
    buf_str(b, t->name);
}

static void put_archive(struct buf *b, struct entry *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        t[i].at = b->len;
        put_header(b, &t[i], 1);
        buf_add(b, t[i].data, t[i].n);
    }
    const size_t dir = b->len;
    for (unsigned i = 0; i < n; i++) put_header(b, &t[i], 0);
    const size_t dir_sz = b->len - dir;
    put_le(b, 0x06054b50, 4);
    put_le(b, 0, 4);
    put_le(b, n, 2);
    put_le(b, n, 2);
    put_le(b, dir_sz, 4);
    put_le(b, dir, 4);
    put_le(b, 0, 2);
}

static void put_deflated(struct buf *to, const uint8_t *data, size_t n)
{
    uLongf most = compressBound((uLong)n) + 16;
    Bytef *p = malloc(most);
    z_stream z = { 0 };
    union { const uint8_t *c; Bytef *b; } in = { data };
    if (p && deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        z.next_in = in.b;
        z.avail_in = (uInt)n;
        z.next_out = p;
        z.avail_out = (uInt)most;
        deflate(&z, Z_FINISH);
        buf_add(to, p, most - z.avail_out);
        deflateEnd(&z);
    }
    free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char one[] = "\x93NUMPY\1\0\70\0{'descr':'<f2','fortran_order':False,'shape':(1,1),}   \n\0\74";
    struct entry entry[] = { { "m.biases.npy", one, sizeof one - 1, 0, 0, 0 }, { "m.scales.npy", one, sizeof one - 1, 0, 0, 0 },
                             { "m.weight.npy", data, n, 0, 0, 0 } };
    struct buf b = { 0 }, packed = { 0 };
    if (n > 1 && data[0] == 0x94) {
        put_deflated(&packed, data + 1, n - 1);
        entry[2] = (struct entry){ .name = "m.weight.npy", .data = packed.p, .n = packed.len, .unpacked = n - 1,
                                   .crc = (uint32_t)crc32(crc32(0, NULL, 0), data + 1, (uInt)(n - 1)) };
    } else if (n > 3 && data[0] == 0x95)
        entry[2] = (struct entry){ .name = "m.weight.npy", .data = data + 3, .n = n - 3, .unpacked = 1u + data[1] + 256u * data[2] };
    if (n && data[0] >= 0x93 && data[0] <= 0x95) put_archive(&b, entry, 3);
    else buf_add(&b, data, n);
    if (b.err) return 0;
    uint8_t *bytes = malloc(b.len ? b.len : 1); /* without room behind it, so that reading past the end is seen */
    if (bytes && b.p) memcpy(bytes, b.p, b.len);
    if (bytes) weights_try("fuzz.npz", bytes, b.len);
    free(bytes);
    buf_free(&packed);
    buf_free(&b);
    return 0;
}
