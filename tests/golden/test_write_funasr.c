/* steno tests: the list that the reference's generate() returns, written of our results. SPDX-License-Identifier: MIT
 *
 * Texts with tags, words and times of all clips of the collection, as a Python program would read them, and what is hard to come by in
 * them: clips behind the first, words whose times are not known. */
#include "funasr.h"
#include "writers.h"

static double const margin_least = 0.02; /* of logits */

/* Of a session's results, or of a transcript that is given. */
static json_t *parsed(const struct transcript *t)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    writers[WRITER_FUNASR].write(&to, t);
    assert_false(to.failed);
    json_error_t e;
    json_t *list = json_loads(text.p, 0, &e);
    if (!list) fail_msg("%s: %s", e.text, text.p);
    free(text.p);
    return list;
}

static json_t *listed(steno_session *s, const char *input, const steno_transcribe_params *p)
{
    struct sound a;
    assert_int_equal(sound_read(&a, input), 0);
    struct pcm_feed feed = { &a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_transcribe_source(s, &src, p)) fail_msg("%s: %s", input, steno_last_error(s));
    const struct transcript_source named = { .input = input };
    struct transcript_store store = { 0 };
    struct transcript t = { .source = &named, .first_timestamp = -1, .word_times = p->word_timestamps };
    assert_int_equal(transcript_take(&t, &store, s), 0);
    json_t *list = parsed(&t);
    transcript_free(&store);
    sound_free(&a);
    return list;
}

/* The list of one object; it has the keys of a golden that have a value, and no others. */
static json_t *wanted(const char *key, json_t *golden_result, const char *text, int times)
{
    json_t *o = json_pack("{s:s, s:O}", "key", key, "text", json_object_get(golden_result, text));
    for (int i = 0; times && i < 2; i++) {
        static const char *const keys[] = { "timestamp", "words" };
        json_t *v = json_object_get(golden_result, keys[i]);
        if (v && (json_array_size(v) || !*json_string_value(json_object_get(o, "text")))) json_object_set(o, keys[i], v);
    }
    json_t *list = json_array();
    json_array_append_new(list, o);
    return list;
}

static void compare(steno_session *s, const char *name, const steno_transcribe_params *p, json_t *result, const char *text)
{
    json_t *want = wanted(name, result, text, p->word_timestamps);
    json_t *got = listed(s, funasr_file("audio/%s.wav", name).s, p);
    if (!json_equal(got, want)) {
        char *a = json_dumps(got, 0), *b = json_dumps(want, 0);
        fail_msg("%s: %s, want %s", name, a, b);
    }
    json_decref(got);
    json_decref(want);
}

static void test_sensevoice_as_generate_returns_it(void **state)
{
    (void)state;
    static const struct { const char *name, *language; int itn; } settings[] = {
        { "auto_woitn", NULL, 0 }, { "auto_itn", NULL, 1 }, { "en_woitn", "en", 0 }, { "zh_woitn", "zh", 0 }, { "zh_itn", "zh", 1 },
    };
    steno_session *s;
    const char *name;
    json_t *file;
    int n = 0, n_spaces = 0;
    funasr_open("golden/sensevoice/golden.json", "models/sensevoice/pt");
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            json_t *result = json_object_get(json_object_get(file, "results"), settings[i].name);
            if (json_number_value(json_object_get(result, "min_margin")) < margin_least) continue;
            steno_transcribe_params p;
            steno_transcribe_params_init(&p);
            p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
            p.language = settings[i].language;
            p.itn = settings[i].itn;
            p.tags = STENO_TAGS_KEEP;
            compare(s, name, &p, result, "raw");
            p.word_timestamps = 1;
            compare(s, name, &p, result, "raw");
            const char *first = json_string_value(json_array_get(json_object_get(result, "words"), 0));
            n_spaces += first && !strncmp(first, "\xe2\x96\x81", 3);
            n++;
        }
    }
    assert_true(n > 60 && n_spaces);
    steno_session_close(s);
    funasr_close(NULL);
}

static void test_paraformer_as_generate_returns_it(void **state)
{
    (void)state;
    steno_session *s;
    const char *name;
    json_t *file;
    int n = 0;
    funasr_open("golden/paraformer/golden.json", "models/paraformer/pt");
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
        if (json_number_value(json_object_get(file, "min_margin")) < margin_least) continue;
        compare(s, name, &p, file, "text");
        p.word_timestamps = 1;
        compare(s, name, &p, file, *json_string_value(json_object_get(file, "text")) ? "text_with_timestamp" : "text");
        n++;
    }
    assert_true(n >= 15);
    steno_session_close(s);
    funasr_close(NULL);
}

static void test_times_are_cut_within_their_clip(void **state)
{
    (void)state;
    static const steno_word words[] = {
        { .text = "one", .start = 0.33, .end = 2.01, .t0_ms = 330, .t1_ms = 2010 },
        { .text = " two", .start = NAN, .end = NAN, .t0_ms = -1, .t1_ms = -1 },
        { .text = "three", .start = 32.01, .end = 32.5, .t0_ms = 32010, .t1_ms = 32500 },
    };
    static const steno_segment segs[] = {
        { .text = "<|en|><|woitn|> one two", .n_words = 2, .word_source = "ctc" },
        { .text = "<|en|><|woitn|>three", .n_words = 1, .word_source = "ctc", .seek_frames = 3000 },
    };
    static const int32_t first[] = { 0, 2 };
    static const struct transcript_source source = { .input = "/a/b.c/d e.mp3" };
    const struct transcript t = { .segs = segs, .n = 2, .words = words, .first_word = first, .word_times = 1, .source = &source,
                                  .text = "<|en|><|woitn|> one two <|en|><|woitn|>three" };
    json_t *got = parsed(&t);
    json_t *want = json_loads("[{\"key\": \"d e\", \"text\": \"<|en|><|woitn|> one two <|en|><|woitn|>three\", "
                              "\"timestamp\": [[330, 2009], [null, null], [32009, 32500]], "
                              "\"words\": [\"\xe2\x96\x81one\", \"two\", \"three\"]}]", 0, NULL);
    assert_true(json_equal(got, want));
    json_decref(got);
    json_decref(want);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensevoice_as_generate_returns_it),
        cmocka_unit_test(test_paraformer_as_generate_returns_it),
        cmocka_unit_test(test_times_are_cut_within_their_clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
