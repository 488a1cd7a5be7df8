/* steno tests: no segment, word or token ends behind the sound that it was found in. SPDX-License-Identifier: MIT */
#include "shipped_session.h"

/* What is asked, and where its sound ends. */
struct ask { steno_transcribe_params p; int64_t n; double clips[2]; int64_t end_ms; };

static const double step_s = 0.5;

static void ends_check(const struct ask *a, const char *what)
{
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) {
        if (g.t1_ms > a->end_ms || g.t0_ms > g.t1_ms || g.end > (double)a->end_ms / 1000 + 1e-9)
            fail_msg("%s: segment %d is at %lld..%lld, the sound ends at %lld ms", what, i, (long long)g.t0_ms, (long long)g.t1_ms,
                     (long long)a->end_ms);
        for (int k = 0; k < g.n_words; k++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(session, i, k, &w), 0);
            if (w.t1_ms > a->end_ms || w.t0_ms > w.t1_ms) fail_msg("%s: word '%s' ends at %lld", what, w.text, (long long)w.t1_ms);
        }
        for (int k = 0; k < g.n_tokens; k++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_token_get(session, i, k, &t), 0);
            if (t.t1_ms > a->end_ms || t.t_dtw_ms > a->end_ms) fail_msg("%s: a token ends at %lld", what, (long long)t.t1_ms);
        }
    }
}

/* @return whether the reference's times lie behind the sound; its text and its windows are the same */
static int ask_check(struct ask *a, const char *what)
{
    const struct audio sound = { many.pcm, a->n };
    if (a->clips[1] > 0) a->p.clip_timestamps = a->clips, a->p.n_clip_timestamps = 2;
    run(&sound, &a->p);
    ends_check(a, what);
    const int n = steno_segment_count(session);
    char *text = strdup(steno_text(session));
    steno_segment g = { .size = sizeof g };
    int64_t seek[64] = { 0 };
    for (int i = 0; i < n && i < 64 && !steno_segment_get(session, i, &g); i++) seek[i] = g.seek_frames;
    a->p.guards = STENO_GUARDS_OFF;
    run(&sound, &a->p);
    assert_string_equal(steno_text(session), text);
    assert_int_equal(steno_segment_count(session), n);
    int behind = 0;
    for (int i = 0; i < n && i < 64 && !steno_segment_get(session, i, &g); i++) {
        assert_int_equal(g.seek_frames, seek[i]);
        behind += g.t1_ms > a->end_ms;
    }
    free(text);
    return behind;
}

static void test_segments_end_with_the_sound(void **state)
{
    (void)state;
    int behind = 0;
    for (double s = step_s; s < 6; s += step_s) {
        struct ask a = { .p = params_new(), .n = (int64_t)(s * RATE), .end_ms = (int64_t)(s * 1000) };
        behind += ask_check(&a, "a whole file");
    }
    if (!behind) fail_msg("the reference ends in time, too: nothing was tried");
}

static void test_words_and_tokens_end_with_the_sound(void **state)
{
    (void)state;
    for (double s = step_s; s < 4; s += step_s) {
        struct ask a = { .p = params_new(), .n = (int64_t)(s * RATE), .end_ms = (int64_t)(s * 1000) };
        a.p.token_timestamps = 1;
        a.p.word_timestamps = SANITIZED ? 0 : (int)(s / step_s) % 2;
        const struct audio sound = { many.pcm, a.n };
        run(&sound, &a.p);
        ends_check(&a, "with times of words and tokens");
    }
}

static void test_segments_end_with_the_part_that_was_asked_for(void **state)
{
    (void)state;
    int behind = 0;
    for (double s = 1; s < 5; s += 2 * step_s) {
        struct ask d = { .p = params_new(), .n = many.n, .end_ms = 1000 + (int64_t)(s * 1000) };
        d.p.offset_ms = 1000;
        d.p.duration_ms = (int64_t)(s * 1000);
        behind += ask_check(&d, "a duration");
        struct ask c = { .p = params_new(), .n = many.n, .clips = { 0.5, 0.5 + s }, .end_ms = 500 + (int64_t)(s * 1000) };
        c.p.independent_clips = 1;
        c.p.condition_on_previous_text = 0;
        behind += ask_check(&c, "a clip");
    }
    if (!behind) fail_msg("the reference ends in time, too: nothing was tried");
}

static void test_a_translation_ends_with_the_sound(void **state)
{
    (void)state;
    for (double s = 1; s < 4; s += 2 * step_s) {
        struct ask a = { .p = params_new(), .n = (int64_t)(s * RATE), .end_ms = (int64_t)(s * 1000) };
        const struct audio sound = { many.pcm, a.n };
        a.p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
        run(&sound, &a.p);
        for (int which = 0; which < 2; which++) {
            steno_result_select(session, which ? STENO_TRANSLATE : STENO_TRANSCRIBE);
            ends_check(&a, "a translation");
        }
        steno_result_select(session, STENO_TRANSCRIBE);
    }
}

/* One window, one segment: the rest behind the last word is not decoded again. */
static void test_a_window_without_timestamps_ends_with_its_sound(void **state)
{
    (void)state;
    struct audio padded = demo_audio(0, RATE, 1);
    steno_transcribe_params p = params_new();
    p.without_timestamps = p.word_timestamps = 1;
    int windows[2];
    for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_FLAG; guards++) {
        steno_timings t = { .size = sizeof t };
        p.guards = guards;
        steno_timings_reset(session);
        run(&padded, &p);
        steno_timings_get(session, &t);
        windows[guards] = (int)t.n_windows;
    }
    if (windows[0] < 2) fail_msg("the reference decodes one window, too: nothing was tried");
    assert_int_equal(windows[1], 1);
    assert_int_equal(steno_segment_count(session), 1);
    free(padded.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_end_with_the_sound),
        cmocka_unit_test(test_words_and_tokens_end_with_the_sound),
        cmocka_unit_test(test_segments_end_with_the_part_that_was_asked_for),
        cmocka_unit_test(test_a_translation_ends_with_the_sound),
        cmocka_unit_test(test_a_window_without_timestamps_ends_with_its_sound),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
