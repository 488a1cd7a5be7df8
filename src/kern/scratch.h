/* steno: the scratch of kernels. SPDX-License-Identifier: MIT
 *
 * The memory that a kernel call may write in addition to its outputs. The caller provides it (kern_linear_scratch and similar), one per
 * thread. */
#ifndef STENO_KERN_SCRATCH_H
#define STENO_KERN_SCRATCH_H
#include "kern/quantize.h"
#include "kern/rel_positions.h"

static inline int any_nan(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i])) return 1;
    return 0;
}

enum {
    K_BLOCK = 256,         /* most k widened at once: 32 KiB of weights */
    PANEL_GROUP = 4,       /* panels that share a pass over a block of x */
    LOWP_WORDS = 131072, /* room for rounded x: 512 KiB */
    X_SLACK = 32,          /* words that whole vectors may write after it */
    TILE_ROWS_MAX = 32,    /* most rows whose sums low-precision products hold at a time */
    ATTN_ROWS = 48,        /* query rows that share a widened block of keys: four register tiles of 12, or three tiles of 16 */
    SCORE_LD = ATTN_KEYS + 16,
    OUT_LD = HEAD_MAX + 32,       /* upper bound of attn_partial_len */
    Q_LD = HEAD_MAX / 2 + 16,     /* words of two bf16 */
    Q_INT_WORDS = QBLOCK / 2 + 2 + QBLOCK / 4 + 2, /* a block of x for PK_Q8_QUAD, and one for PK_Q4_QUAD */
    Q_INT_LD = HEAD_MAX / KV_INT_D * Q_INT_WORDS + 16,
    RUN_Q_LD = HEAD_MAX / 4 + 16, /* words of four int8, or of two int16 if heads are half as wide */
    WEIGHT_LD = ATTN_KEYS / 2 + 16 /* words of two bf16, or integers of KV_INT with their scale and start value */
};

/* Scratch of linear, in floats: accumulators [PANEL_GROUP][rows][PANEL] for the rows that a call processes at a time. After them, so that
 * few rows use few pages, follows one panel's k-block as f32, which PK_F32 does not need. */
static inline size_t linear_acc_floats(size_t rows) { return PANEL_GROUP * PANEL * size_min(rows, GEMM_ROWS); }
static inline size_t linear_wide_floats(enum packed_type t, size_t k) { return t == PK_F32 ? 0 : PANEL * size_min(k, K_BLOCK); }

/* For the plain C twins: rows of a block, k widened at once. */
enum { ROWS_C = 32, K_C = 64 };
struct linear_c_scratch {
    float acc[ROWS_C * PANEL];
    float wide[K_C * PANEL];
};

/* Scratch of low-precision products: the sums of a tile, the scales of the rows (PK_I8_QUAD), and rows of x as words of 32 bits. */
struct lowp_scratch {
    float acc[TILE_ROWS_MAX * PANEL];
    float scale[(GEMM_ROWS + 15) / 16 * 16];
    uint32_t x[LOWP_WORDS + X_SLACK]; /* last member: sized by the rows; at least two rows of the longest k */
};

/* Products of int16 over tiles, after the rows of x: a block of a panel's weights split into bytes, sums of all rows, sums of one group. */
enum { CUT_WORDS = 4 * I16_GROUP / 2, INT_TILE_ROWS = 16 };
struct ints_sums { int32_t high[INT_TILE_ROWS * PANEL], mid[INT_TILE_ROWS * PANEL], low[INT_TILE_ROWS * PANEL]; };
struct ints_panel {
    uint32_t w[CUT_WORDS * PANEL];
    float acc[GEMM_ROWS * PANEL];
    struct ints_sums sums;
};

/* Attention in int16 over tiles: sums that are added while the next ones are computed, and a panel's last words, cut. */
struct int_tiles {
    struct ints_sums sums[2];
    uint32_t last[CUT * PANEL];
};

/* Words from lowp_scratch.x to that scratch: whole lines. */
static inline size_t ints_panel_at(size_t x_words_n) { return (x_words_n + X_SLACK + 15) / 16 * 16; }

/* Weights of low-precision products in the order of a tile. */
struct weight_words {
    const uint32_t *const *run;  /* runs of run_len steps each */
    size_t ld, run_len, n;       /* words between steps; number of steps */
    const char *ahead;           /* a panel to prefetch to the second-level cache */
    const float *scale;          /* for sums of integers: a factor of each output, with which sums become f32; NULL: they stay integers */
    const struct linear *l;      /* with one run: outputs of panel p, rows from m on, are prefetched, too; may be NULL */
    size_t m, p;
};

/* Scratch of attention: partials of a group of rows, of one block and of all blocks so far, and scores, which become weights. KV_F32 needs
 * no more, and the plain C twins need less. Then keys and values widened from f16; or for KV_BF16 weights and queries as words of two bf16;
 * or for KV_INT blocks of integers. */
