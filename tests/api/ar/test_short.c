/* steno tests: models with short windows. SPDX-License-Identifier: MIT
 *
 * Windows from 20 ms on, by the model's shape or by audio_ctx: every call ends, with times within the audio, and each window takes the
 * audio on by a frame at least. */
#include "funasr_model.h"
#include "random_model.h"

static struct audio demo;

static int demo_open(void **state)
{
    (void)state;
    demo = demo_audio(0, 0, 1);
    return 0;
}

static int demo_close(void **state)
{
    (void)state;
    free(demo.pcm);
    return 0;
}

static int const contexts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
                                49, 50, 51, 100, 1500 };

static steno_model *model_hearing(int ctx)
{
    struct whisper_dims d = small_dims;
    d.n_audio_ctx = ctx;
    return random_model(&d, DT_F16, 3, NULL);
}

/* The results have a valid form, in at most as many windows as there are frames. */
static void check(const steno_session *s, const char *what, int ctx, int64_t n)
{
    steno_timings t = { .size = sizeof t };
    const int64_t frames = n / 160, end = n / 16 + 20 * ctx + 10;
    steno_timings_get(s, &t);
    if (t.n_windows > frames || t.n_encodes > frames) fail_msg("%s, %d positions: %d windows", what, ctx, (int)t.n_windows);
    double last = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_word v = { .size = sizeof v };
        steno_segment_get(s, i, &g);
        for (int k = 0; steno_word_get(s, i, k, &v) == STENO_OK; k++) {
            if (isnan(v.start)) continue;
            if (v.t0_ms < 0 || v.t1_ms < v.t0_ms || v.t1_ms > end)
                fail_msg("%s, %d positions: a word from %lld to %lld ms", what, ctx, (long long)v.t0_ms, (long long)v.t1_ms);
            if (!strcmp(what, "align") && v.start < last) fail_msg("%s, %d positions: words out of order", what, ctx);
            last = v.start;
        }
    }
}

static void try_all(const steno_model *m, int ctx, int audio_ctx, int64_t n)
{
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p = params_new();
    p.sample_len = 4;
    p.audio_ctx = audio_ctx;
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    for (int words = 0; words < 2; words++) {
        p.word_timestamps = words;
        steno_timings_reset(s);
        if (steno_transcribe(s, demo.pcm, n, &p)) fail_msg("%d positions: %s", ctx, steno_last_error(s));
        check(s, words ? "words" : "transcribe", ctx, n);
    }
    steno_session_close(s);
}

static void try_align(const steno_model *m, int ctx, const char *text, int64_t n)
{
    steno_session *s = session_new(m, NULL, 1);
    const steno_transcribe_params p = params_new();
    struct tap r = { .pcm = demo.pcm, .n = n };
    const steno_source src = tap_source(&r);
    if (steno_align(s, &src, text, &p)) fail_msg("align, %d positions: %s", ctx, steno_last_error(s));
    check(s, "align", ctx, n);
    steno_session_close(s);
}

static void test_every_call_ends_however_short_the_windows_of_a_model_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        steno_model *m = model_hearing(contexts[i]);
        const int64_t n = contexts[i] < 100 ? RATE : 3 * RATE;
        try_all(m, contexts[i], 0, n);
        try_align(m, contexts[i], "one two", n);
        try_align(m, contexts[i], "one two three four five\nsix seven eight", n);
        try_align(m, contexts[i], "a", RATE / 50);
        steno_model_close(m);
    }
}

static void test_every_call_ends_however_short_the_windows_asked_for_are(void **state)
{
    (void)state;
    steno_model *m = model_hearing(1500);
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        try_all(m, contexts[i], contexts[i], contexts[i] < 100 ? RATE / 2 : 3 * RATE);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_ends_however_short_the_windows_of_a_model_are),
        cmocka_unit_test(test_every_call_ends_however_short_the_windows_asked_for_are),
    };
    return cmocka_run_group_tests(tests, demo_open, demo_close);
}
