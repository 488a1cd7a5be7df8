/* steno: deflated entries of a zip archive. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>
#include "load/zip.h"

enum { PIECE_SZ = 1 << 14, MOST_OUT = 1 << 30 /* limit of one call of zlib, whose counts have 32 bits */ };

/* The state of one entry. */
struct unpacking {
    z_stream z;
    uint64_t read, made; /* bytes */
    uint8_t piece[PIECE_SZ];
};

static int next_piece(struct unpacking *u, const struct file *f, const struct zip_entry *it, steno_error *e)
{
    const uint64_t left = it->packed - u->read;
    const size_t n = left < PIECE_SZ ? (size_t)left : PIECE_SZ;
    const int rc = n ? file_read(f, it->offset + u->read, u->piece, n, e) : STENO_OK;
    u->read += n;
    u->z.next_in = u->piece;
    u->z.avail_in = (uInt)n;
    return rc;
}

static int damaged(const struct file *f, const struct zip_entry *it, const char *what, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: zip entry '%s' %s; is the copy complete?", f->name, it->name, what);
}

/* Unpack until n bytes are written. @return a status; *ended: the data has ended */
static int unpack(struct unpacking *u, const struct file *f, const struct zip_entry *it, uint8_t *dst, uint64_t n, int *ended,
                  steno_error *e)
{
    int rc = STENO_OK;
    while (!rc && u->made < n && !*ended) {
        if (!u->z.avail_in) rc = next_piece(u, f, it, e);
        if (rc) return rc;
        const uInt room = n - u->made < MOST_OUT ? (uInt)(n - u->made) : MOST_OUT;
        u->z.next_out = dst + u->made;
        u->z.avail_out = room;
        const int z = inflate(&u->z, Z_NO_FLUSH);
        u->made += room - u->z.avail_out;
        *ended = z == Z_STREAM_END;
        if (z == Z_MEM_ERROR) return err_nomem(e, 1 << 15, "unpacking");
        if (z != Z_OK && z != Z_STREAM_END) return damaged(f, it, "cannot be unpacked", e);
    }
    return u->made == n ? STENO_OK : damaged(f, it, "unpacks to fewer bytes than its entry has", e);
}

/* Check that nothing follows the last byte. */
static int check_end(struct unpacking *u, const struct file *f, const struct zip_entry *it, int ended, steno_error *e)
{
    uint8_t more;
    while (!ended) {
        const int rc = u->z.avail_in ? STENO_OK : next_piece(u, f, it, e);
        if (rc) return rc;
        u->z.next_out = &more;
        u->z.avail_out = 1;
        const int z = inflate(&u->z, Z_NO_FLUSH);
        ended = z == Z_STREAM_END;
        if (!u->z.avail_out || (z != Z_OK && !ended)) return damaged(f, it, "unpacks to more bytes than its entry has, or does not end", e);
    }
    return u->z.avail_in || u->read < it->packed ? damaged(f, it, "has bytes after its end", e) : STENO_OK;
}

static int check_sum(const struct file *f, const struct zip_entry *it, const uint8_t *p, steno_error *e)
{
    uLong sum = crc32(0, NULL, 0);
    for (uint64_t at = 0; at < it->size;) {
        const uInt n = it->size - at < MOST_OUT ? (uInt)(it->size - at) : MOST_OUT;
        sum = crc32(sum, p + at, n);
        at += n;
    }
    return sum == it->crc ? STENO_OK : damaged(f, it, "does not match its checksum", e);
}

int zip_unpack(const struct file *f, const struct zip_entry *it, void *dst, uint64_t n, steno_error *e)
{
    struct unpacking u = { .read = 0 };
    int ended = 0;
    if (inflateInit2(&u.z, -MAX_WBITS) != Z_OK) return err_nomem(e, sizeof u, "unpacking");
    int rc = unpack(&u, f, it, dst, n, &ended, e);
    if (!rc && n == it->size) rc = check_end(&u, f, it, ended, e);
    inflateEnd(&u.z);
    return rc || n != it->size ? rc : check_sum(f, it, dst, e);
}
