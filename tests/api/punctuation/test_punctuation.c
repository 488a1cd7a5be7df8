/* steno tests: punctuation as callers use it. SPDX-License-Identifier: MIT
 *
 * The tiny streaming model of the tree, and the same network called an offline one; the shipped model's transcript. */
#include "batch.h"
#include "heap.h"
#include "folder.h"
#include "shipped_session.h"

static steno_model *online, *offline;
static steno_session *live, *marks;

/* The network of the tree under another name: it is then asked about whole texts. */
static steno_model *open_offline(void)
{
    static const char *const name[] = { "config.json", "model.safetensors", "tokens.json" };
    const struct folder d = folder_new();
    steno_model *m = NULL;
    steno_error e;
    for (int i = 0; i < 3; i++) {
        char path[128];
        size_t n = 0;
        snprintf(path, sizeof path, "tests/data/punctuation_streaming/%s", name[i]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        char *data = malloc(1 << 20), *at;
        assert_non_null(data);
        n = fread(data, 1, (1 << 20) - 1, f);
        data[n] = 0;
        fclose(f);
        if (i == 0) {
            at = strstr(data, "CTTransformerStreaming");
            assert_non_null(at);
            memmove(at + 13, at + 22, n - (size_t)(at + 22 - data));
            n -= 9;
        }
        folder_put(&d, name[i], data, n);
        free(data);
    }
    if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
    folder_remove(&d);
    return m;
}

static int open_all(void **state)
{
    steno_error e;
    shipped_session_open(state);
    if (steno_model_open(&online, "tests/data/punctuation_streaming", NULL, &e)) fail_msg("%s", e.text);
    offline = open_offline();
    live = session_new(online, NULL, 1);
    marks = session_new(offline, NULL, 1);
    return 0;
}

static int close_all(void **state)
{
    steno_session_close(live);
    steno_session_close(marks);
    steno_model_close(online);
    steno_model_close(offline);
    return shipped_session_close(state);
}

static void declined(steno_session *s, int rc, const char *what)
{
    if (rc != STENO_EARG || !strstr(steno_last_error(s), what))
        fail_msg("status %d, '%s' does not say '%s'", rc, steno_last_error(s), what);
}

static void test_calls_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    steno_punctuate_params p;
    steno_mark m = { .size = sizeof m };
    steno_punctuate_params_init(&p);
    assert_int_equal(steno_punctuate(NULL, "one", NULL), STENO_EARG);
    declined(marks, steno_punctuate(marks, NULL, NULL), "no text");
    declined(marks, steno_punctuate(marks, "one \xff", NULL), "byte 4");
    declined(marks, steno_punctuate(marks, "\xe4\xb8", NULL), "UTF-8");
    declined(session, steno_punctuate(session, "one", NULL), "does not punctuate");
    declined(marks, steno_transcribe(marks, demo.pcm, demo.n, NULL), "does not transcribe");
    declined(session, steno_punctuate_result(session, marks, NULL), "does not punctuate");
    declined(marks, steno_punctuate_result(marks, marks, NULL), "call is at work");
    declined(marks, steno_punctuate_result(marks, live, NULL), "no transcript");
    declined(marks, steno_punctuate_result(marks, NULL, NULL), "no other session");
    p.go_on = 1;
    declined(marks, steno_punctuate(marks, "one", &p), "as it comes");
    p.go_on = 0;
    p.block_words = 1;
    declined(marks, steno_punctuate(marks, "one", &p), "block_words is 1");
    p.size = 4;
    declined(marks, steno_punctuate(marks, "one", &p), "init");
    assert_int_equal(steno_mark_count(NULL), 0);
    assert_int_equal(steno_mark_count(marks), 0);
    assert_int_equal(steno_mark_get(marks, 0, &m), STENO_EARG);
}

static void test_texts_without_words_stay_empty(void **state)
{
    (void)state;
    static const char *const text[] = { "", " ", "\n\t", "\xe3\x80\x80", "<|zh|>" };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        assert_int_equal(steno_punctuate(marks, text[i], NULL), STENO_OK);
        assert_string_equal(steno_text(marks), "");
        assert_int_equal(steno_mark_count(marks), 0);
        assert_int_equal(steno_punctuate(live, text[i], NULL), STENO_OK);
        assert_string_equal(steno_text(live), "");
    }
}

