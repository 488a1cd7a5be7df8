/* steno: transcripts of files as Deepgram's API gives them. SPDX-License-Identifier: MIT */
#include "answer_listen.h"
#include "failing_json.h"
#include "write_help.h"
#include <jansson.h>

static const steno_segment three[] = {
    { .size = sizeof(steno_segment), .id = 0, .t0_ms = 0, .t1_ms = 2100, .text = " Guten Morgen.", .n_words = 2, .avg_logprob = -0.25 },
    { .size = sizeof(steno_segment), .id = 1, .t0_ms = 3100, .t1_ms = 4000, .text = " Es ist", .n_words = 2, .avg_logprob = -0.5 },
    { .size = sizeof(steno_segment), .id = 2, .t0_ms = -1, .t1_ms = -1, .text = " acht.", .n_words = 1, .avg_logprob = (double)NAN },
};
#define TIMED(t, a, b, p) { .size = sizeof(steno_word), .text = t, .t0_ms = a, .t1_ms = b, .probability = p }
static const steno_word words[] = { TIMED(" Guten", 20, 480, 0.5), TIMED(" Morgen.", 480, 2100, 1), TIMED(" Es", 3100, 3300, 0.75),
                                    TIMED(" ist", 3300, 4000, 0.25), TIMED(" acht.", -1, -1, 0.5) };
static const int32_t first_word[] = { 0, 2, 4 };

static struct transcript made(int has_words)
{
    return (struct transcript){ .segs = three, .n = 3, .text = " Guten Morgen. Es ist acht.", .language = "de", .language_prob = 0.875,
                                .duration_ms = 12480, .words = words, .first_word = first_word, .word_times = has_words };
}

static const struct listen_reply plain = { .id = "req-1", .created = "2026-01-02T03:04:05Z", .model = "digits", .family = "whisper",
                                           .utt_split_s = 0.8 };

static json_t *object(const struct transcript *t, const struct listen_reply *r)
{
    size_t n;
    char *text = answer_listen(t, r, &n);
    assert_non_null(text);
    assert_int_equal(strlen(text), n);
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    free(text);
    return o;
}

/* The object equals this text. */
static void expect(const json_t *o, const char *want)
{
    char *got = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static const json_t *in(const json_t *o, const char *key, size_t i)
{
    const json_t *x = json_object_get(o, key);
    return json_is_array(x) ? json_array_get(x, i) : x;
}

static void test_words_have_times_and_two_forms(void **state)
{
    (void)state;
    const struct transcript t = made(1);
    json_t *o = object(&t, &plain);
    const json_t *results = in(o, "results", 0), *channel = in(results, "channels", 0), *best = in(channel, "alternatives", 0);
    expect(in(best, "transcript", 0), "\"Guten Morgen. Es ist acht.\"");
    expect(in(best, "confidence", 0), "0.6");
    assert_int_equal(json_array_size(json_object_get(best, "words")), 5);
    expect(in(best, "words", 1), "{\"confidence\":1.0,\"end\":2.1,\"punctuated_word\":\"Morgen.\",\"start\":0.48,\"word\":\"morgen\"}");
    expect(in(best, "words", 4), "{\"confidence\":0.5,\"end\":null,\"punctuated_word\":\"acht.\",\"start\":null,\"word\":\"acht\"}");
    assert_null(in(results, "utterances", 0));
    assert_null(in(channel, "detected_language", 0));
    expect(in(o, "metadata", 0), "{\"channels\":1,\"created\":\"2026-01-02T03:04:05Z\",\"duration\":12.48,\"model_info\":"
                                 "{\"digits\":{\"arch\":\"whisper\",\"name\":\"digits\",\"version\":\"steno\"}},"
                                 "\"models\":[\"digits\"],\"request_id\":\"req-1\",\"sha256\":\"\","
                                 "\"transaction_key\":\"deprecated\"}");
    json_decref(o);
}

static void test_utterances_end_at_pauses(void **state)
{
    (void)state;
    for (int has_words = 0; has_words < 2; has_words++)
        for (int i = 0; i < 2; i++) {
            const struct transcript t = made(has_words);
            struct listen_reply r = plain;
            r.has_utterances = 1;
            r.utt_split_s = i ? 1 : 0.9; /* the pause is 1 s */
            json_t *o = object(&t, &r);
            const json_t *results = in(o, "results", 0);
            assert_int_equal(json_array_size(json_object_get(results, "utterances")), i ? 1 : 2);
            const json_t *first = in(results, "utterances", 0), *second = in(results, "utterances", 1);
            expect(in(first, "transcript", 0), i ? "\"Guten Morgen. Es ist acht.\"" : "\"Guten Morgen.\"");
            expect(in(first, "start", 0), has_words ? "0.02" : "0.0");
            assert_int_equal(json_array_size(json_object_get(first, "words")), !has_words ? 0 : i ? 5 : 2);
            if (!i) expect(in(second, "transcript", 0), "\"Es ist acht.\"");
            if (!i) expect(in(second, "id", 0), "\"req-1-1\"");
            if (!i) expect(in(second, "start", 0), "3.1");
            if (!i) expect(in(second, "confidence", 0), has_words ? "0.5" : "null");
            json_decref(o);
        }
}

static void test_the_language_is_named_on_request(void **state)
{
    (void)state;
    struct transcript t = made(1);
    struct listen_reply r = plain;
    r.has_language = 1;
    for (int i = 0; i < 2; i++) {
        t.language_prob = i ? 0 : 0.875;
        json_t *o = object(&t, &r);
        const json_t *channel = in(in(o, "results", 0), "channels", 0);
        expect(in(channel, "detected_language", 0), "\"de\"");
        expect(in(channel, "language_confidence", 0), i ? "null" : "0.875");
        json_decref(o);
    }
}

static void test_silence_is_an_empty_text(void **state)
{
    (void)state;
    for (int has_words = 0; has_words < 2; has_words++) {
        struct transcript t = made(has_words);
        struct listen_reply r = plain;
        r.has_utterances = 1;
        t.n = 0, t.text = "", t.language = NULL;
        json_t *o = object(&t, &r);
        expect(in(o, "results", 0), "{\"channels\":[{\"alternatives\":[{\"confidence\":0.0,\"transcript\":\"\",\"words\":[]}]}],"
                                    "\"utterances\":[]}");
        json_decref(o);
    }
}

static char *whole(size_t *n)
{
    const struct transcript t = made(1);
    struct listen_reply r = plain;
    r.has_utterances = r.has_language = 1;
    return answer_listen(&t, &r, n);
}

static void test_failed_allocations_leave_nothing(void **state)
{
    (void)state;
    check_failures(whole, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_have_times_and_two_forms),
        cmocka_unit_test(test_utterances_end_at_pauses),
        cmocka_unit_test(test_the_language_is_named_on_request),
        cmocka_unit_test(test_silence_is_an_empty_text),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
