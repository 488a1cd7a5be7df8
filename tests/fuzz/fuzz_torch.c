/* steno: fuzzing of the reader of PyTorch files. SPDX-License-Identifier: MIT
 *
 * The input is a file; or, when its first byte is 0x80, a pickle, which is put into an archive with one storage first, so that every
 * change of it reaches the machine that runs it. */
#include <string.h>
#include "base/buf.h"
#include "fuzz/input/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { STORED = 64 };

static void put_le(struct buf *b, uint64_t v, unsigned n)
{
    for (; n--; v >>= 8) buf_add(b, &(uint8_t){ (uint8_t)v }, 1);
}

/* The header of a stored entry. place: in the file, for the directory; -1: before the bytes. */
static void put_header(struct buf *b, const char *name, size_t n, int64_t place)
{
    put_le(b, place < 0 ? 0x04034b50 : 0x02014b50, 4);
    if (place >= 0) put_le(b, 0, 2);
    put_le(b, 0, 4);
    put_le(b, 0, 2);
    put_le(b, 0, 8);
    put_le(b, n, 4);
    put_le(b, n, 4);
    put_le(b, strlen(name), 2);
    put_le(b, 0, 2);
    for (int i = 0; place >= 0 && i < 5; i++) put_le(b, 0, 2);
    if (place >= 0) put_le(b, (uint64_t)place, 4);
    buf_str(b, name);
}

static void put_archive(struct buf *b, const uint8_t *pickle, size_t n)
{
    static const uint8_t zeros[STORED];
    put_header(b, "m/data.pkl", n, -1);
    buf_add(b, pickle, n);
    const size_t second = b->len;
    put_header(b, "m/data/0", STORED, -1);
    buf_add(b, zeros, STORED);
    const size_t dir = b->len;
    put_header(b, "m/data.pkl", n, 0);
    put_header(b, "m/data/0", STORED, (int64_t)second);
    const size_t dir_sz = b->len - dir;
    put_le(b, 0x06054b50, 4);
    put_le(b, 0, 4);
    put_le(b, 2, 2);
    put_le(b, 2, 2);
    put_le(b, dir_sz, 4);
    put_le(b, dir, 4);
    put_le(b, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf b = { 0 };
    if (n && data[0] == 0x80) put_archive(&b, data, n);
    else buf_add(&b, data, n);
    if (b.err) return 0;
    uint8_t *bytes = malloc(b.len ? b.len : 1); /* without room behind it, so that reading past the end is seen */
    if (bytes && b.p) memcpy(bytes, b.p, b.len);
    if (bytes) weights_try("fuzz.pt", bytes, b.len);
    free(bytes);
    buf_free(&b);
    return 0;
}
