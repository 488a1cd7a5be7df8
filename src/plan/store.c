/* steno: where packed weights go. SPDX-License-Identifier: MIT */
#include "plan/store.h"
#include <stdint.h>
#include "base/os.h"

enum { ALIGN = 64, PIECE_LEAST = 4 << 20 };

/* At the beginning of its pages. */
struct weight_piece {
    struct weight_piece *next;
    size_t size, used; /* bytes from here on */
};
_Static_assert(sizeof(struct weight_piece) <= ALIGN, "the head of a piece has a line of its own");

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Give back the pages behind what is used of a piece. */
static void piece_trim(struct weight_store *s, struct weight_piece *p)
{
    os_pages_trim(p, p->size, p->used);
    s->held -= p->size - p->used;
    p->size = p->used;
}

/* A piece with room for n bytes. One that holds much else than those is where the next ones go, too. */
static struct weight_piece *piece_add(struct weight_store *s, size_t n)
{
    size_t size = s->held < PIECE_LEAST ? PIECE_LEAST : s->held < STORE_PIECE_MOST ? s->held : STORE_PIECE_MOST;
    const int own = n > size / 2;
    if (own) size = ALIGN + n;
    struct weight_piece *p = os_pages_alloc(size), *open = s->piece;
    if (!p) return NULL;
    p->size = size;
    p->used = ALIGN;
    s->held += size;
    if (own && open) {
        p->next = open->next;
        open->next = p;
        return p;
    }
    if (open) piece_trim(s, open);
    p->next = open;
    return s->piece = p;
}

void *weight_store_take(struct weight_store *s, size_t n)
{
    static const char nowhere;
    if (n > SIZE_MAX / 2) return NULL;
    const size_t need = aligned(n);
    if (s->dry) {
        s->used += need;
        return (void *)(uintptr_t)&nowhere;
    }
    struct weight_piece *p = s->piece;
    if (!p || need > p->size - p->used) p = piece_add(s, need);
    if (!p) return NULL;
    void *at = (char *)p + p->used;
    p->used += need;
    s->used += need;
    return at;
}

void weight_store_trim(struct weight_store *s)
{
    if (s->piece) piece_trim(s, s->piece);
}

size_t weight_store_memory(const struct weight_store *s)
{
    return s->dry ? s->used : s->held;
}

void weight_store_close(struct weight_store *s)
{
    for (struct weight_piece *p = s->piece, *next; p; p = next) {
        next = p->next;
        os_pages_free(p, p->size);
    }
    *s = (struct weight_store){ 0 };
}
