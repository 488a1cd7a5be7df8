/* steno tests: SenseVoice by beam search and with hot words. SPDX-License-Identifier: MIT
 *
 * Where the reference, which takes the most probable id of each row, is sure, a search finds the same text. */
#include "funasr.h"
#include "internal.h"
#include "api/random_model.h"
#include "api/shipped.h"

static int group_begin(void **state)
{
    (void)state;
    funasr_open("golden/sensevoice/golden.json", "models/sensevoice/pt");
    return 0;
}

static steno_transcribe_params params_of(int beam_size, const char *hotwords, double boost)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.beam_size = beam_size;
    p.hotwords = hotwords;
    p.hotwords_boost = boost;
    return p;
}

static void run(steno_session *s, const char *name, const steno_transcribe_params *p)
{
    struct sound a = { 0 };
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
    if (steno_transcribe(s, a.pcm, a.n, p)) fail_msg("%s: %s", name, steno_last_error(s));
    sound_free(&a);
}

static const char *wanted(json_t *file)
{
    const char *text = json_string_value(json_object_get(json_object_get(json_object_get(file, "results"), "auto_woitn"), "raw"));
    while (!strncmp(text, "<|", 2) && strstr(text, "|>")) text = strstr(text, "|>") + 2;
    return text;
}

static void test_one_beam_is_greedy_and_more_find_what_is_sure(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    const char *name;
    json_t *file;
    int n = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        json_t *want = json_object_get(json_object_get(file, "results"), "auto_woitn");
        steno_transcribe_params p = params_of(0, NULL, 2);
        run(s, name, &p);
        const uint64_t greedy = result_digest(s);
        p.beam_size = 1;
        run(s, name, &p);
        assert_true(result_digest(s) == greedy);
        if (json_number_value(json_object_get(want, "min_margin")) < 1) continue;
        for (p.beam_size = 2; p.beam_size <= 32; p.beam_size *= 4) {
            steno_segment g = { .size = sizeof g };
            run(s, name, &p);
            if (strcmp(steno_text(s), wanted(file)) != 0) fail_msg("%s, %d: %s", name, (int)p.beam_size, steno_text(s));
            if (*wanted(file)) assert_int_equal(steno_segment_get(s, 0, &g), 0);
            for (int32_t i = 0; i < g.n_tokens; i++) {
                steno_token t = { .size = sizeof t };
                assert_int_equal(steno_token_get(s, 0, i, &t), 0);
                assert_true(t.p > 0 && t.p <= 1 && t.id == g.tokens[i]);
            }
        }
        n++;
    }
    assert_true(n >= 10);
    steno_session_close(s);
}

/* How often a text has a word. */
static int times_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

static void test_hot_words_are_favoured_as_much_as_is_asked_for(void **state)
{
    (void)state;
    static const struct { const char *name, *word, *beside; } c[] = {
        { "en_george", "five", "three one four" }, { "zh_synth_long", "八", "七零五九四" }, { "en_jackson", "seven two", "two seven" },
    };
    steno_session *s = session_new(model, NULL, 1);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int beams = 0; beams <= 8; beams += 4) {
            steno_transcribe_params p = params_of(beams, c[i].word, 2);
            p.word_timestamps = 1;
            run(s, c[i].name, &p);
            assert_string_equal(steno_text(s), c[i].beside); /* what is sure stays */
            p.hotwords_boost = 40;
            run(s, c[i].name, &p);
            assert_true(times_of(steno_text(s), c[i].word) > 0);
            steno_segment g = { .size = sizeof g };
            assert_int_equal(steno_segment_get(s, 0, &g), 0);
            assert_true(g.n_words > 0);
        }
    steno_session_close(s);
}

static void test_hot_words_that_cannot_be_written_are_refused(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    const float x[1600] = { 0 };
    steno_transcribe_params p = params_of(0, "five\n\xc2\xb6", 2);
    assert_int_equal(steno_transcribe(s, x, 1600, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "line 2: \"\xc2\xb6\" is not in the vocabulary"));
    p = params_of(33, NULL, 2);
    assert_int_equal(steno_transcribe(s, x, 1600, &p), STENO_EARG);
    p = params_of(2, NULL, 3);
    p.patience = 2;
    assert_int_equal(steno_transcribe(s, x, 1600, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "patience"));
    steno_session_close(s);
}

static void test_text_becomes_the_pieces_of_sentencepiece(void **state)
{
    (void)state;
    static const struct { const char *text; int32_t ids[8]; } c[] = { /* of sentencepiece 0.2.3 */
        { "four four two", { 125, 132, 129 } },
        { "seven thousand", { 130, 223 } },
        { "\xe9\x9b\xb6\xe4\xba\x94\xe4\xb9\x9d\xe5\x9b\x9b", { 441, 420, 417, 426 } },
        { "HELLO world", { 456, 453, 460, 460, 463, 36, 63, 75 } },
        { "the undred eleventh", { 89, 346, 146, 219, 31 } },
        { "\xec\x9c\xa1 \xec\x9d\xbc \xed\x8c\x94", { 388, 346, 390, 346, 392 } },
        { "would ought\xef\xbc\x8c" "ever\xe3\x80\x82", { 325, 346, 33, 58, 442, 193, 408 } },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        int32_t ids[8] = { 0 };
        char text[64];
        const int n = steno_tokenize(model, c[i].text, ids, 8);
        assert_true(n > 0 && n <= 8);
        assert_memory_equal(ids, c[i].ids, sizeof ids);
        assert_int_equal(steno_detokenize(model, ids, n, text, sizeof text), (int)strlen(c[i].text));
        assert_string_equal(text, c[i].text);
    }
    assert_int_equal(steno_tokenize(model, "\xc2\xb6", NULL, 0), STENO_EARG);
    assert_int_equal(steno_tokenize(model, "\xff", NULL, 0), STENO_EARG);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_beam_is_greedy_and_more_find_what_is_sure),
        cmocka_unit_test(test_hot_words_are_favoured_as_much_as_is_asked_for),
        cmocka_unit_test(test_hot_words_that_cannot_be_written_are_refused),
        cmocka_unit_test(test_text_becomes_the_pieces_of_sentencepiece),
    };
    return cmocka_run_group_tests(tests, group_begin, funasr_close);
}
