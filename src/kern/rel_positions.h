/* steno: attention with relative positions. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_REL_POSITIONS_H
#define STENO_KERN_REL_POSITIONS_H
#include "kern/kern.h"

/* Query rows of one head (Dai et al. 2019). Row i of a sequence and its key j have the score
 *   scale * ((q_i + u) . k_j + (q_i + v) . r[i - j])
 * out = the mean of the values of the keys that the row sees, by the softmax of their scores. A score is one sum, in an order that d_head
 * and the level determine. Tolerance, relative to max |value|: 3e-6 from the twin, which sums in double. */
enum { ATTN_REL_ROWS = 4 /* rows processed together */ };
struct attn_rel {
    float *out;                /* row i at out + i * ld_out, [d_head] */
    size_t ld_out;
    const float *q;            /* row i at q + i * ld_q */
    size_t ld_q;
    const float *u, *v;        /* [d_head] */
    const float *keys, *values; /* of position j at keys + j * ld_kv, at values + j * ld_kv */
    size_t ld_kv;
    const float *r;            /* of distance n at r + n * ld_r; n may be negative */
    ptrdiff_t ld_r;
    const struct key_span { uint32_t from, to; } *sees; /* [rows] positions of the keys that a row sees; not empty */
    uint32_t first, rows, d_head; /* first: position of row 0; d_head: a multiple of 4 up to HEAD_MAX */
    float scale;
};
#endif
