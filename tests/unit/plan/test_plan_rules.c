/* steno tests: which token may come next, and which one does. SPDX-License-Identifier: MIT
 *
 * The oracle is the chain of filters as openai-whisper 20250625, whisper/decoding.py describes it - blank, suppressed tokens, timestamp
 * rules - applied to a copy of the logits, one -inf at a time. The vocabulary here is small: text 0..99, end of text 100, specials to
 * 119, timestamps 120..179. */
#include <string.h>
#include "api/random_model.h"
#include "base/cpu.h"
#include "plan/run.h"

enum { EOT = 100, NOTIMESTAMPS = 119, TS = 120, N = 180, BLANK = 3, FIRST_LIMIT = 10, MOST = 64 };

struct mask { uint32_t bit[(N + 31) / 32]; };

static void bar(struct mask *m, int id)
{
    m->bit[id / 32] |= 1u << id % 32;
}

struct rig {
    struct mask always, first;
    struct logit_rules rules;
    struct sampled_token out[MOST];
    struct lane lane;
    struct kern kern;
};

static void rig_init(struct rig *r, int timestamps)
{
    memset(r, 0, sizeof *r);
    bar(&r->always, 105), bar(&r->always, 7);
    if (timestamps) bar(&r->always, NOTIMESTAMPS);
    r->first = r->always;
    bar(&r->first, BLANK), bar(&r->first, EOT);
    r->rules = (struct logit_rules){ .mask = r->always.bit, .mask_first = r->first.bit, .n_vocab = N, .eot = EOT, .ts_begin = TS,
                                    .ts_initial_last = TS + FIRST_LIMIT, .timestamps = timestamps };
    r->lane = (struct lane){ .sampler.rules = &r->rules, .sampler.out = r->out, .sampler.limit = MOST, .sampler.last_ts = -1 };
    kern_init(&r->kern, cpu_level_best());
}

static void history(struct rig *r, const int32_t *ids, int n)
{
    r->lane.sampler.n = r->lane.sampler.done = r->lane.sampler.ended = 0;
    r->lane.sampler.last_ts = -1;
    r->lane.sampler.sum_logprob = 0;
    for (int i = 0; i < n; i++) {
        r->out[r->lane.sampler.n++] = (struct sampled_token){ .id = ids[i] };
        if (ids[i] >= TS) r->lane.sampler.last_ts = ids[i];
    }
}

static int allowed(const struct rig *r, int id)
{
    const struct logit_range g = logit_range_of(&r->lane.sampler);
    const int barred = g.mask && (g.mask[id / 32] >> id % 32 & 1);
    return !barred && ((id >= g.text_from && id < g.text_to && id < TS) || (id >= g.ts_from && id < g.ts_to));
}

/* Scan in slices of 37 ids as an executor would, merge, pick. @return the id chosen */
static int32_t pick(struct rig *r, const float *x)
{
    enum { SLICE = 37, SLICES = (N + SLICE - 1) / SLICE };
    struct logit_partial part[SLICES][2];
    const struct logit_range g = logit_range_of(&r->lane.sampler);
    for (int i = 0; i < SLICES; i++)
        for (int ts = 0; ts < 2; ts++) {
            int32_t from = ts ? g.ts_from : g.text_from, to = ts ? g.ts_to : g.text_to;
            if (from < i * SLICE) from = i * SLICE;
            if (to > (i + 1) * SLICE) to = (i + 1) * SLICE;
            part[i][ts] = (struct logit_partial){ -INFINITY, 0, -1 };
            if (from < to) r->kern.logits_reduce(&part[i][ts], x + from, g.mask, from, (size_t)(to - from));
        }
    const struct logit_partial text = logits_merge(&part[0][0], SLICES, 2), ts = logits_merge(&part[0][1], SLICES, 2);
    const int32_t n = r->lane.sampler.n;
    sample_token(&r->lane.sampler, &text, &ts, x, &r->kern);
    return r->lane.sampler.n > n ? r->out[n].id : EOT;
}

/* ---- the filters, one after the other ---- */

