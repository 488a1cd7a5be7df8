/* steno: attention's groups of rows. SPDX-License-Identifier: MIT
 *
 * Groups of up to ATTN_ROWS query rows walk the keys in blocks of ATTN_KEYS: scores of all rows, then each row by itself scales, takes
 * its maximum, exp and sum, and fades what earlier blocks gave, then weights times values. The two products and the weights between them
 * belong to the type of keys and values (attn.h, attn_narrow.h); here is what they share.
 *
 * A row must not see what lies past its length, not even multiplied by zero: a tile's product with values stops at its shortest row, and
 * every row goes on from there alone, in the same order and so with the same bits as if it had been alone from the start. */
#ifndef STENO_KERN_ATTN_GROUP_H
#define STENO_KERN_ATTN_GROUP_H
#include "kern/finish.h"
#include "kern/softmax.h"

enum { BLOCKS = ATTN_KEYS / KV_BLOCK };

/* What a group of rows shares while it looks at one block of ATTN_KEYS keys. */
struct key_block {
    const char *kv[BLOCKS];    /* keys; values lie behind them */
    size_t rows, d_head;
    size_t seen[ATTN_ROWS];    /* keys of this block that each row sees */
    size_t most;               /* the largest of them */
};

/* What differs between types. */
struct attn_body {
    void (*queries)(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows);
    void (*scores)(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0); /* not scaled */
    /* Scores of row r become weights, 2^(score * unit - max), for the n keys it sees. Returns their sums by lanes. */
    vf (*exps)(struct attn_scratch *s, size_t r, float unit, float max, size_t n);
    void (*weigh)(struct attn_scratch *s, const struct key_block *b);                                   /* out += weights times values */
};

/* The first n of a vector's lanes; the others count as absent. */
INLINE vf first_or_absent(vf v, size_t n) { return n >= VF_N ? v : vf_drop(v, ~0u << n); }

/* Keys that the rows of a tile from row r on all see. */
INLINE size_t common_keys(const struct key_block *b, size_t r)
{
    size_t least = ATTN_KEYS;
    for (size_t i = r; i < size_min(b->rows, r + TILE_ROWS); i++) least = size_min(least, b->seen[i]);
    return least;
}

/* The largest of n scores. May read past n: the row of scores is longer. */
INLINE float highest(const float *score, size_t n)
{
    enum { SIDE_BY_SIDE = 4 };
    vf top[SIDE_BY_SIDE];
    size_t i = 0;
    UNROLL
    for (int c = 0; c < SIDE_BY_SIDE; c++) top[c] = vf_set1(-INFINITY);
    for (; i + SIDE_BY_SIDE * VF_N <= n; i += SIDE_BY_SIDE * VF_N)
        UNROLL
        for (int c = 0; c < SIDE_BY_SIDE; c++) top[c] = vf_max(vf_load(score + i + c * VF_N), top[c]);
    for (; i < n; i += VF_N) top[0] = vf_max(first_or_absent(vf_load(score + i), n - i), top[0]);
    return vf_hmax(vf_max(vf_max(top[0], top[1]), vf_max(top[2], top[3])));
}

/* Row r has a new maximum, no less than before: what earlier blocks gave fades. part: the sum of this block's weights. */
INLINE void fade_row(struct attn_scratch *s, size_t r, size_t d_head, float max, vf part)
{
    const vf fade = vf_exp2(vf_set1(s->max[r] - max));
    float *out = s->out + r * OUT_LD, *sum = s->sum + r * LANES_MAX;
    vf_store(sum, vf_fma(vf_load(sum), fade, part));
    if (s->max[r] == max) return;
    s->max[r] = max;
    for (size_t d = 0; d < d_head; d += VF_N) vf_store(out + d, vf_mul(vf_load(out + d), fade));
}

/* Online softmax: scores become weights. They and their maxima are kept as logarithms to base 2, where 2^x takes the place of exp. Maxima
 * of all rows come first, so that no row waits for its own. */
