/* steno: decoding options become the library's parameters. SPDX-License-Identifier: MIT
 *
 * What is refused is looked at by tests/cli; here only its exit code counts. */
#include "options/decode_opts.h"
#include "harness.h"
#include "cli/message.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL "models/whisper-digits/whisper-digits.bin"

struct opts { struct decode_opts decode; };

static const struct arg rows[] = {
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Input" },
    DECODE_INPUT_ROWS(struct opts),
    DECODE_ROWS(struct opts),
    { 0 },
};

static const struct args table = { "test", "", "", rows };

struct given {
    struct opts o;
    struct decode_data data;
    steno_transcribe_params p;
    int code;
};

/* Parse, check and fill; the words end with NULL. */
static struct given *give(const steno_model *m, int has_vad, ...)
{
    struct given *g = calloc(1, sizeof *g);
    assert_non_null(g);
    char *argv[16];
    va_list ap;
    int n = 0, n_operands;
    va_start(ap, has_vad);
    for (char *s = va_arg(ap, char *); s; s = va_arg(ap, char *)) argv[n++] = s;
    va_end(ap);
    g->o = (struct opts){ .decode = DECODE_OPTS_UNSET };
    assert_int_equal(args_parse(&table, &g->o, NULL, n, argv, &n_operands), ARGS_RUN);
    g->code = decode_opts_check(&g->data, &g->o.decode, has_vad);
    steno_transcribe_params_init(&g->p);
    if (g->code == EXIT_OK) assert_int_equal(decode_opts_fill(&g->p, &g->data, &g->o.decode, m), EXIT_OK);
    return g;
}

#define GIVE(...) give(*state, 0, __VA_ARGS__, (char *)NULL)

static void done(struct given *g)
{
    decode_data_free(&g->data);
    free(g);
}

static int model_open(void **state)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = 1;
    return steno_model_open((steno_model **)state, MODEL, &p, NULL);
}

static int model_close(void **state)
{
    steno_model_close(*state);
    return 0;
}

/* Numbers are compared as text: NAN equals NAN then. */
static void assert_number(const char *what, double got, double want)
{
    char a[32], b[32];
    snprintf(a, sizeof a, "%.17g", got);
    snprintf(b, sizeof b, "%.17g", want);
    if (strcmp(isnan(got) ? "nan" : a, isnan(want) ? "nan" : b) != 0) fail_msg("%s is %s, want %s", what, a, b);
}

#define SAME(field) assert_number(#field, (double)g->p.field, (double)own.field)

static void test_defaults_are_those_of_the_library(void **state)
{
    struct given *g = give(*state, 0, (char *)NULL);
    steno_transcribe_params own;
    steno_transcribe_params_init(&own);
    assert_int_equal(g->code, EXIT_OK);
    SAME(condition_on_previous_text);
    SAME(without_timestamps);
    SAME(suppress_blank);
    SAME(sample_len);
    SAME(max_initial_timestamp);
    SAME(temperature);
    SAME(seed);
    SAME(no_speech_threshold);
    SAME(logprob_threshold);
    SAME(temperature_increment_on_fallback);
    SAME(compression_ratio_threshold);
    SAME(entropy_threshold);
    SAME(n_prompt_tokens);
    SAME(carry_initial_prompt);
    SAME(guards);
    SAME(itn);
    SAME(tags);
    SAME(ban_unknown_emotion);
    SAME(patience);
    SAME(length_penalty);
    SAME(max_context);
    SAME(grammar_penalty);
    SAME(hotwords_boost);
    SAME(repetition_penalty);
    SAME(no_repeat_ngram_size);
    SAME(prompt_reset_on_temperature);
    SAME(n_fallback_temperatures);
    SAME(draft_max);
    SAME(n_clip_timestamps);
    SAME(independent_clips);
    SAME(chunk_ms);
    SAME(audio_ctx);
    SAME(language_detection_segments);
    SAME(language_detection_threshold);
    SAME(word_timestamps);
    SAME(hallucination_silence_threshold);
    SAME(token_threshold);
    SAME(token_timestamps);
    SAME(tinydiarize);
    assert_string_equal(g->p.suppress_tokens, own.suppress_tokens);
    const char *const none[] = { g->p.initial_prompt, g->p.prefix, g->p.suppress_regex, g->p.grammar, g->p.grammar_rule, g->p.hotwords,
                                 g->p.prepend_punctuations, g->p.append_punctuations };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_null(none[i]);
    done(g);
}

