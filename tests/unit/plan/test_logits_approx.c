/* steno tests: logits in two stages. SPDX-License-Identifier: MIT
 *
 * Bounds on approximate logits hold for what the stored weights give, at every level, however rows and weights are made; and what they
 * leave contains the best ids that are allowed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "plan/logits_approx.h"

enum { K = 160, PANELS = 5, N = PANELS * PANEL, DRAWS = 40 };

/* Weights, a row of x, and the logits that each gives. */
struct sample {
    enum packed_type type; /* of the copy: not always what the level would choose */
    float w[N][K], x[K];
    _Alignas(64) uint8_t full[1 << 18], less[1 << 18], scratch[1 << 20];
    float exact[N], near[N];
    struct approx_panel panel[PANELS];
};

static float draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed * 0x1p-31f;
}

/* Even draws, a few weights and values that tower over their blocks, blocks of zeros, and magnitudes near those of f16's subnormals. */
static void make(struct sample *s, enum packed_type type, uint32_t seed, const struct kern *k)
{
    s->type = type;
    static const float scale[] = { 1, 1e-3f, 1e-6f, 30 };
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < K; j++) {
            const float v = draw(&seed) * scale[seed >> 7 & (i % 4 ? 0 : 3)];
            s->w[i][j] = j / QBLOCK == i % 7 ? 0 : (seed >> 9) % 50 ? v : 20 * v;
        }
    for (size_t j = 0; j < K; j++) s->x[j] = draw(&seed) * ((seed >> 9) % 40 ? 1 : 30) * (j / QBLOCK == 2 ? 1e-4f : 1);
    for (size_t p = 0; p < PANELS; p++) {
        const void *rows[PANEL];
        for (size_t i = 0; i < PANEL; i++) rows[i] = p == 4 && i > 20 ? NULL : s->w[p * PANEL + i];
        pack_panel(s->full + p * pack_panel_sz(PK_F32, K), PK_F32, DT_F32, rows, K);
        struct q8_loss loss;
        k->pack(s->less + p * pack_panel_sz(type, K), &loss, type, DT_F32, rows, K);
        s->panel[p] = approx_panel_of(&loss, K);
    }
    struct linear l = { .w = s->full, .n = N, .k = K, .n_y = N, .x = s->x, .ld_x = K, .y = s->exact, .ld_y = N };
    k->linear[PK_F32](&l, 0, 1, 0, PANELS, s->scratch);
    l.w = s->less, l.y = s->near;
    k->linear[type](&l, 0, 1, 0, PANELS, s->scratch);
}

static int is_allowed(const struct logit_range *g, int32_t id)
{
    const int barred = g->mask && (g->mask[id >> 5] >> (id & 31) & 1);
    return !barred && id >= g->text_from && id < g->text_to;
}

static int falling(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The n best. */
static void check(const struct sample *s, const struct logit_range *g, int n, const struct kern *k)
{
    float most[PANELS], slice[3 * APPROX_TOPK], best[N];
    const struct approx_x x = approx_x_of(s->type, s->x, K);
    int allowed = 0;
    const struct approx_logits l = { s->near, s->panel, x, g, n };
    for (size_t p = 0; p < PANELS; p += 2) /* in slices */
        approx_bounds(most, slice + p / 2 * APPROX_TOPK, &l, p, p + 2 < PANELS ? p + 2 : PANELS, k);
    const float lower = approx_lower_bound(slice, 3, n);
    for (int32_t id = 0; id < N; id++) {
        if (is_allowed(g, id)) {
            best[allowed++] = s->exact[id];
            assert_true(s->exact[id] <= most[id / PANEL]);
        }
        if (id >= g->ts_from && id < g->ts_to && !(g->mask && (g->mask[id >> 5] >> (id & 31) & 1)))
            assert_true(isinf(most[id / PANEL]) && most[id / PANEL] > 0);
    }
    qsort(best, (size_t)allowed, sizeof *best, falling);
    if (allowed < n) return;
    assert_true(lower <= best[n - 1]);
    for (int32_t id = 0; id < N; id++)
        if (is_allowed(g, id) && s->exact[id] >= best[n - 1]) assert_true(approx_may_hold(most[id / PANEL], lower));
}

static void test_no_logit_is_above_the_bound_of_its_panel(void **state)
{
    (void)state;
    struct sample *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    assert_non_null(s);
    const uint32_t mask[PANELS] = { 0, UINT32_MAX, 0x55555555, 0, 1 };
    const struct logit_range range[] = {
        { 0, N, N, N, NULL },   { 0, N - 37, N - 37, N, mask },  { 50, 120, 130, 131, mask },
        { 0, 0, 96, N, NULL }, { 33, 95, 140, 140, mask },
    };
    for (int level = 0; cpu_level_name(level); level++) {
        struct kern k;
        if (!cpu_level_usable(level)) continue;
        kern_init(&k, level);
        for (uint32_t seed = 1; seed <= 2 * DRAWS; seed++) {
            make(s, seed % 2 ? PK_Q8_QUAD : PK_Q8_QUAD_A8, (seed + 1) / 2, &k);
            for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
                check(s, &range[i], 1, &k);
                check(s, &range[i], 6, &k);
                check(s, &range[i], APPROX_TOPK, &k);
            }
        }
    }
    free(s);
}

