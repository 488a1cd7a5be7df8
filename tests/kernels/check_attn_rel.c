/* steno: checks of attention with relative positions. SPDX-License-Identifier: MIT */
#include "check.h"
#include "kern/rel_positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 5, HEADS_MAX = 256 };

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

/* ---- over packed keys */

enum { REL_NEAR = 3 /* of the formula's tolerance in 1e-6, f32 */ };

struct packed { void *keys, *values, *distances; };

static void pack_panels_of(const struct kern *k, enum kv_type type, void *to, const float *x, size_t ld, size_t n, size_t d_head,
                           const float *less)
{
    const size_t sz = pack_panel_sz(kv_run_packed(type), d_head);
    for (size_t i = 0; i < n; i += PANEL)
        kern_run_of(k, type)->pack_keys((char *)to + i / PANEL * sz, x + i * ld, ld, n - i < PANEL ? n - i : PANEL, d_head, less);
}

static void pack_rel(const struct kern *k, enum kv_type type, const struct packed *to, const struct attn_rel *a, size_t n,
                     const float *less)
{
    static const float zeros[HEADS_MAX];
    const enum packed_type t = kv_run_packed(type);
    pack_panels_of(k, type, to->keys, a->keys, a->ld_kv, n, a->d_head, less);
    pack_panels_of(k, type, to->distances, a->r - (n - 1) * (size_t)a->ld_r, (size_t)a->ld_r, 2 * n - 1, a->d_head, zeros);
    for (size_t d = 0; d < a->d_head; d += PANEL)
        kern_run_of(k, type)->pack_values((char *)to->values + d / PANEL * pack_panel_sz(t, n), a->values + d, a->ld_kv, n,
                                          a->d_head - d < PANEL ? a->d_head - d : PANEL);
}

static size_t lines(size_t sz) { return (sz + 63) & ~(size_t)63; }

static struct packed packed_of(enum packed_type t, size_t n, size_t d_head)
{
    return (struct packed){ guarded(lines(pack_sz(t, n, d_head))), guarded(lines(pack_sz(t, d_head, n))),
                            guarded(lines(pack_sz(t, 2 * n - 1, d_head))) };
}

/* One row of the formula in double: distances of rows in descending order. */
static void rel_formula(double *out, const struct attn_rel *a, size_t i)
{
    double max = -INFINITY, sum = 0, *score = malloc(a->sees[i].to * sizeof *score);
    memset(out, 0, a->d_head * sizeof *out);
    for (size_t j = a->sees[i].from; j < a->sees[i].to; j++) {
        const float *q = a->q + i * a->ld_q, *key = a->keys + j * a->ld_kv, *r = a->r + ((ptrdiff_t)j - (ptrdiff_t)i) * a->ld_r;
        score[j] = 0;
        for (size_t d = 0; d < a->d_head; d++) {
            score[j] += (double)a->scale * ((double)q[d] + (double)a->u[d]) * (double)key[d];
            score[j] += (double)a->scale * ((double)q[d] + (double)a->v[d]) * (double)r[d];
        }
        max = fmax(max, score[j]);
    }
    for (size_t j = a->sees[i].from; j < a->sees[i].to; j++) {
        const double weight = exp(score[j] - max);
        sum += weight;
        for (size_t d = 0; d < a->d_head; d++) out[d] += weight * (double)a->values[j * a->ld_kv + d];
    }
    for (size_t d = 0; d < a->d_head; d++) out[d] /= sum;
    free(score);
}

/* The same rows over other panels. */
static struct attn_rel_run with_panels(const struct attn_rel_run *run, const struct packed *p, float *out)
{
    struct attn_rel_run a = *run;
    a.keys = p->keys, a.values = p->values, a.distances = p->distances, a.out = out;
    return a;
}

