/* steno: search for scales. SPDX-License-Identifier: MIT
 *
 * Numbers become small integers times a scale. The scale of the largest number is seldom the best one, so others near it are tried. For
 * each trial the best scale is computed, and the trial with the smallest sum of weighted squared errors is used. Sums are f32, in the order
 * of the numbers, as in ggml, so that the stored bits are the same. */
#ifndef STENO_KERN_FIT_H
#define STENO_KERN_FIT_H
#include "kern/kern.h"

/* Trials between the smallest number and the largest: (top + first + step * i) / range for i = 0..last. */
struct fit_steps { float first, step; int last, plain; }; /* plain: absolute errors count, not their squares */

/* x[n] as q - levels times a scale, q of 0..2 levels - 1. weight[n]; NULL: the squares of x. @return the scale; 0 if all numbers are nearly
 * zero, and q is then 0 */
float fit_signed(uint8_t *q, const float *x, const float *weight, int n, int levels);
/* x[n] as q times a scale minus *min, q of 0..top, *min >= 0. @return the scale; 0 if all numbers are equal */
float fit_ranged(uint8_t *q, float *min, const float *x, const float *weight, int n, int top, const struct fit_steps *steps);
/* x[n], none negative, as q of 0..top times a scale. @return the scale */
float fit_scales(uint8_t *q, const float *x, const float *weight, int n, int top);
int fit_round(float x); /* to nearest even; undefined above 2^22 */

/* As fit_signed with the squares of x, but each integer in turn is moved to its best value, given the others. */
float fit_in_turn(uint8_t *q, const float *x, int n, int levels);
/* x[n] as indices q in a table, times a scale. weight[n]; NULL: the squares of x. @return the scale */
float fit_table(const float *x, const float *weight, int n, const int8_t value[16]);
uint8_t fit_place(const int8_t value[16], float x); /* the value nearest to x */

/* Convert a block's scales, minima and numbers to codes. */
void fit_codes_by_largest(uint8_t *code, uint16_t *d, const float *v, int n, int top);
float fit_sum_of_squares(const float *x, int n);
void fit_store_u16(uint8_t *p, uint16_t v);

/* Convert a block of KBLOCK to q4_k, q5_k or q6_k. importance: [KBLOCK]; may be NULL */
void quantize_row_k(uint8_t *p, enum dtype t, const float *x, const float *importance);
/* Convert to q2_k, q3_k or iq4_xs; a block of QBLOCK to iq4_nl. */
void quantize_row_few(uint8_t *p, enum dtype t, const float *x, const float *importance);
#endif