/* A bound that is no bound at all would pass the test above: most panels must be left out where one id stands out. */
static void test_most_panels_are_left_out_where_one_id_stands_out(void **state)
{
    (void)state;
    struct sample *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    assert_non_null(s);
    struct kern k;
    kern_init(&k, 0);
    make(s, PK_Q8_QUAD_A8, 3, &k);
    const struct approx_x x = approx_x_of(s->type, s->x, K), of_16 = approx_x_of(PK_Q8_QUAD, s->x, K);
    for (size_t p = 0; p < PANELS; p++) {
        double norm = 0;
        for (size_t i = 0; i < PANEL; i++) {
            double n = 0;
            for (size_t j = 0; j < K; j++) n += (double)s->w[p * PANEL + i][j] * (double)s->w[p * PANEL + i][j];
            norm = fmax(norm, n);
        }
        assert_true(s->panel[p].error < 0.02 * sqrt(norm));
        assert_true(s->panel[p].norm > 0.9 * sqrt(norm));
    }
    assert_true(x.error < 0.02f * x.norm);
    assert_true(of_16.error < 0.01f * x.error);
    free(s);
}

static void test_rows_with_nan_are_computed_in_full(void **state)
{
    (void)state;
    struct sample *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    assert_non_null(s);
    struct kern k;
    float most[PANELS];
    const struct logit_range all = { 0, N, N, N, NULL };
    kern_init(&k, 0);
    make(s, PK_Q8_QUAD_A8, 5, &k);
    const void *rows[PANEL];
    for (size_t i = 0; i < PANEL; i++) rows[i] = s->w[i];
    for (int inf = 0; inf < 2; inf++) {
        s->w[7][40] = inf ? INFINITY : (float)NAN;
        struct q8_loss loss;
        k.pack(s->less, &loss, s->type, DT_F32, rows, K);
        const struct approx_panel p = approx_panel_of(&loss, K);
        assert_true(isnan(p.error));
        s->panel[0] = p;
        float lower;
        const struct approx_logits l = { s->near, s->panel, approx_x_of(s->type, s->x, K), &all, 1 };
        approx_bounds(most, &lower, &l, 0, PANELS, &k);
        assert_true(approx_may_hold(most[0], lower));
    }
    s->x[100] = (float)NAN;
    float lower;
    const struct approx_logits l = { s->near, s->panel, approx_x_of(s->type, s->x, K), &all, 1 };
    approx_bounds(most, &lower, &l, 0, PANELS, &k);
    for (size_t p = 0; p < PANELS; p++) assert_true(approx_may_hold(most[p], lower));
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_logit_is_above_the_bound_of_its_panel),
        cmocka_unit_test(test_most_panels_are_left_out_where_one_id_stands_out),
        cmocka_unit_test(test_rows_with_nan_are_computed_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
