/* steno: packing weights, and memory for packed weights. SPDX-License-Identifier: MIT
 *
 * The size of packed weights is known only matrix by matrix, because the packed type depends on the numbers. Pages are therefore allocated
 * in pieces as weights arrive. A piece is as large as all pieces before it, between two bounds; a large matrix gets its own pages. The
 * unused end of a piece is given back. The process never holds much more than the weights need, and weights never move.
 *
 * Plans of the same weights share this store. Until everything is bound, the store remembers what each place was made from. A distilled
 * model has the encoder of its larger original, number for number. Its matrices need not be in memory twice, and the encoder output of one
 * model serves the other. */
#ifndef STENO_PLAN_PACKING_H
#define STENO_PLAN_PACKING_H
#include <stddef.h>
#include "base/arena.h"
#include "plan/logits_approx.h"
#include "plan/op.h"

struct build;
struct tensor;

/* ---- the store --------------------------------------------------------------------------------------------------------------- */

enum { STORED_PARTS = 4, STORED_F32 = -1, STORED_HASH = 64 };
#define NO_TENSOR UINT32_MAX

/* Data in the store, by its origin. */
struct stored {
    uint32_t tensor[STORED_PARTS]; /* indices in the model's table, in stacking order; NO_TENSOR: zeros */
    uint32_t n_parts;
    int as;                        /* enum packed_type, or STORED_F32: plain numbers */
    uint64_t n, first;             /* rows, or numbers if plain; first row of the tensor */
    const void *data;
    struct stored *next;           /* private */
};

struct weight_store {
    struct weight_piece *piece; /* the newest piece with room, then all others */
    size_t used;                /* bytes of weights */
    size_t held;                /* bytes of the pages that hold them */
    struct arena index;         /* index of `stored`, until weight_store_trim */
    struct stored *stored[STORED_HASH];
    const struct plan *others;  /* [n_others] plans of another model; identical matrices are shared */
    int n_others;
    int dry;                    /* 1: shapes are checked and bytes counted, but nothing is read: for describing a model */
};

enum { STORE_PIECE_MAX = 32 << 20 }; /* most bytes allocated in advance while a model is read */

/* n zeroed bytes, aligned to 64; NULL: out of memory. In a dry store, a place is only counted and its pointer must not be used. */
void *weight_store_take(struct weight_store *s, size_t n);
/* Data that an earlier plan made from the same tensors in the same order and form; NULL: none. `what`: all members but data. */
const void *weight_store_find(const struct weight_store *s, const struct stored *what);
void weight_store_trim(struct weight_store *s); /* call when everything is bound: frees unused memory and the index */
size_t weight_store_memory(const struct weight_store *s);
/* Pass the used bytes of each piece to `take`, in order. @return the first status of `take` that is not 0 */
int weight_store_each(const struct weight_store *s, int (*take)(void *user, const void *at, size_t n), void *user);
void weight_store_close(struct weight_store *s);

/* ---- the common parts of two models ------------------------------------------------------------------------------------------ */

/* Whether a phase of both plans, and the slots that it reads and writes, compute the same from the same weights. */
int same_phase(const struct plan *a, const struct plan *b, int phase);

/* ---- packing ----------------------------------------------------------------------------------------------------------------- */

/* Matrices [n[i], k], stacked. */
struct matrices {
    struct tensor *tensor[STORED_PARTS];
    uint64_t n[STORED_PARTS], k;
    uint64_t first; /* first row of the tensor to use, with one part; n may then be less than the tensor's rows */
    int n_parts;
    uint32_t taps; /* > 1: a convolution, stored [n, k / taps, taps] and packed [n, taps, k / taps] */
    /* Rows (columns) belong to heads of this width, which are padded with zero rows (columns) to head_room; 0: no heads. */
    uint32_t row_head, column_head;
};
/* The padded size of n numbers in heads of d_head; d_head 0: no heads, no padding. */
static inline uint64_t with_room(uint64_t n, uint32_t d_head) { return d_head ? n / d_head * head_room(d_head) : n; }
static inline uint64_t matrices_columns(const struct matrices *m) { return with_room(m->k, m->column_head); }
static inline uint64_t matrices_rows(const struct matrices *m)
{
    uint64_t rows = 0;
    for (int i = 0; i < m->n_parts; i++) rows += with_room(m->n[i], m->row_head);
    return rows;
}

/* Pad consecutive heads of d_head numbers to head_room in place; x has room for them. */
void spread_heads(float *x, uint64_t heads, uint32_t d_head);
/* Take n bytes of the weight store; NULL: out of memory, and the builder has failed. */
void *packed_take(struct build *b, size_t n);
/* The index of tensor t in the model's table; NO_TENSOR if t is NULL. */
uint32_t tensor_number(const struct build *b, const struct tensor *t);
/* Register data made from tensors, for later plans of the same weights. */
void packed_remember(struct build *b, const struct stored *what);

/* Pack matrices of one stored type as type t. approx: [panels] receives the loss of packing; may be NULL. */
const void *pack_matrices(struct build *b, const struct matrices *m, enum packed_type t, struct approx_panel *approx);
/* As pack_matrices without approx, but reuses the result of an earlier plan for the same matrices and type. */
const void *pack_shared(struct build *b, const struct matrices *m, enum packed_type t);
#endif
