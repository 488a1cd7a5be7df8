/* steno: attention over integers in tiles. SPDX-License-Identifier: MIT
 *
 * For levels whose sums of several rows stand in registers together. Vectors of keys or values are widened when they are read, once for a
 * tile of rows by two vectors; a row alone takes all vectors of a block, so that they share each word of x. */
#ifndef STENO_KERN_ATTN_INT_TILES_H
#define STENO_KERN_ATTN_INT_TILES_H

#if QUADS_SIGNED || QUAD_PARTS != 2
#error "attn_int_tiles.h needs unsigned values whose bytes are widened to two vectors"
#endif

enum { INT_ROWS = 5 /* of a tile */, INT_VECTORS = 2 };

/* Rows of the next tile, of `left` > 1: at least two. */
INLINE size_t int_height(size_t left)
{
    return left <= INT_ROWS ? left : left >= 2 * INT_ROWS ? INT_ROWS : (left + 1) / 2;
}

/* As score_ints of attn_int.h, for a tile: n vectors of keys whose scales are given. */
INLINE void score_tile(float *score, enum packed_type t, const char *ints, const vf *scale, const uint32_t *x, int fresh,
                       const size_t rows, const size_t n)
{
    vs sum[INT_ROWS][PANEL_VECTORS];
    UNROLL
    for (size_t r = 0; r < rows; r++)
        UNROLL
        for (size_t j = 0; j < n; j++) sum[r][j] = quad_begin(t, x + r * Q_INT_LD, 0);
    block_narrow(sum, rows, n, t, ints, x, Q_INT_LD, all_words);
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        const vf scale_q = vf_set1(load_f32(x + r * Q_INT_LD + block_scale_at(t)));
        float *to = score + r * SCORE_LD;
        UNROLL
        for (size_t j = 0; j < n; j++)
            vf_store(to + j * VF_N, vf_fma_once(quad_sum(sum[r][j], t, x + r * Q_INT_LD, 0), vf_mul(scale_q, scale[j]),
                                                fresh ? vf_zero() : vf_load(to + j * VF_N)));
    }
}

/* Add KV_INT_D d of the keys' high or low bits to the scores of KV_BLOCK positions; see attn_int.h. */
INLINE void score_ints(float *score, const struct key_block *b, enum packed_type t, const char *ints, const uint16_t *scale_k,
                       const uint32_t *x, int fresh, float one, const char *values, size_t lines)
{
    const vf unit = vf_set1(one);
    vf scale[PANEL_VECTORS];
    if (b->rows == 1) {
        bring(values, 0, lines);
        UNROLL
        for (size_t j = 0; j < PANEL_VECTORS; j++) scale[j] = vf_mul(unit, vf_load_bf16(scale_k + j * VF_N));
        score_tile(score, t, ints, scale, x, fresh, 1, PANEL_VECTORS);
        return;
    }
    for (size_t c = 0; c < KV_BLOCK; c += INT_VECTORS * VF_N) {
        const char *from = ints + outputs_at(t, c);
        bring(values, lines * c / KV_BLOCK, lines * (c + INT_VECTORS * VF_N) / KV_BLOCK);
        UNROLL
        for (size_t j = 0; j < INT_VECTORS; j++) scale[j] = vf_mul(unit, vf_load_bf16(scale_k + c + j * VF_N));
        for (size_t r = 0, height; r < b->rows; r += height) {
            float *to = score + r * SCORE_LD + c;
            const uint32_t *q = x + r * Q_INT_LD;
            height = int_height(b->rows - r);
            if (height == 5) score_tile(to, t, from, scale, q, fresh, 5, INT_VECTORS);
            else if (height == 4) score_tile(to, t, from, scale, q, fresh, 4, INT_VECTORS);
            else if (height == 3) score_tile(to, t, from, scale, q, fresh, 3, INT_VECTORS);
            else score_tile(to, t, from, scale, q, fresh, 2, INT_VECTORS);
        }
    }
}

/* Outputs of a tile from d + c on; its rows have the same number of blocks. All rows share the prefetch of the next keys. */
INLINE void weigh_tile(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t r0, const size_t rows, size_t d, size_t c,
                       const size_t n)
{
    const size_t shares = b->rows * PANEL_VECTORS, share = r0 * PANEL_VECTORS + rows * (c / VF_N), keys = key_group_at(t, d);
    const size_t from = key_group_sz(t) / 64 * share / shares, to = key_group_sz(t) / 64 * (share + rows * n) / shares;
    const size_t values = value_group_at(t, d, b->d_head) + VALUE_INTS;
    const uint32_t *w = s->weight + r0 * WEIGHT_LD;
    vs sum[INT_ROWS][PANEL_VECTORS];
    UNROLL
    for (size_t r = 0; r < rows; r++)
        UNROLL
        for (size_t j = 0; j < n; j++) sum[r][j] = vs_set1((int32_t)w[r * WEIGHT_LD + INT_START]);
    for (size_t i = 0; i * KV_BLOCK < b->seen[r0]; i++) {
        bring(b->next[i] + keys, from, to);
        block_narrow(sum, rows, n, PK_Q8_QUAD, b->kv[i] + values + outputs_at(PK_Q8_QUAD, c), w + i * INT_WORDS, WEIGHT_LD, all_words);
    }
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        const vf scale = vf_set1(load_f32(w + r * WEIGHT_LD + INT_SCALE));
        float *out = b->out + (r0 + r) * OUT_LD + d + c;
        UNROLL
        for (size_t j = 0; j < n; j++) vf_store(out + j * VF_N, vf_mul(vf_of_ints(sum[r][j]), scale));
    }
}

INLINE size_t blocks_seen(const struct key_block *b, size_t r) { return (b->seen[r] + KV_BLOCK - 1) / KV_BLOCK; }

INLINE void weigh_group(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t d)
{
    if (b->rows == 1) {
        weigh_tile(s, t, b, 0, 1, d, 0, PANEL_VECTORS);
        return;
    }
    for (size_t c = 0; c < KV_INT_D; c += INT_VECTORS * VF_N)
        for (size_t r = 0, height; r < b->rows; r += height) {
            const size_t most = int_height(b->rows - r);
            for (height = 1; height < most && blocks_seen(b, r + height) == blocks_seen(b, r);) height++;
            if (height == 5) weigh_tile(s, t, b, r, 5, d, c, INT_VECTORS);
            else if (height == 4) weigh_tile(s, t, b, r, 4, d, c, INT_VECTORS);
            else if (height == 3) weigh_tile(s, t, b, r, 3, d, c, INT_VECTORS);
            else if (height == 2) weigh_tile(s, t, b, r, 2, d, c, INT_VECTORS);
            else weigh_tile(s, t, b, r, 1, d, c, INT_VECTORS);
        }
}
#endif
