/* steno: where the entries of a zip archive lie. SPDX-License-Identifier: MIT
 *
 * Archives of weights are stored, as a rule, so that an entry is a range of the file and reading one needs no unpacking; a caller may take
 * deflated entries, too (numpy.savez_compressed), and unpacks them. Anything else that a zip file may hold - other compression, encryption,
 * several disks, names that lead elsewhere, entries over each other - is refused. */
#ifndef STENO_LOAD_ZIP_H
#define STENO_LOAD_ZIP_H
#include "base/arena.h"
#include "base/file.h"

struct zip_entry {
    const char *name;
    uint64_t offset, size; /* of its bytes in the file; is_packed: size is what they unpack to */
    uint64_t packed;       /* their number in the file */
    uint64_t header;       /* place of the header before them */
    uint32_t crc;          /* of what they unpack to */
    uint32_t is_packed;
};

struct zip {
    struct zip_entry *entry; /* [n] sorted by name */
    uint32_t n;
};

enum { ZIP_ENTRIES_MAX = 1 << 16, ZIP_NAME_MAX = 511 };
enum zip_packing { ZIP_STORED, ZIP_DEFLATED /* or stored */ };

/* Read the directory of a file; memory from the arena, in proportion to the directory. STENO_EFORMAT names file, entry and cause. */
int zip_open(struct zip *z, const struct file *f, enum zip_packing most, struct arena *a, steno_error *e);
/* The first n bytes of a packed entry, at most its size. All of them are compared with their sum. */
int zip_unpack(const struct file *f, const struct zip_entry *it, void *dst, uint64_t n, steno_error *e);
const struct zip_entry *zip_find(const struct zip *z, const char *name); /* NULL: none */
#endif
