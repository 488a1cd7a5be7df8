/* steno: checks of attention with relative positions. SPDX-License-Identifier: MIT */
#include "check.h"
#include "kern/rel_positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 5 };

/* Rows of one sequence: all of them, and the same one by one, against the twin. limit: keys that a row sees on each side. */
static void check_sequence(struct check *c, size_t n, size_t d_head, uint32_t limit)
{
    const size_t ld = d_head + GAP, sz = (n - 1) * ld + d_head, n_r = 2 * n - 1;
    float *q = guarded_floats(sz), *keys = guarded_floats(sz), *values = guarded_floats(sz), *r = guarded_floats((n_r - 1) * ld + d_head);
    float *u = guarded_floats(d_head), *v = guarded_floats(d_head), *want = guarded_floats(sz), *got = guarded_floats(sz);
    float *alone = guarded_floats(d_head);
    struct key_span *sees = guarded(n * sizeof *sees);
    void *scratch = aligned_alloc_64(kern_attn_rel_scratch(n));
    rnd_floats(q, sz, 1), rnd_floats(keys, sz, 1), rnd_floats(values, sz, 1), rnd_floats(r, (n_r - 1) * ld + d_head, 1);
    rnd_floats(u, d_head, 0.5f), rnd_floats(v, d_head, 0.5f);
    for (uint32_t i = 0; i < n; i++)
        sees[i] = (struct key_span){ i > limit ? i - limit : 0, n - 1 - i > limit ? i + limit + 1 : (uint32_t)n };
    struct attn_rel a = { .out = want, .ld_out = ld, .q = q, .ld_q = ld, .u = u, .v = v, .keys = keys, .values = values, .ld_kv = ld,
                          .r = r + (n - 1) * ld, .ld_r = (ptrdiff_t)ld, .sees = sees, .rows = (uint32_t)n, .d_head = (uint32_t)d_head,
                          .scale = 1 / sqrtf((float)d_head) };
    float most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < d_head; d++) most = fmaxf(most, fabsf(values[i * ld + d]));
    c->ref->attn_rel(&a, scratch);
    fill_canary(got, sz);
    a.out = got;
    c->kern->attn_rel(&a, scratch);
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < d_head; d++)
            check(c, fabsf(got[i * ld + d] - want[i * ld + d]) <= 3e-6f * most, "attn_rel n %zu d_head %zu: row %zu, %zu: %g, want %g", n,
                  d_head, i, d, (double)got[i * ld + d], (double)want[i * ld + d]);
        for (size_t d = d_head; d < ld && i + 1 < n; d++) check(c, is_canary(got[i * ld + d]), "attn_rel wrote between rows");
        struct attn_rel one = a;
        one.out = alone, one.q += i * ld, one.sees += i, one.first = (uint32_t)i, one.rows = 1;
        c->kern->attn_rel(&one, scratch);
        check(c, same_bits(alone, got + i * ld, d_head), "attn_rel of %zu rows, d_head %zu: row %zu alone differs", n, d_head, i);
    }
    free(scratch);
    guarded_free_all();
}

void check_attn_rel(struct check *c)
{
    static const size_t rows[] = { 1, 2, 3, 4, 5, 17, 63 }, width[] = { 4, 12, 16, 32, 64, 100, 128, 256 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
            if (c->quick > 1 && (i + k) % 4) continue;
            check_sequence(c, rows[i], width[k], UINT32_MAX);
            check_sequence(c, rows[i], width[k], (uint32_t)(k % 3) * 3);
        }
}
