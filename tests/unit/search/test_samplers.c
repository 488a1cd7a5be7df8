/* steno: what is left to draw from. SPDX-License-Identifier: MIT
 *
 * Against a plain implementation in f64 (the collection's filter chains), and by what is drawn in the end: a hundred thousand draws of each
 * filter have the frequencies that it promises. */
#include <jansson.h>
#include <math.h>
#include "npy.h"
#include "plan/run.h"
#include "search/samplers.h"

static struct sampler_chain chain_of(const steno_generate_params *p)
{
    struct sampler_chain c;
    steno_error e = { 0 };
    if (sampler_chain_open(&c, p, &e)) fail_msg("%s", e.text);
    return c;
}

static steno_generate_params params_new(double temperature)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.temperature = temperature;
    return p;
}

/* ---- formulas ---------------------------------------------------------------------------------------------------------------- */

/* One step of a case into the parameters; its name as samplers have it. */
static const char *step_read(steno_generate_params *p, json_t *step)
{
    const char *kind = json_string_value(json_array_get(step, 0));
    json_t *v = json_array_get(step, 1);
    if (!strcmp(kind, "top_k")) return p->top_k = (int32_t)json_integer_value(json_object_get(v, "k")), kind;
    if (!strcmp(kind, "top_p")) return p->top_p = json_number_value(json_object_get(v, "p")), kind;
    if (!strcmp(kind, "min_p")) return p->min_p = json_number_value(json_object_get(v, "p")), kind;
    if (!strcmp(kind, "temp")) return p->temperature = json_number_value(json_object_get(v, "t")), "temperature";
    if (strcmp(kind, "penalties") != 0) return NULL;
    p->repeat_last_n = (int32_t)json_integer_value(json_object_get(v, "last_n"));
    p->repeat_penalty = json_number_value(json_object_get(v, "repeat"));
    p->frequency_penalty = json_number_value(json_object_get(v, "freq"));
    p->presence_penalty = json_number_value(json_object_get(v, "present"));
    return kind;
}

static void check_probabilities(size_t at, const float *x, double t, const double *want, int n)
{
    double max = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) max = fmax(max, (double)x[i]);
    for (int i = 0; i < n; i++) sum += exp(((double)x[i] - max) / t);
    for (int i = 0; i < n; i++) {
        const double p = exp(((double)x[i] - max) / t) / sum;
        if (fabs(p - want[i]) > 2e-6 || (want[i] > 0) != (x[i] > -INFINITY)) fail_msg("case %zu, id %d: %g, want %g", at, i, p, want[i]);
    }
}

static void test_chains_leave_what_the_plain_implementation_leaves(void **state)
{
    (void)state;
    enum { N = 320, HEAD = 128 };
    FILE *f = shared_open("llm/sampling/cases.json"), *pf = shared_open("llm/sampling/probs.npy");
    if (!f) skip();
    json_t *all = json_loadf(f, 0, NULL), *cases = json_object_get(all, "cases"), *history = json_object_get(all, "history");
    const struct npy logits = npy_read("llm/sampling/logits.npy");
    int32_t before[64];
    const int n_before = (int)json_array_size(history);
    int n_tried = 0;
    for (int i = 0; i < n_before; i++) before[i] = (int32_t)json_integer_value(json_array_get(history, (size_t)i));
    fseek(pf, HEAD, SEEK_SET);
    for (size_t k = 0; k < json_array_size(cases); k++) {
        json_t *steps = json_object_get(json_array_get(cases, k), "steps");
        char order[256] = "";
        double want[N];
        float x[N];
        int known = 1;
        steno_generate_params p = params_new(1);
        p.repeat_last_n = 0;
        assert_int_equal(fread(want, sizeof *want, N, pf), N);
        for (size_t i = 0; i < json_array_size(steps); i++) {
            const char *name = step_read(&p, json_array_get(steps, i));
            known &= name && !strstr(order, name ? name : "-");
            if (known) sprintf(order + strlen(order), "%s%s", *order ? ";" : "", name);
        }
        if (!known) continue;
        p.samplers = order;
        struct sampler_chain c = chain_of(&p);
        memcpy(x, logits.v, sizeof x);
        assert_int_equal(sampler_chain_apply(&c, x, N, before, n_before), 0);
        if (p.temperature > 0) check_probabilities(k, x, sampler_chain_temperature(&c), want, N);
        else assert_true(sampler_chain_temperature(&c) == 0);
        sampler_chain_close(&c);
        n_tried++;
    }
    assert_true(n_tried > 30);
    json_decref(all);
    free(logits.v);
    fclose(f);
    fclose(pf);
}

