/* steno tests: word times of a transcript by a forced aligner. SPDX-License-Identifier: MIT
 *
 * The aligner's weights are random: what is tested is whose audio and text it gets, and what becomes of the transcript. */
#include <math.h>
#include "api/shipped.h"
#include "golden.h"
#include "internal.h"
#include "qwen3_asr.h"

static struct audio demo;
static steno_model *speech, *aligner;
static steno_session *of, *by;

static int group_begin(void **state)
{
    (void)state;
    demo = demo_audio(0, 0, 2);
    speech = shipped_open();
    aligner = qwen_open(aligner_dir);
    assert_int_equal(steno_session_open(&of, speech, NULL, NULL, NULL), 0);
    by = qwen_session(aligner);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_session_close(of);
    steno_session_close(by);
    steno_model_close(speech);
    steno_model_close(aligner);
    free(demo.pcm);
    return 0;
}

struct reader { const float *pcm; int64_t n, at; int rewinds, fails_at; };

static int64_t reader_read(void *user, float *to, int64_t n)
{
    struct reader *r = user;
    if (r->fails_at && r->at >= r->fails_at) return -5;
    if (n > r->n - r->at) n = r->n - r->at;
    memcpy(to, r->pcm + r->at, (size_t)n * sizeof *to);
    r->at += n;
    return n;
}

static int reader_rewind(void *user)
{
    struct reader *r = user;
    r->at = 0;
    r->rewinds++;
    return 0;
}

static struct reader reader_of(void) { return (struct reader){ demo.pcm, demo.n, 0, 0, 0 }; }
static steno_source source_of(struct reader *r) { return (steno_source){ reader_read, reader_rewind, r }; }

static void transcribe(int words)
{
    steno_transcribe_params p = params_new();
    p.word_timestamps = words;
    if (steno_transcribe(of, demo.pcm, demo.n, &p)) fail_msg("%s", steno_last_error(of));
    assert_true(steno_segment_count(of) >= 2);
}

static int align(const steno_transcribe_params *p)
{
    struct reader r = reader_of();
    const steno_source src = source_of(&r);
    return steno_align_result(by, of, &src, p);
}

/* The words of each segment are its text, and have the times that steno_align finds in its audio. */
static void test_each_segment_is_aligned_with_its_own_audio(void **state)
{
    (void)state;
    steno_segment g = { .size = sizeof g };
    steno_word w = { .size = sizeof w }, v = w;
    steno_session *alone = qwen_session(aligner);
    double start[64], end[64];
    int64_t last = -1;
    transcribe(0);
    const int n = steno_segment_count(of);
    assert_true(n <= 64);
    for (int i = 0; i < n; i++) {
        assert_int_equal(steno_segment_get(of, i, &g), 0);
        start[i] = g.start, end[i] = g.end;
    }
    if (align(NULL)) fail_msg("%s", steno_last_error(by));
    assert_int_equal(steno_segment_count(of), n);
    for (int i = 0; i < n; i++) {
        char joined[256] = "";
        assert_int_equal(steno_segment_get(of, i, &g), 0);
        assert_string_equal(g.word_source, "aligner");
        assert_true(g.n_words > 0 && g.start >= start[i] && g.end <= end[i]);
        const int64_t from = llround(start[i] * RATE), to = llround(end[i] * RATE);
        struct reader r = { demo.pcm + from, (to < demo.n ? to : demo.n) - from, 0, 0, 0 };
        const steno_source src = source_of(&r);
        if (steno_align(alone, &src, g.text, NULL)) fail_msg("%s", steno_last_error(alone));
        for (int k = 0; k < g.n_words; k++) {
            assert_int_equal(steno_word_get(of, i, k, &w), 0);
            assert_int_equal(steno_word_get(alone, 0, k, &v), 0);
            assert_true(fabs(w.start - start[i] - v.start) < 1e-6 && fabs(w.end - start[i] - v.end) < 1e-6);
            assert_true(w.probability == v.probability && w.t0_ms >= last);
            last = w.t0_ms;
            strcat(joined, w.text);
        }
        assert_string_equal(joined, g.text);
    }
    assert_non_null(strstr(steno_text(of), "zero nine one eight."));
    steno_session_close(alone);
}

