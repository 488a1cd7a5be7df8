/* steno: writing zip archives. SPDX-License-Identifier: MIT */
#include "load/zip_write.h"

#include <inttypes.h>
#include <string.h>

enum {
    SIG_LOCAL = 0x04034b50, SIG_RECORD = 0x02014b50, SIG_BEHIND = 0x08074b50, SIG_END = 0x06054b50, SIG_END64 = 0x06064b50,
    SIG_LOCATOR = 0x07064b50, LOCAL_SZ = 30, EXTRA_HEAD = 4, END64_SZ = 56,
    FLAGS = 1 << 3 | 1 << 11, /* the checksum follows the bytes; names are UTF-8 */
    ALIGN = 64, EXTRA_PAD = 0x4246 /* "FB", as in torch.save */, EXTRA_ZIP64 = 1, VERSION_64 = 45,
    DATE = 0x21 /* 1 January 1980, so that the same model gives the same file */
};
#define FULL16 UINT64_C(0xffff)
#define FULL32 UINT64_C(0xffffffff)

static void put(struct buf *b, uint64_t v, int n) /* little-endian */
{
    uint8_t p[8];
    for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
    buf_add(b, p, (size_t)n);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int give(struct zip_writer *z, struct buf *from)
{
    const int rc = from->err ? err_nomem(z->b->e, from->len, "a header of a zip archive") : bytes_write(z->b, from->p, from->len);
    buf_free(from);
    return rc;
}

void zip_write_start(struct zip_writer *z, struct byte_writer *b)
{
    *z = (struct zip_writer){ .b = b };
}

void zip_write_free(struct zip_writer *z)
{
    buf_free(&z->directory);
    buf_free(&z->name);
}

/* The part that both headers of an entry share. */
static void put_common(struct buf *h, uint32_t sum, uint64_t size, size_t n_name)
{
    put(h, VERSION_64, 2);
    put(h, FLAGS, 2);
    put(h, 0, 2); /* stored */
    put(h, 0, 2);
    put(h, DATE, 2);
    put(h, sum, 4);
    put(h, size, 4);
    put(h, size, 4);
    put(h, n_name, 2);
}

int zip_write_entry(struct zip_writer *z, const char *name, uint64_t size)
{
    struct buf h = { 0 };
    const size_t n_name = strlen(name);
    if (size >= FULL32)
        return err_set(z->b->e, STENO_EUNSUPPORTED, "%s would have %" PRIu64 " bytes, and an entry of a .pt file less than 4 GiB", name,
                       size);
    z->header = z->b->at;
    z->size = size;
    buf_clear(&z->name);
    buf_str(&z->name, name);
    if (z->name.err) return err_nomem(z->b->e, n_name, "a header of a zip archive");
    const uint64_t at = z->header + LOCAL_SZ + n_name + EXTRA_HEAD, pad = (ALIGN - at % ALIGN) % ALIGN;
    put(&h, SIG_LOCAL, 4);
    put_common(&h, 0, size, n_name);
    put(&h, EXTRA_HEAD + pad, 2);
    buf_add(&h, name, n_name);
    put(&h, EXTRA_PAD, 2);
    put(&h, pad, 2);
    for (uint64_t i = 0; i < pad; i++) put(&h, 'Z', 1);
    const int rc = give(z, &h);
    z->b->sum = 0;
    return rc;
}

int zip_write_entry_end(struct zip_writer *z)
{
    struct buf behind = { 0 }, *d = &z->directory;
    const uint32_t sum = z->b->sum;
    const int is_far = z->header >= FULL32;
    put(d, SIG_RECORD, 4);
    put(d, VERSION_64, 2);
    put_common(d, sum, z->size, z->name.len);
    put(d, is_far ? 12 : 0, 2);
    put(d, 0, 2 + 2); /* comment, disk */
    put(d, 0, 2 + 4); /* attributes */
    put(d, least(z->header, FULL32), 4);
    buf_add(d, z->name.p, z->name.len);
    if (is_far) {
        put(d, EXTRA_ZIP64, 2);
        put(d, 8, 2);
        put(d, z->header, 8);
    }
    z->n++;
    put(&behind, SIG_BEHIND, 4);
    put(&behind, sum, 4);
    put(&behind, z->size, 4);
    put(&behind, z->size, 4);
    return give(z, &behind);
}

static void put_end64(struct buf *end, const struct zip_writer *z, uint64_t at)
{
    put(end, SIG_END64, 4);
    put(end, END64_SZ - 12, 8);
    put(end, VERSION_64, 2);
    put(end, VERSION_64, 2);
    put(end, 0, 8);
    put(end, z->n, 8);
    put(end, z->n, 8);
    put(end, z->directory.len, 8);
    put(end, at, 8);
    put(end, SIG_LOCATOR, 4);
    put(end, 0, 4);
    put(end, at + z->directory.len, 8);
    put(end, 1, 4);
}

int zip_write_directory(struct zip_writer *z)
{
    struct buf end = { 0 };
    const uint64_t at = z->b->at, size = z->directory.len;
    if (z->directory.err) return err_nomem(z->b->e, size, "the directory of a zip archive");
    int rc = bytes_write(z->b, z->directory.p, size);
    if (rc) return rc;
    if (at >= FULL32 || z->n >= FULL16) put_end64(&end, z, at);
    put(&end, SIG_END, 4);
    put(&end, 0, 4);
    put(&end, least(z->n, FULL16), 2);
    put(&end, least(z->n, FULL16), 2);
    put(&end, size, 4);
    put(&end, least(at, FULL32), 4);
    put(&end, 0, 2);
    return give(z, &end);
}
