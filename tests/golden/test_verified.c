/* steno tests: near-ties of fast arithmetic, decided in f32. SPDX-License-Identifier: MIT
 *
 * Where every window is verified, what comes out is --compute f32's to the last bit, whatever the search and whatever changes the logits.
 * With the margin that is built in, all texts of the collection are the reference's.
 * With the argument "usual" it runs the texts of the usual options alone (tests/emulated).
 * Needs the collection named by STENO_SHARED; without it every test here is skipped. */
#include "accuracy.h"
#include "golden.h"
#include "golden/same_results.h"

static const enum steno_compute fast[] = { STENO_COMPUTE_BF16, STENO_COMPUTE_INT16, STENO_COMPUTE_INT8 };
static const char *const fast_name[] = { "bf16", "int16", "int8" };
enum { N_FAST = sizeof fast / sizeof *fast };

/* ---- every window ---- */

static void test_verified_windows_are_those_of_f32_to_the_bit(void **state)
{
    (void)state;
    static const char *const files[] = { "en_phrases.wav", "long95_en.flac" };
    struct engine f32;
    int verified = 0, corrected = 0;
    engine_open(&f32, shared_file("whisper-digits.bin").s, level_tested(), 1);
    for (int c = 0; c < (SANITIZED ? 1 : N_FAST); c++) {
        struct engine g;
        engine_open_verified(&g, shared_file("whisper-digits.bin").s, level_tested(), 1, fast[c], 1);
        for (int i = 0; i < (SANITIZED || c ? 1 : 2); i++) { /* the long one once */
            struct sound snd = { 0 };
            if (sound_read(&snd, audio_of(files[i]).s)) continue; /* without FFmpeg: no FLAC */
            for (size_t k = 0; k < N_WAYS; k++) {
                char what[128];
                steno_transcribe_params p;
                steno_transcribe_params_init(&p);
                snprintf(what, sizeof what, "%s, %s, %s", fast_name[c], files[i], ways[k].name);
                ways[k].set(&p);
                if (steno_transcribe(f32.session, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(f32.session));
                p.verify_margin = 1e9;
                if (steno_transcribe(g.session, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(g.session));
                results_are_equal(g.session, f32.session, what);
            }
            sound_free(&snd);
        }
        steno_timings t = { .size = sizeof t };
        steno_timings_get(g.session, &t);
        assert_true(t.n_verified >= t.n_windows && t.verify_us > 0);
        corrected += t.n_corrected;
        verified += t.n_verified;
        engine_close(&g);
    }
    assert_true(verified > 0 && (SANITIZED || corrected > 0));
    engine_close(&f32);
}

/* Nothing ends before its room does. */
static void no_end(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at, (void)tokens, (void)n;
    logits[*(const int32_t *)user] = -INFINITY;
}

/* Tokens are checked in pieces of some 32 rows: texts, and prompts before them, that end around their edges. */
static void test_texts_and_prompts_of_any_length_are_checked_to_their_end(void **state)
{
    (void)state;
    static const int32_t length[] = { 1, 2, 29, 30, 31, 32, 33, 61, 62, 63, 64, 65, 223, 224 };
    enum { N_LENGTHS = sizeof length / sizeof *length, PROMPTED = 8 };
    struct engine f32, g;
    struct sound snd = { 0 };
    int32_t prompt[224], end;
    engine_open(&f32, shared_file("whisper-digits.bin").s, level_tested(), 1);
    engine_open_verified(&g, shared_file("whisper-digits.bin").s, level_tested(), 1, STENO_COMPUTE_INT8, 1);
    end = steno_token_id(f32.model, STENO_TOKEN_END);
    assert_int_equal(sound_read(&snd, audio_of("en_short.wav").s), 0);
    for (int i = 0; i < 224; i++) prompt[i] = 300 + i;
    for (int i = 0; i < (SANITIZED ? 4 : N_LENGTHS + PROMPTED); i++) {
        char what[64];
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.temperature_increment_on_fallback = 0;
        p.without_timestamps = i % 2;
        p.language = "en";
        p.logits_filter = no_end;
        p.user = &end;
        p.sample_len = i < N_LENGTHS ? length[i] : 40;
        p.prompt_tokens = i < N_LENGTHS ? NULL : prompt;
        p.n_prompt_tokens = i < N_LENGTHS ? 0 : 24 + i - N_LENGTHS;
        snprintf(what, sizeof what, "%d tokens behind %d", (int)p.sample_len, (int)p.n_prompt_tokens);
        if (steno_transcribe(f32.session, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(f32.session));
        p.verify_margin = 1e9;
        if (steno_transcribe(g.session, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(g.session));
        results_are_equal(g.session, f32.session, what);
    }
    sound_free(&snd);
    engine_close(&g);
    engine_close(&f32);
}

/* ---- as many as it takes ---- */

static int text_equal(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    const char *text = json_string_value(json_object_get(want, "text"));
    if (strcmp(steno_text(s), text) == 0) return 0;
    print_error("golden.json, %s, %s, %s: text '%s', want '%s'\n", (const char *)user, file, set, steno_text(s), text);
    return 1;
}

/* Of the sets of options `only` (NULL: all). */
static void texts_are_the_reference_s(const char *only)
{
    json_t *golden = json_open(shared_file("golden/golden.json").s), *file;
    const char *name;
    for (int c = 0; c < N_FAST; c++) {
        struct engine g;
        struct tally t = { 0 };
        int files = 0;
        char what[16];
        snprintf(what, sizeof what, "%s", fast_name[c]);
        engine_open_verified(&g, shared_file("whisper-digits.bin").s, level_tested(), 1, fast[c], 1);
        json_object_foreach(json_object_get(golden, "files"), name, file)
            if (!SANITIZED || files++ < 2) file_run(&t, &g, golden, name, audio_of(name).s, SANITIZED ? "greedy" : only, text_equal, what);
        steno_timings n = { .size = sizeof n };
        steno_timings_get(g.session, &n);
        print_message("%s: %d cases, %d differ; of %d windows %d verified, %d corrected\n", what, t.cases, t.differ, n.n_windows,
                      n.n_verified, n.n_corrected);
        assert_true(t.differ <= figure(only ? "texts with --verify and the usual options" : "texts with --verify", NULL, fast[c]));
        assert_true(t.cases >= (SANITIZED ? 2 : t.undecoded ? only ? 20 : 100 : only ? 56 : 328));
        assert_true(SANITIZED || (n.n_verified > 0 && n.n_verified < n.n_windows));
        engine_close(&g);
    }
    json_decref(golden);
}

static void test_all_texts_are_the_reference_s(void **state)
{
    (void)state;
    texts_are_the_reference_s(NULL);
}

static void test_texts_with_the_usual_options_are_the_reference_s(void **state)
{
    (void)state;
    texts_are_the_reference_s("greedy beam5");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verified_windows_are_those_of_f32_to_the_bit),
        cmocka_unit_test(test_texts_and_prompts_of_any_length_are_checked_to_their_end),
        cmocka_unit_test(test_all_texts_are_the_reference_s),
    };
    const struct CMUnitTest usual[] = { cmocka_unit_test(test_texts_with_the_usual_options_are_the_reference_s) };
    const int missing = collection_missing();
    if (argc > 1 && !strcmp(argv[1], "usual")) return missing ? missing : cmocka_run_group_tests(usual, NULL, NULL);
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