INLINE void weights_of(struct attn_scratch *s, const struct key_block *b, const struct attn_body *body, float scale)
{
    const float unit = scale * 1.44269504f;
    float top[ATTN_ROWS];
    for (size_t r = 0; r < b->rows; r++) top[r] = unit * highest(s->score + r * SCORE_LD, b->seen[r]);
    for (size_t r = 0; r < b->rows; r++) {
        const float max = top[r] > s->max[r] ? top[r] : s->max[r];
        const vf part = body->exps(s, r, unit, max == -INFINITY ? 0 : max, b->seen[r]);
        if (max != -INFINITY) fade_row(s, r, b->d_head, max, part); /* else every score is: such keys weigh nothing */
    }
}

INLINE void attn_group(const struct attn *a, struct attn_scratch *s, const struct attn_body *body, size_t r0, size_t rows)
{
    struct key_block b = { .rows = rows, .d_head = a->d_head };
    size_t len[ATTN_ROWS], longest = 0;
    for (size_t r = 0; r < rows; r++) {
        const int32_t want = a->len ? a->len[r0 + r] : a->n_keys;
        len[r] = want > 0 ? (size_t)want : 0;
        if (len[r] > longest) longest = len[r];
        s->max[r] = -INFINITY;
        vf_store(s->sum + r * LANES_MAX, vf_zero());
        memset(s->out + r * OUT_LD, 0, (a->d_head + VF_N) * sizeof(float));
    }
    body->queries(s, a, r0, rows);
    for (size_t key0 = 0; key0 < longest; key0 += ATTN_KEYS) {
        b.most = 0;
        for (size_t r = 0; r < rows; r++) {
            b.seen[r] = len[r] > key0 ? size_min(ATTN_KEYS, len[r] - key0) : 0;
            if (b.seen[r] > b.most) b.most = b.seen[r];
        }
        for (size_t j = 0; j < b.most; j += KV_BLOCK) b.kv[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
        body->scores(s, &b, a, r0);
        weights_of(s, &b, body, a->scale);
        body->weigh(s, &b);
    }
    for (size_t r = 0; r < rows; r++) {
        const float sum = vf_sum(vf_load(s->sum + r * LANES_MAX));
        const vf scale = vf_set1(sum > 0 ? 1 / sum : 0);
        const float *from = s->out + r * OUT_LD;
        float *to = a->out + (r0 + r) * a->ld_out;
        size_t d = 0;
        for (; d + VF_N <= a->d_head; d += VF_N) vf_store(to + d, vf_mul(vf_load(from + d), scale));
        if (d < a->d_head) vf_store_n(to + d, vf_mul(vf_load(from + d), scale), a->d_head - d);
    }
}

INLINE void attn_any(const struct attn *a, struct attn_scratch *s, const struct attn_body *body)
{
    for (size_t r = 0; r < a->rows; r += ATTN_ROWS) attn_group(a, s, body, r, size_min(ATTN_ROWS, a->rows - r));
}

INLINE void attn_weights_any(const struct attn *a, struct attn_scratch *s, const struct attn_body *body)
{
    const size_t n = a->n_keys > 0 ? (size_t)a->n_keys : 0;
    const vf scale = vf_set1(a->scale);
    for (size_t r0 = 0; r0 < a->rows; r0 += ATTN_ROWS) {
        struct key_block b = { .rows = size_min(ATTN_ROWS, a->rows - r0), .d_head = a->d_head };
        float *out = a->out + r0 * a->ld_out;
        body->queries(s, a, r0, b.rows);
        for (size_t key0 = 0; key0 < n; key0 += ATTN_KEYS) {
            b.most = size_min(ATTN_KEYS, n - key0);
            for (size_t j = 0; j < b.most; j += KV_BLOCK) b.kv[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
            body->scores(s, &b, a, r0);
            for (size_t r = 0; r < b.rows; r++)
                for (size_t i = 0; i < b.most; i += VF_N) {
                    const vf v = vf_mul(vf_load(s->score + r * SCORE_LD + i), scale);
                    vf_store_n(out + r * a->ld_out + key0 + i, v, size_min(VF_N, b.most - i));
                }
        }
        for (size_t r = 0; r < b.rows; r++) softmax(out + r * a->ld_out, out + r * a->ld_out, n);
    }
}
#endif
