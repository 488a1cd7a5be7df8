/* steno tests: Whisper's special tokens and non-speech set. SPDX-License-Identifier: MIT
 *
 * Ids and strings are those of openai-whisper's tokenizer for its three sizes of vocabulary. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "real_vocab.h"
#include "model/whisper_dims.h"
#include "text/language.h"

static void test_special_ids_follow_from_the_size_of_the_vocabulary(void **state)
{
    (void)state;
    /* n_vocab, n_languages, eot, sot, first_lang, translate, transcribe, solm, prev, nospeech, notimestamps, timestamp_begin */
    static const int32_t c[][12] = {
        { 51864, 0, 50256, 50257, 50258, 50357, 50358, 50359, 50360, 50361, 50362, 50363 },
        { 51865, 99, 50257, 50258, 50259, 50358, 50359, 50360, 50361, 50362, 50363, 50364 },
        { 51866, 100, 50257, 50258, 50259, 50359, 50360, 50361, 50362, 50363, 50364, 50365 },
    };
    for (size_t i = 0; i < 3; i++) {
        struct token_roles t;
        steno_error e;
        assert_int_equal(whisper_tokens_init(&t, c[i][0], &e), STENO_OK);
        const int32_t got[12] = { t.n_vocab, t.n_languages, t.eot, t.sot, t.first_language, t.translate, t.transcribe, t.turn, t.previous,
                                  t.no_speech, t.no_timestamps, t.timestamp_begin };
        assert_memory_equal(got, c[i], sizeof got);
        assert_int_equal(t.blank, 220);
        assert_int_equal(t.timestamp_begin + 1500, t.n_vocab - 1);
    }
}

static void test_smaller_vocabulary_keeps_the_special_ids_at_its_end(void **state)
{
    (void)state;
    struct token_roles t;
    steno_error e;
    assert_int_equal(whisper_tokens_init(&t, 2000, &e), STENO_OK);
    assert_int_equal(t.n_languages, 0);
    assert_int_equal(t.eot, 392);
    assert_int_equal(t.timestamp_begin, 499);
    assert_int_equal(t.blank, -1);
}

static void test_vocabulary_without_room_for_special_ids_is_refused(void **state)
{
    (void)state;
    struct token_roles t;
    steno_error e;
    assert_int_equal(whisper_tokens_init(&t, 1609, &e), STENO_OK);
    assert_int_equal(whisper_tokens_init(&t, 1608, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "n_vocab 1608"));
    assert_int_equal(whisper_tokens_init(&t, -1, &e), STENO_EFORMAT);
    assert_int_equal(whisper_tokens_init(&t, INT32_MIN, &e), STENO_EFORMAT);
    assert_int_equal(whisper_tokens_init(&t, 51867, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "101 languages"));
    assert_int_equal(whisper_tokens_init(&t, INT32_MAX, &e), STENO_EFORMAT);
}