/* ---- draws ------------------------------------------------------------------------------------------------------------------- */

enum { IDS = 24, DRAWS = 100000 };

/* Ids that are drawn at DRAWS places, one each. */
static void draw(int32_t count[IDS], const float *x, double t, uint64_t seed)
{
    struct sampled_token out[2];
    const struct logit_rules rules = { .n_vocab = IDS, .eot = -1, .ts_begin = IDS, .temperature = t, .seed = seed };
    struct logit_partial text = { -INFINITY, 0, -1 };
    const struct logit_partial none = { -INFINITY, 0, -1 };
    for (int32_t i = 0; i < IDS; i++)
        if (x[i] > text.max) text.max = x[i], text.arg = i;
    for (int32_t i = 0; i < IDS; i++) text.sum += expf(x[i] - text.max);
    for (int i = 0; i < DRAWS; i++) {
        struct sampler s = { .rules = &rules, .out = out, .limit = 2, .last_ts = -1, .rng_stream = rng_stream_of(i, 0, 0) };
        sample_token(&s, &text, &none, x, NULL);
        assert_in_range(out[0].id, 0, IDS - 1);
        count[out[0].id]++;
    }
}

static double chi_square(int *degrees, const int32_t *count, const float *x, double t)
{
    double max = -INFINITY, sum = 0, chi = 0;
    *degrees = -1;
    for (int i = 0; i < IDS; i++) max = fmax(max, (double)x[i]);
    for (int i = 0; i < IDS; i++) sum += exp(((double)x[i] - max) / t);
    double rest = 0, rest_count = 0; /* cells that are too small by themselves */
    for (int i = 0; i < IDS; i++) {
        const double want = DRAWS * exp(((double)x[i] - max) / t) / sum;
        if (want == 0) assert_int_equal(count[i], 0);
        if (want < 20) {
            rest += want, rest_count += count[i];
            continue;
        }
        chi += (count[i] - want) * (count[i] - want) / want;
        ++*degrees;
    }
    if (rest >= 20) chi += (rest_count - rest) * (rest_count - rest) / rest, ++*degrees;
    return chi;
}

