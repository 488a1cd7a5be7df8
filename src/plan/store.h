/* steno: where packed weights go. SPDX-License-Identifier: MIT
 *
 * How large packed weights are is known matrix by matrix: what a matrix is packed as is seen in its numbers. So pages are taken in
 * pieces as weights come, each as large as all before it between two bounds, and a large matrix gets pages of its own; what is left at
 * the end of a piece is given back. The system is never asked for much more than the weights need, and they never move.
 *
 * Plans of the same weights share what is here: until everything is bound, the store knows what each place was made from. */
#ifndef STENO_PLAN_STORE_H
#define STENO_PLAN_STORE_H
#include <stddef.h>
#include "base/arena.h"

enum { STORED_PARTS = 4, STORED_F32 = -1, STORED_HASH = 64 };
#define NO_TENSOR UINT32_MAX
struct plan;

/* Numbers in the store, by what they were made from. */
struct stored {
    uint32_t tensor[STORED_PARTS]; /* numbers in the model's table, as they lie under each other; NO_TENSOR: zeros */
    uint32_t n_parts;
    int as;                        /* enum packed_type, or STORED_F32: one after the other */
    uint64_t n, first;             /* rows, or numbers where they are plain; row of the tensor that they begin with */
    const void *data;
    struct stored *next;           /* private to store.c */
};

struct weight_store {
    struct weight_piece *piece; /* the newest that has room, then all others */
    size_t used;                /* bytes of weights */
    size_t held;                /* bytes of pages that hold them */
    struct arena index;         /* of what is stored, until weight_store_trim */
    struct stored *stored[STORED_HASH];
    const struct plan *others;  /* [n_others] of another model, whose matrices serve here, too, where they are the same (same.h) */
    int n_others;
    int dry;                    /* shapes are checked and bytes counted, nothing is read: for describing a model */
};

enum { STORE_PIECE_MAX = 32 << 20 }; /* what is asked for beyond what is used, while a model is read */

/* n zeroed bytes, aligned to 64; NULL: no memory. Where nothing is read a place is only counted; nobody looks behind the pointer. */
void *weight_store_take(struct weight_store *s, size_t n);
/* The n bytes that were taken last, at `at`, are not needed. */
void weight_store_untake(struct weight_store *s, void *at, size_t n);
/* What an earlier plan made of the same tensors, in the same order and form; NULL: nobody has. `what`: all but data. */
const void *weight_store_find(const struct weight_store *s, const struct stored *what);
int weight_store_add(struct weight_store *s, const struct stored *what); /* for weight_store_find; -1: no memory */
void weight_store_trim(struct weight_store *s); /* everything is bound: give back what was not needed, and the index */
size_t weight_store_memory(const struct weight_store *s);
/* The pieces, one after the other: their used bytes. @return the first status of `take` that is not 0 */
int weight_store_each(const struct weight_store *s, int (*take)(void *user, const void *at, size_t n), void *user);
void weight_store_close(struct weight_store *s);
#endif
