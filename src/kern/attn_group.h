/* steno: attention's groups of rows. SPDX-License-Identifier: MIT
 *
 * Groups of up to ATTN_ROWS query rows walk the keys in blocks of ATTN_KEYS. Scores are computed for all rows. Then each row separately
 * scales, takes its maximum, exp and sum, and weights times values follow. The result is a partial, independent of other blocks. Partials
 * are merged in ascending order, either here block after block, or later from memory (attn_merge), by the same function and so with the
 * same bits. The two products and the weights between them depend on the type of keys and values (attn.h, attn_bf16.h, attn_int.h). This
 * header has the common part.
 *
 * A row must not use keys past its length, not even multiplied by zero. A tile's product with values stops at its shortest row. Every row
 * then continues alone, in the same order, and so with the same bits as if it had been alone from the start. */
#ifndef STENO_KERN_ATTN_GROUP_H
#define STENO_KERN_ATTN_GROUP_H
#include "kern/epilogue.h"
#include "kern/softmax.h"

enum { BLOCKS = ATTN_KEYS / KV_BLOCK };

/* The data that a group of rows shares for one block of ATTN_KEYS keys. */
struct key_block {
    const char *kv[BLOCKS];    /* keys; the values follow them */
    const char *next[BLOCKS];  /* the keys that are read next, if known; else the same keys */
    float *out;                /* partials, rows of OUT_LD; NULL: only scores are computed */
    size_t rows, d_head;
    size_t seen[ATTN_ROWS];    /* keys of this block that each row attends to */
    size_t max;               /* the largest of them */
};

/* The functions of a type of keys and values. */
struct attn_body {
    void (*queries)(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows);
    void (*scores)(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0); /* unscaled */
    /* Turn the scores of row r into weights, 2^(score * unit - max), for its n keys. Returns their sums by lanes. */
    vf (*exps)(struct attn_scratch *s, size_t r, float unit, float max, size_t n);
    void (*weigh)(struct attn_scratch *s, const struct key_block *b);                                   /* adds the values to partials */
};

/* The first n of a vector's lanes; the others count as absent. */
INLINE vf first_or_absent(vf v, size_t n) { return n >= VF_N ? v : vf_drop(v, ~0u << n); }

/* Zero the values of a partial from d on, a multiple of VF_N. */
INLINE void clear_values(float *partial, size_t d, size_t d_head)
{
    for (; d < d_head; d += VF_N) vf_store(partial + d, vf_zero());
}

/* The number of keys that all rows of a tile from row r on attend to. */
INLINE size_t common_keys(const struct key_block *b, size_t r)
{
    size_t min = ATTN_KEYS;
    for (size_t i = r; i < size_min(b->rows, r + TILE_ROWS); i++) min = size_min(min, b->seen[i]);
    return min;
}