/* openai-whisper, faster-whisper and whisper-cli search with five beams, and take the best of five draws. */
static void test_the_search_is_that_of_the_other_programs_command_lines(void **state)
{
    static const struct { const char *words[4]; int drafted, bare, beams, best, lanes; } all[] = {
        { { NULL }, 0, 0, 5, 5, 5 },
        { { "--greedy" }, 0, 0, 0, 0, 1 },
        { { "--greedy", "--best-of", "3" }, 0, 0, 0, 3, 3 },
        { { "--beam-size", "0" }, 0, 0, 0, 5, 5 },
        { { "--beam-size", "8" }, 0, 0, 8, 5, 8 },
        { { "--best-of", "0" }, 0, 0, 5, 0, 5 },
        { { "--best-of", "32" }, 0, 0, 5, 32, 32 },
        { { "--temperature", "0.4" }, 0, 0, 0, 5, 5 },
        { { "--temperature", "0.4", "--decoding", "whisper.cpp" }, 0, 0, 5, 5, 5 },
        { { "--temperature-increment-on-fallback", "0" }, 0, 0, 5, 0, 5 },
        { { "--temperature-increment-on-fallback", "none" }, 0, 0, 5, 0, 5 },
        { { "--temperature-increment-on-fallback", "1" }, 0, 0, 5, 5, 5 },
        { { "--temperature-increment-on-fallback", "1.01" }, 0, 0, 5, 0, 5 },
        { { "--fallback-temperatures", "1.5" }, 0, 0, 5, 5, 5 },
        { { NULL }, 1, 0, 0, 5, 5 },
        { { "--temperature-increment-on-fallback", "0" }, 1, 0, 0, 0, 1 },
        { { NULL }, 0, 1, 0, 0, 1 },
        { { "--beam-size", "2" }, 0, 1, 2, 0, 2 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *const *w = all[i].words;
        struct given *g = give(*state, 0, w[0], w[1], w[2], w[3], (char *)NULL);
        assert_int_equal(g->code, EXIT_OK);
        g->o.decode.drafted = all[i].drafted;
        g->o.decode.bare = all[i].bare;
        for (int known = 0; known < 2; known++) { /* before there is a model it is taken for Whisper */
            assert_int_equal(decode_opts_fill(&g->p, &g->data, &g->o.decode, known ? *state : NULL), EXIT_OK);
            assert_int_equal(g->p.beam_size, all[i].beams);
            assert_int_equal(g->p.best_of, all[i].best);
        }
        assert_int_equal(decode_opts_lanes(&g->o.decode), all[i].lanes);
        decode_opts_settle(&g->o.decode, *state);
        assert_int_equal(g->o.decode.beam_size, all[i].beams);
        assert_int_equal(g->o.decode.best_of, all[i].best);
        assert_int_equal(decode_opts_lanes(&g->o.decode), all[i].lanes);
        done(g);
    }
}

static void test_searches_get_their_lanes(void **state)
{
    struct given *g = GIVE("--beam-size", "5", "--best-of=3", "--patience", "1.5", "--length-penalty", "0.6");
    assert_int_equal(g->code, EXIT_OK);
    assert_int_equal(g->p.beam_size, 5);
    assert_int_equal(g->p.best_of, 3);
    assert_true(g->p.patience == 1.5 && g->p.length_penalty == 0.6);
    assert_int_equal(decode_opts_lanes(&g->o.decode), 5);
    done(g);
    g = GIVE("--best-of", "7", "--temperature", "0.4", "--temperature-increment-on-fallback", "none");
    assert_int_equal(g->code, EXIT_OK);
    assert_int_equal(decode_opts_lanes(&g->o.decode), 7);
    done(g);
}

static void test_fallback_temperatures_are_a_list(void **state)
{
    struct given *g = GIVE("--fallback-temperatures", "0.3,1,1.5");
    static const double want[] = { 0.3, 1, 1.5 };
    assert_int_equal(g->p.n_fallback_temperatures, 3);
    assert_memory_equal(g->p.fallback_temperatures, want, sizeof want);
    done(g);
    static const char *const bad[] = { "0.3,", ",0.3", "0.3 0.5", "warm", "nan", "0.3,inf" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        g = GIVE("--fallback-temperatures", bad[i]);
        assert_int_equal(g->code, EXIT_USAGE);
        done(g);
    }
}

static void test_clips_are_seconds_and_chunks_milliseconds(void **state)
{
    struct given *g = GIVE("--clip-timestamps", "0.5,2.25,2.25,1e1,12");
    static const double want[] = { 0.5, 2.25, 2.25, 10, 12 };
    assert_int_equal(g->p.n_clip_timestamps, 5);
    for (int i = 0; i < 5; i++) assert_true(g->p.clip_timestamps[i] == want[i]);
    assert_int_equal(g->p.condition_on_previous_text, 1);
    assert_int_equal(g->p.independent_clips, 0);
    done(g);
    g = GIVE("--chunk-length", "12.5");
    assert_int_equal(g->p.chunk_ms, 12500);
    assert_int_equal(g->p.condition_on_previous_text, 0);
    done(g);
}

static void test_context_is_off_between_clips_of_voice_activity_unless_it_is_asked_for(void **state)
{
    struct given *g = give(*state, 1, (char *)NULL);
    assert_int_equal(g->p.condition_on_previous_text, 0);
    done(g);
    g = give(*state, 1, "--condition-on-previous-text", (char *)NULL);
    assert_int_equal(g->p.condition_on_previous_text, 1);
    done(g);
    g = GIVE("--no-condition-on-previous-text");
    assert_int_equal(g->p.condition_on_previous_text, 0);
    done(g);
}

static void check_suppress(void **state, const char *list, const char *set, const char *want)
{
    char word[64], option[64];
    snprintf(word, sizeof word, "--suppress-tokens=%s", list);
    snprintf(option, sizeof option, "--%ssuppress-non-speech", set);
    struct given *g = strcmp(set, "?") ? GIVE(word, option) : GIVE(word);
    assert_string_equal(g->p.suppress_tokens, want);
    done(g);
}

static void test_the_non_speech_set_goes_in_and_out_of_the_list(void **state)
{
    char start[16];
    snprintf(start, sizeof start, "%d", (int)steno_token_id(*state, STENO_TOKEN_START));
    check_suppress(state, "-1", "?", "-1");
    check_suppress(state, "", "?", "");
    check_suppress(state, "1, 2", "?", "1, 2");
    check_suppress(state, "1,2", "", "1,2,-1");
    check_suppress(state, "", "", "-1");
    check_suppress(state, "3,-1", "", "3,-1");
    check_suppress(state, "-1", "no-", start);
    check_suppress(state, "-1,-1", "no-", start);
    check_suppress(state, "4,-1,5", "no-", "4,5");
    check_suppress(state, " -1,4", "no-", "4");
    check_suppress(state, "", "no-", ""); /* an empty list lets everything through, and so it stays */
    check_suppress(state, "x", "no-", "x"); /* the library reports its fault */
}

static void check_hotwords(void **state, const char *given, const char *want)
{
    char word[128];
    snprintf(word, sizeof word, "--hotwords=%s", given);
    struct given *g = GIVE(word);
    assert_int_equal(g->code, EXIT_OK);
    assert_string_equal(g->p.hotwords, want);
    done(g);
}

static void test_hot_words_become_lines(void **state)
{
    check_hotwords(state, "one", "one");
    check_hotwords(state, " New York ,\tone, ,,two", "New York\none\ntwo");
    char path[] = "/tmp/steno-words-XXXXXX", at[64];
    const int fd = mkstemp(path);
    static const char text[] = "\n  Ada, Countess \r\n\nBabbage\n \n";
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    snprintf(at, sizeof at, "@%s", path);
    check_hotwords(state, at, "Ada, Countess\nBabbage"); /* commas count on the command line only */
    unlink(path);
}

static void test_a_grammar_is_text_or_a_file(void **state)
{
    char path[] = "/tmp/steno-grammar-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "root ::= \"a\"\n", 13) == 13);
    close(fd);
    struct given *g = GIVE("--grammar", path, "--grammar-rule", "x", "--grammar-penalty", "100");
    assert_string_equal(g->p.grammar, "root ::= \"a\"\n");
    assert_string_equal(g->p.grammar_rule, "x");
    assert_true(g->p.grammar_penalty == 100);
    done(g);
    unlink(path);
    g = GIVE("--grammar", path);
    assert_int_equal(g->code, EXIT_USAGE);
    done(g);
    g = GIVE("--grammar", "root ::= [ab]");
    assert_string_equal(g->p.grammar, "root ::= [ab]");
    assert_true(isinf(g->p.grammar_penalty));
    done(g);
}

