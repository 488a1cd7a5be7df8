/* steno tests: audio of every kind and length. SPDX-License-Identifier: MIT */
#include "shipped.h"

static steno_model *model;
static steno_session *session;

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    session = session_new(model, NULL, 1);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    return 0;
}

/* A source made of `silence` samples of nothing and then pcm[n]; its fields make it misbehave. */
struct script {
    int64_t silence, at;
    const struct audio *a;
    int64_t fail_at;    /* read fails once this many samples were given; -1: never */
    int64_t lie_at;     /* read claims more than was asked for */
    int64_t most;       /* samples per read, 0: as many as asked for */
    int64_t short_pass; /* samples of the second pass, -1: as many as the first */
    int rewinds, rewind_fails, reads;
};

static struct script script_new(const struct audio *a)
{
    return (struct script){ .a = a, .fail_at = -1, .lie_at = -1, .short_pass = -1 };
}

static int64_t script_read(void *user, float *pcm, int64_t n)
{
    struct script *s = user;
    s->reads++;
    if (s->fail_at >= 0 && s->at >= s->fail_at) return -1;
    if (s->lie_at >= 0 && s->at >= s->lie_at) return n + 1;
    if (s->most && n > s->most) n = s->most;
    const int64_t end = s->rewinds && s->short_pass >= 0 ? s->short_pass : s->silence + (s->a ? s->a->n : 0);
    const int64_t take = end - s->at < n ? end - s->at : n;
    if (take <= 0) return 0;
    const int64_t quiet = s->silence - s->at < 0 ? 0 : s->silence - s->at < take ? s->silence - s->at : take;
    memset(pcm, 0, (size_t)quiet * sizeof *pcm);
    if (take > quiet) memcpy(pcm + quiet, s->a->pcm + s->at + quiet - s->silence, (size_t)(take - quiet) * sizeof *pcm);
    s->at += take;
    return take;
}

static int script_rewind(void *user)
{
    struct script *s = user;
    s->rewinds++;
    s->at = 0;
    return s->rewind_fails ? -1 : 0;
}

static int run(struct script *s, int can_rewind, const steno_transcribe_params *p)
{
    const steno_source src = { script_read, can_rewind ? script_rewind : NULL, s };
    return steno_transcribe_source(session, &src, p);
}

static void assert_usable(void)
{
    const struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    assert_string_equal(steno_text(session), demo_text);
    assert_string_equal(steno_last_error(session), "");
    free(a.pcm);
}

static void test_a_source_equals_pcm_in_memory_whatever_the_size_of_its_pieces(void **state)
{
    (void)state;
    static const int64_t most[] = { 0, 1, 160, 4097 };
    const struct audio a = demo_audio(300, 0, 1);
    const steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    const uint64_t want = result_digest(session);
    for (int i = 0; i < 4; i++) {
        struct script s = script_new(&a);
        s.most = most[i];
        assert_int_equal(run(&s, 0, &p), 0);
        assert_true(result_digest(session) == want);
        assert_int_equal(steno_duration_ms(session), a.n / 16);
    }
    free(a.pcm);
}

static void test_no_samples_give_no_segments(void **state)
{
    (void)state;
    assert_int_equal(steno_transcribe(session, NULL, 0, NULL), 0);
    assert_int_equal(steno_segment_count(session), 0);
    assert_string_equal(steno_text(session), "");
    assert_int_equal(steno_duration_ms(session), 0);
    const float x[800] = { 0 };
    for (int64_t n = 1; n <= 800; n += n < 200 ? 199 : 200) assert_int_equal(steno_transcribe(session, x, n, NULL), 0);
    assert_int_equal(steno_duration_ms(session), 50);
    assert_usable();
}

static void test_samples_that_are_no_numbers_count_as_silence(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    for (int64_t i = a.n - 4000; i < a.n; i++) a.pcm[i] = NAN;
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    steno_segment g = { .size = sizeof g };
    for (int i = 0; i < steno_segment_count(session); i++) {
        assert_int_equal(steno_segment_get(session, i, &g), 0);
        assert_true(isfinite(g.avg_logprob) && isfinite(g.no_speech_prob));
    }
    for (int64_t i = 0; i < a.n; i++) a.pcm[i] = i % 2 ? INFINITY : -INFINITY;
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    for (int64_t i = 0; i < a.n; i++) a.pcm[i] = 1e30f;
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    free(a.pcm);
    assert_usable();
}

static void test_digital_silence_gives_no_text(void **state)
{
    (void)state;
    struct script s = script_new(NULL);
    s.silence = 6 * RATE;
    assert_int_equal(run(&s, 0, NULL), 0);
    assert_string_equal(steno_text(session), "");
}