static void slow_blank(float *x, int n)
{
    if (!n) x[BLANK] = x[EOT] = -INFINITY;
}

static void slow_suppress(float *x, int timestamps)
{
    x[105] = x[7] = -INFINITY;
    if (timestamps) x[NOTIMESTAMPS] = -INFINITY;
}

static void slow_fill(float *x, int from, int to)
{
    for (int i = from; i < to; i++) x[i] = -INFINITY;
}

static void slow_timestamps(float *x, const struct sampled_token *s, int n)
{
    const int last = n && s[n - 1].id >= TS, penult = n < 2 || s[n - 2].id >= TS;
    int latest = -1;
    for (int i = 0; i < n; i++)
        if (s[i].id >= TS) latest = s[i].id;
    if (last && penult) slow_fill(x, TS, N);
    else if (last) slow_fill(x, 0, EOT);
    if (latest >= 0) slow_fill(x, TS, last && !penult ? latest : latest + 1);
    if (!n) slow_fill(x, 0, TS), slow_fill(x, TS + FIRST_LIMIT + 1, N);
}

static double slow_lse(const float *x, int from, int to)
{
    double max = -INFINITY, sum = 0;
    for (int i = from; i < to; i++) max = (double)x[i] > max ? (double)x[i] : max;
    if (isinf(max)) return max;
    for (int i = from; i < to; i++) sum += exp((double)x[i] - max);
    return max + log(sum);
}

static void slow_force_timestamp(float *x)
{
    float best = -INFINITY;
    for (int i = 0; i < TS; i++) best = x[i] > best ? x[i] : best;
    if (slow_lse(x, TS, N) > (double)best) slow_fill(x, 0, TS);
}

static void slow_filters(float *x, const struct rig *r)
{
    slow_blank(x, r->lane.sampler.n);
    slow_suppress(x, r->rules.timestamps);
    if (r->rules.timestamps) slow_timestamps(x, r->out, r->lane.sampler.n);
    else slow_fill(x, TS, N);
}

static void random_logits(float *x, uint32_t *seed)
{
    const float scale = 1 + 4 * (1 + noise(seed));
    for (int i = 0; i < N; i++) x[i] = scale * noise(seed) + (i >= TS ? 2 * noise(seed) : 0);
}

/* Histories as the rules themselves make them, with an arbitrary one now and then. */
static void test_every_id_agrees_with_the_chain_of_filters_over_random_histories(void **state)
{
    (void)state;
    struct rig r;
    uint32_t seed = 5;
    int timestamps = 0;
    for (int round = 0; round < 4000; round++) {
        if (round % 40 == 0) rig_init(&r, timestamps ^= 1);
        if (r.lane.sampler.done || r.lane.sampler.n >= MOST - 2) history(&r, NULL, 0);
        float x[N], y[N];
        random_logits(x, &seed);
        memcpy(y, x, sizeof y);
        slow_filters(y, &r);
        for (int i = 0; i < N; i++)
            if (allowed(&r, i) == (y[i] == -INFINITY)) fail_msg("round %d: id %d: we say %d", round, i, allowed(&r, i));
        if (timestamps) slow_force_timestamp(y);
        int best = 0;
        for (int i = 1; i < N; i++)
            if (y[i] > y[best]) best = i;
        const double lse = slow_lse(y, 0, N), before = r.lane.sampler.sum_logprob;
        const int32_t id = pick(&r, x);
        if (isinf(lse)) continue; /* nothing is left: the text ends */
        assert_int_equal(id, best);
        assert_true(fabs(r.lane.sampler.sum_logprob - before - ((double)y[best] - lse)) < 1e-5);
    }
}

/* Of logits that the filters have been over. */
static struct margins slow_margins(float *x, int timestamps)
{
    struct margins m = { INFINITY, INFINITY };
    float text = -INFINITY, first = -INFINITY, second = -INFINITY;
    int at = 0, next = 0;
    for (int i = 0; i < TS; i++) text = fmaxf(text, x[i]);
    const double times = slow_lse(x, TS, N);
    if (timestamps && !isinf(times) && !isinf(text)) m.text = (float)fabs(times - (double)text);
    if (timestamps) slow_force_timestamp(x);
    for (int i = 0; i < N; i++)
        if (x[i] > first) first = x[i], at = i;
    for (int i = 0; i < N; i++)
        if (i != at && x[i] > second) second = x[i], next = i;
    if (isinf(second)) return m;
    if (at >= TS && next >= TS) m.time = first - second;
    else m.text = fminf(m.text, first - second);
    return m;
}

