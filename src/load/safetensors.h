/* steno: the tensor list of a sharded model's index. SPDX-License-Identifier: MIT
 *
 * Shared by the reader of one file and the reader of an index over several. */
#ifndef STENO_LOAD_SAFETENSORS_H
#define STENO_LOAD_SAFETENSORS_H
#include "load/formats.h"

struct promise { const char *name, *file; int kept; };

struct promises {
    struct promise *p;   /* [n] */
    uint32_t n;
    uint32_t *hash;      /* [mask + 1] index + 1 of a promise by name, 0: free */
    uint32_t mask;
};

/* Hash the names of p[n]; memory from the arena. STENO_EFORMAT for a duplicate name, in file f. */
int promises_index(struct promises *ps, const struct file *f, struct arena *a, steno_error *e);
struct promise *promise_find(const struct promises *ps, const char *name);
/* Read one file into the index. Its tensors must be those that `ps` lists for the file called `shard`. ps may be NULL. */
int safetensors_read_file(struct weights *w, const struct file *f, const struct promises *ps, const char *shard, steno_error *e);
#endif
