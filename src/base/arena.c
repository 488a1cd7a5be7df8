/* steno: arenas. SPDX-License-Identifier: MIT
 *
 * Chunks come zeroed from calloc, which costs nothing for large ones. Only arena_rewind must zero the used bytes again. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* of a chunk: a larger request gets its own chunk, so that chunks have no gaps */
enum { ALIGN = 64, CHUNK_MIN = 16 << 10, CHUNK_MAX = 64 << 10, OWN_PART = 8 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, cap; /* bytes from base */
    char *base;       /* aligned, inside this allocation */
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

static struct arena_chunk *chunk_new(struct arena *a, size_t cap)
{
    const size_t extra = sizeof(struct arena_chunk) + ALIGN;
    if (cap > SIZE_MAX - extra) return NULL;
    struct arena_chunk *c = calloc(1, cap + extra);
    if (!c) return NULL;
    c->cap = cap;
    c->base = (char *)(((uintptr_t)(c + 1) + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
    a->total += cap + extra;
    return c;
}

static void chunk_free(struct arena *a, struct arena_chunk *c)
{
    a->total -= c->cap + sizeof *c + ALIGN;
    free(c);
}

/* A new chunk. Small requests get a chunk as large as all earlier ones together. The head is the chunk that still has room. */
static struct arena_chunk *chunk_for(struct arena *a, size_t n)
{
    struct arena_chunk *head = a->head;
    size_t cap = a->total;
    if (cap < CHUNK_MIN) cap = CHUNK_MIN;
    if (cap > CHUNK_MAX) cap = CHUNK_MAX;
    const int own = n > cap / OWN_PART;
    struct arena_chunk *c = chunk_new(a, own ? n : cap);
    if (!c) return NULL;
    if (own && head) {
        c->next = head->next;
        head->next = c;
    } else {
        c->next = head;
        a->head = c;
    }
    return c;
}

/* n bytes at the first multiple of `align`. */
static void *take(struct arena *a, size_t n, size_t align)
{
    struct arena_chunk *c = a->head;
    size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
    if (!c || at > c->cap || n > c->cap - at) {
        c = chunk_for(a, n);
        at = 0;
    }
    if (!c) return NULL;
    c->used = at + n;
    return c->base + at;
}

void *arena_alloc(struct arena *a, size_t n)
{
    return n > SIZE_MAX - ALIGN ? NULL : take(a, n ? (n + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN, ALIGN);
}

void *arena_array(struct arena *a, size_t n, size_t elem_sz)
{
    if (elem_sz && n > SIZE_MAX / elem_sz) return NULL;
    return arena_alloc(a, n * elem_sz);
}

void *arena_take(struct arena_take *t, size_t n, size_t elem_sz)
{
    void *p = t->a ? arena_array(t->a, n, elem_sz) : NULL;
    t->sz += (n * elem_sz + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    t->failed |= t->a && !p;
    return p;
}

char *arena_strdup(struct arena *a, const char *s, size_t n)
{
    char *p = n < SIZE_MAX - ALIGN ? take(a, n + 1, 1) : NULL; /* without alignment: a vocabulary has tens of thousands of strings */
    if (p && n) memcpy(p, s, n);
    return p;
}

void arena_rewind(struct arena *a)
{
    struct arena_chunk *keep = NULL;
    for (struct arena_chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        struct arena_chunk *drop = c;
        if (c->cap <= CHUNK_MAX && (!keep || c->cap > keep->cap)) {
            drop = keep;
            keep = c;
        }
        if (drop) chunk_free(a, drop);
    }
    a->head = keep;
    if (!keep) return;
    keep->next = NULL;
    memset(keep->base, 0, keep->used);
    keep->used = 0;
}

void arena_free(struct arena *a)
{
    for (struct arena_chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    arena_init(a);
}
