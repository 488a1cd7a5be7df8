/* steno tests: drafts from what a text repeats, and how many of them. SPDX-License-Identifier: MIT
 *
 * A transcript is repeated corrected, or with the marks and capitals that it lacks. Runs take the time of those of Qwen3-0.6B when they
 * were measured, with and without noise: counted so, correcting takes less than half of the time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "harness.h"
#include "steno/steno.h"
#include "task/decode/prompt_lookup.h"

struct text { int32_t *id; int n; };

static struct text text_read(const steno_model *m, const char *path)
{
    static char bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    bytes[fread(bytes, 1, sizeof bytes - 1, f)] = '\0';
    fclose(f);
    struct text t = { .n = steno_tokenize(m, bytes, NULL, 0) };
    assert_true(t.n > 0 && (t.id = calloc((size_t)t.n, sizeof *t.id)) != NULL);
    steno_tokenize(m, bytes, t.id, t.n);
    return t;
}

/* The time of a run of this number of rows, in steps. */
struct curve { const char *name; double flat, first, row, noise; };

static double curve_at(const struct curve *c, int rows)
{
    const double t = c->first + c->row * rows;
    return t > c->flat ? t : c->flat;
}

static uint32_t seed;
static double noisy(const struct curve *c, int rows)
{
    const double u = (double)((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24);
    return curve_at(c, rows) * (1 + c->noise * u * u * u * 8);
}

/* Steps that it takes to say `answer` behind `prompt`, one by one and with drafts. *runs: how many. */
static double say(const struct text *prompt, const struct text *answer, int32_t most, const struct curve *c, int *runs)
{
    struct plan const p = { .max_rows = 64, .max_out = 64 };
    const struct plan *const plans[] = { &p };
    struct run r;
    struct arena a;
    struct run_costs costs = { 0 };
    struct prompt_lookup d = prompt_lookup_of(most);
    const int32_t all = prompt->n + answer->n;
    int32_t *ids = calloc((size_t)all, sizeof *ids), n = prompt->n + 1;
    double time = 0;
    arena_init(&a);
    assert_int_equal(run_init(&r, &a, plans, 1, 1), 0);
    assert_non_null(ids);
    memcpy(ids, prompt->id, (size_t)prompt->n * sizeof *ids);
    memcpy(ids + prompt->n, answer->id, (size_t)answer->n * sizeof *ids);
    for (*runs = 0; n < all; ++*runs) {
        r.n_rows = 0;
        prompt_lookup_rows(&d, &r, 0, ids, n, all - n - 1, &costs, 1);
        assert_int_equal(r.n_rows, d.n + 1);
        assert_in_range(d.n, 0, most);
        assert_int_equal(r.row[0].token, ids[n - 1]);
        time += curve_at(c, (int)r.n_rows);
        run_costs_learn(&costs, r.n_rows, (int64_t)(1e7 * noisy(c, (int)r.n_rows)));
        int32_t right = 0;
        while (right < d.n && d.id[right] == ids[n + right]) right++;
        n += right + 1;
    }
    free(ids);
    arena_free(&a);
    return time;
}

static const struct curve curves[] = {
    { "rows cost nothing", 1, 0.99, 0.01, 0 }, { "q8_0", 1, 0.9, 0.1, 0 }, { "q8_0, noise", 1, 0.9, 0.1, 1 },
    { "q4_0", 1, 0.58, 0.265, 0 }, { "rows cost a step each", 1, 0, 1, 0 }, { "rows cost a step each, noise", 1, 0, 1, 1 },
};

static steno_model *vocabulary_model(void)
{
    steno_model *m;
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = 1;
    assert_int_equal(steno_model_open(&m, "models/whisper-digits/whisper-digits.bin", &p, NULL), 0);
    return m;
}

static void test_correcting_a_transcript_takes_less_than_half(void **state)
{
    (void)state;
    static const struct { const char *file; double least[6]; } pair[] = {
        { "recognised", { 6, 3, 2.8, 1.9, 0.88, 0.85 } },
        { "bare", { 2, 1.5, 1.4, 1.1, 0.88, 0.85 } },
        { "corrected", { 10, 4, 4, 2, 0.88, 0.85 } },
    };
    steno_model *m = vocabulary_model();
    const struct text answer = text_read(m, "tests/data/correction/corrected.txt");
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        char path[100];
        snprintf(path, sizeof path, "tests/data/correction/%s.txt", pair[i].file);
        const struct text prompt = text_read(m, path);
        for (size_t k = 0; k < sizeof curves / sizeof *curves; k++)
            for (int most = 4; most <= DRAFT_MAX; most += most == 4 ? 4 : 7) {
                int runs, single;
                seed = 1;
                const double alone = say(&prompt, &answer, 0, &curves[k], &single), time = say(&prompt, &answer, most, &curves[k], &runs);
                print_message("%s, %s, %d drafts at most: %d runs of %d, %.2f of the speed\n", pair[i].file, curves[k].name, most, runs,
                              single, alone / time);
                assert_int_equal(single, answer.n - 1);
                if (most == DRAFT_MAX && alone / time < pair[i].least[k]) fail_msg("%s, %s: %.2f", path, curves[k].name, alone / time);
                assert_true(alone / time > 0.82);
            }
        free(prompt.id);
    }
    free(answer.id);
    steno_model_close(m);
}

