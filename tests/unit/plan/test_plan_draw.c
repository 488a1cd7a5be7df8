/* steno tests: draws of tokens are what chance would give. SPDX-License-Identifier: MIT
 *
 * Pearson's chi-square over many draws, for fixed seeds, so that a result is the same every time: below the quantile that chance stays
 * below 9999 times in 10000. */
#include <math.h>
#include <string.h>
#include "base/cpu.h"
#include "harness.h"
#include "plan/run.h"

enum { DRAWS = 20000, FEW = 20, MANY = 1200, LEAST = 5 /* expected draws of a cell */ };

/* Wilson and Hilferty's approximation of the 99.99 % quantile. */
static double quantile(int degrees)
{
    const double k = 2.0 / (9.0 * degrees), z = 3.719;
    const double cube = 1 - k + z * sqrt(k);
    return degrees * cube * cube * cube;
}

struct rig {
    float x[MANY];
    double p[MANY];
    int n;
    struct logit_rules rules;
    struct logit_partial text, none;
};

/* n ids whose logits fall slowly, at a temperature. */
static void rig_init(struct rig *r, int n, double temperature, uint64_t seed)
{
    struct kern kern;
    double sum = 0;
    memset(r, 0, sizeof *r);
    r->n = n;
    for (int i = 0; i < n; i++) r->x[i] = (float)((i * 7 % 11) * 0.3 - (double)(i % 40) * 0.05);
    for (int i = 0; i < n; i++) sum += r->p[i] = exp((double)r->x[i] / temperature);
    for (int i = 0; i < n; i++) r->p[i] /= sum;
    r->rules = (struct logit_rules){ .n_vocab = n, .eot = n, .ts_begin = n, .temperature = temperature, .seed = seed };
    r->none = (struct logit_partial){ -INFINITY, 0, -1 };
    kern_init(&kern, cpu_level_best());
    kern.logits_reduce(&r->text, r->x, NULL, 0, (size_t)n);
}

/* What is drawn at a position of a stream. */
static int draw_at(const struct rig *r, uint64_t stream, int32_t position)
{
    struct sampled_token out[1024];
    struct sampler s = { .rules = &r->rules, .out = out, .limit = 1024, .last_ts = -1, .rng_stream = stream, .n = position };
    sample_token(&s, &r->text, &r->none, r->x, NULL);
    return out[position].id;
}

/* Cells with too few draws go together. */
static void check_counts(const int *count, const double *p, int n, const char *what)
{
    double chi = 0, rest = 0;
    int cells = 0, rest_count = 0;
    for (int i = 0; i < n; i++) {
        const double want = DRAWS * p[i];
        if (want < LEAST) {
            rest += want;
            rest_count += count[i];
            continue;
        }
        chi += (count[i] - want) * (count[i] - want) / want;
        cells++;
    }
    if (rest >= LEAST) chi += (rest_count - rest) * (rest_count - rest) / rest, cells++;
    if (!(chi < quantile(cells - 1))) fail_msg("%s: chi-square %.1f with %d cells, want below %.1f", what, chi, cells, quantile(cells - 1));
}

enum vary { OVER_POSITIONS, OVER_STREAMS, OVER_WINDOWS, OVER_SEEDS, VARIES };

static void test_draws_follow_the_softmax_over_positions_streams_and_seeds(void **state)
{
    (void)state;
    static const double temperature[] = { 0.5, 1.0, 1.5 };
    static const char *const name[] = { "positions", "streams", "windows", "seeds" };
    for (int t = 0; t < 3; t++)
        for (int big = 0; big < 2; big++)
            for (int vary = 0; vary < VARIES; vary++) {
                static int count[MANY];
                static struct rig r;
                memset(count, 0, sizeof count);
                rig_init(&r, big ? MANY : FEW, temperature[t], 99);
                for (int i = 0; i < DRAWS; i++) {
                    if (vary == OVER_SEEDS) r.rules.seed = (uint64_t)i;
                    const uint64_t stream = vary == OVER_WINDOWS ? rng_stream_of(i * 3000, 1, 0) : vary == OVER_SEEDS ? 5 : (uint64_t)i;
                    count[vary == OVER_POSITIONS ? draw_at(&r, (uint64_t)(i / 500), i % 500) : draw_at(&r, stream, 3)]++;
                }
                check_counts(count, r.p, r.n, name[vary]);
            }
}

/* Pairs of draws in a table of 20 by 20: as if the second did not know the first. */
static void check_pairs(int count[FEW][FEW], const struct rig *r, const char *what)
{
    double p[FEW * FEW];
    int flat[FEW * FEW];
    for (int a = 0; a < FEW; a++)
        for (int b = 0; b < FEW; b++) {
            p[a * FEW + b] = r->p[a] * r->p[b];
            flat[a * FEW + b] = count[a][b];
        }
    check_counts(flat, p, FEW * FEW, what);
}

static void test_neighbouring_positions_streams_attempts_and_seeds_know_nothing_of_each_other(void **state)
{
    (void)state;
    static const char *const name[] = { "positions", "streams", "attempts", "candidates", "windows", "seeds" };
    for (int vary = 0; vary < 6; vary++) {
        int count[FEW][FEW] = { { 0 } };
        static struct rig r, next;
        rig_init(&r, FEW, 1.0, 4);
        rig_init(&next, FEW, 1.0, 4);
        for (int i = 0; i < DRAWS; i++) {
            const uint64_t stream = rng_stream_of(i / 100 * 2, 0, 0);
            const int32_t n = i % 100;
            int b = 0;
            if (vary == 0) b = draw_at(&r, stream, n + 1);
            if (vary == 1) b = draw_at(&r, stream + 1, n);
            if (vary == 2) b = draw_at(&r, rng_stream_of(i / 100 * 2, 1, 0), n);
            if (vary == 3) b = draw_at(&r, rng_stream_of(i / 100 * 2, 0, 1), n);
            if (vary == 4) b = draw_at(&r, rng_stream_of(i / 100 * 2 + 1, 0, 0), n);
            if (vary == 5) next.rules.seed = 5, b = draw_at(&next, stream, n);
            count[draw_at(&r, stream, n)][b]++;
        }
        check_pairs(count, &r, name[vary]);
    }
}

/* The shortcut that spares logarithms must not cost an id its chance. */
static void test_an_id_far_behind_is_drawn_as_often_as_it_should(void **state)
{
    (void)state;
    static struct rig r;
    enum { RARE = FEW - 1 };
    rig_init(&r, FEW, 1.0, 12);
    struct kern kern;
    kern_init(&kern, cpu_level_best());
    for (int i = 0; i < FEW; i++) r.x[i] = 5;
    r.x[RARE] = 0; /* e^-5 / (19 + e^-5) of the draws */
    kern.logits_reduce(&r.text, r.x, NULL, 0, FEW);
    int rare = 0;
    for (int i = 0; i < 50 * DRAWS; i++) rare += draw_at(&r, (uint64_t)i, 0) == RARE;
    const double want = 50.0 * DRAWS * exp(-5) / (19 + exp(-5));
    assert_true(fabs(rare - want) < 4 * sqrt(want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_follow_the_softmax_over_positions_streams_and_seeds),
        cmocka_unit_test(test_neighbouring_positions_streams_attempts_and_seeds_know_nothing_of_each_other),
        cmocka_unit_test(test_an_id_far_behind_is_drawn_as_often_as_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
