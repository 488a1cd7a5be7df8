/* steno: the tensors that a sharded model's index promises. SPDX-License-Identifier: MIT
 *
 * Shared by the reader of one file and the reader of an index over several. */
#ifndef STENO_LOAD_SAFETENSORS_H
#define STENO_LOAD_SAFETENSORS_H
#include "load/formats.h"

struct promise { const char *name, *file; int kept; };

struct promises {
    struct promise *p;   /* [n] */
    uint32_t n;
    uint32_t *hash;      /* [mask + 1] number + 1 of a promise by name, 0: free */
    uint32_t mask;
};

/* Hash the names of p[n]; memory from the arena. STENO_EFORMAT for a name given twice, in file f. */
int promises_index(struct promises *ps, const struct file *f, struct arena *a, steno_error *e);
struct promise *promise_find(const struct promises *ps, const char *name);
/* Read one file into the index; what is in it must be what `ps` (NULL: nothing) promises of the file called `shard`. */
int safetensors_read_file(struct weights *w, const struct file *f, const struct promises *ps, const char *shard, steno_error *e);
#endif