/* Marks and spaces apart nothing of any text is lost. */
static void letters(char *out, size_t n, const char *text)
{
    static const char *const mark[] = { "\xef\xbc\x8c", "\xe3\x80\x82", "\xef\xbc\x9f", "\xe3\x80\x81", ",", ".", "?", " " };
    size_t at = 0;
    while (*text && at + 1 < n) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof mark / sizeof *mark && !skip; i++)
            if (!strncmp(text, mark[i], strlen(mark[i]))) skip = strlen(mark[i]);
        if (skip) text += skip;
        else out[at++] = *text++;
    }
    out[at] = 0;
}

static void test_a_transcript_gets_marks_and_loses_nothing(void **state)
{
    (void)state;
    steno_session *const by[] = { marks, live };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    for (int k = 0; k < 2; k++) {
        char before[4096], after[4096], joined[4096] = "";
        double start[64];
        run(&many, &p);
        letters(before, sizeof before, steno_text(session));
        const int n = steno_segment_count(session), tokens = n_tokens();
        for (int i = 0; i < n && i < 64; i++) {
            steno_segment g = { .size = sizeof g };
            assert_int_equal(steno_segment_get(session, i, &g), 0);
            start[i] = g.start;
        }
        char *const whole = strdup(steno_text(session));
        if (steno_punctuate_result(by[k], session, NULL)) fail_msg("%s", steno_last_error(by[k]));
        assert_true(strlen(steno_text(session)) > strlen(whole));
        letters(after, sizeof after, steno_text(session));
        assert_string_equal(after, before);
        assert_int_equal(steno_segment_count(session), n);
        assert_int_equal(n_tokens(), tokens);
        for (int i = 0; i < n; i++) {
            steno_segment g = { .size = sizeof g };
            char words[2048] = "", spoken[2048] = "";
            assert_int_equal(steno_segment_get(session, i, &g), 0);
            if (i < 64) assert_true(g.start == start[i]);
            for (int j = 0; j < g.n_words; j++) {
                steno_word w = { .size = sizeof w };
                assert_int_equal(steno_word_get(session, i, j, &w), 0);
                strncat(words, w.text, sizeof words - strlen(words) - 1);
                strncat(spoken, w.spoken, sizeof spoken - strlen(spoken) - 1);
            }
            assert_string_equal(words, g.text);
            assert_true(strstr(whole, spoken) != NULL);
            strncat(joined, g.text, sizeof joined - strlen(joined) - 1);
        }
        letters(after, sizeof after, joined);
        assert_string_equal(after, before);
        assert_int_equal(steno_punctuate_result(by[k], session, NULL), 0); /* no second mark beside the first */
        for (const char *at = steno_text(session); *at; at++) assert_false(strchr(",.?", at[0]) && at[1] && strchr(",.?", at[1]));
        free(whole);
    }
}

/* Where words have times, each belongs to one sentence, whose times are theirs; without times there are no sentences. */
static void test_sentences_hold_all_words_with_their_times(void **state)
{
    (void)state;
    steno_session *const by[] = { marks, live };
    steno_transcribe_params p;
    steno_sentence g = { .size = sizeof g };
    steno_transcribe_params_init(&p);
    assert_int_equal(steno_sentence_count(NULL), 0);
    assert_int_equal(steno_sentence_get(NULL, 0, &g), STENO_EARG);
    for (int k = 0; k < 4; k++) {
        p.word_timestamps = k % 2;
        run(&many, &p);
        assert_int_equal(steno_sentence_count(session), 0);
        assert_int_equal(steno_punctuate_result(by[k / 2], session, NULL), 0);
        const int n = steno_sentence_count(session);
        assert_true(p.word_timestamps ? n > 3 : n == 0);
        int64_t words = 0, at = 0, last = 0;
        for (int i = 0; i < steno_segment_count(session); i++) {
            steno_segment s = { .size = sizeof s };
            assert_int_equal(steno_segment_get(session, i, &s), 0);
            words += s.n_words;
        }
        for (int i = 0; i < n; i++) {
            assert_int_equal(steno_sentence_get(session, i, &g), 0);
            assert_true(g.n_words > 0 && *g.text && (g.first_word == at || g.first_word == -1));
            assert_true(g.t0_ms == g.times_ms[0] && g.t1_ms == g.times_ms[2 * g.n_words - 1] && g.t0_ms >= last && g.t1_ms >= g.t0_ms);
            at += g.n_words;
            last = g.t1_ms;
        }
        if (n && g.first_word >= 0) assert_true(at == words);
        assert_int_equal(steno_sentence_get(session, n, &g), STENO_EARG);
        assert_int_equal(steno_sentence_get(session, -1, &g), STENO_EARG);
    }
    assert_int_equal(steno_sentence_get(session, 0, NULL), STENO_EARG);
    g.size = 0;
    assert_int_equal(steno_sentence_get(session, 0, &g), STENO_EARG);
}

