/* steno: fuzzing of the reader of npz files. SPDX-License-Identifier: MIT
 *
 * The input is a file; or, when its first byte is 0x93, an array, which is put into an archive with scales and offsets of one group, so
 * that every change of it reaches the reader of heads. */
#include <string.h>
#include "base/buf.h"
#include "fuzz/weights_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct entry { const char *name; const void *data; size_t n, at; };

static void put_le(struct buf *b, uint64_t v, unsigned n)
{
    for (; n--; v >>= 8) buf_add(b, &(uint8_t){ (uint8_t)v }, 1);
}

static void put_header(struct buf *b, const struct entry *t, int local)
{
    put_le(b, local ? 0x04034b50 : 0x02014b50, 4);
    put_le(b, 0, local ? 14 : 16);
    put_le(b, t->n, 4);
    put_le(b, t->n, 4);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char one[] = "\x93NUMPY\1\0\70\0{'descr':'<f2','fortran_order':False,'shape':(1,1),}   \n\0\74";
    struct entry entry[] = { { "m.biases.npy", one, sizeof one - 1, 0 }, { "m.scales.npy", one, sizeof one - 1, 0 },
                             { "m.weight.npy", data, n, 0 } };
    struct buf b = { 0 };
    if (n && data[0] == 0x93) put_archive(&b, entry, 3);
    else buf_add(&b, data, n);
    if (b.err) return 0;
    uint8_t *bytes = malloc(b.len ? b.len : 1); /* without room behind it, so that reading past the end is seen */
    if (bytes && b.p) memcpy(bytes, b.p, b.len);
    if (bytes) weights_try("fuzz.npz", bytes, b.len);
    free(bytes);
    buf_free(&b);
    return 0;
}
