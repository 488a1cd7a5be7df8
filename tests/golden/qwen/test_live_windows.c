/* steno tests: a clip of Qwen3-ASR that grows: windows that have not changed are encoded once. SPDX-License-Identifier: MIT */
#include "qwen3_asr.h"
#include "api/funasr_model.h"
#include "internal.h"

enum { WINDOW_S = 2, REPEATS = 8 /* of the recording: 29.6 s */, IDS = 12 };

static steno_model *model;
static struct audio audio;

/* The loudest sound is in the first second. */
static int open_all(void **state)
{
    (void)state;
    model = qwen_open(qwen_dir);
    audio = demo_audio(0, 0, REPEATS);
    for (int64_t i = RATE; i < audio.n; i++) audio.pcm[i] *= 0.5f;
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    free(audio.pcm);
    return 0;
}

static uint64_t digest_of(steno_session *s, const float *pcm, int64_t n)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.sample_len = IDS;
    assert_int_equal(steno_transcribe(s, pcm, n, &p), 0);
    return result_digest(s);
}

/* Transcribes pcm[n] with the session, and compares with a new one. @return the rows that were known */
static uint32_t known_of(steno_session *s, const float *pcm, int64_t n)
{
    steno_session *fresh = qwen_session(model);
    const uint64_t want = digest_of(fresh, pcm, n), got = digest_of(s, pcm, n);
    assert_int_equal(inside_known_rows(fresh), 0);
    if (got != want) fail_msg("%.2f s: other results than those of a new session", (double)n / RATE);
    steno_session_close(fresh);
    return inside_known_rows(s);
}

/* Rows of the windows of a clip that do not change if it grows: the last frames of a clip mirror its end. */
static uint32_t settled_rows(double seconds)
{
    const int64_t n = (int64_t)(seconds * RATE) - 200;
    return (uint32_t)(n / (WINDOW_S * RATE)) * inside_window_rows(model);
}

static void test_windows_of_a_growing_clip_are_encoded_once(void **state)
{
    (void)state;
    static double const seconds[] = { 1.5, 7.99, 8, 8.01, 9, 15.9, 16, 16.5, 21, 24.3, 24.3, 29, 12, 12.5, 7, 29 };
    steno_session *s = qwen_session(model);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        const uint32_t known = known_of(s, audio.pcm, (int64_t)(seconds[i] * RATE));
        const double shorter = i && seconds[i - 1] < seconds[i] ? seconds[i - 1] : seconds[i];
        if (i && seconds[i] == seconds[i - 1]) assert_true(known > settled_rows(shorter)); /* the whole clip */
        else if (i) assert_in_range(known, settled_rows(shorter), settled_rows(shorter + 0.02)); /* a mirrored end may be silence, too */
        else assert_int_equal(known, 0);
    }
    steno_session_close(s);
}

static void test_a_clip_that_is_the_same_does_not_run_the_encoder(void **state)
{
    (void)state;
    steno_timings t[2] = { { .size = sizeof *t }, { .size = sizeof *t } };
    steno_session *s = qwen_session(model);
    for (int i = 0; i < 2; i++) {
        known_of(s, audio.pcm, 10 * RATE);
        steno_timings_get(s, &t[i]);
    }
    assert_int_equal(t[1].n_encodes, t[0].n_encodes);
    steno_session_close(s);
}

/* Features are relative to the loudest sound of the clip. */
static void test_a_louder_sound_makes_all_windows_new(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    float *louder = calloc((size_t)audio.n, sizeof *louder);
    assert_non_null(louder);
    for (int64_t i = 0; i < audio.n; i++) louder[i] = audio.pcm[i] * (i < 17 * RATE ? 0.2f : 0.9f);
    assert_int_equal(known_of(s, louder, 16 * RATE), 0);
    assert_int_equal(known_of(s, louder, 17 * RATE), settled_rows(16));
    assert_int_equal(known_of(s, louder, 19 * RATE), 0);
    assert_int_equal(known_of(s, louder, 20 * RATE), settled_rows(19));
    free(louder);
    steno_session_close(s);
}

/* A sound that changes one window leaves those before it. */
static void test_windows_before_a_change_are_known(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    float *other = calloc((size_t)audio.n, sizeof *other);
    assert_non_null(other);
    memcpy(other, audio.pcm, (size_t)audio.n * sizeof *other);
    known_of(s, other, 29 * RATE);
    other[21 * RATE] += 0.01f;
    assert_int_equal(known_of(s, other, 29 * RATE), settled_rows(21));
    other[100] += 0.01f;
    assert_int_equal(known_of(s, other, 29 * RATE), 0);
    free(other);
    steno_session_close(s);
}

/* Two sessions of a batch: each of their clips grows, and both are in every run. */
static void test_growing_clips_of_a_batch_have_the_results_of_each_alone(void **state)
{
    (void)state;
    static double const seconds[] = { 6, 9, 13, 17, 25 };
    steno_batch *b;
    steno_session *s[2];
    s[0] = session_in_batch(&b, model, 2, 1);
    const steno_session_params sp = session_params_in(b);
    assert_int_equal(steno_session_open(&s[1], model, NULL, &sp, NULL), 0);
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++) {
        struct tap tap[2];
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.sample_len = IDS;
        for (int i = 0; i < 2; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = (int64_t)(seconds[k] * RATE) };
            const steno_source src = tap_source(&tap[i]);
            assert_int_equal(steno_batch_add(b, s[i], &src, &p), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        for (int i = 0; i < 2; i++) {
            steno_session *alone = qwen_session(model);
            assert_true(digest_of(alone, tap[i].pcm, tap[i].n) == result_digest(s[i]));
            steno_session_close(alone);
        }
    }
    assert_true(inside_known_rows(s[0]) >= settled_rows(17));
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_of_a_growing_clip_are_encoded_once),
        cmocka_unit_test(test_a_clip_that_is_the_same_does_not_run_the_encoder),
        cmocka_unit_test(test_a_louder_sound_makes_all_windows_new),
        cmocka_unit_test(test_windows_before_a_change_are_known),
        cmocka_unit_test(test_growing_clips_of_a_batch_have_the_results_of_each_alone),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
