/* steno tests: an hour of audio. SPDX-License-Identifier: MIT
 *
 * Speech and pauses come from a source that repeats them. The memory of a session after an hour of them, and its peak on the way, is
 * that after five minutes, results apart. */
#include "resident.h"
#include "segments_session.h"

enum { MINUTE = 60 * RATE, RESULTS = 1 << 20, TOKEN = 256 /* bytes of a token, its word and its text, twice while a result grows */ };

struct repeated { int64_t at, n; };

static int64_t repeat(void *user, float *pcm, int64_t n)
{
    struct repeated *r = user;
    const int64_t at = r->at % audio.n;
    if (n > r->n - r->at) n = r->n - r->at;
    if (n > audio.n - at) n = audio.n - at;
    memcpy(pcm, audio.pcm + at, (size_t)n * sizeof *pcm);
    r->at += n;
    return n;
}

/* Minutes through detector and recogniser, and marks for all of the text. @return segments */
static int hear(steno_session *s, steno_session *marks, int minutes)
{
    struct repeated r = { 0, (int64_t)minutes * MINUTE };
    const steno_source src = { repeat, NULL, &r };
    steno_transcribe_params p = params_of(vad);
    p.word_timestamps = 1;
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_duration_ms(s), minutes * 60000);
    if (marks && steno_punctuate_result(marks, s, NULL)) fail_msg("%s", steno_last_error(marks));
    return steno_segment_count(s);
}

static int64_t tokens_of(const steno_session *s)
{
    int64_t n = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        n += g.n_tokens;
    }
    return n;
}

static void test_memory_does_not_grow_with_the_audio(void **state)
{
    (void)state;
    need_resident();
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, "tests/data/punctuation_streaming", NULL, &e)) fail_msg("%s", e.text);
    for (int k = 0; k < N_FAMILIES; k++) {
        steno_batch *none;
        steno_session *s = session_of(family[k], 0, NULL, &none), *marks = session_of(m, 0, NULL, &none);
        const int few = hear(s, marks, 5);
        const int64_t before = resident();
        peak_begin();
        const int64_t before_peak = peak();
        assert_int_equal(hear(s, marks, 60), 12 * few);
        const int64_t took = resident() - before, most = peak() - before_peak, tokens = tokens_of(s);
        print_message("%d segments, %lld tokens: %lld bytes more than after 5 minutes, %lld more at most\n", 12 * few, (long long)tokens,
                      (long long)took, (long long)most);
        assert_true(took < RESULTS + TOKEN / 2 * tokens && most < RESULTS + TOKEN * tokens);
        session_gone(marks, NULL);
        session_gone(s, NULL);
    }
    steno_model_close(m);
}

/* Neither speech nor pauses that never end are held. */
static void test_nothing_is_held_of_what_goes_on_and_on(void **state)
{
    (void)state;
    need_resident();
    for (int loud = 0; loud < 2; loud++) {
        uint32_t seed = 5;
        for (int64_t i = 0; i < audio.n; i++) audio.pcm[i] = loud ? 0.3f * noise(&seed) : 0;
        steno_batch *none;
        steno_session *s = session_of(family[0], 0, NULL, &none);
        const int few = hear(s, NULL, 3);
        const int64_t before = resident();
        peak_begin();
        const int64_t before_peak = peak();
        assert_true(hear(s, NULL, 20) >= few);
        assert_true(resident() - before < 3 * RESULTS && peak() - before_peak < 3 * RESULTS);
        session_gone(s, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_does_not_grow_with_the_audio),
        cmocka_unit_test(test_nothing_is_held_of_what_goes_on_and_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
