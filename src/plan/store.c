/* steno: memory for packed weights. SPDX-License-Identifier: MIT */
#include "plan/store.h"
#include <stdint.h>
#include <string.h>
#include "base/os.h"

enum { ALIGN = 64, PIECE_MIN = 4 << 20 };

/* Header at the beginning of a piece's pages. */
struct weight_piece {
    struct weight_piece *next;
    size_t size, used; /* bytes from here on */
};
_Static_assert(sizeof(struct weight_piece) <= ALIGN, "the head of a piece has a line of its own");

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Give back the unused pages of a piece. */
static void piece_trim(struct weight_store *s, struct weight_piece *p)
{
    os_pages_trim(p, p->size, p->used);
    s->held -= p->size - p->used;
    p->size = p->used;
}

/* Allocate a piece with room for n bytes. If it has much room left, later requests use it, too. */
static struct weight_piece *piece_add(struct weight_store *s, size_t n)
{
    size_t size = s->held < PIECE_MIN ? PIECE_MIN : s->held < STORE_PIECE_MAX ? s->held : STORE_PIECE_MAX;
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

void weight_store_untake(struct weight_store *s, void *at, size_t n)
{
    const size_t need = aligned(n);
    struct weight_piece *p = s->piece, *before = NULL;
    while (p && (char *)p + p->used != (char *)at + need) before = p, p = p->next;
    if (!p) return;
    s->used -= need;
    p->used -= need;
    if (p == s->piece || p->used > ALIGN) {
        memset(at, 0, need);
        return;
    }
    before->next = p->next;
    s->held -= p->size;
    os_pages_free(p, p->size);
}

static uint32_t bucket_of(const struct stored *what)
{
    uint32_t h = what->n_parts;
    for (uint32_t i = 0; i < what->n_parts; i++) h = h * 31 + what->tensor[i];
    return h % STORED_HASH;
}

const void *weight_store_find(const struct weight_store *s, const struct stored *what)
{
    for (const struct stored *at = s->stored[bucket_of(what)]; at; at = at->next)
        if (at->n_parts == what->n_parts && at->as == what->as && at->n == what->n && at->first == what->first &&
            !memcmp(at->tensor, what->tensor, what->n_parts * sizeof *what->tensor))
            return at->data;
    return NULL;
}

int weight_store_add(struct weight_store *s, const struct stored *what)
{
    struct stored *new = arena_alloc(&s->index, sizeof *new), **bucket = &s->stored[bucket_of(what)];
    if (!new) return -1;
    *new = *what;
    new->next = *bucket;
    *bucket = new;
    return 0;
}

void weight_store_trim(struct weight_store *s)
{
    memset(s->stored, 0, sizeof s->stored);
    arena_free(&s->index);
    if (s->piece) piece_trim(s, s->piece);
    s->others = NULL;
    s->n_others = 0;
}

size_t weight_store_memory(const struct weight_store *s)
{
    return s->dry ? s->used : s->held;
}

int weight_store_each(const struct weight_store *s, int (*take)(void *user, const void *at, size_t n), void *user)
{
    int rc = 0;
    for (const struct weight_piece *p = s->piece; p && !rc; p = p->next) rc = take(user, (const char *)p + ALIGN, p->used - ALIGN);
    return rc;
}

void weight_store_close(struct weight_store *s)
{
    arena_free(&s->index);
    for (struct weight_piece *p = s->piece, *next; p; p = next) {
        next = p->next;
        os_pages_free(p, p->size);
    }
    *s = (struct weight_store){ 0 };
}
