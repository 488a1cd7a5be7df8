/* steno: arenas. SPDX-License-Identifier: MIT
 *
 * Memory lives as long as a model, a session or a result, so it is taken from an arena of that life and freed at once. Blocks are
 * zeroed and aligned to 64 bytes, strings stand side by side. Chunks grow by doubling up to a limit; a large request gets a chunk of its
 * own. */
#ifndef STENO_BASE_ARENA_H
#define STENO_BASE_ARENA_H
#include <stddef.h>
#include <stdint.h>

struct arena {
    struct arena_chunk *head;
    size_t total; /* bytes taken from the system */
};

/* Several blocks: what takes them also counts them, so that what is reported is what is taken. */
struct arena_take {
    struct arena *a; /* NULL: blocks are counted alone, and all NULL */
    size_t sz;       /* bytes so far */
    int failed;      /* there was no memory for one */
};

void arena_init(struct arena *a);
void *arena_alloc(struct arena *a, size_t n);                      /* NULL: no memory; n == 0 gives a valid pointer */
void *arena_array(struct arena *a, size_t n, size_t elem_sz);      /* as arena_alloc(n * elem_sz), NULL on overflow */
void *arena_take(struct arena_take *t, size_t n, size_t elem_sz);  /* as arena_array */
char *arena_strdup(struct arena *a, const char *s, size_t n);      /* n bytes of s and a NUL */
void arena_rewind(struct arena *a);                                /* forget all blocks, keep at most one chunk */
void arena_free(struct arena *a);                                  /* give everything back; the arena can be used again */
#endif
