/* steno tests: prefix beam search over the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * Against a plain one that looks at all ids (make_ctc_beam.py), and against the sum over all ways where those can be counted. */
#include "golden.h"
#include "api/heap.h"
#include "search/ctc_beam.h"

enum { V = 6, ROWS = 12 };

struct table { double push[V + 1][V]; };

static double pushed(const struct table *t, const int32_t *ids, int32_t n, int32_t id)
{
    return t->push[n ? ids[n - 1] : V][id];
}

static void table_each(void *user, const int32_t *ids, int32_t n, void (*push)(void *to, int32_t id, float by), void *to)
{
    for (int32_t id = 0; id < V; id++)
        if (pushed(user, ids, n, id) > 0) push(to, id, (float)pushed(user, ids, n, id));
}

static float table_of(void *user, int32_t id, const int32_t *ids, int32_t n)
{
    return (float)pushed(user, ids, n, id);
}

/* A row of logits as the search takes it. */
static struct ctc_logits row_of(float x[V], const uint32_t *mask)
{
    double sum = 0;
    for (int i = 0; i < V; i++)
        if (!mask || !(*mask >> i & 1)) sum += exp((double)x[i]);
    return (struct ctc_logits){ x, V, log(sum), mask };
}

static struct ctc_beam *beam_of(struct arena *a, int width, int32_t rows, const struct ctc_bias *bias)
{
    struct ctc_beam *b;
    arena_init(a);
    assert_int_equal(ctc_beam_open(&b, a, rows, 0, NULL), 0);
    ctc_beam_set(b, RUN_BEAMS, NULL); /* one search after another */
    ctc_beam_set(b, width, bias);
    return b;
}

static void compare(size_t k, json_t *c)
{
    json_t *push = json_object_get(c, "push"), *logits = json_object_get(c, "logits"), *text = json_object_get(c, "text");
    const int barred = (int)json_integer_value(json_object_get(c, "barred"));
    const uint32_t bit = barred < 0 ? 0 : 1u << barred, *mask = barred < 0 ? NULL : &bit;
    struct table t;
    struct ctc_beam *b;
    struct sampled_token out[ROWS];
    double logprob;
    for (int i = 0; i <= V; i++)
        for (int j = 0; j < V; j++)
            t.push[i][j] = json_number_value(json_array_get(json_array_get(push, (size_t)i), (size_t)j));
    const struct ctc_bias bias = { table_each, table_of, &t };
    const int width = (int)json_integer_value(json_object_get(c, "width"));
    struct arena a;
    b = beam_of(&a, width, ROWS, json_is_array(push) ? &bias : NULL);
    for (int again = 0; again < 2; again++) { /* one clip after the other */
        ctc_beam_begin(b, (int32_t)json_integer_value(json_object_get(c, "first")));
        for (size_t r = 0; r < json_array_size(logits); r++) {
            float x[V];
            for (int i = 0; i < V; i++) x[i] = (float)json_number_value(json_array_get(json_array_get(logits, r), (size_t)i));
            const struct ctc_logits row = row_of(x, mask);
            ctc_beam_row(b, &row);
        }
        const int32_t n = ctc_beam_end(b, 0, out, &logprob);
        const double want = json_number_value(json_object_get(c, "logprob"));
        if (fabs(logprob - want) > 1e-5) fail_msg("case %zu: log-probability %.9g, want %.9g", k, logprob, want);
        if (n != (int32_t)json_array_size(text)) fail_msg("case %zu: %d ids, want %zu", k, (int)n, json_array_size(text));
        for (int32_t i = 0; i < n; i++) {
            const int32_t id = (int32_t)json_integer_value(json_array_get(text, (size_t)i));
            if (out[i].id != id) fail_msg("case %zu: id %d is %d, want %d", k, (int)i, (int)out[i].id, (int)id);
            assert_true(out[i].logprob > -INFINITY && out[i].logprob <= 1e-6f);
        }
    }
    arena_free(&a);
}

static void test_texts_are_those_of_a_search_over_all_ids(void **state)
{
    (void)state;
    json_t *cases = json_open("tests/data/ctc_beam.json"), *c;
    size_t k;
    assert_true(json_array_size(cases) >= 150);
    json_array_foreach(cases, k, c) compare(k, c);
    json_decref(cases);
}

