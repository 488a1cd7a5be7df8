/* steno: what the checks of linear share. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_KERNELS_ROWS_ALONE_H
#define STENO_TESTS_KERNELS_ROWS_ALONE_H
#include <string.h>
#include "check.h"

static inline void run(const struct kern *k, enum packed_type t, const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1,
                       void *scratch)
{
    scratch_for(scratch, k, t, l->k, m1 - m0); /* nothing may be taken over from an earlier call */
    k->linear[t](l, m0, m1, p0, p1, scratch);
}

/* Each row alone, at any place of a batch, with any split of panels, gives the bits that the whole batch gave: y, rows of l->ld_y. */
static inline void check_rows_alone(struct check *c, enum packed_type t, size_t rows, const struct linear *l, const float *y)
{
    static const size_t step[] = { 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17 };
    const size_t panels = pack_panels(l->n);
    float *part = guarded_floats(rows * l->ld_y);
    struct linear one = *l;
    one.y = part;
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        if (step[i] > rows || (rows > 20 && i % 3 && step[i] < 12)) continue;
        fill_canary(part, rows * l->ld_y);
        for (size_t m = 0; m < rows; m += step[i]) {
            const size_t end = m + step[i] < rows ? m + step[i] : rows, cut = rnd() % (panels + 1);
            if (l->res) {
                for (size_t r = m; r < end; r++) memcpy(part + r * l->ld_y, l->res + r * l->ld_res, l->n * sizeof *part);
                one.res = part, one.ld_res = l->ld_y; /* y may equal res */
            }
            run(c->kern, t, &one, m, end, 0, cut, c->scratch);
            run(c->kern, t, &one, m, end, cut, panels, c->scratch);
        }
        for (size_t m = 0; m < rows; m++)
            if (!check(c, same_bits(part + m * l->ld_y, y + m * l->ld_y, l->n), "%s m %zu n %u k %u: row %zu differs in groups of %zu",
                       packed_name(t), rows, l->n, l->k, m, step[i]))
                return;
    }
}
#endif