static int stop(void *user)
{
    return ++*(int *)user > 3;
}

static void test_a_long_text_can_be_canceled_and_goes_through(void **state)
{
    (void)state;
    enum { WORDS = 6000, WORD = 5 };
    int asked = 0;
    char *text = malloc(WORDS * WORD + 1);
    assert_non_null(text);
    for (int i = 0; i < WORDS; i++) memcpy(text + i * WORD, i % 3 ? "what " : "nine ", WORD + 1);
    steno_punctuate_params p;
    steno_punctuate_params_init(&p);
    p.user = &asked;
    p.should_abort = stop;
    assert_int_equal(steno_punctuate(marks, text, &p), STENO_ECANCELED);
    assert_int_equal(steno_punctuate(marks, text, NULL), STENO_OK);
    assert_int_equal(steno_mark_count(marks), WORDS);
    free(text);
}

static void test_each_failed_allocation_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    int64_t n = 0;
    need_counting();
    for (int more = 1; more; n++) {
        steno_session *s = session_new(offline, NULL, 1);
        count_begin(n);
        const int rc = steno_punctuate(s, "one two three four five six seven eight nine hello what one two three four five", NULL);
        more = count_end().calls > n;
        assert_int_equal(rc, more ? STENO_ENOMEM : STENO_OK);
        if (more) assert_true(*steno_last_error(s));
        steno_session_close(s);
    }
    assert_true(n > 3);
    n = 0;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    for (int more = 1; more; n++) {
        run(&demo, &p);
        char *const whole = strdup(steno_text(session));
        steno_session *s = session_new(n % 2 ? online : offline, NULL, 1);
        count_begin(n / 2);
        const int rc = steno_punctuate_result(s, session, NULL);
        more = count_end().calls > n / 2 || n < 2;
        assert_true(rc == STENO_OK || rc == STENO_ENOMEM);
        if (rc) assert_string_equal(steno_text(session), whole);
        else assert_true(strlen(steno_text(session)) >= strlen(whole));
        assert_true((steno_sentence_count(session) > 0) == (rc == STENO_OK));
        steno_session_close(s);
        free(whole);
    }
    assert_true(n > 6);
}

static int64_t read_nothing(void *user, float *pcm, int64_t n)
{
    (void)user, (void)pcm, (void)n;
    return 0;
}

static void test_a_batch_takes_no_requests_for_marks(void **state)
{
    (void)state;
    steno_batch *b;
    const steno_source src = { read_nothing, NULL, NULL };
    assert_int_equal(steno_batch_open(&b, offline, NULL, NULL, NULL), 0);
    steno_session *s = member_new(offline, b);
    declined(s, steno_batch_add(b, s, &src, NULL), "takes no audio");
    assert_int_equal(steno_batch_run(b), STENO_OK);
    assert_int_equal(steno_punctuate(s, "one two", NULL), STENO_OK);
    steno_session_close(s);
    steno_batch_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_do_not_fit_are_refused),
        cmocka_unit_test(test_texts_without_words_stay_empty),
        cmocka_unit_test(test_a_transcript_gets_marks_and_loses_nothing),
        cmocka_unit_test(test_sentences_hold_all_words_with_their_times),
        cmocka_unit_test(test_a_long_text_can_be_canceled_and_goes_through),
        cmocka_unit_test(test_each_failed_allocation_is_reported_and_changes_nothing),
        cmocka_unit_test(test_a_batch_takes_no_requests_for_marks),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
