/* steno: where packed weights go. SPDX-License-Identifier: MIT
 *
 * How large packed weights are is known matrix by matrix: what a matrix is packed as is seen in its numbers. So pages are taken in
 * pieces as weights come, each as large as all before it between two bounds, and a large matrix gets pages of its own; what is left at
 * the end of a piece is given back. The system is never asked for much more than the weights need, and they never move. */
#ifndef STENO_PLAN_STORE_H
#define STENO_PLAN_STORE_H
#include <stddef.h>

struct weight_store {
    struct weight_piece *piece; /* the newest that has room, then all others */
    size_t used;                /* bytes of weights */
    size_t held;                /* bytes of pages that hold them */
    int dry;                    /* shapes are checked and bytes counted, nothing is read: for describing a model */
};

enum { STORE_PIECE_MOST = 32 << 20 }; /* what is asked for beyond what is used, while a model is read */

/* n zeroed bytes, aligned to 64; NULL: no memory. Where nothing is read a place is only counted; nobody looks behind the pointer. */
void *weight_store_take(struct weight_store *s, size_t n);
void weight_store_trim(struct weight_store *s); /* everything is bound: give back what was not needed */
size_t weight_store_memory(const struct weight_store *s);
void weight_store_close(struct weight_store *s);
#endif