/* Rows of a sequence over packed keys against the formula and the twin, all of them, the same one by one, and from the middle on. */
static void check_packed_rows(struct check *c, enum kv_type type, const struct attn_rel *a, struct attn_rel_run *run,
                              const struct packed *twins, size_t n, float most)
{
    const size_t d_head = a->d_head, ld = a->ld_out, sz = (n - 1) * ld + d_head;
    float *want = guarded_floats(sz), *got = guarded_floats(sz), *alone = guarded_floats(d_head), *same = guarded_floats(sz);
    double exact[HEADS_MAX];
    void *scratch = aligned_alloc_64(kern_attn_rel_run_scratch(n));
    const float near = type == KV_PANELS ? REL_NEAR * 1e-6f : 1e-3f, twins_near = type == KV_PANELS ? REL_NEAR * 1e-6f : 1e-4f;
    const struct attn_rel_run of_twin = with_panels(run, twins, want), over_vectors = with_panels(run, twins, same);
    kern_run_of(c->ref, type)->attn_rel(&of_twin, scratch);
    fill_canary(got, sz);
    memset(scratch, 0xff, kern_attn_rel_run_scratch(n));
    run->out = got;
    kern_run_of(c->kern, type)->attn_rel(run, scratch);
    if (c->vectors) kern_run_of(c->vectors, type)->attn_rel(&over_vectors, scratch);
    for (size_t i = 0; i < n; i++) {
        check(c, !c->vectors || same_bits(same + i * ld, got + i * ld, d_head),
              "attn_rel of type %d, n %zu d_head %zu: row %zu: not as over vectors", type, n, d_head, i);
        rel_formula(exact, a, i);
        for (size_t d = 0; d < d_head; d++) {
            const double y = (double)got[i * ld + d], twin = (double)want[i * ld + d];
            check(c, fabs(y - exact[d]) <= (double)(near * most), "attn_rel of type %d, n %zu d_head %zu: row %zu, %zu: %g, want %g", type,
                  n, d_head, i, d, y, exact[d]);
            check(c, fabs(y - twin) <= (double)(twins_near * most), "attn_rel of type %d, n %zu d_head %zu: row %zu, %zu: %g, twin %g",
                  type, n, d_head, i, d, y, twin);
        }
        for (size_t d = d_head; d < ld && i + 1 < n; d++) check(c, is_canary(got[i * ld + d]), "attn_rel wrote between rows");
        struct attn_rel_run one = *run;
        one.out = alone, one.q += i * ld, one.sees += i, one.at -= i, one.rows = 1;
        kern_run_of(c->kern, type)->attn_rel(&one, scratch);
        check(c, same_bits(alone, got + i * ld, d_head), "attn_rel of type %d, %zu rows, d_head %zu: row %zu alone differs", type, n,
              d_head, i);
    }
    free(scratch);
}

/* A number that is not finite in a row, in a key, and in a distance makes the rows that meet it NaN. */
static void check_packed_nan(struct check *c, const struct attn_rel *a, struct attn_rel_run *run, const struct packed *p, size_t n,
                             const float *less, float *q, float *keys)
{
    float *out = malloc(n * a->ld_out * sizeof *out), *const at[] = { q + n / 2 * a->ld_q, keys + n / 2 * a->ld_kv + 1 };
    void *scratch = aligned_alloc_64(kern_attn_rel_run_scratch(n));
    run->out = out;
    for (int what = 0; what < 2; what++) {
        const float kept = *at[what];
        *at[what] = what ? INFINITY : NAN;
        pack_rel(c->kern, KV_I16, p, a, n, less);
        kern_run_of(c->kern, KV_I16)->attn_rel(run, scratch);
        for (size_t i = 0; i < n; i++) {
            const int want = what ? a->sees[i].from <= n / 2 && n / 2 < a->sees[i].to : i == n / 2;
            check(c, !isnan(out[i * a->ld_out]) == !want, "attn_rel of int16, n %zu: row %zu is %g", n, i, (double)out[i * a->ld_out]);
        }
        *at[what] = kept;
    }
    free(scratch);
    free(out);
}

