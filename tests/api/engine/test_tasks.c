/* steno tests: a transcript and its translation from one call. SPDX-License-Identifier: MIT
 *
 * A random model reads windows of 0.6 s and writes two texts that have nothing in common, so that its two chains of windows go apart. */
#include "attempts.h"

static steno_model *model, *random1;
static struct audio demo, many; /* one window of the shipped model; two */

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    random1 = random_model(&small_multilingual, DT_F16, 5, NULL);
    demo = demo_audio(0, 0, 1);
    many = demo_audio(0, 8000, 8); /* 34 s */
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    steno_model_close(random1);
    free(demo.pcm);
    free(many.pcm);
    return 0;
}

static void run(steno_session *s, const struct audio *a, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, a->pcm, a->n, p)) fail_msg("%s", steno_last_error(s));
}

/* Ways to decode that are one as good as the other for both tasks. */
enum { WAYS = 6 };

static steno_transcribe_params way(int i)
{
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.sample_len = 25;
    if (i == 1) p.beam_size = 3;
    if (i == 2) p.best_of = 3, p.temperature = 0.4;
    if (i == 3) p.guards = STENO_GUARDS_OFF, p.language = NULL;
    if (i == 4) p.without_timestamps = 1, p.initial_prompt = "ab", p.logprob_threshold = 0, p.temperature_increment_on_fallback = 1;
    if (i == 5) p.audio_ctx = 10, p.condition_on_previous_text = 0;
    return p;
}

/* What the session holds of both texts. */
static void both_digests(steno_session *s, uint64_t digest[2])
{
    static const int task[] = { STENO_TRANSCRIBE, STENO_TRANSLATE };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(steno_result_select(s, task[i]), 0);
        digest[i] = result_digest(s);
    }
}

/* @return encodes of the call with both */
static int compare_with_two_calls(steno_session *s, const struct audio *a, steno_transcribe_params p)
{
    uint64_t want[2], got[2];
    steno_timings t = { .size = sizeof t };
    for (int k = 0; k < 2; k++) {
        p.task = k ? STENO_TRANSLATE : STENO_TRANSCRIBE;
        run(s, a, &p);
        want[k] = result_digest(s);
    }
    p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    steno_timings_reset(s);
    run(s, a, &p);
    const uint64_t first = result_digest(s); /* the transcript, unless one asks for the other */
    both_digests(s, got);
    assert_true(first == got[0]);
    for (int k = 0; k < 2; k++)
        if (got[k] != want[k]) fail_msg("text %d is not that of a call of its own: '%s'", k, steno_text(s));
    steno_timings_get(s, &t);
    return t.n_encodes;
}

static void test_two_texts_are_those_of_two_calls(void **state)
{
    (void)state;
    steno_session *s = session_new(random1, NULL, 3);
    int apart = 0;
    for (int i = 0; i < WAYS; i++) {
        const steno_transcribe_params p = way(i);
        const struct audio a[] = { { demo.pcm, RATE / 4 }, { demo.pcm, 3 * RATE } };
        for (int k = 0; k < 2; k++) {
            compare_with_two_calls(s, &a[k], p);
            assert_int_equal(steno_result_select(s, STENO_TRANSCRIBE), 0);
            const uint64_t transcript = result_digest(s);
            steno_result_select(s, STENO_TRANSLATE);
            apart += result_digest(s) != transcript;
        }
    }
    assert_true(apart >= WAYS);
    steno_session_close(s);
}

static void test_one_window_is_encoded_once_and_decoded_twice(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 3);
    steno_timings t = { .size = sizeof t };
    steno_transcribe_params p = params_new();
    assert_int_equal(compare_with_two_calls(s, &demo, p), 1);
    steno_timings_get(s, &t);
    assert_int_equal(t.n_prompts, 2);
    p.without_timestamps = 1; /* both go on after 30 s */
    p.sample_len = 20;
    p.temperature_increment_on_fallback = 0;
    assert_int_equal(compare_with_two_calls(s, &many, p), 2);
    p.language = NULL; /* the window that was listened to for it serves too */
    assert_int_equal(compare_with_two_calls(s, &many, p), 2);
    steno_session_close(s);
}

/* ---- beside others ----------------------------------------------------------------------------------------------------------- */

struct reading { const struct audio *a; int64_t at; };

static int64_t read_some(void *user, float *pcm, int64_t n)
{
    struct reading *r = user;
    const int64_t take = r->a->n - r->at < n ? r->a->n - r->at : n;
    memcpy(pcm, r->a->pcm + r->at, (size_t)take * sizeof *pcm);
    r->at += take;
    return take;
}

static int rewind_it(void *user)
{
    ((struct reading *)user)->at = 0;
    return 0;
}

