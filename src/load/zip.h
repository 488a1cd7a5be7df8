/* steno: the directory of a zip archive. SPDX-License-Identifier: MIT
 *
 * Archives of weights are usually stored, so an entry is a range of the file and needs no unpacking. A caller may accept deflated entries
 * (numpy.savez_compressed), too, and unpack them. All other features of zip files (other compression, encryption, several disks, names that
 * lead elsewhere, overlapping entries) are refused. */
#ifndef STENO_LOAD_ZIP_H
#define STENO_LOAD_ZIP_H
#include "base/arena.h"
#include "base/file.h"

struct zip_entry {
    const char *name;
    uint64_t offset, size; /* byte offset and size in the file; is_packed: size is the unpacked size */
    uint64_t packed;       /* packed size in the file */
    uint64_t header;       /* offset of the header before the bytes */
    uint32_t crc;          /* of the unpacked bytes */
    uint32_t is_packed;
};

struct zip {
    struct zip_entry *entry; /* [n] sorted by name */
    uint32_t n;
};

enum { ZIP_ENTRIES_MAX = 1 << 16, ZIP_NAME_MAX = 511 };
enum zip_packing { ZIP_STORED, ZIP_DEFLATED /* or stored */ };

/* Read the directory of a file. Memory comes from the arena, in proportion to the directory. STENO_EFORMAT names file, entry and cause. */
int zip_open(struct zip *z, const struct file *f, enum zip_packing most, struct arena *a, steno_error *e);
/* Unpack the first n bytes of a packed entry, at most its size. If n is its size, the checksum is verified. */
int zip_unpack(const struct file *f, const struct zip_entry *it, void *dst, uint64_t n, steno_error *e);
const struct zip_entry *zip_find(const struct zip *z, const char *name); /* NULL: none */
#endif
