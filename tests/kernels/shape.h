/* steno: products of some shape, and what surrounds them in the checks. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_KERNELS_SHAPE_H
#define STENO_TESTS_KERNELS_SHAPE_H
#include "rows_alone.h"

struct shape { size_t m, n, k, ld_x; };

/* Rows of x with outlier channels, and NaN where they are padded; results, with a row of canaries before and after; the twin's. */
struct around { float *bias, *res, *x, *y, *y_ref; size_t ld_y; };

static inline struct around around_new(const struct shape *s)
{
    const size_t ld_y = s->n + 1 + rnd() % 3, n_x = (s->m - 1) * s->ld_x + s->k;
    const struct around a = { guarded_floats(s->n), guarded_floats(s->m * ld_y), guarded_floats(n_x), guarded_floats((s->m + 2) * ld_y),
                              guarded_floats(s->m * ld_y), ld_y };
    fill_canary(a.x, n_x);
    for (size_t m = 0; m < s->m; m++)
        for (size_t k = 0; k < s->k; k++) a.x[m * s->ld_x + k] = rnd_normal() * (k % 41 == 7 ? 50 : 1);
    rnd_floats(a.bias, s->n, 1);
    rnd_floats(a.res, s->m * ld_y, 1);
    return a;
}

/* Mode 0 is the product alone; the others have a bias, and residuals or activations. */
enum { MODES = 5 };
static inline struct linear linear_of(const struct around *a, const struct shape *s, const void *w, int mode)
{
    static const uint8_t act_of[MODES] = { ACT_NONE, ACT_NONE, ACT_GELU_ERF, ACT_GELU_TANH, ACT_RELU };
    return (struct linear) { .w = w, .bias = mode ? a->bias : NULL, .n = (uint32_t)s->n, .k = (uint32_t)s->k, .n_y = (uint32_t)s->n,
                             .act = act_of[mode], .x = a->x, .ld_x = s->ld_x, .y = a->y + a->ld_y, .ld_y = a->ld_y,
                             .res = mode == 1 || mode == 3 ? a->res : NULL, .ld_res = a->ld_y };
}

/* All of it; nothing but y is written, and each row alone has the same bits. */
static inline void run_whole(struct check *c, enum packed_type t, const struct linear *l, const struct around *a, const struct shape *s)
{
    const size_t ld_y = a->ld_y;
    fill_canary(a->y, (s->m + 2) * ld_y);
    run(c->kern, t, l, 0, s->m, 0, pack_panels(s->n), c->scratch);
    for (size_t i = 0; i < (s->m + 2) * ld_y; i++)
        if (i < ld_y || i >= (s->m + 1) * ld_y || i % ld_y >= s->n) check(c, is_canary(a->y[i]), "%s wrote outside y", packed_name(t));
    check_rows_alone(c, t, s->m, l, l->y);
}
#endif