static void test_a_hundred_thousand_draws_have_the_frequencies_of_every_filter(void **state)
{
    (void)state;
    static const struct { const char *samplers; int32_t k; double p, min, repeat, t; } kinds[] = {
        { "temperature", 0, 1, 0, 1, 1 }, { "temperature", 0, 1, 0, 1, 0.5 }, { "temperature", 0, 1, 0, 1, 3 },
        { "top_k", 5, 1, 0, 1, 1 }, { "top_p", 0, 0.7, 0, 1, 1 }, { "min_p", 0, 1, 0.1, 1, 1 }, { "penalties", 0, 1, 0, 1.8, 1 },
        { NULL, 9, 0.9, 0.05, 1.2, 0.8 }, { "temperature;top_k;top_p", 12, 0.8, 0, 1, 1.5 },
    };
    static const int32_t before[] = { 3, 4, 3, 9, 20, 3 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        float x[IDS];
        int32_t count[IDS] = { 0 };
        int degrees;
        for (int i = 0; i < IDS; i++) x[i] = (float)(2.5 * sin(1.7 * i) + 0.1 * (i % 7));
        steno_generate_params p = params_new(kinds[k].t);
        p.samplers = kinds[k].samplers;
        p.top_k = kinds[k].k;
        p.top_p = kinds[k].p;
        p.min_p = kinds[k].min;
        p.repeat_penalty = kinds[k].repeat;
        struct sampler_chain c = chain_of(&p);
        assert_int_equal(sampler_chain_apply(&c, x, IDS, before, 6), 0);
        draw(count, x, sampler_chain_temperature(&c), 5 + k);
        const double chi = chi_square(&degrees, count, x, sampler_chain_temperature(&c));
        const double bound = degrees + 4.5 * sqrt(2.0 * degrees) + 8; /* beyond one in ten thousand */
        if (!(chi < bound)) fail_msg("filter %zu: chi square %g with %d degrees", k, chi, degrees);
        sampler_chain_close(&c);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------------------- */

static void test_equal_logits_go_by_id_and_a_large_vocabulary_is_as_a_small_one(void **state)
{
    (void)state;
    enum { N = 150000 };
    float *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (int what = 0; what < 2; what++) { /* all equal: the order of ids alone decides, and nothing is quadratic */
        for (int i = 0; i < N; i++) x[i] = i % 3 ? 1 : (float)-INFINITY;
        steno_generate_params p = params_new(1);
        if (what) p.top_p = 0.5;
        else p.top_k = 50000;
        struct sampler_chain c = chain_of(&p);
        assert_int_equal(sampler_chain_apply(&c, x, N, NULL, 0), 0);
        for (int i = 0; i < N; i++)
            if ((x[i] > -INFINITY) != (i % 3 && i / 3 * 2 + i % 3 <= 50000)) fail_msg("id %d of %d is %g", i, what, (double)x[i]);
        sampler_chain_close(&c);
    }
    free(x);
}

static void test_where_nothing_is_left_nothing_is_touched(void **state)
{
    (void)state;
    float x[] = { -INFINITY, -INFINITY, NAN };
    steno_generate_params p = params_new(1);
    p.top_k = 1, p.top_p = 0.5, p.min_p = 0.5, p.repeat_penalty = 2;
    struct sampler_chain c = chain_of(&p);
    assert_int_equal(sampler_chain_apply(&c, x, 3, (int32_t[]){ 0, 7, -4 }, 3), 0);
    assert_true(isinf(x[0]) && isinf(x[1]) && !(x[2] > -INFINITY));
    sampler_chain_close(&c);
}

static void test_an_order_with_what_is_no_sampler_or_comes_twice_is_refused(void **state)
{
    (void)state;
    steno_generate_params p = params_new(1);
    struct sampler_chain c;
    steno_error e = { 0 };
    p.samplers = "top_k;nucleus";
    assert_int_equal(sampler_chain_open(&c, &p, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "'nucleus' is none of"));
    p.samplers = "top_k;temperature;top_k";
    assert_int_equal(sampler_chain_open(&c, &p, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "top_k stands there twice"));
    p.samplers = ""; /* nothing is done */
    assert_int_equal(sampler_chain_open(&c, &p, &e), STENO_OK);
    assert_false(sampler_chain_filters(&c));
    assert_true(sampler_chain_temperature(&c) == 1);
    p.temperature = 0;
    assert_int_equal(sampler_chain_open(&c, &p, &e), STENO_OK);
    assert_true(sampler_chain_temperature(&c) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_leave_what_the_plain_implementation_leaves),
        cmocka_unit_test(test_a_hundred_thousand_draws_have_the_frequencies_of_every_filter),
        cmocka_unit_test(test_equal_logits_go_by_id_and_a_large_vocabulary_is_as_a_small_one),
        cmocka_unit_test(test_where_nothing_is_left_nothing_is_touched),
        cmocka_unit_test(test_an_order_with_what_is_no_sampler_or_comes_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