struct attn_scratch {
    float out[ATTN_ROWS * OUT_LD];
    float merged[ATTN_ROWS * OUT_LD];
    float score[ATTN_ROWS * SCORE_LD];
    union {
        struct {
            float k_wide[KV_BLOCK * HEAD_MAX];
            float v_wide[ATTN_KEYS * HEAD_MAX]; /* last member: sized by the width of heads */
        };
        struct {
            uint32_t weight[ATTN_ROWS * WEIGHT_LD];
            union {
                uint32_t q[ATTN_ROWS * Q_LD];
                uint32_t q_int[ATTN_ROWS * Q_INT_LD];
            };
        };
    };
};

/* Scratch of attention with relative positions: the queries with u and with v, then the scores of the rows. */
static inline size_t rel_score_ld(size_t n_keys) { return (n_keys + 31) / 16 * 16; }
struct attn_rel_scratch { float with_u[ATTN_REL_ROWS * HEAD_MAX], with_v[ATTN_REL_ROWS * HEAD_MAX], score[]; };

/* The same over packed keys: scores of REL_ROWS rows in words, each after the scales of its weights and a margin, with a margin behind. */
struct attn_rel_run_scratch {
    float unit[2][REL_ROWS], share[REL_ROWS];
    float top[RUN_KEYS_MAX / RUN_GROUP];
    float acc[REL_ROWS * PANEL];
    int32_t ints[TILE_ROWS_MAX * PANEL];
    uint32_t q[2][REL_ROWS * (HEAD_MAX + 16)]; /* with u, with v */
    struct int_tiles tiles;
    uint32_t score[];
};

/* For attention over a run: words before a row's scores, which are the scales of their weights; and words between rows: scores of n keys in
 * whole panels, and never an even number of lines. */
static inline size_t run_groups(size_t n_keys) { return (n_keys + RUN_GROUP - 1) / RUN_GROUP; }
static inline size_t run_head(enum packed_type t, size_t n_keys) { return t == PK_I16_PAIR ? scales_room(run_groups(n_keys)) : 0; }
static inline size_t run_score_ld(enum packed_type t, size_t n_keys)
{
    return (run_head(t, n_keys) + (n_keys + PANEL - 1) / PANEL * PANEL) | 16;
}

/* Over a run by tiles: rows share each panel, fewer if their scores would not stay in the second-level cache. */
enum { RUN_TILE_ROWS = 48, RUN_TILE_WORDS = 96 << 10 };
struct attn_run_tiles_scratch {
    float unit[RUN_TILE_ROWS], share[RUN_TILE_ROWS]; /* as in attn_run.h */
    float top[RUN_KEYS_MAX / RUN_GROUP];
    float acc[RUN_TILE_ROWS * PANEL];
    struct int_tiles tiles;
    uint32_t q[RUN_TILE_ROWS * RUN_Q_LD];
    uint32_t score[];                                /* as in attn_run.h */
};
static inline size_t run_tile_rows(enum packed_type t, size_t n_keys)
{
    const size_t rows = RUN_TILE_WORDS / run_score_ld(t, n_keys) / INT_TILE_ROWS * INT_TILE_ROWS;
    return rows > RUN_TILE_ROWS ? RUN_TILE_ROWS : rows ? rows : INT_TILE_ROWS;
}
/* The most words of scores of at most n keys. */
static inline size_t run_tile_words(enum packed_type t, size_t n_keys)
{
    const size_t ld = run_score_ld(t, n_keys), most = size_min(RUN_TILE_ROWS * ld, RUN_TILE_WORDS);
    return most > INT_TILE_ROWS * ld ? most : INT_TILE_ROWS * ld;
}

static inline size_t rel_run_ld(enum packed_type t, size_t n_keys) { return run_score_ld(t, n_keys) + 2 * REL_MARGIN; }

/* Scratch of spectra, for the widest vectors: the points of one frame per lane, later overwritten by the powers; then rows of complex
 * numbers, later overwritten by the bands. */
enum { SPECTRA_LANES = 16, SPECTRA_RADIX = 16, SPECTRA_ROWS = SPECTRA_RADIX / 2 + 1 };
static inline uint32_t spectra_inner(uint32_t m) { return m == 25 ? 5 : 8; } /* a row of m = 25 or 32 consists of these */
static inline size_t spectra_row(size_t m) { return 2 * m + 2; } /* vectors between rows: 2^n would share a cache set */

/* The places of the sum and the maximum in a partial of attention. */
static inline size_t partial_sum_at(size_t d_head) { return attn_partial_len(d_head) - 32; }
static inline size_t partial_max_at(size_t d_head) { return attn_partial_len(d_head) - 16; }
#endif
