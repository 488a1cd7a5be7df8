/* steno: the directory of a zip archive. SPDX-License-Identifier: MIT
 *
 * A zip file is read from its end. The end record points to the directory, the directory points to the entries, and each entry repeats the
 * directory's data about it. Numbers that exceed their old 16 or 32 bits are in zip64 records. Repeated data must agree, and the records
 * must fill the end of the file without gaps, so that a file has only one reading. */
#include "load/zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/rd.h"

enum { METHOD_STORED = 0, METHOD_DEFLATED = 8, DEFLATE_MAX = 1032 /* the highest compression ratio of deflate */ };

enum {
    END_SZ = 22, LOCATOR_SZ = 20, END64_SZ = 56, RECORD_SZ = 46, LOCAL_SZ = 30, COMMENT_MAX = 65535,
    SIG_END = 0x06054b50, SIG_LOCATOR = 0x07064b50, SIG_END64 = 0x06064b50, SIG_RECORD = 0x02014b50, SIG_LOCAL = 0x04034b50,
    FLAG_SECRET = 1 << 0 | 1 << 6 | 1 << 13, FLAG_SIZES_BEHIND = 1 << 3, EXTRA_ZIP64 = 1,
    EXTRA_MAX = 128 /* bytes of extra fields that are examined */, DIRECTORY_MAX = 64 << 20
};
#define FULL16 UINT64_C(0xffff)     /* the number is in a zip64 record */
#define FULL32 UINT64_C(0xffffffff)

struct directory { uint64_t offset, size, n; };

/* The data of one header about its entry. */
struct header {
    uint32_t flags, method, n_name, n_extra;
    uint64_t packed, size;
};

struct zip_reader {
    const struct file *f;
    struct arena *a;
    steno_error *e;
    struct zip *z;
    struct directory dir;
    struct rd r;
    enum zip_packing most;
};