/* Segments that run together have the words that each has alone, whatever the number of them and the context that they share. */
static void test_segments_that_run_together_have_the_same_words(void **state)
{
    (void)state;
    static const struct { int windows, text_ctx; } kind[] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 16, 0 }, { 16, 128 }, { 16, 96 } };
    enum { KINDS = sizeof kind / sizeof *kind, TIMES = 4 };
    struct audio often = demo_audio(0, 0, 2);
    uint64_t digest[KINDS];
    int64_t encodes[KINDS];
    int n = 0;
    often.pcm = realloc(often.pcm, (size_t)often.n * TIMES * sizeof *often.pcm);
    assert_non_null(often.pcm);
    for (int i = 1; i < TIMES; i++) memcpy(often.pcm + i * often.n, often.pcm, (size_t)often.n * sizeof *often.pcm);
    for (int k = 0; k < KINDS; k++) {
        steno_model *m;
        steno_batch *b;
        steno_session *s;
        steno_model_params mp;
        steno_batch_params bp;
        steno_session_params sp;
        steno_timings t = { .size = sizeof t };
        steno_transcribe_params p = params_new();
        steno_model_params_init(&mp);
        steno_batch_params_init(&bp);
        steno_session_params_init(&sp);
        mp.text_ctx = kind[k].text_ctx;
        bp.max_windows = kind[k].windows;
        assert_int_equal(steno_model_open(&m, aligner_dir, &mp, NULL), 0);
        assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
        sp.batch = b;
        assert_int_equal(steno_session_open(&s, m, NULL, &sp, NULL), 0);
        assert_int_equal(steno_transcribe(of, often.pcm, often.n * TIMES, &p), 0);
        struct reader r = { often.pcm, often.n * TIMES, 0, 0, 0 };
        const steno_source src = source_of(&r);
        if (steno_align_result(s, of, &src, NULL)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(r.rewinds, 0);
        steno_timings_get(s, &t);
        n = steno_segment_count(of);
        digest[k] = result_digest(of);
        encodes[k] = t.n_encodes;
        assert_int_equal(t.n_prompts, n);
        steno_session_close(s);
        steno_batch_close(b);
        steno_model_close(m);
    }
    for (int k = 0; k < KINDS; k++) assert_true(digest[k] == digest[0]);
    assert_true(n >= 8);
    assert_int_equal(encodes[0], n);
    assert_true(encodes[1] < n && encodes[2] < encodes[1] && encodes[3] < encodes[2] && encodes[4] > encodes[3] && encodes[5] > encodes[4]);
    free(often.pcm);
}

/* Words of the recogniser are replaced; a second alignment reads the audio that the first one left. */
static void test_words_are_replaced(void **state)
{
    (void)state;
    steno_segment g = { .size = sizeof g };
    steno_word w = { .size = sizeof w };
    transcribe(1);
    const int n = steno_segment_count(of);
    assert_int_equal(align(NULL), 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(steno_segment_get(of, i, &g), 0);
        assert_string_equal(g.word_source, "aligner");
        assert_int_equal(steno_word_get(of, i, g.n_words, &w), STENO_EARG);
    }
    assert_int_equal(align(NULL), 0); /* segments without length keep their text, and lose their words if they have no audio */
    assert_int_equal(steno_segment_count(of), n);
}

static void test_audio_that_is_missing_leaves_segments_without_words(void **state)
{
    (void)state;
    steno_segment g = { .size = sizeof g };
    transcribe(1);
    struct reader r = { demo.pcm, 0, 0, 0, 0 };
    const steno_source src = source_of(&r);
    assert_int_equal(steno_align_result(by, of, &src, NULL), 0);
    for (int i = 0; i < steno_segment_count(of); i++) {
        assert_int_equal(steno_segment_get(of, i, &g), 0);
        assert_int_equal(g.n_words, 0);
        assert_null(g.word_source);
        assert_true(strlen(g.text) > 0);
    }
}

struct progress { int calls, ends; int64_t last, total; };

static void progress_add(void *user, int64_t done_ms, int64_t total_ms)
{
    struct progress *x = user;
    assert_true(done_ms >= x->last && done_ms <= total_ms && !x->ends);
    x->calls++;
    x->last = done_ms;
    x->total = total_ms;
    x->ends += done_ms == total_ms;
}