static void test_costs_of_runs_are_found_through_noise(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
        struct run_costs c = { 0 };
        assert_true(run_costs_of(&c, 1) == 0 && run_costs_of(&c, 9) == 0 && run_costs_needs(&c, 1) && !run_costs_needs(&c, 17));
        seed = 7;
        for (int i = 0; i < 300; i++) {
            const int rows = i % 3 ? 1 + i % 16 : 1;
            run_costs_learn(&c, (uint32_t)rows, (int64_t)(1e6 * noisy(&curves[k], rows)));
        }
        run_costs_learn(&c, 1, 1000000000000); /* the machine slept */
        run_costs_learn(&c, 0, 1);
        run_costs_learn(&c, 17, 1);
        run_costs_learn(&c, 3, -1);
        for (int rows = 1; rows <= 20; rows++) {
            const double is = run_costs_of(&c, rows) / run_costs_of(&c, 1), want = curve_at(&curves[k], rows);
            if (!(fabs(is - want) < (curves[k].noise > 0 ? 0.8 : 0.2) * want))
                fail_msg("%s: %d rows %g, not %g", curves[k].name, rows, is, want);
        }
    }
}

/* Of a draft model: ids that are right with a probability, drafts that cost a part of a step. */
static double draft_say(double right, double share, double row, int64_t *drafted)
{
    enum { IDS = 4000 };
    struct steno_batch small = { 0 }, large = { .draft = &small };
    struct speculation g = { .right = 2.8, .tried = 4, .share = share, .wait = 32 };
    double time = 0;
    *drafted = 0;
    for (int n = 0; n < IDS;) {
        const int32_t k = speculation_worth(&g, &large, 1, DRAFT_MAX);
        int32_t good = 0;
        while (good < k && (double)((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24) < right) good++;
        const double t = 1 - row + row * (k + 1);
        run_costs_learn(&large.costs, (uint32_t)k + 1, (int64_t)(1e7 * t));
        if (k) run_costs_learn(&small.costs, 1, (int64_t)(1e7 * share));
        speculation_learn(&g, k, good);
        time += t + k * share;
        n += good + 1;
        *drafted += k;
    }
    return IDS / time;
}

static void test_a_draft_is_used_where_it_pays_and_given_up_where_it_does_not(void **state)
{
    (void)state;
    static const struct { double right, share, row, least; } is[] = {
        { 0, 0.1, 0.1, 0.97 }, { 0.05, 0.3, 0.1, 0.97 }, { 0.3, 0.5, 0.3, 0.97 }, { 0.8, 0.8, 0.8, 0.97 }, { 0.8, 0.1, 0.05, 1.8 },
        { 0.95, 0.1, 0.05, 3 }, { 1, 0.05, 0.02, 6 },
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        int64_t drafted;
        seed = 3;
        const double speed = draft_say(is[i].right, is[i].share, is[i].row, &drafted);
        print_message("right %.2f, a draft %.2f of a step, a row %.2f: %.3f of the speed, %lld drafts\n", is[i].right, is[i].share,
                      is[i].row, speed, (long long)drafted);
        if (speed < is[i].least) fail_msg("%.3f, want %.3f", speed, is[i].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correcting_a_transcript_takes_less_than_half), cmocka_unit_test(test_costs_of_runs_are_found_through_noise),
        cmocka_unit_test(test_a_draft_is_used_where_it_pays_and_given_up_where_it_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