static uint64_t le(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* ---- the end of the file ------------------------------------------------------------------------------------------------------- */

/* Find the last place where an end record is consistent with its comment. */
static int find_end(struct zip_reader *z, uint8_t end[END_SZ], uint64_t *at)
{
    const uint64_t size = z->f->size;
    const size_t n = size < END_SZ + COMMENT_MAX ? (size_t)size : END_SZ + COMMENT_MAX;
    uint8_t *tail = arena_alloc(z->a, END_SZ + COMMENT_MAX); /* too large for a thread's stack */
    if (!tail) return err_nomem(z->e, END_SZ + COMMENT_MAX, "the end of a zip archive");
    const int rc = file_read(z->f, size - n, tail, n, z->e);
    if (rc) return rc;
    for (size_t i = n < END_SZ ? 0 : n - END_SZ + 1; i-- > 0;) {
        if (le(tail + i, 4) != SIG_END || i + END_SZ + le(tail + i + 20, 2) != n) continue;
        memcpy(end, tail + i, END_SZ);
        *at = size - n + i;
        return STENO_OK;
    }
    return err_set(z->e, STENO_EFORMAT, "%s: no end record of a zip archive in the 64 KiB before byte %" PRIu64 "; is the copy complete?",
                   z->f->name, size);
}

/* Read the zip64 end record, if there is one before `at`; `at` then moves to it. */
static int read_end64(struct zip_reader *z, struct directory *d, uint64_t *at)
{
    uint8_t p[END64_SZ];
    const char *name = z->f->name;
    if (*at < LOCATOR_SZ) return 0;
    int rc = file_read(z->f, *at - LOCATOR_SZ, p, LOCATOR_SZ, z->e);
    if (rc || le(p, 4) != SIG_LOCATOR) return rc;
    const uint64_t end64 = le(p + 8, 8);
    if (le(p + 4, 4) || le(p + 16, 4) > 1) return err_set(z->e, STENO_EFORMAT, "%s: a zip archive on several disks", name);
    if (end64 > *at - LOCATOR_SZ || *at - LOCATOR_SZ - end64 < END64_SZ)
        return err_set(z->e, STENO_EFORMAT, "%s: zip64 end record given at byte %" PRIu64 ", want it before byte %" PRIu64, name,
                       end64, *at - LOCATOR_SZ);
    rc = file_read(z->f, end64, p, END64_SZ, z->e);
    if (rc) return rc;
    if (le(p, 4) != SIG_END64 || le(p + 4, 8) != *at - LOCATOR_SZ - end64 - 12)
        return err_set(z->e, STENO_EFORMAT, "%s: byte %" PRIu64 " is not a zip64 end record", name, end64);
    if (le(p + 16, 4) || le(p + 20, 4) || le(p + 24, 8) != le(p + 32, 8))
        return err_set(z->e, STENO_EFORMAT, "%s: a zip archive on several disks", name);
    *d = (struct directory){ .n = le(p + 32, 8), .size = le(p + 40, 8), .offset = le(p + 48, 8) };
    *at = end64;
    return 1;
}

static int agree(uint64_t small, uint64_t full, uint64_t large)
{
    return small == full || small == large;
}

/* Find the directory. It must end where the end records begin. */
static int find_directory(struct zip_reader *z)
{
    uint8_t end[END_SZ];
    uint64_t at = 0;
    int rc = find_end(z, end, &at);
    if (rc) return rc;
    const struct directory d = { .n = le(end + 10, 2), .size = le(end + 12, 4), .offset = le(end + 16, 4) };
    const char *name = z->f->name;
    if (le(end + 4, 2) || le(end + 6, 2) || le(end + 8, 2) != d.n)
        return err_set(z->e, STENO_EFORMAT, "%s: a zip archive on several disks", name);
    z->dir = d;
    rc = read_end64(z, &z->dir, &at);
    if (rc < 0) return rc;
    if (!agree(d.n, FULL16, z->dir.n) || !agree(d.size, FULL32, z->dir.size) || !agree(d.offset, FULL32, z->dir.offset))
        return err_set(z->e, STENO_EFORMAT, "%s: the two end records of the zip archive differ", name);
    if (z->dir.offset > at || z->dir.size != at - z->dir.offset)
        return err_set(z->e, STENO_EFORMAT, "%s: zip directory given at bytes %" PRIu64 "+%" PRIu64 ", want its end at byte %" PRIu64,
                       name, z->dir.offset, z->dir.size, at);
    if (z->dir.n > ZIP_ENTRIES_MAX)
        return err_set(z->e, STENO_EFORMAT, "%s: %" PRIu64 " zip entries, want at most %d", name, z->dir.n, ZIP_ENTRIES_MAX);
    if (z->dir.size > DIRECTORY_MAX)
        return err_set(z->e, STENO_EFORMAT, "%s: a zip directory of %" PRIu64 " bytes, want at most %d", name, z->dir.size, DIRECTORY_MAX);
    if (z->dir.n > z->dir.size / RECORD_SZ)
        return err_set(z->e, STENO_EFORMAT, "%s: %" PRIu64 " zip entries are declared, but the directory's %" PRIu64
                       " bytes hold at most %" PRIu64 "; is the copy complete?", name, z->dir.n, z->dir.size, z->dir.size / RECORD_SZ);
    return STENO_OK;
}

/* ---- the directory ------------------------------------------------------------------------------------------------------------- */

/* Only plain relative names: parts between single slashes, none of them "." or "..". */
static int is_plain(const char *name, size_t n)
{
    if (!n || memchr(name, '\\', n) || memchr(name, ':', n)) return 0;
    for (size_t i = 0, part = 0; i <= n; i++) {
        if (i < n && (unsigned char)name[i] < ' ') return 0;
        if (i < n && name[i] != '/') continue;
        const size_t len = i - part;
        if ((!len && i < n) || (len == 1 && name[part] == '.') || (len == 2 && !memcmp(name + part, "..", 2))) return 0;
        part = i + 1;
    }
    return 1;
}

/* Replace 64-bit values that are full by those of an entry's zip64 field. @return 1, or 0 when one of them is missing */
static int widen(uint64_t *const value[], unsigned n, const uint8_t *extra, size_t n_extra)
{
    const uint8_t *p = NULL;
    size_t left = 0, at = 0;
    while (!p && at + 4 <= n_extra) {
        const size_t len = (size_t)le(extra + at + 2, 2);
        if (len > n_extra - at - 4) break;
        if (le(extra + at, 2) == EXTRA_ZIP64) {
            p = extra + at + 4;
            left = len;
        }
        at += 4 + len;
    }
    for (unsigned i = 0; i < n; i++) {
        if (*value[i] != FULL32) continue;
        if (left < 8) return 0;
        *value[i] = le(p, 8);
        p += 8;
        left -= 8;
    }
    return 1;
}

static int entry_error(struct zip_reader *z, const char *entry, const char *what)
{
    return err_set(z->e, STENO_EFORMAT, "%s: zip entry '%s' %s", z->f->name, entry, what);
}

/* Requirements for both headers of an entry. @return a text if one is not met */
static const char *refused(const struct zip_reader *z, const struct header *h)
{
    const int may_be_packed = z->most == ZIP_DEFLATED;
    if (h->flags & FLAG_SECRET) return "is encrypted; want it as it is";
    if (h->method == METHOD_STORED || (may_be_packed && h->method == METHOD_DEFLATED)) return NULL;
    if (may_be_packed) return "is compressed in another way than by deflate; numpy.savez and numpy.savez_compressed write what is read";
    return "is compressed; want it stored as torch.save does: load and save the file with torch, or unpack it and pack its folder without "
           "compression (zip -0 -r); TorchScript programs are not read";
}

/* Whether the two sizes of an entry are possible together. */
static int sizes_fit(const struct header *h)
{
    if (h->method == METHOD_STORED) return h->size == h->packed;
    return h->packed && h->size / DEFLATE_MAX <= h->packed;
}

/* The header before the bytes must agree with the directory. It may leave the sizes to a record after the bytes. */
static int read_local(struct zip_reader *z, struct zip_entry *it, const struct header *want)
{
    uint8_t p[LOCAL_SZ + ZIP_NAME_MAX + EXTRA_MAX];
    const uint64_t room = z->dir.offset;
    if (it->header > room || room - it->header < LOCAL_SZ + want->n_name)
        return err_set(z->e, STENO_EFORMAT, "%s: zip entry '%s' given at byte %" PRIu64 ", the directory begins at %" PRIu64,
                       z->f->name, it->name, it->header, room);
    size_t n = room - it->header < sizeof p ? (size_t)(room - it->header) : sizeof p;
    const int rc = file_read(z->f, it->header, p, n, z->e);
    if (rc) return rc;
    struct header h = { (uint32_t)le(p + 6, 2), (uint32_t)le(p + 8, 2), (uint32_t)le(p + 26, 2), (uint32_t)le(p + 28, 2),
                        le(p + 18, 4), le(p + 22, 4) };
    if (le(p, 4) != SIG_LOCAL || h.n_name != want->n_name || memcmp(p + LOCAL_SZ, it->name, h.n_name) != 0)
        return err_set(z->e, STENO_EFORMAT, "%s: byte %" PRIu64 " is not the header of zip entry '%s'", z->f->name, it->header, it->name);
    if (refused(z, &h)) return entry_error(z, it->name, refused(z, &h));
    n -= LOCAL_SZ + h.n_name;
    const int open = h.flags & want->flags & FLAG_SIZES_BEHIND && (!h.size || h.size == FULL32) && (!h.packed || h.packed == FULL32);
    if (!open && !widen((uint64_t *[]){ &h.size, &h.packed }, 2, p + LOCAL_SZ + h.n_name, h.n_extra < n ? h.n_extra : n))
        return entry_error(z, it->name, "lacks the 64-bit sizes it refers to");
    if (h.method != want->method || (!open && (h.size != want->size || h.packed != want->packed)))
        return entry_error(z, it->name, "has one size or compression in its header and another in the directory");
    it->offset = it->header + LOCAL_SZ + h.n_name + h.n_extra;
    if (it->offset > room || it->packed > room - it->offset)
        return err_set(z->e, STENO_EFORMAT, "%s: zip entry '%s' needs bytes %" PRIu64 "+%" PRIu64 ", the directory begins at %" PRIu64,
                       z->f->name, it->name, it->offset, it->packed, room);
    return STENO_OK;
}

/* Read the next record of the directory; its name goes to `name`. */
static int read_record(struct zip_reader *z, struct zip_entry *it, char *name)
{
    uint8_t p[RECORD_SZ], extra[EXTRA_MAX];
    const uint64_t at = z->r.pos;
    rd_bytes(&z->r, p, RECORD_SZ);
    struct header h = { (uint32_t)le(p + 8, 2), (uint32_t)le(p + 10, 2), (uint32_t)le(p + 28, 2), (uint32_t)le(p + 30, 2),
                        le(p + 20, 4), le(p + 24, 4) };
    const uint64_t n_comment = le(p + 32, 2), disk = le(p + 34, 2);
    it->header = le(p + 42, 4);
    if (!z->r.err && le(p, 4) != SIG_RECORD)
        return err_set(z->e, STENO_EFORMAT, "%s: byte %" PRIu64 " is not a record of the zip directory", z->f->name, at);
    if (h.n_name > ZIP_NAME_MAX)
        return err_set(z->e, STENO_EFORMAT, "%s: zip entry at byte %" PRIu64 " has a name of %u bytes, want at most %d", z->f->name, at,
                       (unsigned)h.n_name, ZIP_NAME_MAX);
    if (!z->r.err && h.n_name > rd_left(&z->r))
        return err_set(z->e, STENO_EFORMAT, "%s: the record at byte %" PRIu64 " runs past the zip directory", z->f->name, at);
    rd_bytes(&z->r, name, h.n_name);
    const size_t n_extra = h.n_extra < sizeof extra ? h.n_extra : sizeof extra;
    rd_bytes(&z->r, extra, n_extra);
    rd_skip(&z->r, h.n_extra - n_extra + n_comment);
    if (z->r.err == STENO_EFORMAT)
        return err_set(z->e, STENO_EFORMAT, "%s: the record at byte %" PRIu64 " runs past the zip directory", z->f->name, at);
    if (z->r.err) return err_set(z->e, z->r.err, "%s: read failed in the zip directory, at byte %" PRIu64, z->f->name, at);
    if (!is_plain(name, h.n_name))
        return err_set(z->e, STENO_EFORMAT, "%s: zip entry at byte %" PRIu64 " is called '%s': want a plain relative name", z->f->name, at,
                       name);
    it->name = name;
    if (refused(z, &h)) return entry_error(z, name, refused(z, &h));
    if (!widen((uint64_t *[]){ &h.size, &h.packed, &it->header }, 3, extra, n_extra))
        return entry_error(z, name, "lacks the 64-bit numbers it refers to");
    if (disk || !sizes_fit(&h)) return entry_error(z, name, "is on another disk, or has a size that its bytes cannot have");
    it->size = h.size;
    it->packed = h.packed;
    it->crc = (uint32_t)le(p + 16, 4);
    it->is_packed = h.method != METHOD_STORED;
    return read_local(z, it, &h);
}

static int by_place(const void *a, const void *b)
{
    const struct zip_entry *x = a, *y = b;
    return (x->header > y->header) - (x->header < y->header);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct zip_entry *)a)->name, ((const struct zip_entry *)b)->name);
}