static int near(float a, float b)
{
    return isinf(a) || isinf(b) ? a == b : fabsf(a - b) < 1e-4f;
}

static void test_margins_are_distances_to_what_would_have_been_chosen_next(void **state)
{
    (void)state;
    struct rig r;
    uint32_t seed = 7;
    int timestamps = 0, texts = 0, times = 0;
    struct margins least = { INFINITY, INFINITY };
    for (int round = 0; round < 4000; round++) {
        if (round % 40 == 0) rig_init(&r, timestamps ^= 1);
        if (round % 40 == 0 || r.lane.sampler.done || r.lane.sampler.n >= MOST - 2) {
            history(&r, NULL, 0);
            least = r.lane.sampler.margin = (struct margins){ INFINITY, INFINITY };
        }
        float x[N], y[N];
        random_logits(x, &seed);
        memcpy(y, x, sizeof y);
        slow_filters(y, &r);
        if (isinf(slow_lse(y, 0, N))) {
            history(&r, NULL, 0);
            continue;
        }
        const struct margins m = slow_margins(y, timestamps);
        least = (struct margins){ fminf(least.text, m.text), fminf(least.time, m.time) };
        texts += m.text < 1;
        times += m.time < 1;
        r.lane.sampler.keeps_margin = 1;
        pick(&r, x);
        if (!near(r.lane.sampler.margin.text, least.text) || !near(r.lane.sampler.margin.time, least.time))
            fail_msg("round %d: margins %g and %g, want %g and %g", round, (double)r.lane.sampler.margin.text,
                     (double)r.lane.sampler.margin.time, (double)least.text, (double)least.time);
    }
    assert_true(texts > 100 && times > 100);
}

static void test_after_text_and_one_timestamp_no_text_may_follow(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r, 1);
    history(&r, (const int32_t[]){ TS, 20, TS + 30 }, 3);
    for (int i = 0; i < EOT; i++) assert_false(allowed(&r, i));
    assert_true(allowed(&r, EOT) && allowed(&r, TS + 30) && allowed(&r, N - 1));
}

static void test_after_a_pair_of_timestamps_only_text_may_follow(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r, 1);
    history(&r, (const int32_t[]){ TS, 20, TS + 30, TS + 30 }, 4);
    for (int i = TS; i < N; i++) assert_false(allowed(&r, i));
    assert_true(allowed(&r, 20) && allowed(&r, EOT));
}

static void test_time_stands_still_only_to_reopen_and_never_goes_back(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r, 1);
    history(&r, (const int32_t[]){ TS, 20, TS + 30 }, 3);
    assert_true(allowed(&r, TS + 30));
    assert_false(allowed(&r, TS + 29));
    history(&r, (const int32_t[]){ TS, 20, TS + 30, TS + 30, 21 }, 5);
    assert_false(allowed(&r, TS + 30));
    assert_true(allowed(&r, TS + 31));
}

static void test_a_window_begins_with_a_timestamp_up_to_the_limit(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r, 1);
    for (int i = 0; i < N; i++) assert_int_equal(allowed(&r, i), i >= TS && i <= TS + FIRST_LIMIT);
}