/* With room for every text nothing is lost: 31 texts of two ids in four rows, 81 ways to say them. */
static void test_a_wide_beam_finds_the_most_probable_text(void **state)
{
    (void)state;
    uint32_t noise = 5;
    for (int k = 0; k < 50; k++) {
        float x[4][3];
        double sum[31] = { 0 }, best = 0, logprob;
        struct sampled_token out[4];
        struct ctc_beam *b;
        struct arena a;
        b = beam_of(&a, RUN_BEAMS, 4, NULL);
        ctc_beam_begin(b, -1);
        for (int r = 0; r < 4; r++) {
            double all = 0;
            for (int i = 0; i < 3; i++) {
                noise = noise * 1664525 + 1013904223;
                all += exp((double)(x[r][i] = (float)(noise >> 8) / (1 << 22)));
            }
            const struct ctc_logits row = { x[r], 3, log(all), NULL };
            ctc_beam_row(b, &row);
            for (int i = 0; i < 3; i++) x[r][i] = (float)(exp((double)x[r][i]) / all);
        }
        for (int way = 0; way < 81; way++) { /* texts as numbers: 2 * text + id */
            int text = 0, last = 0;
            double p = 1;
            for (int r = 0, rest = way; r < 4; r++, rest /= 3) {
                const int id = rest % 3;
                if (id && id != last) text = 2 * text + id;
                last = id;
                p *= (double)x[r][id];
            }
            sum[text] += p;
        }
        for (int i = 0; i < 31; i++) best = sum[i] > best ? sum[i] : best;
        int n_texts = 0, place = 0;
        for (int i = 0; i < 31; i++) n_texts += sum[i] > 0;
        for (int32_t n; (n = ctc_beam_end(b, place, out, &logprob)) >= 0; place++) { /* each text, the most probable one first */
            int text = 0;
            for (int32_t i = 0; i < n; i++) text = 2 * text + out[i].id;
            assert_true(place || sum[text] == best);
            if (!(fabs(exp(logprob) - sum[text]) < 1e-5)) fail_msg("text %d: %g, want %g", place, exp(logprob), sum[text]);
            assert_true(sum[text] <= best + 1e-9);
            best = sum[text];
            sum[text] = 2; /* found: once */
        }
        assert_int_equal(place, n_texts);
        arena_free(&a);
    }
}

static void test_rows_that_hold_no_numbers_are_passed_over(void **state)
{
    (void)state;
    float good[V] = { 0, 3, 0, 0, 0, 0 }, none[V];
    struct sampled_token out[4];
    struct ctc_beam *b;
    double logprob;
    for (int i = 0; i < V; i++) none[i] = i % 2 ? NAN : -INFINITY;
    struct arena a;
    b = beam_of(&a, 3, 3, NULL);
    ctc_beam_begin(b, -1);
    for (int i = 0; i < 3; i++) {
        const struct ctc_logits row = row_of(i == 1 ? none : good, NULL);
        ctc_beam_row(b, &row);
    }
    assert_int_equal(ctc_beam_end(b, 0, out, &logprob), 1);
    assert_int_equal(out[0].id, 1);
    arena_free(&a);
}

static void test_each_failed_allocation_is_reported(void **state)
{
    (void)state;
    need_counting();
    for (int64_t n = 0, rc = STENO_ENOMEM; rc; n++) {
        struct ctc_beam *b;
        struct arena a;
        steno_error e = { 0 };
        arena_init(&a);
        count_begin(n);
        rc = ctc_beam_open(&b, &a, 100, 0, &e);
        count_end();
        assert_true(rc ? rc == STENO_ENOMEM && *e.text : n > 0);
        if (!rc) assert_true(a.total >= ctc_beam_memory(100) && a.total < ctc_beam_memory(100) + (64 << 10));
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_those_of_a_search_over_all_ids),
        cmocka_unit_test(test_a_wide_beam_finds_the_most_probable_text),
        cmocka_unit_test(test_rows_that_hold_no_numbers_are_passed_over),
        cmocka_unit_test(test_each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
