/* steno: what a matrix is multiplied in. SPDX-License-Identifier: MIT
 *
 * A row of int8 has one step for all its values: where the norm before a matrix lets a few channels tower over the rest, the step follows
 * them and the rest drowns (Dettmers et al. 2022, Xiao et al. 2023). That can be seen in the weights: for rows as a norm leaves them,
 * independent values of variance 1 times the gains, the step and what an output is made of are known. A matrix that would lose too
 * much is multiplied in bf16, whose error is relative to each value.
 *
 * Matrices without a norm before them are taken as they come: values of attention are averages, and what GELU leaves of such values has
 * no towers. */
#include "plan/build.h"
#include <math.h>

enum { SAMPLE = 32 }; /* outputs looked at, spread over the matrix */

static double const tower = 3.0;     /* a row's largest value, in standard deviations of its channel */
static double const i8_error = 0.02; /* most that rounding x may add to an output, relative to it */

/* Sums over sampled outputs: of the squares of gain times weight, and of the weights alone. */
struct energy { double out, plain; };

static int energy_add(struct energy *y, struct build *b, const struct tensor *t, const float *gain, uint64_t n, uint64_t k)
{
    const size_t sz = dtype_row_sz(t->type, (size_t)k);
    void *stored = arena_alloc(&b->scrap, sz);
    float *row = arena_array(&b->scrap, (size_t)k, sizeof *row);
    const uint64_t rows = n < SAMPLE ? n : SAMPLE;
    if (!stored || !row) return err_nomem(b->e, sz, "a row of weights");
    for (uint64_t r = 0; r < rows; r++) {
        const int rc = tensor_read_rows(t, r * n / rows, 1, stored, b->e);
        if (rc) return rc;
        dtype_widen_row(row, t->type, stored, (size_t)k);
        for (uint64_t i = 0; i < k; i++) {
            const double w = (double)row[i] * (double)row[i], g = (double)gain[i];
            y->out += w * g * g;
            y->plain += w;
        }
    }
    return STENO_OK;
}

static double largest_of(const float *x, uint64_t n)
{
    double most = 0;
    for (uint64_t i = 0; i < n; i++) most = fmax(most, fabs((double)x[i]));
    return most;
}

enum dtype arith_of(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k)
{
    const float *gain = b->gain;
    struct energy y = { 0 };
    b->gain = NULL;
    if (b->narrow != DT_I8_QUAD || !gain || b->store->dry) return b->narrow;
    for (int i = 0; i < n_parts && !b->status; i++) b->status = energy_add(&y, b, part[i], gain, n, k);
    const double step = tower * largest_of(gain, k) / 127; /* an error uniform in +-step / 2 has the variance step^2 / 12 */
    return step * step / 12 * y.plain > i8_error * i8_error * y.out ? DT_BF16_PAIR : DT_I8_QUAD;
}