static void test_special_strings_equal_the_reference(void **state)
{
    (void)state;
    static const struct { int32_t n_vocab, id; const char *text; } c[] = {
        { 51864, 50256, "<|endoftext|>" }, { 51864, 50257, "<|startoftranscript|>" }, { 51864, 50258, "<|en|>" },
        { 51864, 50356, "<|su|>" }, { 51864, 50357, "<|translate|>" }, { 51864, 50363, "<|0.00|>" }, { 51864, 51863, "<|30.00|>" },
        { 51865, 50257, "<|endoftext|>" }, { 51865, 50357, "<|su|>" }, { 51865, 50358, "<|translate|>" },
        { 51865, 50359, "<|transcribe|>" }, { 51865, 50360, "<|startoflm|>" }, { 51865, 50361, "<|startofprev|>" },
        { 51865, 50362, "<|nospeech|>" }, { 51865, 50363, "<|notimestamps|>" }, { 51865, 50364, "<|0.00|>" },
        { 51865, 50418, "<|1.08|>" }, { 51865, 51864, "<|30.00|>" }, { 51866, 50358, "<|yue|>" }, { 51866, 51865, "<|30.00|>" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct token_roles t;
        steno_error e;
        uint32_t n;
        assert_int_equal(whisper_tokens_init(&t, c[i].n_vocab, &e), STENO_OK);
        const char *text = whisper_token_text(&t, c[i].id, &a, &n);
        assert_non_null(text);
        assert_string_equal(text, c[i].text);
        assert_int_equal(n, strlen(c[i].text));
        assert_null(whisper_token_text(&t, t.eot - 1, &a, &n));
        assert_int_equal(n, 0);
        assert_null(whisper_token_text(&t, t.n_vocab, &a, &n));
        assert_null(whisper_token_text(&t, -1, &a, &n));
    }
    arena_free(&a);
}

static void test_non_speech_set_of_the_multilingual_vocabulary_has_the_82_ids(void **state)
{
    (void)state;
    static const int32_t want[] = {
        1, 2, 7, 8, 9, 10, 14, 25, 26, 27, 28, 29, 31, 58, 59, 60, 61, 62, 63, 90, 91, 92, 93, 359, 503, 522, 542, 873, 893, 902, 918,
        922, 931, 1350, 1853, 1982, 2460, 2627, 3246, 3253, 3268, 3536, 3846, 3961, 4183, 4667, 6585, 6647, 7273, 9061, 9383, 10428,
        10929, 11938, 12033, 12331, 12562, 13793, 14157, 14635, 15265, 15618, 16553, 16604, 18362, 18956, 20075, 21675, 22520, 26130,
        26161, 26435, 28279, 29464, 31650, 32302, 32470, 36865, 42863, 47425, 49870, 50254,
    };
    struct real_vocab *r = real_vocab_open();
    if (!r) skip();
    struct buf ids = { 0 };
    steno_error e;
    assert_int_equal(whisper_non_speech(r->bpe, &ids, &e), STENO_OK);
    expect_ids("non-speech", &ids, want, 82);
    buf_free(&ids);
    real_vocab_close(r);
}

struct entry { int32_t id; const char *text; };

/* The set of a vocabulary of these entries alone. */
static void expect_non_speech(int32_t n_vocab, int32_t n_text, const struct entry *entry, size_t n, const int32_t *want, int n_want)
{
    struct arena a;
    struct vocab v;
    struct bpe *b;
    struct buf ids = { 0 };
    steno_error e;
    arena_init(&a);
    assert_int_equal(vocab_init(&v, &a, n_vocab, n_text, &e), STENO_OK);
    for (size_t i = 0; i < n; i++) vocab_set(&v, entry[i].id, (const uint8_t *)entry[i].text, (uint32_t)strlen(entry[i].text));
    assert_int_equal(vocab_index(&v, &a, &e), STENO_OK);
    assert_int_equal(bpe_open(&b, &v, &e), STENO_OK);
    assert_int_equal(whisper_non_speech(b, &ids, &e), STENO_OK);
    if (n_want) expect_ids("non-speech", &ids, want, (size_t)n_want);
    else assert_int_equal(ids.len, 0);
    bpe_close(b);
    buf_free(&ids);
    arena_free(&a);
}

/* Of GPT-2's vocabulary those 104 entries that lie within the symbols: pairs merge into nothing else on the way to their ids. */
static void test_non_speech_set_of_the_english_vocabulary_has_the_84_ids(void **state)
{
    (void)state;
    static const struct entry entry[] = {
        { 1, "\"" }, { 2, "#" }, { 6, "'" }, { 7, "(" }, { 8, ")" }, { 9, "*" }, { 10, "+" }, { 12, "-" }, { 14, "/" }, { 25, ":" },
        { 26, ";" }, { 27, "<" }, { 28, "=" }, { 29, ">" }, { 31, "@" }, { 58, "[" }, { 59, "\\" }, { 60, "]" }, { 61, "^" }, { 62, "_" },
        { 63, "`" }, { 90, "{" }, { 91, "|" }, { 92, "}" }, { 93, "~" }, { 102, "\xa9" }, { 103, "\xaa" }, { 104, "\xab" },
        { 105, "\xac" }, { 106, "\xae" }, { 107, "\xaf" }, { 158, "\xe2" }, { 159, "\xe3" }, { 220, " " }, { 222, "\x80" },
        { 234, "\x8c" }, { 235, "\x8d" }, { 236, "\x8e" }, { 237, "\x8f" }, { 247, "\x99" }, { 255, "\xad" }, { 357, " (" },
        { 366, " \"" }, { 438, "--" }, { 532, " -" }, { 685, " [" }, { 705, " '" }, { 796, " =" }, { 930, " |" }, { 1058, " :" },
        { 1220, " /" }, { 1267, " )" }, { 1279, " <" }, { 1303, " #" }, { 1343, " +" }, { 1377, " --" }, { 1391, " {" }, { 1635, " *" },
        { 1782, " }" }, { 1875, " >" }, { 2162, " ;" }, { 2343, " \xe2" }, { 2361, " ]" }, { 2488, " @" }, { 3467, " \\" },
        { 4008, "))" }, { 4211, ">>" }, { 4600, " `" }, { 4808, " _" }, { 5099, "\xe3\x80" }, { 5299, " ~" }, { 5855, " (\"" },
        { 6329, "---" }, { 7203, "(\"" }, { 9609, " >>" }, { 9959, " <<" }, { 10563, " ^" }, { 10786, "('" }, { 11420, " ---" },
        { 11709, "}}" }, { 11907, "]]" }, { 13163, " >>>" }, { 13697, "\xe3\x80\x8c" }, { 13700, "\xe3\x80\x8d" }, { 14808, " ((" },
        { 15306, " ))" }, { 16410, " [[" }, { 16791, "<<" }, { 17992, "\xe2\x99" }, { 19203, " ('" }, { 19510, "((" },
        { 20724, " \xe2\x99" }, { 22305, ")))" }, { 22935, " {{" }, { 27007, "{{" }, { 30109, "[[" }, { 30420, "-(" }, { 33409, ">>>" },
        { 34949, " }}" }, { 40283, " \xe3\x80\x8c" }, { 40493, "\xe3\x80\x8e" }, { 40549, "\xe3\x80\x8f" }, { 47282, " )))" },
        { 49146, "-[" },
    };
    static const int32_t want[] = {
        1, 2, 7, 8, 9, 10, 14, 25, 26, 27, 28, 29, 31, 58, 59, 60, 61, 62, 63, 90, 91, 92, 93, 357, 366, 438, 532, 685, 705, 796, 930,
        1058, 1220, 1267, 1279, 1303, 1343, 1377, 1391, 1635, 1782, 1875, 2162, 2361, 2488, 3467, 4008, 4211, 4600, 4808, 5299, 5855,
        6329, 7203, 9609, 9959, 10563, 10786, 11420, 11709, 11907, 13163, 13697, 13700, 14808, 15306, 16410, 16791, 17992, 19203, 19510,
        20724, 22305, 22935, 27007, 30109, 30420, 33409, 34949, 40283, 40493, 40549, 47282, 49146,
    };
    expect_non_speech(51864, 50256, entry, sizeof entry / sizeof *entry, want, 84);
}

static void test_non_speech_set_of_a_vocabulary_without_the_symbols_is_empty(void **state)
{
    (void)state;
    static const struct entry one = { 0, "a" };
    expect_non_speech(1, 1, &one, 1, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_ids_follow_from_the_size_of_the_vocabulary),
        cmocka_unit_test(test_smaller_vocabulary_keeps_the_special_ids_at_its_end),
        cmocka_unit_test(test_vocabulary_without_room_for_special_ids_is_refused),
        cmocka_unit_test(test_special_strings_equal_the_reference),
        cmocka_unit_test(test_non_speech_set_of_the_multilingual_vocabulary_has_the_82_ids),
        cmocka_unit_test(test_non_speech_set_of_the_english_vocabulary_has_the_84_ids),
        cmocka_unit_test(test_non_speech_set_of_a_vocabulary_without_the_symbols_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
