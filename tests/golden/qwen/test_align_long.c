/* steno tests: Qwen3-ForcedAligner: audio that is longer than a clip. SPDX-License-Identifier: MIT
 *
 * A small model with random weights: its times mean nothing, but all words have times, in order and within the audio. What the chain of
 * clips makes of right and wrong times is tested in unit/search/test_align_chain.c. */
#include "internal.h"
#include "qwen3_asr.h"
#include "api/shipped.h"
#include "same_results.h"
#include "task/aligner/aligner_session.h"

enum { MOST_S = 40, LONG_S = 100, WORDS = 120, TEXT_SZ = 1 << 16, CTX = 1040 /* of 521 rows of a clip, and some words */ };

static steno_model *model;
static float *sound;
static char text[TEXT_SZ];

/* Loud and quiet stretches, none of which repeats within the audio. */
static int group_begin(void **state)
{
    static const char *const word[] = { "four", "zero,", "nine-eight", "isn't.", "one", "two" };
    (void)state;
    uint32_t seed = 7;
    steno_model_params p;
    steno_model_params_init(&p);
    p.text_ctx = CTX;
    if (steno_model_open(&model, aligner_dir, &p, NULL)) return -1;
    sound = calloc((size_t)LONG_S * RATE, sizeof *sound);
    if (!sound) return -1;
    for (int64_t i = 0; i < (int64_t)LONG_S * RATE; i++) {
        seed = seed * 1664525 + 1013904223;
        sound[i] = (float)((int32_t)(seed >> 8) % 2001 - 1000) / (float)(4000 + i / RATE % 7 * 9000);
    }
    for (int i = 0; i < WORDS; i++) {
        strcat(text, word[(i * i + i / 5) % 6]);
        strcat(text, i % 10 == 9 ? "\n" : " ");
    }
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_model_close(model);
    free(sound);
    return 0;
}

/* Audio that is read once, `piece` samples at a time. */
struct once { int64_t n, at, piece; };

static int64_t once_read(void *user, float *to, int64_t n)
{
    struct once *o = user;
    if (n > o->piece) n = o->piece;
    if (n > o->n - o->at) n = o->n - o->at;
    memcpy(to, sound + o->at, (size_t)n * sizeof *to);
    o->at += n;
    return n;
}

static int align(steno_session *s, double seconds, int64_t piece, const char *of, const steno_transcribe_params *p)
{
    struct once o = { (int64_t)(seconds * RATE), 0, piece };
    const steno_source src = { once_read, NULL, &o };
    return steno_align(s, &src, of, p);
}

/* All words of the text, with times from `from` to `to` ms that do not fall. @return their number */
static int words_hold(const steno_session *s, int64_t from, int64_t to)
{
    int n = 0;
    int64_t last = from;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_word w = { .size = sizeof w };
        for (int k = 0; !steno_word_get(s, i, k, &w); k++, n++) {
            assert_true(w.t0_ms >= last && w.t1_ms >= w.t0_ms && w.t1_ms <= to);
            assert_true(w.probability > 0 && w.probability < 1);
            last = w.t1_ms;
        }
    }
    return n;
}

static void test_words_of_a_long_audio_are_in_order(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model), *again = qwen_session(model);
    steno_timings t = { .size = sizeof t };
    if (align(s, LONG_S, INT64_MAX, text, NULL)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_segment_count(s), WORDS / 10);
    assert_int_equal(words_hold(s, 0, LONG_S * 1000), WORDS);
    assert_int_equal(strlen(steno_text(s)), strlen(text) - 1);
    assert_memory_equal(steno_text(s), text, strlen(text) - 1);
    steno_timings_get(s, &t);
    assert_true(t.n_windows > 1); /* clips */
    for (int64_t piece = 1000; piece < 30000; piece *= 21) {
        if (align(again, LONG_S, piece, text, NULL)) fail_msg("%s", steno_last_error(again));
        results_are_equal(again, s, "in pieces");
    }
    steno_session_close(s);
    steno_session_close(again);
}

/* The last clip that is one of a chain. */
static void test_a_clip_more_or_less(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    for (int64_t n = (int64_t)MOST_S * RATE - 1; n <= (int64_t)MOST_S * RATE + 1; n++) {
        if (align(s, (double)n / RATE, INT64_MAX, "one two three", NULL)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(words_hold(s, 0, MOST_S * 1000 + 1), 3);
    }
    steno_session_close(s);
}

static void test_memory_does_not_grow_with_the_audio(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    for (int k = 50; k <= LONG_S; k += 50) {
        if (align(s, k, INT64_MAX, text, NULL)) fail_msg("%s", steno_last_error(s));
        assert_true(aligner_of(s)->pcm.cap <= 4 * sizeof(float) * MOST_S * RATE); /* twice two clips, by growth */
    }
    steno_session_close(s);
}

static void test_ranges_of_a_long_audio(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.offset_ms = 30000;
    if (align(s, LONG_S, INT64_MAX, text, &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(words_hold(s, 30000, LONG_S * 1000), WORDS);
    p.duration_ms = 60000;
    if (align(s, LONG_S, INT64_MAX, text, &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(words_hold(s, 30000, 90000), WORDS);
    steno_session_close(s);
}

static void test_a_text_that_is_far_too_long_is_refused(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    char *many = calloc(1, 1 << 17);
    assert_non_null(many);
    for (int i = 0; i < 20000; i++) memcpy(many + 4 * i, "one ", 4);
    assert_int_equal(align(s, LONG_S, INT64_MAX, many, NULL), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "is it the text of this audio?"));
    if (align(s, LONG_S, INT64_MAX, text, NULL)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(words_hold(s, 0, LONG_S * 1000), WORDS);
    free(many);
    steno_session_close(s);
}

/* ---- calls that end early */

struct calls { int left, n_progress; int64_t done, total; };

static int stops(void *user)
{
    return --((struct calls *)user)->left < 0;
}

static void progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct calls *c = user;
    assert_true(done_ms >= c->done);
    c->done = done_ms;
    c->total = total_ms;
    c->n_progress++;
}

static void test_a_long_alignment_reports_and_is_canceled(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model), *want = qwen_session(model);
    if (align(want, LONG_S, INT64_MAX, text, NULL)) fail_msg("%s", steno_last_error(want));
    for (int asked = 0, done = 0; !done; asked = asked * 2 + 1) {
        struct calls c = { .left = asked };
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.should_abort = stops;
        p.on_progress = progress;
        p.user = &c;
        const int rc = align(s, LONG_S, INT64_MAX, text, &p);
        done = !rc;
        assert_true(rc == STENO_OK || rc == STENO_ECANCELED);
        if (done) assert_true(c.n_progress > 1 && c.done == c.total && c.done == LONG_S * 1000);
        if (asked > 4) continue;
        if (align(s, LONG_S, INT64_MAX, text, NULL)) fail_msg("%s", steno_last_error(s));
        results_are_equal(s, want, "after a canceled call");
    }
    steno_session_close(s);
    steno_session_close(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_a_long_audio_are_in_order),
        cmocka_unit_test(test_a_clip_more_or_less),
        cmocka_unit_test(test_memory_does_not_grow_with_the_audio),
        cmocka_unit_test(test_ranges_of_a_long_audio),
        cmocka_unit_test(test_a_text_that_is_far_too_long_is_refused),
        cmocka_unit_test(test_a_long_alignment_reports_and_is_canceled),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