/* Check that no two entries share bytes or have the same name. */
static int check_apart(struct zip_reader *z)
{
    struct zip_entry *it = z->z->entry;
    const uint32_t n = z->z->n;
    qsort(it, n, sizeof *it, by_place);
    for (uint32_t i = 1; i < n; i++)
        if (it[i].header < it[i - 1].offset + it[i - 1].packed)
            return err_set(z->e, STENO_EFORMAT, "%s: zip entries '%s' and '%s' share bytes", z->f->name, it[i - 1].name, it[i].name);
    qsort(it, n, sizeof *it, by_name);
    for (uint32_t i = 1; i < n; i++)
        if (!by_name(&it[i - 1], &it[i])) return entry_error(z, it[i].name, "is there twice");
    return STENO_OK;
}

int zip_open(struct zip *out, const struct file *f, enum zip_packing most, struct arena *a, steno_error *e)
{
    struct zip_reader z = { .f = f, .a = a, .e = e, .z = out, .most = most };
    *out = (struct zip){ 0 };
    int rc = find_directory(&z);
    if (rc) return rc;
    out->entry = arena_array(a, (size_t)z.dir.n, sizeof *out->entry);
    char *names = arena_alloc(a, (size_t)z.dir.size); /* a name and its NUL are shorter than its record */
    if (!out->entry || !names) return err_nomem(e, (size_t)z.dir.size, "a zip directory");
    rd_init(&z.r, f, z.dir.offset, z.dir.offset + z.dir.size);
    for (; out->n < z.dir.n; out->n++) {
        rc = read_record(&z, &out->entry[out->n], names);
        if (rc) return rc;
        names += strlen(names) + 1;
    }
    if (rd_left(&z.r))
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes of the zip directory belong to no entry", f->name, rd_left(&z.r));
    return check_apart(&z);
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
    const struct zip_entry key = { .name = name };
    return z->n ? bsearch(&key, z->entry, z->n, sizeof key, by_name) : NULL;
}

/* ---- deflated entries ------------------------------------------------------------------------------------------------------------- */

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