static void test_all_timestamps_together_outweigh_the_best_text_only_strictly(void **state)
{
    (void)state;
    struct rig r;
    float x[N];
    rig_init(&r, 1);
    const int32_t begun[] = { TS, 20 };
    for (int i = 0; i < N; i++) x[i] = -1000;
    x[30] = logf(0.4f);
    for (int i = 0; i < 10; i++) x[TS + 5 + i] = logf(0.05f);
    history(&r, begun, 2);
    assert_int_equal(pick(&r, x), TS + 5);
    assert_true(fabs(exp(r.lane.sampler.sum_logprob) - 0.1) < 1e-6); /* among timestamps only */
    assert_true(fabs((double)r.out[2].ts_prob_sum - 1) < 1e-6 && fabs((double)r.out[2].ts_prob - 0.1) < 1e-6);

    for (int i = 0; i < N; i++) x[i] = -1000;
    x[30] = x[TS + 5] = 1;
    history(&r, begun, 2);
    assert_int_equal(pick(&r, x), 30);
    x[TS + 5] = nextafterf(1, 2);
    history(&r, begun, 2);
    assert_int_equal(pick(&r, x), TS + 5);
}

static void test_blank_and_end_are_barred_at_the_first_position_only(void **state)
{
    (void)state;
    struct rig r;
    float x[N] = { 0 };
    rig_init(&r, 0);
    x[EOT] = 9, x[BLANK] = 8, x[50] = 7;
    assert_int_equal(pick(&r, x), 50);
    assert_int_equal(pick(&r, x), EOT);
    assert_true(r.lane.sampler.done && r.lane.sampler.ended);
    assert_int_equal(r.lane.sampler.n, 1);
}

static void test_no_timestamp_is_chosen_without_timestamps(void **state)
{
    (void)state;
    struct rig r;
    float x[N] = { 0 };
    rig_init(&r, 0);
    x[TS + 3] = 50, x[9] = 1;
    for (int i = 0; i < 5; i++) assert_int_equal(pick(&r, x), 9);
}

static void test_extreme_logits_give_no_nan_and_barred_ids_no_probability(void **state)
{
    (void)state;
    struct rig r;
    float x[N];
    rig_init(&r, 0);
    for (int i = 0; i < N; i++) x[i] = i % 2 ? 1e4f : -1e4f;
    x[7] = x[105] = 3e38f;
    const int32_t id = pick(&r, x);
    assert_int_equal(id, 1);
    double n = 0;
    for (int i = 0; i < N; i++) n += i % 2 && allowed(&r, i);
    assert_true(fabs(r.out[0].logprob + log(n - 0)) < 0.05); /* the odd ids share all probability */
    assert_true(isfinite(r.lane.sampler.sum_logprob));
    x[11] = 1e4f + 100;
    history(&r, NULL, 0);
    assert_int_equal(pick(&r, x), 11);
    assert_true(fabs((double)r.out[0].p - 1) < 1e-6);
}

static void test_equal_logits_give_the_lowest_id(void **state)
{
    (void)state;
    struct rig r;
    float x[N] = { 0 };
    rig_init(&r, 0);
    assert_int_equal(pick(&r, x), 0);
    for (int i = 0; i < 5; i++) x[i] = -1;
    assert_int_equal(pick(&r, x), 5);
}

static void test_a_lane_is_done_at_its_limit_and_the_sum_stays(void **state)
{
    (void)state;
    struct rig r;
    float x[N] = { 0 };
    rig_init(&r, 0);
    r.lane.sampler.limit = 3;
    for (int i = 0; i < 3; i++) {
        assert_false(r.lane.sampler.done);
        pick(&r, x);
    }
    assert_true(r.lane.sampler.done);
    assert_false(r.lane.sampler.ended);
    struct run run = { .lane = &r.lane, .n_lanes = 1 };
    run_advance(&run); /* a finished lane asks for no rows */
    assert_int_equal(run.n_rows, 0);
}

/* ---- sampling ---- */

static void test_draws_at_a_temperature_follow_the_softmax(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    struct rig r;
    float x[N];
    int count[N] = { 0 };
    double want[N], sum = 0, chi = 0;
    rig_init(&r, 0);
    r.rules.temperature = 0.8;
    r.rules.seed = 42;
    int used = 0;
    for (int i = 0; i < N; i++) x[i] = -1e30f;
    for (int i = 0; i < 20; i++) x[4 * i + 5] = (float)(i % 7) * 0.5f;
    for (int i = 0; i < N; i++) sum += want[i] = allowed(&r, i) ? exp((double)x[i] / 0.8) : 0;
    for (int i = 0; i < DRAWS; i++) {
        history(&r, NULL, 0);
        r.lane.sampler.rng_stream = (uint32_t)i;
        count[pick(&r, x)]++;
    }
    for (int i = 0; i < N; i++) {
        const double n = DRAWS * want[i] / sum;
        if (n < 1e-9) {
            assert_int_equal(count[i], 0);
            continue;
        }
        chi += (count[i] - n) * (count[i] - n) / n;
        used++;
    }
    assert_int_equal(used, 20);
    assert_true(chi < 43.8); /* 19 degrees of freedom: exceeded once in a thousand */
}