static void test_a_source_that_fails_is_reported_and_leaves_the_session_usable(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 12); /* 45 s: read twice */
    struct script s = script_new(&a);
    const steno_transcribe_params p = params_new();
    s.fail_at = 20000;
    assert_int_equal(run(&s, 1, &p), STENO_ESOURCE);
    assert_non_null(strstr(steno_last_error(session), "source"));
    s = script_new(&a);
    s.lie_at = 20000;
    assert_int_equal(run(&s, 1, &p), STENO_ESOURCE);
    s = script_new(&a);
    s.rewind_fails = 1;
    assert_int_equal(run(&s, 1, &p), STENO_ESOURCE);
    assert_non_null(strstr(steno_last_error(session), "start"));
    s = script_new(&a);
    assert_int_equal(run(&s, 0, &p), STENO_ESOURCE); /* longer than a window and no way back */
    assert_non_null(strstr(steno_last_error(session), "30 s"));
    s = script_new(&a);
    s.short_pass = a.n / 2;
    assert_int_equal(run(&s, 1, &p), STENO_ESOURCE);
    assert_non_null(strstr(steno_last_error(session), "fewer"));
    free(a.pcm);
    assert_usable();
}

static void test_audio_up_to_a_window_needs_no_way_back(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 8); /* 29.8 s */
    struct script s = script_new(&a);
    const steno_transcribe_params p = params_new();
    assert_true(a.n < 30 * RATE);
    assert_int_equal(run(&s, 0, &p), 0);
    assert_true(steno_segment_count(session) > 4);
    s = script_new(&a);
    assert_int_equal(run(&s, 1, &p), 0);
    assert_int_equal(s.rewinds, 0);
    free(a.pcm);
}

static void test_offset_and_duration_bound_the_times(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 4);
    steno_transcribe_params p = params_new();
    p.offset_ms = 3000;
    p.duration_ms = 4000;
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    assert_true(steno_segment_count(session) > 0);
    for (int i = 0; i < steno_segment_count(session); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(session, i, &g);
        assert_in_range(g.t0_ms, 3000, 7000);
        assert_in_range(g.t1_ms, 3000, 7000);
        assert_true(g.seek_frames >= 300 && g.seek_frames < 700);
    }
    p.offset_ms = 3600000;
    p.duration_ms = 0;
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    assert_int_equal(steno_segment_count(session), 0);
    assert_int_equal(steno_duration_ms(session), a.n / 16);
    free(a.pcm);
}

/* Past 2^31 samples, the first 32-bit count to break. */
static void test_times_at_the_end_of_a_recording_of_many_hours_are_exact(void **state)
{
    (void)state;
    const int64_t hours = SANITIZED ? 1 : 38, before = hours * 3600 * RATE;
    const struct audio a = demo_audio(RATE, 0, 1);
    steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(session, a.pcm, a.n, &p), 0);
    const int n = steno_segment_count(session);
    steno_segment g = { .size = sizeof g }, h[8];
    assert_in_range(n, 1, 8);
    for (int i = 0; i < n; i++) h[i].size = sizeof *h, steno_segment_get(session, i, &h[i]);
    struct script s = script_new(&a);
    s.silence = before;
    p.offset_ms = before / 16;
    assert_int_equal(run(&s, 1, &p), 0);
    assert_int_equal(steno_segment_count(session), n);
    for (int i = 0; i < n; i++) {
        steno_segment_get(session, i, &g);
        assert_int_equal(g.t0_ms, h[i].t0_ms + before / 16);
        assert_int_equal(g.t1_ms, h[i].t1_ms + before / 16);
        assert_int_equal(g.seek_frames, h[i].seek_frames + before / 160);
    }
    assert_string_equal(steno_text(session), demo_text);
    assert_int_equal(steno_duration_ms(session), (before + a.n) / 16);
    free(a.pcm);
}

static void test_window_loop_covers_a_long_recording_in_order(void **state)
{
    (void)state;
    const struct audio a = demo_audio(8000, 8000, 12);
    struct script s = script_new(&a);
    const steno_transcribe_params p = params_new();
    assert_int_equal(run(&s, 1, &p), 0);
    int64_t at = 0, windows = 0;
    for (int i = 0; i < steno_segment_count(session); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(session, i, &g);
        assert_int_equal(g.id, i);
        assert_true(g.t0_ms >= at && g.t1_ms >= g.t0_ms);
        assert_true(g.seek_frames * 10 <= g.t0_ms);
        at = g.t1_ms;
        windows += g.seek_frames > 0;
    }
    assert_true(windows > 0 && at > 50000);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_source_equals_pcm_in_memory_whatever_the_size_of_its_pieces),
        cmocka_unit_test(test_no_samples_give_no_segments),
        cmocka_unit_test(test_samples_that_are_no_numbers_count_as_silence),
        cmocka_unit_test(test_digital_silence_gives_no_text),
        cmocka_unit_test(test_a_source_that_fails_is_reported_and_leaves_the_session_usable),
        cmocka_unit_test(test_audio_up_to_a_window_needs_no_way_back),
        cmocka_unit_test(test_offset_and_duration_bound_the_times),
        cmocka_unit_test(test_times_at_the_end_of_a_recording_of_many_hours_are_exact),
        cmocka_unit_test(test_window_loop_covers_a_long_recording_in_order),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
