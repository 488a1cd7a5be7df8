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

/* The same over keys, values and distances that are packed as weights of kv_run_packed: keys [n_keys, d_head], from which a part that all
 * keys share may be subtracted, values [d_head, n_keys]. Row `at` - i + j of `distances` belongs to row i of the call and key j.
 *
 * KV_PANELS: f32. The score is the sum of two sums, over scale * (q + u) and over scale * (q + v), which walk d upwards.
 * KV_I16: rows of q + u and of q + v are rounded as a row of x is, keys and distances as weights. Each sum of products is an exact integer,
 * times (scale of the row * (scale * log2 e) * scale of the key or the distance). Weights are those of struct attn_run, with the highest
 * score of a group among the keys that the row sees; groups begin at multiples of RUN_GROUP keys. d_head: up to I16_GROUP. A NaN or an
 * infinity in a row or in a key or distance that it meets gives NaN for the row. Tolerance, relative to max |value|: 1e-4 from the twin. */
enum { REL_ROWS = 48 /* rows that share a panel */, REL_MARGIN = 48 /* scores before and after those of a row, which nothing reads */ };
struct attn_rel_run {
    float *out;                /* row i at out + i * ld_out, [d_head] */
    size_t ld_out;
    const float *q;            /* row i at q + i * ld_q */
    size_t ld_q;
    const float *u, *v;        /* [d_head] */
    const void *keys, *values, *distances; /* packed, 64-byte aligned */
    const struct key_span *sees; /* [rows] */
    size_t at;
    uint32_t rows, d_head, n_keys;
    float scale;
};
#endif
