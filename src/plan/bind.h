/* steno: binding the weights of ops. SPDX-License-Identifier: MIT
 *
 * Names are joined from the prefix and the part. part NULL binds nothing (zeros for a bias). Weights that another plan of the same model
 * has already bound are shared, not read again.
 *
 * Matrices that read the same rows are one linear: their rows of weights are stacked, so the input is read once. If their stored types
 * differ, as in files of mixed quantisation, each run of equal types is a separate op. Its outputs go to the columns that they would have
 * in a single linear. */
#ifndef STENO_PLAN_BIND_H
#define STENO_PLAN_BIND_H
#include "plan/build.h"

enum { NO_BIND = 0xffff };

/* The tensor of a part, with the extents d0, d1, d2 (0 past the last). */
struct tensor *bind_tensor(struct build *b, const char *part, uint64_t d0, uint64_t d1, uint64_t d2);
const float *bind_vector(struct build *b, const char *part, uint64_t n);
const float *bind_table(struct build *b, const char *name, uint64_t rows, uint64_t n);
/* The same, with row 0 of another table of `others` rows added to each row. */
const float *bind_table_and_row(struct build *b, const char *name, uint64_t rows, const char *other, uint64_t others, uint64_t n);
/* Positions [rows, width] from 1 on: sines in the first half, cosines in the second. Wavelengths rise from 2 pi to 10000 times 2 pi. */
const float *bind_sinusoids(struct build *b, uint32_t rows, uint32_t width);
/* The same from 0 on, again in every `chunk` rows. */
const float *bind_sinusoids_of_chunks(struct build *b, uint32_t rows, uint32_t chunk, uint32_t width);
void sinusoids_row(float *y, uint32_t width, int64_t position); /* one of those rows */
/* Convolution weight [n, channels, 3] as a linear over three rows of `channels`. */
uint16_t bind_conv(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, int stride);
/* A matrix [n, channels * columns] whose input is stored column by column: row [columns, channels]. */
uint16_t bind_by_columns(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, uint32_t columns);
/* Transposed convolution [channels, n, times] with stride `times`, as a linear with times * n outputs. */
uint16_t bind_upsample(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, uint32_t times);
/* As bind_matrix without a bias, but in int8 by blocks for any stored type, with the bounds of the loss (logits_approx.h). The matrix is
 * also bound in full. NO_BIND if the copy would not be much smaller. */
uint16_t bind_approx(struct build *b, const char *w, uint64_t n, uint64_t k);
/* The same in int8 by rows, for the most probable ids of many rows (OP_LOGITS_BEST), of a matrix that is bound as LINEAR_LM_HEAD. NO_BIND
 * if that matrix is itself in int8, or if int8 products are not fast. */
uint16_t bind_best_approx(struct build *b, const char *w, uint64_t n, uint64_t k);
uint16_t bind_norm(struct build *b, const char *weight, const char *bias, uint64_t n, float eps);
/* RMS norm; less_one: the stored weights are one less than the real weights. */
uint16_t bind_norm_rms(struct build *b, const char *weight, uint64_t n, float eps, int less_one);
uint16_t bind_norm_heads(struct build *b, const char *weight, uint32_t heads, uint32_t d_head, float eps, int less_one); /* per head */
/* Rotary positions (Su et al. 2021). Pair j of n / 2 turns by position * base^(-2 j / n) * scale / divide[j], or by position *
 * frequency[j], and is multiplied by `gain`. */
struct rope {
    double base, scale;
    const double *frequency; /* [n / 2]; NULL: use base, scale and divide */
    double gain;          /* 0: 1 */
    uint32_t n;           /* number of leading values of a head that turn; even */
    uint32_t positions;   /* the number of positions */
    int neighbours;       /* 1: x[2 j] and x[2 j + 1] are a pair; 0: x[j] and x[j + n / 2] */
    const float *divide;  /* [n / 2]; NULL: ones */
};
uint16_t bind_rope(struct build *b, const struct rope *r, uint32_t heads, uint32_t d_head); /* for heads that are adjacent columns */
uint16_t bind_scale(struct build *b, float scale, const float *positions, uint64_t n); /* positions: [max_rows, n], kept; may be NULL */
/* Depthwise filter [n, taps] (extents of 1 between them do not count), with `left` taps before the row itself; heads: of the values that it
 * reads. */
uint16_t bind_fsmn(struct build *b, const char *w, uint64_t n, uint32_t taps, uint32_t left, uint32_t heads);
/* Depthwise filter [n, taps] with an optional bias, without the identity. norm: a batch normalisation after it (weight, bias, running_mean,
 * running_var of that name), which becomes part of the filter; may be NULL. */
