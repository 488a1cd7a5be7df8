/* steno tests: where labels lie in the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * Against every way there is of spreading them, on lattices so small that all can be tried. */
#include "search/ctc_align.h"
#include <math.h>
#include "api/heap.h"

enum { ROWS = 5, LABELS = 3, STATES = 2 * LABELS + 1 };

static uint32_t state_of_noise = 1;

static float draw(void)
{
    state_of_noise = state_of_noise * 1664525 + 1013904223;
    return -(float)(state_of_noise >> 8) / (1 << 22);
}

/* Is this sequence of states, one a row, a way through the lattice? */
static int is_way(const int *at, int rows, const int32_t *label, int n)
{
    if (at[0] > 1 || at[rows - 1] < 2 * n - 1) return 0;
    for (int t = 1; t < rows; t++) {
        const int step = at[t] - at[t - 1];
        if (step < 0 || step > 2) return 0;
        if (step == 2 && (at[t] % 2 == 0 || label[at[t] / 2] == label[at[t] / 2 - 1])) return 0;
    }
    return 1;
}

static double score_of(const int *at, int rows, const float *logp, int n)
{
    double sum = 0;
    for (int t = 0; t < rows; t++) sum += (double)logp[t * (n + 1) + (at[t] % 2 ? 1 + at[t] / 2 : 0)];
    return sum;
}

/* The best of all ways; -INFINITY: there is none. */
static double best_way(const float *logp, int rows, const int32_t *label, int n)
{
    int at[ROWS] = { 0 };
    double best = -(double)INFINITY;
    for (;;) {
        if (is_way(at, rows, label, n) && score_of(at, rows, logp, n) > best) best = score_of(at, rows, logp, n);
        int t = 0;
        while (t < rows && ++at[t] > 2 * n) at[t++] = 0;
        if (t == rows) return best;
    }
}

/* The states that spans stand for. */
static void states_of(int *at, int rows, const struct ctc_span *span, int n)
{
    for (int t = 0, i = 0; t < rows; t++) {
        while (i < n && t >= span[i].end) i++;
        at[t] = i < n && t >= span[i].begin ? 2 * i + 1 : 2 * i;
    }
}

static void test_no_way_is_more_probable_than_the_one_that_is_found(void **state)
{
    (void)state;
    struct buf back = { 0 };
    int n_ways = 0, n_none = 0;
    for (int k = 0; k < 300; k++) {
        const int n = 1 + k % LABELS, rows = 1 + k / 3 % ROWS;
        int32_t label[LABELS];
        float logp[ROWS * (LABELS + 1)];
        struct ctc_span span[LABELS];
        int at[ROWS];
        for (int i = 0; i < n; i++) label[i] = 7 + (int32_t)(-draw() * 100) % 2; /* equal neighbours are common */
        for (int i = 0; i < rows * (n + 1); i++) logp[i] = draw();
        assert_int_equal(ctc_align(span, label, n, logp, rows, &back), 0);
        const double want = best_way(logp, rows, label, n);
        if (!(want > -(double)INFINITY)) {
            for (int i = 0; i < n; i++) assert_true(span[i].begin == -1 && span[i].end == -1);
            n_none++;
            continue;
        }
        for (int i = 0; i < n; i++) assert_true(span[i].begin >= (i ? span[i - 1].end : 0) && span[i].end > span[i].begin);
        states_of(at, rows, span, n);
        assert_true(is_way(at, rows, label, n));
        if (fabs(score_of(at, rows, logp, n) - want) > 1e-5) fail_msg("case %d: %g, want %g", k, score_of(at, rows, logp, n), want);
        n_ways++;
    }
    assert_true(n_ways > 100 && n_none > 20);
    buf_free(&back);
}

static void test_a_label_that_cannot_be_has_no_place(void **state)
{
    (void)state;
    const float logp[] = { -1, -INFINITY, -1, -INFINITY };
    const int32_t label = 3;
    struct ctc_span span = { 5, 5 };
    struct buf back = { 0 };
    assert_int_equal(ctc_align(&span, &label, 1, logp, 2, &back), 0);
    assert_true(span.begin == -1 && span.end == -1);
    assert_int_equal(ctc_align(&span, &label, 1, logp, 0, &back), 0);
    assert_int_equal(span.begin, -1);
    assert_int_equal(ctc_align(NULL, NULL, 0, NULL, 0, &back), 0);
    buf_free(&back);
}

static void test_each_failed_allocation_is_reported(void **state)
{
    (void)state;
    const float logp[] = { -1, -2, -3, -1 };
    const int32_t label = 3;
    struct ctc_span span;
    struct buf back = { 0 };
    need_counting();
    count_begin(0);
    assert_int_equal(ctc_align(&span, &label, 1, logp, 2, &back), STENO_ENOMEM);
    count_end();
    assert_int_equal(span.begin, -1);
    buf_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_way_is_more_probable_than_the_one_that_is_found),
        cmocka_unit_test(test_a_label_that_cannot_be_has_no_place),
        cmocka_unit_test(test_each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
