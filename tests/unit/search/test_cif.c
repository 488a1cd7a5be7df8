/* steno tests: continuous integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Tokens made of frames against the machine as the paper writes it: a sum that fires, carries on, and starts the next token with what is
 * left of the frame. */
#include <math.h>
#include <string.h>
#include "harness.h"
#include "search/cif.h"

enum { FRAMES = 400, TOKENS = 200 };

static uint32_t seed;
static float uniform(void) /* [0, 1) */
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) * 0x1p-24f;
}

/* Of each token the weight of every frame: [TOKENS, FRAMES]. @return tokens */
static int slow_tokens(double *share, const float *alpha, int n)
{
    double sum = 0;
    int k = 0;
    memset(share, 0, (size_t)TOKENS * FRAMES * sizeof *share);
    for (int t = 0; t < n; t++) {
        if (sum + (double)alpha[t] < 1) {
            share[k * FRAMES + t] += (double)alpha[t];
            sum += (double)alpha[t];
            continue;
        }
        share[k++ * FRAMES + t] += 1 - sum;
        sum += (double)alpha[t] - 1;
        share[k * FRAMES + t] = sum;
    }
    return k;
}

static void check(const float *alpha, int n)
{
    static double share[TOKENS * FRAMES];
    static struct cif_token token[TOKENS];
    static float weight[FRAMES + TOKENS];
    const int n_tokens = cif_tokens(token, weight, TOKENS, alpha, n), want = slow_tokens(share, alpha, n);
    uint32_t at = 0;
    assert_int_equal(n_tokens, want);
    for (int k = 0; k < n_tokens; k++) {
        double sum = 0;
        assert_int_equal(token[k].at, at);
        at += token[k].n;
        assert_true(token[k].first + token[k].n <= (uint32_t)n && at <= FRAMES + TOKENS);
        for (uint32_t t = 0; t < (uint32_t)n; t++) {
            const int inside = t >= token[k].first && t < token[k].first + token[k].n;
            const double got = inside ? (double)weight[token[k].at + t - token[k].first] : 0;
            if (fabs(got - share[(size_t)k * FRAMES + t]) > 1e-6)
                fail_msg("token %d, frame %u: %g, want %g", k, t, got, share[(size_t)k * FRAMES + t]);
            sum += got;
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
}

static void test_tokens_are_those_of_the_machine_that_fires(void **state)
{
    (void)state;
    float alpha[FRAMES];
    for (seed = 1; seed < 200; seed++) {
        const uint32_t round = seed;
        const int n = 1 + (int)(uniform() * (FRAMES - 1));
        const float scale = round % 3 ? 0.4f : 0.999f;
        for (int t = 0; t < n; t++) alpha[t] = uniform() * (uniform() < 0.3f ? 0 : scale);
        check(alpha, n);
        seed = round;
    }
}

static void test_a_sum_that_is_whole_ends_its_token(void **state)
{
    (void)state;
    static const float quarters[] = { 0.25f, 0.25f, 0.25f, 0.25f, 0.5f, 0.5f, 0 };
    struct cif_token token[4];
    float weight[16];
    check(quarters, 7);
    assert_int_equal(cif_tokens(token, weight, 4, quarters, 7), 2);
    assert_int_equal(token[1].first, 3); /* with nothing left of it */
    assert_int_equal(token[1].n, 3);
    assert_true(weight[token[1].at] == 0);
    assert_int_equal(cif_tokens(token, weight, 1, quarters, 7), 1);
    assert_int_equal(cif_tokens(token, weight, 4, quarters, 3), 0);
    assert_int_equal(cif_tokens(token, weight, 4, quarters, 0), 0);
}

/* In f32 this sum would reach 1 later than it does. */
static void test_sums_are_double(void **state)
{
    (void)state;
    enum { N = 257 };
    float alpha[N], weight[N + 2];
    struct cif_token token[2];
    for (int t = 0; t < N; t++) alpha[t] = t ? 0x1p-26f : 1 - 0x1p-18f;
    assert_int_equal(cif_tokens(token, weight, 2, alpha, N - 1), 0);
    assert_int_equal(cif_tokens(token, weight, 2, alpha, N), 1);
}

static void test_peaks_are_the_running_sum_that_falls_where_it_fires(void **state)
{
    (void)state;
    static const float alpha[] = { 0.5f, 0.25f, 0.5f, 0.75f, 0.125f }, want[] = { 0.5f, 0.75f, 1.25f, 1, 0.125f };
    float peak[5];
    cif_peaks(peak, alpha, 5, 1);
    for (int t = 0; t < 5; t++) assert_true(peak[t] == want[t]);
}

static void test_weights_are_sigmoids_above_the_noise(void **state)
{
    (void)state;
    assert_true(cif_alpha(0, 1, 0) == 0.5f);
    assert_true(cif_alpha(0, 0.25f, 0.01f) == 0.5f * 0.25f - 0.01f);
    assert_true(cif_alpha(-20, 0.25f, 0.01f) == 0);
    assert_true(cif_alpha(INFINITY, 1, 0) == 1 && cif_alpha(-INFINITY, 1, 0) == 0 && cif_alpha(NAN, 1, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_those_of_the_machine_that_fires),
        cmocka_unit_test(test_a_sum_that_is_whole_ends_its_token),
        cmocka_unit_test(test_sums_are_double),
        cmocka_unit_test(test_peaks_are_the_running_sum_that_falls_where_it_fires),
        cmocka_unit_test(test_weights_are_sigmoids_above_the_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
