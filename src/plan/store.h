/* steno: memory for packed weights. SPDX-License-Identifier: MIT
 *
 * The size of packed weights is known only matrix by matrix, because the packed type depends on the numbers. Pages are therefore allocated
 * in pieces as weights arrive. A piece is as large as all pieces before it, between two bounds; a large matrix gets its own pages. The
 * unused end of a piece is given back. The process never holds much more than the weights need, and weights never move.
 *
 * Plans of the same weights share this store. Until everything is bound, the store remembers what each place was made from. */
#ifndef STENO_PLAN_STORE_H
#define STENO_PLAN_STORE_H
#include <stddef.h>
#include "base/arena.h"

enum { STORED_PARTS = 4, STORED_F32 = -1, STORED_HASH = 64 };
#define NO_TENSOR UINT32_MAX
struct plan;

/* Data in the store, by its origin. */
struct stored {
    uint32_t tensor[STORED_PARTS]; /* indices in the model's table, in stacking order; NO_TENSOR: zeros */
    uint32_t n_parts;
    int as;                        /* enum packed_type, or STORED_F32: plain numbers */
    uint64_t n, first;             /* rows, or numbers if plain; first row of the tensor */
    const void *data;
    struct stored *next;           /* private to store.c */
};

struct weight_store {
    struct weight_piece *piece; /* the newest piece with room, then all others */
    size_t used;                /* bytes of weights */
    size_t held;                /* bytes of the pages that hold them */
    struct arena index;         /* index of `stored`, until weight_store_trim */
    struct stored *stored[STORED_HASH];
    const struct plan *others;  /* [n_others] plans of another model; identical matrices are shared (same.h) */
    int n_others;
    int dry;                    /* 1: shapes are checked and bytes counted, but nothing is read: for describing a model */
};

enum { STORE_PIECE_MAX = 32 << 20 }; /* most bytes allocated in advance while a model is read */

/* n zeroed bytes, aligned to 64; NULL: out of memory. In a dry store, a place is only counted and its pointer must not be used. */
void *weight_store_take(struct weight_store *s, size_t n);
/* Return the n bytes at `at`, the last ones taken. */
void weight_store_untake(struct weight_store *s, void *at, size_t n);
/* Data that an earlier plan made from the same tensors in the same order and form; NULL: none. `what`: all members but data. */
const void *weight_store_find(const struct weight_store *s, const struct stored *what);
int weight_store_add(struct weight_store *s, const struct stored *what); /* for weight_store_find; -1: no memory */
void weight_store_trim(struct weight_store *s); /* call when everything is bound: frees unused memory and the index */
size_t weight_store_memory(const struct weight_store *s);
/* Pass the used bytes of each piece to `take`, in order. @return the first status of `take` that is not 0 */
int weight_store_each(const struct weight_store *s, int (*take)(void *user, const void *at, size_t n), void *user);
void weight_store_close(struct weight_store *s);
#endif