static void test_log_probability_of_a_draw_is_untempered(void **state)
{
    (void)state;
    struct rig r;
    float x[N];
    uint32_t seed = 8;
    rig_init(&r, 0);
    r.rules.temperature = 2;
    random_logits(x, &seed);
    float y[N];
    memcpy(y, x, sizeof y);
    slow_filters(y, &r);
    const int32_t id = pick(&r, x);
    assert_true(fabs((double)r.out[0].logprob - ((double)y[id] - slow_lse(y, 0, N))) < 1e-5);
}

static void test_draws_repeat_with_the_seed_and_vary_across_seeds(void **state)
{
    (void)state;
    struct rig r;
    float x[N];
    int32_t first[MOST];
    uint32_t rng = 2;
    random_logits(x, &rng);
    int varied = 0;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int again = 0; again < 2; again++) {
            rig_init(&r, 1);
            r.rules.temperature = 0.8;
            r.rules.seed = seed;
            for (int i = 0; i < 40 && !r.lane.sampler.done; i++) pick(&r, x);
            for (int i = 0; i < r.lane.sampler.n; i++) {
                if (again) assert_int_equal(r.out[i].id, first[i]);
                else if (seed && r.out[i].id != first[i]) varied++;
                first[i] = r.out[i].id;
            }
        }
    assert_true(varied > 0);
}

static void test_draws_obey_the_timestamp_rules(void **state)
{
    (void)state;
    struct rig r;
    uint32_t rng = 77;
    for (int round = 0; round < 200; round++) {
        rig_init(&r, 1);
        r.rules.temperature = 1.5;
        r.rules.seed = (uint64_t)round;
        while (!r.lane.sampler.done && r.lane.sampler.n < MOST - 1) {
            float x[N], y[N];
            random_logits(x, &rng);
            memcpy(y, x, sizeof y);
            slow_filters(y, &r);
            slow_force_timestamp(y);
            const int left = !isinf(slow_lse(y, 0, N));
            const int32_t id = pick(&r, x);
            if (left) assert_true(y[id] > -INFINITY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_id_agrees_with_the_chain_of_filters_over_random_histories),
        cmocka_unit_test(test_margins_are_distances_to_what_would_have_been_chosen_next),
        cmocka_unit_test(test_after_text_and_one_timestamp_no_text_may_follow),
        cmocka_unit_test(test_after_a_pair_of_timestamps_only_text_may_follow),
        cmocka_unit_test(test_time_stands_still_only_to_reopen_and_never_goes_back),
        cmocka_unit_test(test_a_window_begins_with_a_timestamp_up_to_the_limit),
        cmocka_unit_test(test_all_timestamps_together_outweigh_the_best_text_only_strictly),
        cmocka_unit_test(test_blank_and_end_are_barred_at_the_first_position_only),
        cmocka_unit_test(test_no_timestamp_is_chosen_without_timestamps),
        cmocka_unit_test(test_extreme_logits_give_no_nan_and_barred_ids_no_probability),
        cmocka_unit_test(test_equal_logits_give_the_lowest_id),
        cmocka_unit_test(test_a_lane_is_done_at_its_limit_and_the_sum_stays),
        cmocka_unit_test(test_draws_at_a_temperature_follow_the_softmax),
        cmocka_unit_test(test_log_probability_of_a_draw_is_untempered),
        cmocka_unit_test(test_draws_repeat_with_the_seed_and_vary_across_seeds),
        cmocka_unit_test(test_draws_obey_the_timestamp_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