struct filter_desc {
    const char *weight, *bias, *norm;
    uint64_t n;
    uint32_t taps, left;
    int is_square; /* stored as [n, 3, 3] */
    float eps;     /* of the norm */
    enum act act;  /* after the filter */
};
uint16_t bind_filter(struct build *b, const struct filter_desc *f);
uint16_t bind_identity(struct build *b, uint32_t n); /* for OP_EMBED: row i is 1 at i, 0 elsewhere */
/* Filters 3x3 of one channel as a linear of nine numbers: [n, 3, 3]. */
uint16_t bind_squares(struct build *b, const char *w, const char *bias, uint64_t n);
/* Filters 3x3 over channels as a linear of nine places, [9, channels]: [n, channels, 3, 3]. */
uint16_t bind_squares_of_all(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels);
/* Sines and cosines of the distances -(most - 1) .. most - 1, in turn, n numbers each: frequencies 10000^(-2 i / n). */
uint16_t bind_distances(struct build *b, uint32_t most, uint32_t n);
/* The rows of `name` [n, n] times those sines and cosines: positions of OP_ATTN_REL for distances up to `most` - 1. */
const float *bind_distance_rows(struct build *b, const char *name, uint32_t most, uint32_t n);
/* d_head as stored: rows, keys and values use heads of head_room(d_head). */
uint16_t bind_attn(struct build *b, uint32_t heads, uint32_t kv_heads, uint32_t d_head);

/* ---- linears of one or several matrices -------------------------------------------------------------------------------------- */

struct linear_part { const char *weight, *bias; uint64_t n; }; /* names; bias NULL: zeros, or none if no part has one; n: outputs */

struct linear_desc {
    const struct linear_part *part; /* [n_parts] */
    int n_parts;
    uint64_t k;
    enum linear_role role;
    uint16_t norm;                  /* binding of the norm that computes the input, NO_BIND: another source */
    const float *deviations;        /* [k] estimates of the input's standard deviations, if no norm computes it; NULL: not analysed */
    uint32_t out_head, in_head;     /* d_head of the outputs' (inputs') heads, which are padded to head_room; 0: no heads */
};

/* Estimates of the standard deviations of inputs behind an activation, for linear_desc; NULL: a matrix of `role` needs none. Of what the
 * bound matrix `name` computes after a norm, and of what the norm `name` computes. */
const float *bind_deviations(struct build *b, enum linear_role role, const char *name, uint16_t matrix, uint16_t norm);
const float *bind_deviations_of_norm(struct build *b, enum linear_role role, const char *name, uint64_t n);

/* A bound linear: one op, or one per run of parts with the same stored type. */
struct linear_binds {
    int n;
    uint16_t bind[LINEAR_PARTS_MAX];
    uint32_t column[LINEAR_PARTS_MAX], width; /* first output of each; outputs of all */
    int attends[KV_ALL - KV_TYPES];           /* LINEAR_QKV: attention over a run may use KV_I8, KV_I16 */
};

struct linear_binds bind_linear(struct build *b, const struct linear_desc *l);
/* LINEAR_QKV in one part whose last n_values outputs are values. Those may be packed separately, in fewer bits. */
struct linear_binds bind_linear_values(struct build *b, const struct linear_desc *l, uint64_t n_values);
/* a single matrix */
uint16_t bind_matrix(struct build *b, const struct linear_part *part, uint64_t k, enum linear_role role, uint16_t norm);
/* The stored type of keys and values that l computes: that of their products, but bf16 for int8. */
enum kv_type linear_kv_type(const struct build *b, const struct linear_binds *l);
/* The same for a run whose rows attend to all of it and to nothing else: KV_I8 or KV_I16 if queries, keys and values are packed so and
 * scores are small enough. */
enum kv_type linear_kv_type_of_run(const struct build *b, const struct linear_binds *l, uint32_t d_head);
/* The same for attention with relative positions (OP_ATTN_REL): KV_I16 if queries, keys and values have at most 16 bits and scores are
 * small enough, else KV_PANELS. */
enum kv_type linear_kv_type_of_relative(const struct build *b, const struct linear_binds *l, uint32_t d_head);

/* The destination of the outputs. */
struct linear_use {
    const char *label;
    uint16_t out, in, aux;      /* slots; aux: a summand, or NO_SLOT */
    enum act act;
    uint32_t n_kv;              /* > 0: the last 2 n_kv outputs are keys and then values, head-major... */
    uint16_t kv_slot;           /* ...in this slot */
    uint16_t state, layer;      /* or in this state; unused ones are NO_SLOT and NO_STATE */
    uint16_t heads, kv_heads, d_head; /* heads of the outputs, d_head including padding; 0: no heads */
};
void emit_linear(struct build *b, const struct linear_use *u, const struct linear_binds *l);
#endif