/* The largest number of keys that a row of the tile attends to. */
INLINE size_t most_keys(const struct key_block *b, size_t r)
{
    size_t max = 0;
    for (size_t i = r; i < size_min(b->rows, r + TILE_ROWS); i++) max = b->seen[i] > max ? b->seen[i] : max;
    return max;
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

/* Compute weights in place, as f32. powers: sums by lanes of the exponents of 2, NaN if one is NaN; may be NULL. */
INLINE vf exps_in_place(struct attn_scratch *s, size_t r, float unit, float max, size_t n, vf *powers)
{
    float *score = s->score + r * SCORE_LD;
    vf sum = vf_zero(), all = vf_zero();
    for (size_t i = 0; i < n; i += VF_N) {
        const vf power = first_or_absent(vf_fma(vf_load(score + i), vf_set1(unit), vf_set1(-max)), n - i), e = vf_exp2(power);
        vf_store(score + i, e);
        sum = vf_add(sum, e);
        if (powers) all = vf_add(all, power);
    }
    if (powers) *powers = all;
    return sum;
}

static inline vf exps_plain(struct attn_scratch *s, size_t r, float unit, float max, size_t n)
{
    return exps_in_place(s, r, unit, max, n, NULL);
}

/* Turn scores into weights, and store a row's maximum and sum in its partial. Scores are logarithms to base 2, so 2^x replaces exp. The
 * maxima of all rows are computed first, so that no row waits for its own. A row without a score above -infinity may get NaN weights. */
INLINE void weights_of(struct attn_scratch *s, const struct key_block *b, const struct attn_body *body, float scale)
{
    const float unit = scale * 1.44269504f;
    float top[ATTN_ROWS];
    for (size_t r = 0; r < b->rows; r++) top[r] = unit * highest(s->score + r * SCORE_LD, b->seen[r]);
    for (size_t r = 0; r < b->rows; r++) {
        float *partial = b->out + r * OUT_LD;
        const int is_none = top[r] == -INFINITY, is_nan = is_none && any_nan(s->score + r * SCORE_LD, b->seen[r]);
        const vf sum = body->exps(s, r, unit, is_none ? 0 : top[r], b->seen[r]);
        partial[partial_max_at(b->d_head)] = is_nan ? 0 : top[r];
        vf_store(partial + partial_sum_at(b->d_head), is_nan ? vf_set1(NAN) : sum);
    }
}

/* Partials of `rows` rows from r0, for the keys from key0 on, written to rows of OUT_LD. len: number of keys of each row; longest: the
 * largest of them, 0 if this call does not compute other blocks. */
INLINE void partial_of_group(float *out, const struct attn *a, struct attn_scratch *s, const struct attn_body *body, size_t r0, size_t rows,
                             const size_t len[ATTN_ROWS], size_t key0, size_t longest)
{
    struct key_block b = { .out = out, .rows = rows, .d_head = a->d_head };
    for (size_t r = 0; r < rows; r++) {
        b.seen[r] = len[r] > key0 && attn_first_key(a, len[r]) < key0 + ATTN_KEYS ? size_min(ATTN_KEYS, len[r] - key0) : 0;
        if (b.seen[r] > b.max) b.max = b.seen[r];
        out[r * OUT_LD + partial_max_at(a->d_head)] = -INFINITY;
    }
    if (!b.max) return;
    for (size_t j = 0; j < b.max; j += KV_BLOCK) {
        const size_t i = j / KV_BLOCK, at = key0 / KV_BLOCK + i, next = at + BLOCKS;
        b.kv[i] = kv_block_at(&a->kv, at);
        b.next[i] = next * KV_BLOCK < longest ? kv_block_at(&a->kv, next) : i < a->n_next ? kv_block_at(&a->next, i) : b.kv[i];
    }
    body->scores(s, &b, a, r0);
    for (size_t r = 0; r < rows && a->window; r++)
        for (size_t j = key0; j < attn_first_key(a, len[r]) && j < key0 + b.seen[r]; j++) s->score[r * SCORE_LD + j - key0] = -INFINITY;
    weights_of(s, &b, body, a->scale);
    body->weigh(s, &b);
}

/* The first key of the first block that the rows attend to. It does not decrease with the position; 0 without a window. */
INLINE size_t first_block(const struct attn *a, const size_t len[ATTN_ROWS], size_t rows)
{
    size_t min = SIZE_MAX;
    for (size_t r = 0; r < rows && a->window; r++) min = size_min(min, attn_first_key(a, len[r]));
    return a->window ? min / ATTN_KEYS * ATTN_KEYS : 0;
}

/* Merge a partial of later keys into those before it. A partial whose maximum is -infinity has no weight, and its values may be
 * anything. */
INLINE void merge_partial(float *to, const float *from, size_t d_head)
{
    const size_t n = partial_sum_at(d_head) + VF_N, max = partial_max_at(d_head);
    const float had = to[max], comes = from[max];
    if (comes == -INFINITY) return;
    if (had == -INFINITY) {
        memcpy(to, from, attn_partial_len(d_head) * sizeof *to);
    } else if (comes > had) {
        const vf fade = vf_exp2(vf_set1(had - comes));
        for (size_t d = 0; d < n; d += VF_N) vf_store(to + d, vf_fma(vf_load(to + d), fade, vf_load(from + d)));
        to[max] = comes;
    } else {
        const vf fade = vf_exp2(vf_set1(comes - had));
        for (size_t d = 0; d < n; d += VF_N) vf_store(to + d, vf_fma(vf_load(from + d), fade, vf_load(to + d)));
    }
}

INLINE void partial_finish(float *out, const float *partial, size_t d_head)
{
    const float sum = vf_sum(vf_load(partial + partial_sum_at(d_head)));
    const vf scale = vf_set1(sum == 0 ? 0 : 1 / sum); /* NaN stays NaN */
    size_t d = 0;
    if (partial[partial_max_at(d_head)] == -INFINITY) {
        memset(out, 0, d_head * sizeof *out);
        return;
    }
    for (; d + VF_N <= d_head; d += VF_N) vf_store(out + d, vf_mul(vf_load(partial + d), scale));
    if (d < d_head) vf_store_n(out + d, vf_mul(vf_load(partial + d), scale), d_head - d);
}

/* Set the number of keys of the rows from r0 on. Returns the largest. */
INLINE size_t lengths(size_t len[ATTN_ROWS], const struct attn *a, size_t r0, size_t rows)
{
    size_t max = 0;
    for (size_t r = 0; r < rows; r++) {
        const int32_t want = a->len ? a->len[r0 + r] : a->n_keys;
        len[r] = want > 0 ? (size_t)want : 0;
        if (len[r] > max) max = len[r];
    }
    return max;
}

INLINE void attn_any(const struct attn *a, struct attn_scratch *s, const struct attn_body *body)
{
    for (size_t r0 = 0; r0 < a->rows; r0 += ATTN_ROWS) {
        const size_t rows = size_min(ATTN_ROWS, a->rows - r0);
        size_t len[ATTN_ROWS];
        const size_t longest = lengths(len, a, r0, rows);
        body->queries(s, a, r0, rows);
        const size_t from = first_block(a, len, rows);
        for (size_t key0 = from; key0 < longest || key0 == from; key0 += ATTN_KEYS) {
            partial_of_group(key0 > from ? s->out : s->merged, a, s, body, r0, rows, len, key0, longest);
            if (key0 > from)
                for (size_t r = 0; r < rows; r++) merge_partial(s->merged + r * OUT_LD, s->out + r * OUT_LD, a->d_head);
        }
        for (size_t r = 0; r < rows; r++) partial_finish(a->out + (r0 + r) * a->ld_out, s->merged + r * OUT_LD, a->d_head);
    }
}

INLINE void attn_partial_any(const struct attn *a, size_t block, float *partial, size_t ld_partial, struct attn_scratch *s,
                             const struct attn_body *body)
{
    for (size_t r0 = 0; r0 < a->rows; r0 += ATTN_ROWS) {
        const size_t rows = size_min(ATTN_ROWS, a->rows - r0);
        size_t len[ATTN_ROWS];
        lengths(len, a, r0, rows);
        body->queries(s, a, r0, rows);
        partial_of_group(s->out, a, s, body, r0, rows, len, block * ATTN_KEYS, 0);
        for (size_t r = 0; r < rows; r++)
            memcpy(partial + (r0 + r) * ld_partial, s->out + r * OUT_LD, attn_partial_len(a->d_head) * sizeof *partial);
    }
}

INLINE void attn_merge_any(const struct attn *a, const float *partial, size_t ld_partial, size_t n)
{
    float merged[OUT_LD];
    for (size_t r = 0; r < a->rows; r++) {
        const float *from = partial + r * ld_partial;
        memcpy(merged, from, attn_partial_len(a->d_head) * sizeof *merged);
        for (size_t b = 1; b < n; b++) merge_partial(merged, from + b * attn_partial_len(a->d_head), a->d_head);
        partial_finish(a->out + r * a->ld_out, merged, a->d_head);
    }
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
            b.max = size_min(ATTN_KEYS, n - key0);
            for (size_t r = 0; r < b.rows; r++) b.seen[r] = b.max;
            for (size_t j = 0; j < b.max; j += KV_BLOCK) b.kv[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
            body->scores(s, &b, a, r0);
            for (size_t r = 0; r < b.rows; r++)
                for (size_t i = 0; i < b.max; i += VF_N) {
                    const vf v = vf_mul(vf_load(s->score + r * SCORE_LD + i), scale);
                    vf_store_n(out + r * a->ld_out + key0 + i, v, size_min(VF_N, b.max - i));
                }
        }
        for (size_t r = 0; r < b.rows; r++) softmax(out + r * a->ld_out, out + r * a->ld_out, n);
    }
}

/* Define the kernels of body_##name, and init_attn_##name, which registers them for keys and values of type t. */
#define ATTN_KERNELS(name, t)                                                                                                        \
    static void attn_##name(const struct attn *a, void *scratch) { attn_any(a, scratch, &body_##name); }                             \
    static void attn_partial_##name(const struct attn *a, size_t b, float *partial, size_t ld_partial, void *scratch)                \
    {                                                                                                                                \
        attn_partial_any(a, b, partial, ld_partial, scratch, &body_##name);                                                          \
    }                                                                                                                                \
    static void attn_weights_##name(const struct attn *a, void *scratch) { attn_weights_any(a, scratch, &body_##name); }             \
    static void init_attn_##name(struct kern *k)                                                                                     \
    {                                                                                                                                \
        k->attn[t] = attn_##name, k->attn_partial[t] = attn_partial_##name, k->attn_weights[t] = attn_weights_##name;                \
    }
#endif