static void test_both_texts_are_the_same_in_a_batch(void **state)
{
    (void)state;
    enum { CALLS = 7 };
    static const int windows[] = { 2, 5 };
    uint64_t want[CALLS][2], got[2];
    steno_session *alone = session_new(random1, NULL, 3);
    steno_transcribe_params p[CALLS];
    const struct audio half = { demo.pcm, RATE }, *a[CALLS];
    for (int i = 0; i < CALLS; i++) {
        a[i] = i % 2 ? &half : &demo;
        p[i] = way(i % WAYS);
        p[i].task = STENO_TRANSCRIBE_AND_TRANSLATE;
        run(alone, a[i], &p[i]);
        both_digests(alone, want[i]);
    }
    steno_session_close(alone);
    for (int k = 0; k < 2; k++) {
        steno_batch *b;
        steno_batch_params bp;
        steno_session_params sp;
        steno_session *s[CALLS];
        struct reading r[CALLS];
        steno_batch_params_init(&bp);
        steno_session_params_init(&sp);
        bp.max_windows = windows[k];
        bp.max_lanes = 3;
        assert_int_equal(steno_batch_open(&b, random1, NULL, &bp, NULL), 0);
        sp.batch = b;
        for (int i = 0; i < CALLS; i++) {
            r[i] = (struct reading){ a[i], 0 };
            const steno_source src = { read_some, rewind_it, &r[i] };
            assert_int_equal(steno_session_open(&s[i], random1, NULL, &sp, NULL), 0);
            assert_int_equal(steno_batch_add(b, s[i], &src, &p[i]), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        for (int i = 0; i < CALLS; i++) {
            both_digests(s[i], got);
            if (memcmp(got, want[i], sizeof got) != 0) fail_msg("call %d differs beside others, %d windows", i, windows[k]);
            steno_session_close(s[i]);
        }
        steno_batch_close(b);
    }
}

/* ---- callbacks --------------------------------------------------------------------------------------------------------------- */

struct heard { int segments, windows, most_windows, bad; int64_t at, total; };

static void on_segment(void *user, const steno_segment *g)
{
    struct heard *h = user;
    h->bad += g->id != h->segments++;
}

static void on_progress(void *user, int64_t done, int64_t total)
{
    struct heard *h = user;
    h->bad += done < h->at || done > total || (h->total && h->total != total);
    h->at = done;
    h->total = total;
}

static int on_window(void *user, int64_t at_ms)
{
    struct heard *h = user;
    (void)at_ms;
    return ++h->windows <= h->most_windows;
}

static steno_transcribe_params heard_by(struct heard *h)
{
    steno_transcribe_params p = params_new();
    p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    p.user = h;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    p.on_window = on_window;
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.sample_len = 25;
    return p;
}

static void test_segments_of_the_transcript_and_progress_are_reported_once(void **state)
{
    (void)state;
    steno_session *s = session_new(random1, NULL, 1);
    struct heard h = { .most_windows = 100 };
    const steno_transcribe_params p = heard_by(&h);
    run(s, &many, &p);
    assert_int_equal(h.bad, 0);
    assert_int_equal(h.segments, steno_segment_count(s));
    assert_true(h.at == h.total && h.total == many.n / 160 * 10);
    steno_session_close(s);
}

/* A callback that ends the call is not called again, and both texts end where the windows before it do. */
static void test_a_declined_window_ends_both_texts(void **state)
{
    (void)state;
    steno_session *s = session_new(random1, NULL, 1);
    for (int most = 0; most < 3; most++) {
        struct heard h = { .most_windows = most };
        const steno_transcribe_params p = heard_by(&h);
        run(s, &many, &p);
        assert_int_equal(h.windows, most + 1);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(steno_result_select(s, k ? STENO_TRANSLATE : STENO_TRANSCRIBE), 0);
            assert_int_equal(steno_segment_count(s) > 0, most > k);
        }
    }
    steno_session_close(s);
}

static void test_only_texts_that_there_are_can_be_selected(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    assert_int_equal(steno_result_select(NULL, STENO_TRANSCRIBE), STENO_EARG);
    for (int task = 0; task < 3; task++) {
        steno_transcribe_params p = params_new();
        p.task = task;
        run(s, &demo, &p);
        assert_int_equal(steno_result_select(s, STENO_TRANSCRIBE), task == STENO_TRANSLATE ? STENO_EARG : 0);
        assert_int_equal(steno_result_select(s, STENO_TRANSLATE), task == STENO_TRANSCRIBE ? STENO_EARG : 0);
        assert_int_equal(steno_result_select(s, STENO_TRANSCRIBE_AND_TRANSLATE), STENO_EARG);
        assert_int_equal(steno_result_select(s, 3), STENO_EARG);
        assert_int_equal(steno_result_select(s, -1), STENO_EARG);
        assert_string_equal(steno_text(s), demo_text); /* what was selected stays */
        assert_string_equal(steno_language(s), "en");
        assert_int_equal(steno_duration_ms(s), demo.n / 16);
    }
    steno_transcribe_params p = params_new(); /* the choice does not outlive the call */
    p.sample_len = 2;
    run(s, &demo, &p);
    assert_true(strlen(steno_text(s)) < strlen(demo_text));
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_texts_are_those_of_two_calls),
        cmocka_unit_test(test_one_window_is_encoded_once_and_decoded_twice),
        cmocka_unit_test(test_both_texts_are_the_same_in_a_batch),
        cmocka_unit_test(test_segments_of_the_transcript_and_progress_are_reported_once),
        cmocka_unit_test(test_a_declined_window_ends_both_texts),
        cmocka_unit_test(test_only_texts_that_there_are_can_be_selected),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
