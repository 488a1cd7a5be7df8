/* steno: softmax of a row of vectors. SPDX-License-Identifier: MIT
 *
 * Separate from the other element-wise kernels, because attention needs it at levels that do not override those. */
#ifndef STENO_KERN_SOFTMAX_H
#define STENO_KERN_SOFTMAX_H
#include "kern/vec.h"

/* The first n of a vector's lanes; the others count as absent. */
INLINE vf load_or_absent(const float *x, size_t n)
{
    return n >= VF_N ? vf_load(x) : vf_drop(vf_load_n(x, n), ~0u << n);
}

/* y = exp(x - max) and the sum, from four parallel sums: a single sum of a long row would accumulate too many rounding errors. max is
 * finite and at least the largest x. y may equal x. */
INLINE float exp_row(float *y, const float *x, float max, size_t n)
{
    const vf m = vf_set1(max);
    vf sum[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    size_t i = 0;
    for (; i + 4 * VF_N <= n; i += 4 * VF_N)
        UNROLL
        for (size_t c = 0; c < 4; c++) {
            const vf e = vf_exp(vf_sub(vf_load(x + i + c * VF_N), m));
            vf_store(y + i + c * VF_N, e);
            sum[c] = vf_add(sum[c], e);
        }
    for (; i < n; i += VF_N) {
        const vf e = vf_exp(vf_sub(load_or_absent(x + i, n - i), m));
        vf_store_n(y + i, e, size_min(VF_N, n - i));
        sum[0] = vf_add(sum[0], e);
    }
    return vf_sum(vf_add(vf_add(sum[0], sum[1]), vf_add(sum[2], sum[3])));
}

static void softmax(float *y, const float *x, size_t n)
{
    vf m = vf_set1(-INFINITY);
    for (size_t i = 0; i < n; i += VF_N) m = vf_max(load_or_absent(x + i, n - i), m);
    const float max = vf_hmax(m);
    const float sum = max == -INFINITY ? 0 : exp_row(y, x, max, n);
    const vf scale = vf_set1(sum > 0 ? 1 / sum : 0);
    size_t i = 0;
    if (!(sum > 0)) {
        for (; i < n; i++) y[i] = 0;
        return;
    }
    for (; i + VF_N <= n; i += VF_N) vf_store(y + i, vf_mul(vf_load(y + i), scale));
    if (i < n) vf_store_n(y + i, vf_mul(vf_load_n(y + i, n - i), scale), n - i);
}
#endif
