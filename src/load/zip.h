/* steno: where the entries of a zip archive lie. SPDX-License-Identifier: MIT
 *
 * Archives of weights are stored, never compressed, so an entry is a range of the file and reading one needs no unpacking. Anything else
 * that a zip file may hold - compression, encryption, several disks, names that lead elsewhere, entries over each other - is refused. */
#ifndef STENO_LOAD_ZIP_H
#define STENO_LOAD_ZIP_H
#include "base/arena.h"
#include "base/file.h"

struct zip_entry {
    const char *name;
    uint64_t offset, size; /* of its bytes in the file */
    uint64_t header;       /* place of the header before them */
};

struct zip {
    struct zip_entry *entry; /* [n] sorted by name */
    uint32_t n;
};

enum { ZIP_ENTRIES_MAX = 1 << 16, ZIP_NAME_MAX = 511 };

/* Read the directory of a file; memory from the arena, in proportion to the directory. STENO_EFORMAT names file, entry and cause. */
int zip_open(struct zip *z, const struct file *f, struct arena *a, steno_error *e);
const struct zip_entry *zip_find(const struct zip *z, const char *name); /* NULL: none */
#endif
