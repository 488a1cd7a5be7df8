/* steno: the members of a tar archive. SPDX-License-Identifier: MIT
 *
 * A member is a range of the file; nothing is unpacked. POSIX.1-2001 (pax) and GNU headers. Links, devices, sparse files, names that lead
 * elsewhere and names that occur twice are refused. */
#ifndef STENO_LOAD_TAR_H
#define STENO_LOAD_TAR_H
#include "base/arena.h"
#include "base/file.h"

struct tar_member {
    const char *name;      /* without "./" */
    uint64_t offset, size; /* bytes in the file */
};

struct tar {
    struct tar_member *member; /* [n] regular files in the order of the archive */
    uint32_t n;
};

enum { TAR_MEMBERS_MAX = 1024, TAR_NAME_MAX = 511 };

/* Memory comes from the arena. STENO_EFORMAT names the file, the byte and the cause. */
int tar_open(struct tar *t, const struct file *f, struct arena *a, steno_error *e);
const struct tar_member *tar_find(const struct tar *t, const char *name); /* NULL: none */
/* A member as a file of its own, which refers to f. Memory comes from the arena; closing it does nothing. */
int tar_member_file(struct file *out, const struct file *f, const struct tar_member *m, struct arena *a, steno_error *e);
#endif
