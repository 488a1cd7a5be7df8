/* steno tests: callbacks, counters and the profile of a transcription. SPDX-License-Identifier: MIT */
#include "shipped_session.h"
#include "internal.h"
#include <time.h>

/* ---- callbacks, tokens, counters ---- */

struct log { steno_transcribe_params *p; int segments, progress, windows, most_windows, bad; int64_t at, total, window_ms; };

static void log_segment(void *user, const steno_segment *g)
{
    struct log *l = user;
    l->bad += g->id != l->segments++ || !g->text;
    l->p->sample_len = 1; /* the caller's struct may change: the running call has its own copy */
    l->p->without_timestamps = 1;
}

static void log_progress(void *user, int64_t done, int64_t total)
{
    struct log *l = user;
    l->bad += done < l->at || done > total || (l->progress && total != l->total);
    l->at = done;
    l->total = total;
    l->progress++;
}

static int log_window(void *user, int64_t at_ms)
{
    struct log *l = user;
    l->bad += at_ms < l->window_ms;
    l->window_ms = at_ms;
    return ++l->windows <= l->most_windows;
}

static steno_transcribe_params logged(struct log *l)
{
    steno_transcribe_params p = params_new();
    p.user = l;
    p.on_segment = log_segment;
    p.on_progress = log_progress;
    p.on_window = log_window;
    return p;
}

static void test_callbacks_come_in_order_and_options_are_copied(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    steno_transcribe_params p = params_new();
    run(&a, &p);
    const uint64_t want = result_digest(session);
    struct log l = { .most_windows = 100 };
    p = logged(&l);
    l.p = &p;
    run(&a, &p);
    assert_true(result_digest(session) == want);
    assert_int_equal(l.bad, 0);
    assert_int_equal(l.segments, steno_segment_count(session));
    assert_true(l.windows >= 2 && l.progress >= l.windows);
    assert_int_equal(l.at, l.total);
    assert_int_equal(l.total, a.n / 160 * 10);
    free(a.pcm);
}

static void test_a_window_that_is_declined_ends_cleanly_with_what_came_before(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    struct log l = { .most_windows = 1 };
    steno_transcribe_params p = logged(&l);
    l.p = &p;
    run(&a, &p);
    assert_int_equal(l.windows, 2);
    assert_true(steno_segment_count(session) > 0);
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) assert_int_equal(g.seek_frames, 0);
    free(a.pcm);
}

static void test_counters_count_what_ran_and_times_stay_below_the_clock(void **state)
{
    (void)state;
    struct timespec a, b;
    const steno_transcribe_params p = params_new();
    steno_timings t = { .size = sizeof t };
    steno_timings_reset(session);
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(&demo, &p);
    clock_gettime(CLOCK_MONOTONIC, &b);
    steno_timings_get(session, &t);
    assert_int_equal(t.n_windows, 1);
    assert_int_equal(t.n_encodes, 1);
    assert_int_equal(t.n_prompts, 1);
    assert_int_equal(t.n_prompt_tokens, 3);
    assert_int_equal(t.n_wakes, 2); /* one for encoder and cross keys, one for the whole chain of steps */
    assert_int_equal(t.n_steps, n_tokens()); /* the last one finds the end of text; the first comes with the prompt */
    const int64_t wall = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000 + 1;
    assert_true(t.load_us > 0);
    assert_true(t.source_us + t.mel_us + t.encode_us + t.cross_us + t.prompt_us + t.decode_us <= wall);
    steno_timings_reset(session);
    steno_timings_get(session, &t);
    assert_int_equal(t.n_steps + t.n_encodes + t.n_windows, 0);
}

static int64_t profile_sum_ns(const steno_session *s)
{
    int64_t sum = 0, ns;
    for (int i = 0; !steno_profile_get(s, i, NULL, &ns, NULL); i++) sum += ns;
    return sum;
}

/* Part of the time of the runs that the ops of one more transcription account for, at most 1. */
static double profile_share(steno_session *s, const steno_transcribe_params *p)
{
    steno_timings t = { .size = sizeof t };
    const int64_t before = profile_sum_ns(s);
    steno_timings_reset(s);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, p), 0);
    steno_timings_get(s, &t);
    return (double)(profile_sum_ns(s) - before) / 1e3 / (double)(t.encode_us + t.cross_us + t.prompt_us + t.decode_us);
}

static void test_profile_counts_each_op_and_cross_keys_only_once_per_window(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_new();
    steno_session *s = session_new(model, NULL, 1);
    steno_timings t = { .size = sizeof t };
    const char *label;
    int64_t ns, calls;
    int cross = 0, steps = 0;
    int64_t sum = 0;
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
    for (int i = 0; !steno_profile_get(s, i, &label, &ns, &calls); i++) assert_true(ns == 0 && calls == 0); /* off at first */
    steno_timings_reset(s);
    steno_profile_enable(s, 1);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
    steno_timings_get(s, &t);
    for (int i = 0; !steno_profile_get(s, i, &label, &ns, &calls); i++) {
        assert_true(label && *label);
        if (!strncmp(label, "align.", 6)) { /* word times are not requested */
            assert_true(ns == 0 && calls == 0);
            continue;
        }
        if (!strstr(label, "_ln")) assert_true(ns > 0); /* norms of few rows are made within the product behind them */
        sum += ns / 1000;
        if (strstr(label, "cross_attn.kv")) cross += (int)calls;
        if (!strncmp(label, "decoder.", 8) && !strstr(label, "cross_attn.kv")) {
            assert_int_equal(calls, t.n_prompts + t.n_steps);
            steps++;
        }
    }
    const int64_t wall = t.encode_us + t.cross_us + t.prompt_us + t.decode_us;
    assert_true(sum <= wall); /* the ops account for the time of the runs; a busy machine takes some between them, but not always */
    double share = (double)sum / (double)wall;
    for (int i = 0; share <= 0.9 && i < 50; i++) share = fmax(share, profile_share(s, &p));
    assert_true(share > 0.9);
    assert_int_equal(cross, model->widths.text_layers * t.n_encodes);
    assert_true(steps > 20);
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks_come_in_order_and_options_are_copied),
        cmocka_unit_test(test_a_window_that_is_declined_ends_cleanly_with_what_came_before),
        cmocka_unit_test(test_counters_count_what_ran_and_times_stay_below_the_clock),
        cmocka_unit_test(test_profile_counts_each_op_and_cross_keys_only_once_per_window),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