static void test_text_and_words_are_passed_on(void **state)
{
    struct given *g = GIVE("--prompt-tokens", "5,6,7", "--prefix", "one", "--max-context", "0", "--word-timestamps", "--tinydiarize",
                           "--prepend-punctuations=", "--append-punctuations", ".,", "--hallucination-silence-threshold", "2");
    assert_int_equal(g->code, EXIT_OK);
    assert_int_equal(g->p.n_prompt_tokens, 3);
    assert_int_equal(g->p.prompt_tokens[2], 7);
    assert_string_equal(g->p.prefix, "one");
    assert_int_equal(g->p.max_context, 0);
    assert_true(g->p.word_timestamps == 1 && g->p.tinydiarize == 1);
    assert_string_equal(g->p.prepend_punctuations, "");
    assert_string_equal(g->p.append_punctuations, ".,");
    assert_true(g->p.hallucination_silence_threshold == 2);
    done(g);
    g = GIVE("--token-timestamps", "--word-threshold", "0.25", "--audio-ctx", "768", "--language-detection-segments", "4",
             "--language-detection-threshold", "0.75");
    assert_true(g->p.token_timestamps == 1 && g->p.token_threshold == 0.25 && g->p.audio_ctx == 768);
    assert_true(g->p.language_detection_segments == 4 && g->p.language_detection_threshold == 0.75);
    done(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_those_of_the_library),
        cmocka_unit_test(test_the_search_is_that_of_the_other_programs_command_lines),
        cmocka_unit_test(test_searches_get_their_lanes),
        cmocka_unit_test(test_fallback_temperatures_are_a_list),
        cmocka_unit_test(test_clips_are_seconds_and_chunks_milliseconds),
        cmocka_unit_test(test_context_is_off_between_clips_of_voice_activity_unless_it_is_asked_for),
        cmocka_unit_test(test_the_non_speech_set_goes_in_and_out_of_the_list),
        cmocka_unit_test(test_hot_words_become_lines),
        cmocka_unit_test(test_a_grammar_is_text_or_a_file),
        cmocka_unit_test(test_text_and_words_are_passed_on),
    };
    return cmocka_run_group_tests(tests, model_open, model_close);
}
