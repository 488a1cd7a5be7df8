/* steno tests: spans of speech as streams of a transducer. SPDX-License-Identifier: MIT
 *
 * Each span has the tokens and times that its samples have as a stream of their own, whatever shares its runs and however audio arrives.
 * Words end with their span. */
#include "segments_session.h"

enum { TOKENS = 4000 };

/* Tokens and the times of words, ms. */
struct found { int n_tokens, n_words; int32_t id[TOKENS]; float logprob[TOKENS]; int64_t t0[TOKENS], t1[TOKENS]; };

static steno_model *stream;

static int open_streams(void **state)
{
    stream = funasr_open(pk_stream_folder, NULL);
    return open_all(state);
}

static int close_streams(void **state)
{
    steno_model_close(stream);
    return close_all(state);
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Appends what a session found, at_ms later, and at most until end_ms. */
static void found_add(struct found *f, const steno_session *s, int64_t at_ms, int64_t end_ms)
{
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(s, i, &g); i++) {
        for (int k = 0; k < g.n_tokens && f->n_tokens < TOKENS; k++, f->n_tokens++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_token_get(s, i, k, &t), 0);
            f->id[f->n_tokens] = t.id;
            f->logprob[f->n_tokens] = t.logprob;
        }
        for (int k = 0; k < g.n_words && f->n_words < TOKENS; k++, f->n_words++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(s, i, k, &w), 0);
            f->t0[f->n_words] = earlier(w.t0_ms + at_ms, end_ms);
            f->t1[f->n_words] = earlier(w.t1_ms + at_ms, end_ms);
        }
    }
}

static steno_transcribe_params words_of(const steno_model *finder, int lookahead)
{
    steno_transcribe_params p = params_of(finder);
    p.word_timestamps = 1;
    p.lookahead = lookahead;
    return p;
}

/* The spans that the session found, each transcribed as a stream of a new session. */
static void spans_alone(struct found *f, const steno_session *s, const float *pcm, int lookahead)
{
    const steno_transcribe_params p = words_of(NULL, lookahead);
    steno_span span = { .size = sizeof span };
    memset(f, 0, sizeof *f);
    for (int i = 0; !steno_span_get(s, i, &span); i++) {
        steno_session *own = session_new(stream, NULL, 1);
        const int64_t end = earlier(span.t1_ms, steno_duration_ms(s));
        assert_int_equal(steno_transcribe(own, pcm + span.t0_ms * 16, (end - span.t0_ms) * 16, &p), 0);
        found_add(f, own, span.t0_ms, end);
        steno_session_close(own);
    }
}

static void test_a_span_has_the_words_of_its_own_stream(void **state)
{
    (void)state;
    static struct found got, want;
    static int const lookaheads[] = { STENO_LOOKAHEAD_MOST, 0, 1 };
    for (size_t k = 0; k < sizeof lookaheads / sizeof *lookaheads; k++) {
        const steno_transcribe_params p = words_of(vad, lookaheads[k]);
        steno_session *s = session_new(stream, NULL, 1);
        memset(&got, 0, sizeof got);
        if (steno_transcribe(s, audio.pcm, audio.n, &p)) fail_msg("%s", steno_last_error(s));
        found_add(&got, s, 0, SECONDS * 1000);
        spans_alone(&want, s, audio.pcm, lookaheads[k]);
        assert_true(steno_span_count(s) > 5 && got.n_tokens > 20 && got.n_tokens < TOKENS);
        assert_memory_equal(&got, &want, sizeof got);
        assert_int_equal(steno_duration_ms(s), SECONDS * 1000);
        steno_session_close(s);
    }
}

/* Of a source in pieces, behind skipped audio, and beside another stream. */
static void test_spans_are_the_same_however_they_are_carried_out(void **state)
{
    (void)state;
    static const struct { int windows; int64_t piece; } how[] = { { 0, 1601 }, { 1, 77777 }, { 4, 16000 }, { 4, 0 } };
    steno_transcribe_params p = words_of(vad, STENO_LOOKAHEAD_MOST);
    p.offset_ms = 700;
    p.duration_ms = 41500;
    steno_session *s = session_new(stream, NULL, 1);
    assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), 0);
    const uint64_t want = digest_of(s);
    assert_true(pk_tokens(s) > 20);
    assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), 0); /* and again */
    assert_true(digest_of(s) == want);
    steno_session_close(s);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        steno_batch *b;
        s = session_of(stream, how[i].windows, NULL, &b);
        struct tap t = { .pcm = audio.pcm, .n = audio.n, .piece = how[i].piece }, beside = t;
        const steno_source src = tap_source(&t), other = tap_source(&beside);
        steno_session *next = NULL;
        if (b) {
            const steno_transcribe_params whole = words_of(NULL, 1);
            const steno_session_params sp = session_params_in(b);
            assert_int_equal(steno_session_open(&next, stream, NULL, &sp, NULL), 0);
            assert_int_equal(steno_batch_add(b, next, &other, &whole), 0);
            assert_int_equal(steno_batch_add(b, s, &src, &p), 0);
            assert_int_equal(steno_batch_run(b), 0);
        } else {
            assert_int_equal(steno_transcribe_source(s, &src, &p), 0);
        }
        assert_true(digest_of(s) == want);
        steno_session_close(next);
        session_gone(s, b);
    }
}

/* Without speech there is no text; 100 samples are no span. */
static void test_silence_has_no_stream(void **state)
{
    (void)state;
    const steno_transcribe_params p = words_of(vad, STENO_LOOKAHEAD_MOST);
    float *quiet = calloc(20 * RATE, sizeof *quiet);
    assert_non_null(quiet);
    steno_session *s = session_new(stream, NULL, 1);
    assert_int_equal(steno_transcribe(s, quiet, 20 * RATE, &p), 0);
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_transcribe(s, quiet, 0, &p), 0);
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_transcribe(s, audio.pcm, 100, &p), 0);
    assert_int_equal(steno_segment_count(s), 0);
    steno_session_close(s);
    free(quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_span_has_the_words_of_its_own_stream),
        cmocka_unit_test(test_spans_are_the_same_however_they_are_carried_out),
        cmocka_unit_test(test_silence_has_no_stream),
    };
    return cmocka_run_group_tests(tests, open_streams, close_streams);
}
