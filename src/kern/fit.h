/* steno: scales that are searched for. SPDX-License-Identifier: MIT
 *
 * Numbers become small integers times a scale. The scale that the largest number asks for is seldom the best one: others near it are tried,
 * and for each the one that makes the sum of weighted squares of the errors least. Sums are f32's, in the order of the numbers, because the
 * program that these types come from has them so: what it stores is what we store. */
#ifndef STENO_KERN_FIT_H
#define STENO_KERN_FIT_H
#include "kern/kern.h"

/* The tries between the smallest number and the largest: (top + first + step * i) / range for i = 0..last. */
struct fit_steps { float first, step; int last, plain; }; /* plain: errors count as they are, not their squares */

/* x[n] as q - levels times a scale, q of 0..2 levels - 1; weight[n], NULL: the squares of x. @return the scale; 0 where all are as good as
 * zero, and q is 0 then */
float fit_signed(uint8_t *q, const float *x, const float *weight, int n, int levels);
/* x[n] as q times a scale less *min, q of 0..top, *min of 0 or more. @return the scale; 0 where all are one number */
float fit_ranged(uint8_t *q, float *min, const float *x, const float *weight, int n, int top, const struct fit_steps *steps);
/* x[n], none below zero, as q of 0..top times a scale. @return the scale */
float fit_scales(uint8_t *q, const float *x, const float *weight, int n, int top);
int fit_round(float x); /* to nearest even; of what is larger than 2^22 something */

/* As fit_signed by the squares of x, but each integer is moved in turn to where it is best beside the others. */
float fit_in_turn(uint8_t *q, const float *x, int n, int levels);
/* x[n] as places q in a table, times a scale. weight[n], NULL: the squares of x. @return the scale */
float fit_table(const float *x, const float *weight, int n, const int8_t value[16]);
uint8_t fit_place(const int8_t value[16], float x); /* the value nearest to x */

/* What a block's scales, minima and numbers become. */
void fit_codes_by_largest(uint8_t *code, uint16_t *d, const float *v, int n, int top);
float fit_sum_of_squares(const float *x, int n);
void fit_store_u16(uint8_t *p, uint16_t v);

/* A block of KBLOCK as q4_k, q5_k or q6_k. importance: [KBLOCK] or NULL */
void narrow_k(uint8_t *p, enum dtype t, const float *x, const float *importance);
/* As q2_k, q3_k or iq4_xs; a block of QBLOCK as iq4_nl. */
void narrow_few(uint8_t *p, enum dtype t, const float *x, const float *importance);
#endif
