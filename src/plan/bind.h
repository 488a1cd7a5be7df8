/* steno: binding the weights of ops. SPDX-License-Identifier: MIT
 *
 * Names are joined from the prefix and the part; part NULL: nothing (zeros for a bias). What another plan of the same weights has bound
 * already is not read again: plans may share all they have. */
#ifndef STENO_PLAN_BIND_H
#define STENO_PLAN_BIND_H
#include "plan/build.h"

enum { NO_BIND = 0xffff };

struct tensor *bind_tensor(struct build *b, const char *part, uint64_t d0, uint64_t d1, uint64_t d2); /* extents, 0: past the last */
const float *bind_vector(struct build *b, const char *part, uint64_t n);
const float *bind_table(struct build *b, const char *name, uint64_t rows, uint64_t n);
/* The same with row 0 of another table, which has `others` of them, on top of each. */
const float *bind_table_and_row(struct build *b, const char *name, uint64_t rows, const char *other, uint64_t others, uint64_t n);
/* Positions [rows, width]: sines in the first half, cosines in the second, of the positions from 1 on; wavelengths rise from 2 pi to 10000
 * times that. */
const float *bind_sinusoids(struct build *b, uint32_t rows, uint32_t width);
void sinusoids_row(float *y, uint32_t width, int64_t position); /* one of those */
/* Convolution weight [n, channels, 3] as a linear over three rows of `channels`. */
uint16_t bind_conv(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, int stride);
/* Transposed convolution [channels, n, times], whose steps are `times`, as a linear of times * n outputs. */
uint16_t bind_upsample(struct build *b, const char *w, const char *bias, uint64_t n, uint64_t channels, uint32_t times);
/* As bind_matrix without a bias, in int8 by blocks whatever it is stored as, with what that loses (logits_approx.h): a
 * matrix that is bound in full as well. NO_BIND where that would not be much less to read. */
uint16_t bind_approx(struct build *b, const char *w, uint64_t n, uint64_t k);
/* The same in int8 by rows, for many rows whose most probable ids are wanted (OP_LOGITS_BEST), of a matrix that is bound as LINEAR_LM_HEAD.
 * NO_BIND where that is exact, in int8 itself, or where products of int8 are not fast. */
uint16_t bind_screen(struct build *b, const char *w, uint64_t n, uint64_t k);
uint16_t bind_norm(struct build *b, const char *weight, const char *bias, uint64_t n, float eps);
/* RMS; less_one: weights are stored minus one. */
uint16_t bind_norm_rms(struct build *b, const char *weight, uint64_t n, float eps, int less_one);
uint16_t bind_norm_heads(struct build *b, const char *weight, uint32_t heads, uint32_t d_head, float eps, int less_one); /* of each head */
/* Rotary positions (Su et al. 2021): pair j of n / 2 turns by position * base^(-2 j / n) * scale / divide[j], or by position *
 * frequency[j], and grows `gain` times. */
struct rope {
    double base, scale;
    const double *frequency; /* [n / 2], NULL: as base, scale and divide say */
    double gain;          /* 0: 1 */
    uint32_t n;           /* numbers of a head that turn, the first ones; even */
    uint32_t positions;   /* that there can be */
    int neighbours;       /* 1: x[2 j] and x[2 j + 1] are a pair; 0: x[j] and x[j + n / 2] */
    const float *divide;  /* [n / 2], NULL: ones */
};
uint16_t bind_rope(struct build *b, const struct rope *r, uint32_t heads, uint32_t d_head); /* of heads side by side */
uint16_t bind_scale(struct build *b, float scale, const float *positions, uint64_t n); /* positions: [max_rows, n] or NULL; kept */
/* Depthwise filter [n, taps] (extents of 1 between them do not count), `left` taps before the row itself; heads: of the values it reads. */
uint16_t bind_fsmn(struct build *b, const char *w, uint64_t n, uint32_t taps, uint32_t left, uint32_t heads);
/* d_head as it is stored: rows, keys and values have heads of head_room(d_head). */
uint16_t bind_attn(struct build *b, uint32_t heads, uint32_t kv_heads, uint32_t d_head);
#endif
