/* steno tests: what is made of spans of speech. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search/vad.h"

enum { MOST = 64 };

struct list { struct vad_span v[2 * MOST]; int n; };

static void put(void *user, const struct vad_span *s)
{
    struct list *l = user;
    assert_true(l->n < 2 * MOST);
    l->v[l->n++] = *s;
}

/* All points in a row, without those that come twice; as FunASR's merge_vad is written. */
static void merge_slowly(struct list *out, const struct vad_span *v, int n, int64_t max)
{
    int64_t p[2 * MOST], bg = 0;
    int n_points = 0;
    out->n = 0;
    if (n <= 1) {
        if (n) out->v[out->n++] = v[0];
        return;
    }
    for (int i = 0; i < n; i++) {
        if (!n_points || p[n_points - 1] != v[i].t0_ms) p[n_points++] = v[i].t0_ms;
        if (p[n_points - 1] != v[i].t1_ms) p[n_points++] = v[i].t1_ms;
    }
    for (int i = 0; i < n_points - 1; i++) {
        if (p[i + 1] - bg < max) continue;
        if (p[i] > bg) out->v[out->n++] = (struct vad_span){ bg, p[i] };
        bg = p[i];
    }
    out->v[out->n++] = (struct vad_span){ bg, p[n_points - 1] };
}

static uint32_t draw(uint32_t *seed)
{
    return (*seed = *seed * 1664525u + 1013904223u) >> 8;
}

static void test_merging_is_the_reference_s_whenever_certain_spans_are_taken(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        struct vad_span v[MOST];
        struct list got = { .n = 0 }, want;
        struct vad_spans s;
        const int n = (int)(draw(&seed) % (round % 7 ? 5 : MOST));
        const int64_t max = 1 + draw(&seed) % 3000;
        int64_t t = 0;
        vad_spans_begin(&s, 0, max, put, &got);
        for (int i = 0; i < n; i++) {
            t += draw(&seed) % 4 ? draw(&seed) % 2000 : 0;
            if (draw(&seed) % 2) vad_spans_certain(&s, t);
            v[i].t0_ms = t;
            t += 1 + draw(&seed) % 4000;
            v[i].t1_ms = t;
            if (draw(&seed) % 2) vad_spans_certain(&s, v[i].t0_ms);
            const int64_t floor_ms = vad_spans_floor_ms(&s, v[i].t0_ms);
            const int had = got.n;
            vad_spans_add(&s, &v[i]);
            for (int k = had; k < got.n; k++) assert_true(got.v[k].t0_ms >= floor_ms);
            if (draw(&seed) % 2) vad_spans_certain(&s, t);
        }
        vad_spans_certain(&s, t + 10000);
        vad_spans_end(&s);
        merge_slowly(&want, v, n, max);
        if (got.n != want.n || memcmp(got.v, want.v, (size_t)got.n * sizeof *got.v)) fail_msg("round %d: other spans", round);
    }
}

static void test_short_ones_are_left_out_and_others_pass(void **state)
{
    (void)state;
    static const struct vad_span v[] = { { 0, 100 }, { 200, 299 }, { 300, 400 } };
    struct list got = { .n = 0 };
    struct vad_spans s;
    vad_spans_begin(&s, 100, 0, put, &got);
    for (int i = 0; i < 3; i++) vad_spans_add(&s, &v[i]);
    vad_spans_end(&s);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.v[1].t0_ms, 300);
    assert_int_equal(vad_spans_floor_ms(&s, 17), 17);
}

static void test_one_that_was_hastened_counts_as_one_of_several(void **state)
{
    (void)state;
    struct list got = { .n = 0 };
    struct vad_spans s;
    vad_spans_begin(&s, 0, 1000, put, &got);
    vad_spans_hasten(&s); /* of none nothing is known */
    vad_spans_add(&s, &(struct vad_span){ 300, 900 });
    vad_spans_hasten(&s);
    vad_spans_certain(&s, 5000);
    assert_int_equal(got.n, 1);
    assert_true(got.v[0].t0_ms == 0 && got.v[0].t1_ms == 900);
    vad_spans_end(&s);
    assert_int_equal(got.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging_is_the_reference_s_whenever_certain_spans_are_taken),
        cmocka_unit_test(test_short_ones_are_left_out_and_others_pass),
        cmocka_unit_test(test_one_that_was_hastened_counts_as_one_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
