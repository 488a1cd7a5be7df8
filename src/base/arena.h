/* steno: arenas. SPDX-License-Identifier: MIT
 *
 * Memory has the lifetime of a model, a session or a result. It is taken from an arena with that lifetime and freed at once. Blocks are
 * zeroed and aligned to 64 bytes; strings are stored without gaps. Chunks grow by doubling up to a limit; a large request gets its own
 * chunk. */
#ifndef STENO_BASE_ARENA_H
#define STENO_BASE_ARENA_H
#include <stddef.h>
#include <stdint.h>

struct arena {
    struct arena_chunk *head;
    size_t total; /* bytes taken from the system */
};

/* Takes several blocks and counts them, so that the reported memory equals the memory in use. */
struct arena_take {
    struct arena *a; /* NULL: blocks are only counted, and the returned pointers are NULL */
    size_t sz;       /* bytes so far */
    int failed;      /* 1: a block could not be allocated */
};

void arena_init(struct arena *a);
void *arena_alloc(struct arena *a, size_t n);                      /* NULL: out of memory; n == 0 gives a valid pointer */
void *arena_array(struct arena *a, size_t n, size_t elem_sz);      /* as arena_alloc(n * elem_sz), NULL on overflow */
void *arena_take(struct arena_take *t, size_t n, size_t elem_sz);  /* as arena_array */
char *arena_strdup(struct arena *a, const char *s, size_t n);      /* n bytes of s and a NUL */
void arena_rewind(struct arena *a);                                /* drop all blocks, keep at most one chunk */
void arena_free(struct arena *a);                                  /* free everything; the arena can be used again */
#endif