static void check_packed(struct check *c, enum kv_type type, size_t n, size_t d_head, uint32_t limit)
{
    const size_t ld = d_head + GAP, sz = (n - 1) * ld + d_head, n_r = 2 * n - 1;
    const enum packed_type t = kv_run_packed(type);
    float *q = guarded_floats(sz), *keys = guarded_floats(sz), *values = guarded_floats(sz), *r = guarded_floats((n_r - 1) * ld + d_head);
    float *u = guarded_floats(d_head), *v = guarded_floats(d_head), *less = guarded_floats(d_head), most = 0;
    struct key_span *sees = guarded(n * sizeof *sees);
    const struct packed p = packed_of(t, n, d_head), twin = packed_of(t, n, d_head);
    rnd_floats(q, sz, 1), rnd_floats(keys, sz, 1), rnd_floats(values, sz, 1), rnd_floats(r, (n_r - 1) * ld + d_head, 1);
    rnd_floats(u, d_head, 0.5f), rnd_floats(v, d_head, 0.5f), rnd_floats(less, d_head, 0.5f);
    for (uint32_t i = 0; i < n; i++)
        sees[i] = (struct key_span){ i > limit ? i - limit : 0, n - 1 - i > limit ? i + limit + 1 : (uint32_t)n };
    const struct attn_rel a = { .ld_out = ld, .q = q, .ld_q = ld, .u = u, .v = v, .keys = keys, .values = values, .ld_kv = ld,
                                .r = r + (n - 1) * ld, .ld_r = (ptrdiff_t)ld, .sees = sees, .rows = (uint32_t)n, .d_head = (uint32_t)d_head,
                                .scale = 1 / sqrtf((float)d_head) };
    struct attn_rel_run run = { .ld_out = ld, .q = q, .ld_q = ld, .u = u, .v = v, .keys = p.keys, .values = p.values,
                                .distances = p.distances, .sees = sees, .at = n - 1, .rows = (uint32_t)n, .d_head = (uint32_t)d_head,
                                .n_keys = (uint32_t)n, .scale = a.scale };
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < d_head; d++) most = fmaxf(most, fabsf(values[i * ld + d]));
    pack_rel(c->kern, type, &p, &a, n, less);
    pack_rel(c->ref, type, &twin, &a, n, less);
    check_packed_rows(c, type, &a, &run, &twin, n, most);
    cut_as_level(c, type, twin.keys, n, d_head), cut_as_level(c, type, twin.values, d_head, n);
    cut_as_level(c, type, twin.distances, n_r, d_head);
    check(c, !memcmp(p.keys, twin.keys, pack_sz(t, n, d_head)) && !memcmp(p.values, twin.values, pack_sz(t, d_head, n)) &&
                 !memcmp(p.distances, twin.distances, pack_sz(t, n_r, d_head)),
          "type %d n %zu d_head %zu: not packed as the twin", type, n, d_head);
    if (type == KV_I16 && n > 1) check_packed_nan(c, &a, &run, &p, n, less, q, keys);
    guarded_free_all();
}

static void check_packed_all(struct check *c)
{
    static const size_t rows[] = { 1, 2, 7, 31, 33, 49, 100, 200 }, width[] = { 4, 12, 32, 100, 128 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof width / sizeof *width; k++)
            for (int type = KV_I16; type <= KV_PANELS; type++) {
                if (c->quick > 1 && (i + k) % 4) continue;
                check_packed(c, (enum kv_type)type, rows[i], width[k], UINT32_MAX);
                check_packed(c, (enum kv_type)type, rows[i], width[k], (uint32_t)(k % 3) * 5);
            }
    check_packed(c, KV_PANELS, 40, 256, 20);
}

void check_attn_rel(struct check *c)
{
    check_packed_all(c);
    static const size_t rows[] = { 1, 2, 3, 4, 5, 17, 63 }, width[] = { 4, 12, 16, 32, 64, 100, 128, 256 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
            if (c->quick > 1 && (i + k) % 4) continue;
            check_sequence(c, rows[i], width[k], UINT32_MAX);
            check_sequence(c, rows[i], width[k], (uint32_t)(k % 3) * 3);
        }
}
