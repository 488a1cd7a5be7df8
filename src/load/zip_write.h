/* steno: writing zip archives. SPDX-License-Identifier: MIT
 *
 * Entries are stored uncompressed in sequence, as torch.save stores them. Their bytes begin at multiples of 64. Their checksums follow the
 * bytes, because they are known only then. The directory comes last, with zip64 records where 32 bits are not enough. */
#ifndef STENO_LOAD_ZIP_WRITE_H
#define STENO_LOAD_ZIP_WRITE_H
#include "base/buf.h"
#include "load/tensor_write.h"

struct zip_writer {
    struct byte_writer *b;
    struct buf directory, name; /* name: of the current entry, NUL-terminated */
    uint64_t n, header, size;   /* entries; position and size of the current entry */
};

void zip_write_start(struct zip_writer *z, struct byte_writer *b);
void zip_write_free(struct zip_writer *z);

/* Begin an entry of `size` bytes; the caller then writes them with bytes_write. STENO_EUNSUPPORTED: 4 GiB and more */
int zip_write_entry(struct zip_writer *z, const char *name, uint64_t size);
int zip_write_entry_end(struct zip_writer *z);
int zip_write_directory(struct zip_writer *z);
#endif