/* The last segment ends before the audio does, or behind it; the second one ends before the first. */
static void test_progress_does_not_fall_and_ends_once(void **state)
{
    (void)state;
    for (int silent_s = 0; silent_s <= 3; silent_s += 3) {
        struct progress x = { 0 };
        steno_transcribe_params p = params_new();
        struct audio a = { NULL, demo.n + silent_s * RATE };
        a.pcm = calloc((size_t)a.n, sizeof *a.pcm);
        assert_non_null(a.pcm);
        memcpy(a.pcm, demo.pcm, (size_t)demo.n * sizeof *a.pcm);
        assert_int_equal(steno_transcribe(of, a.pcm, a.n, &p), 0);
        const int n = steno_segment_count(of);
        steno_segment first = { .size = sizeof first }, last = first;
        assert_true(n >= 2 && !steno_segment_get(of, 0, &first) && !steno_segment_get(of, n - 1, &last));
        assert_true(!silent_s || last.end < (double)a.n / RATE - 1);
        inside_segment_move(of, 1, first.start, first.end - 0.5);
        if (!silent_s) inside_segment_move(of, n - 1, last.start, (double)a.n / RATE + 1);
        struct reader r = { a.pcm, a.n, 0, 0, 0 };
        const steno_source src = source_of(&r);
        p.on_progress = progress_add;
        p.user = &x;
        if (steno_align_result(by, of, &src, &p)) fail_msg("%s", steno_last_error(by));
        assert_int_equal(x.ends, 1);
        assert_int_equal(x.total, a.n * 1000 / RATE);
        assert_in_range(x.calls, 2, n + 1);
        free(a.pcm);
    }
}

static int stop(void *user)
{
    return ++*(int *)user > 3;
}

static void test_a_failure_leaves_the_transcript_as_it_was(void **state)
{
    (void)state;
    int calls = 0;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = &calls;
    p.should_abort = stop;
    transcribe(1);
    const uint64_t before = result_digest(of);
    struct reader r = reader_of();
    r.fails_at = 20000;
    const steno_source src = source_of(&r);
    assert_int_equal(steno_align_result(by, of, &src, NULL), STENO_ESOURCE);
    assert_true(result_digest(of) == before);
    assert_int_equal(align(&p), STENO_ECANCELED);
    assert_true(result_digest(of) == before);
}

static void declined(steno_session *s, int rc, const char *why)
{
    if (rc != STENO_EARG || !strstr(steno_last_error(s), why)) fail_msg("status %d, \"%s\", want \"%s\"", rc, steno_last_error(s), why);
}

static void test_calls_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    steno_transcribe_params p[3];
    struct reader r = reader_of();
    const steno_source src = source_of(&r), none = { NULL, NULL, NULL };
    for (int i = 0; i < 3; i++) steno_transcribe_params_init(&p[i]);
    p[0].language = "nl", p[1].beam_size = 5, p[2].size = 4;
    transcribe(0);
    assert_int_equal(steno_align_result(NULL, of, &src, NULL), STENO_EARG);
    assert_int_equal(steno_align_result(by, NULL, NULL, NULL), 0); /* it can align */
    declined(of, steno_align_result(of, NULL, NULL, NULL), "does not align the words of transcripts");
    declined(by, steno_align_result(by, NULL, NULL, &p[0]), "zh, en, yue");
    declined(by, steno_align_result(by, of, &src, &p[0]), "zh, en, yue");
    declined(by, steno_align_result(by, of, &src, &p[1]), "beam_size");
    declined(by, steno_align_result(by, of, &src, &p[2]), "init");
    declined(by, steno_align_result(by, of, &none, NULL), "no read function");
    declined(by, steno_align_result(by, of, NULL, NULL), "no read function");
    declined(by, steno_align_result(by, by, &src, NULL), "a call is at work");
}

static void test_a_punctuated_transcript_is_refused(void **state)
{
    (void)state;
    steno_model *m;
    steno_session *marks;
    assert_int_equal(steno_model_open(&m, "tests/data/punctuation_streaming", NULL, NULL), 0);
    assert_int_equal(steno_session_open(&marks, m, NULL, NULL, NULL), 0);
    transcribe(0);
    assert_int_equal(align(NULL), 0);
    if (steno_punctuate_result(marks, of, NULL)) fail_msg("%s", steno_last_error(marks)); /* in this order */
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(of, 0, &g), 0);
    assert_true(g.n_words > 0);
    declined(by, align(NULL), "has been punctuated: align it before that");
    steno_session_close(marks);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_segment_is_aligned_with_its_own_audio),
        cmocka_unit_test(test_segments_that_run_together_have_the_same_words),
        cmocka_unit_test(test_words_are_replaced),
        cmocka_unit_test(test_audio_that_is_missing_leaves_segments_without_words),
        cmocka_unit_test(test_progress_does_not_fall_and_ends_once),
        cmocka_unit_test(test_a_failure_leaves_the_transcript_as_it_was),
        cmocka_unit_test(test_calls_that_do_not_fit_are_refused),
        cmocka_unit_test(test_a_punctuated_transcript_is_refused),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
