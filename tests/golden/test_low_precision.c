/* steno tests: narrow arithmetic against the reference's texts. SPDX-License-Identifier: MIT
 *
 * The number of the collection's texts that change is that of doc/accuracy.tsv, the header, the manual and doc/performance.md: of
 * all stable cases, of those with the reference's usual options (greedy, five beams), and of a thousand words more
 * (tests/data/golden/words.json, see make_words.py). The encoder's output stays near f32's, row by row.
 * With the argument "usual" it runs the latter alone (tests/emulated), with another one the tests of that name.
 *
 * Needs the collection named by STENO_SHARED; without it every test here is skipped. */
#include "accuracy.h"
#include "golden.h"

static int text_equal(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    int *usual = user;
    const char *text = json_string_value(json_object_get(want, "text"));
    if (strcmp(steno_text(s), text) == 0) return 0;
    print_message("golden.json, %s, %s: text '%s', want '%s'\n", file, set, steno_text(s), text);
    *usual += !strcmp(set, "greedy") || !strcmp(set, "beam5");
    return 1;
}

/* At most as many texts of all cases (of the sets of options `only`, NULL: all) change, and as many of those with the usual options, as
 * of the arithmetic `as`. */
static void texts_change(const char *level, enum steno_compute compute, enum steno_compute as, const char *only)
{
    const int most = figure("texts under many sets of options", level, as), most_usual = figure("texts with the usual options", level, as);
    const int all = figure("texts under many sets of options", level, STENO_COMPUTE_AUTO);
    json_t *golden = json_open(shared_file("golden/golden.json").s), *file;
    struct engine g;
    struct tally t = { 0 };
    const char *name, *sets = SANITIZED ? "greedy beam5" : only;
    int files = 0, usual = 0;
    engine_open_as(&g, shared_file("whisper-digits.bin").s, level, 1, compute);
    json_object_foreach(json_object_get(golden, "files"), name, file)
        if (!SANITIZED || files++ < 2) file_run(&t, &g, golden, name, audio_of(name).s, sets, text_equal, &usual);
    print_message("%d cases, %d differ, %d of them with the usual options\n", t.cases, t.differ, usual);
    assert_true(t.differ <= most && usual <= most_usual);
    assert_true(t.cases >= (SANITIZED ? 2 : t.undecoded ? only ? 20 : 100 : only ? 56 : all));
    engine_close(&g);
    json_decref(golden);
}

static void test_the_usual_options_change_as_many_texts_as_the_manual_has(void **state)
{
    (void)state;
    for (int c = STENO_COMPUTE_BF16; c <= STENO_COMPUTE_INT16; c++) texts_change(level_tested(), c, c, "greedy beam5");
}

static void test_bf16_changes_as_many_texts_as_the_manual_has(void **state)
{
    (void)state;
    texts_change(level_tested(), STENO_COMPUTE_BF16, STENO_COMPUTE_BF16, NULL);
}

static void test_int16_changes_as_many_texts_as_the_manual_has(void **state)
{
    (void)state;
    texts_change(level_tested(), STENO_COMPUTE_INT16, STENO_COMPUTE_INT16, NULL);
}

static void test_int8_changes_as_many_texts_as_the_manual_has(void **state)
{
    (void)state;
    texts_change(level_tested(), STENO_COMPUTE_INT8, STENO_COMPUTE_INT8, NULL);
}

/* A level at which auto takes int16 or f32 beside cross keys of 12 bits; NULL: this machine has none. */
static const char *level_of_auto(void)
{
    const char *name;
    for (int level = 0; (name = steno_cpu_level_name(level)) != NULL; level++)
        if ((!strcmp(name, "avx2") || !strcmp(name, "dotprod")) && steno_cpu_level_usable(level)) return name;
    return NULL;
}

static void test_texts_that_change_by_default(void **state)
{
    (void)state;
    const char *level = level_of_auto();
    if (!level) skip();
    texts_change(level, STENO_COMPUTE_AUTO, STENO_COMPUTE_INT16, "greedy beam5");
}

/* Encoder output of the first window, [*rows, *width]; the caller frees it. */
static float *features(const char *audio, enum steno_compute compute, const char *level, int32_t *rows, int32_t *width)
{
    struct engine g;
    struct sound snd = { 0 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = "en";
    p.keep_audio_features = 1;
    engine_open_as(&g, shared_file("whisper-digits.bin").s, level, 1, compute);
    assert_int_equal(sound_read(&snd, audio_of(audio).s), 0);
    if (steno_transcribe(g.session, snd.pcm, snd.n < 480000 ? snd.n : 480000, &p)) fail_msg("%s", steno_last_error(g.session));
    const float *x = steno_audio_features(g.session, rows, width);
    assert_non_null(x);
    const size_t sz = (size_t)*rows * (size_t)*width * sizeof *x;
    float *copy = malloc(sz);
    assert_non_null(copy);
    memcpy(copy, x, sz);
    sound_free(&snd);
    engine_close(&g);
    return copy;
}

/* Largest relative error of a row. */
static double worst_row(const float *x, const float *want, int32_t rows, int32_t width)
{
    double worst = 0;
    for (int32_t r = 0; r < rows; r++) {
        double error = 0, norm = 0;
        for (int32_t i = 0; i < width; i++) {
            const double w = (double)want[(size_t)r * (size_t)width + (size_t)i], d = (double)x[(size_t)r * (size_t)width + (size_t)i] - w;
            error += d * d;
            norm += w * w;
        }
        if (sqrt(error / norm) > worst) worst = sqrt(error / norm);
    }
    return worst;
}

static void test_encoder_output_stays_near_that_of_f32_at_every_level(void **state)
{
    (void)state;
    static const struct { enum steno_compute compute; double most; const char *name; } narrow[] = {
        { STENO_COMPUTE_BF16, 1e-2, "bf16" }, { STENO_COMPUTE_INT16, 1e-3, "int16" }, { STENO_COMPUTE_INT8, 5e-2, "int8" },
    };
    int32_t rows, width;
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    float *want = features("en_phrases.wav", STENO_COMPUTE_F32, NULL, &rows, &width);
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            float *x = features("en_phrases.wav", narrow[k].compute, level[i], &rows, &width);
            const double worst = worst_row(x, want, rows, width);
            print_message("%s at %s: worst row %.2e\n", narrow[k].name, level[i], worst);
            assert_true(worst > 0 && worst < narrow[k].most);
            free(x);
        }
    free(want);
}

/* ---- a thousand words ---- */

enum { WORDS_MAX = 64, RATE = 16000 };

static int words_of(char *text, const char *word[WORDS_MAX])
{
    int n = 0;
    char *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &save)) word[n++] = w;
    return n;
}

/* Words put in, left out or exchanged between two texts (Levenshtein). */
static int word_errors(const char *text, const char *want, int *n_want)
{
    char a[1024], b[1024];
    const char *x[WORDS_MAX], *y[WORDS_MAX];
    int row[WORDS_MAX + 1];
    snprintf(a, sizeof a, "%s", text);
    snprintf(b, sizeof b, "%s", want);
    const int n = words_of(a, x), m = *n_want = words_of(b, y);
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            const int other = corner + (strcmp(x[i - 1], y[j - 1]) != 0), gap = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            corner = row[j];
            row[j] = other < gap ? other : gap;
        }
    }
    return row[m];
}

/* Half a second of silence, then pieces of a file with pauses behind them. */
static int64_t compose(float *pcm, const struct sound *from, const json_t *pieces)
{
    int64_t n = RATE / 2;
    size_t i;
    const json_t *piece;
    memset(pcm, 0, 30 * RATE * sizeof *pcm);
    json_array_foreach(pieces, i, piece)
    {
        const json_int_t first = json_integer_value(json_array_get(piece, 0)), last = json_integer_value(json_array_get(piece, 1));
        assert_true(first >= 0 && first < last && last <= from->n && n + last - first <= 30 * RATE);
        memcpy(pcm + n, from->pcm + first, (size_t)(last - first) * sizeof *pcm);
        n += last - first + json_integer_value(json_array_get(piece, 2));
    }
    return n;
}

/* @return errors against the reference in *words words of composed recordings */
static int errors_in(enum steno_compute compute, const char *level, int *words)
{
    static float pcm[30 * RATE];
    json_t *rows = json_open("tests/data/golden/words.json"), *row;
    struct engine g;
    struct sound snd = { 0 };
    const char *open = "";
    int errors = 0;
    size_t i;
    *words = 0;
    engine_open_as(&g, shared_file("whisper-digits.bin").s, level, 1, compute);
    json_array_foreach(rows, i, row)
    {
        const char *file = json_string_value(json_object_get(row, "file")), *want = json_string_value(json_object_get(row, "text"));
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = json_string_value(json_object_get(row, "language"));
        p.condition_on_previous_text = 0;
        p.temperature_increment_on_fallback = 0;
        if (SANITIZED && i % 40) continue;
        if (strcmp(open, file) != 0) {
            sound_free(&snd);
            assert_int_equal(sound_read(&snd, audio_of(file).s), 0);
            open = file;
        }
        const int64_t n = compose(pcm, &snd, json_object_get(row, "pieces"));
        if (steno_transcribe(g.session, pcm, n, &p)) fail_msg("%s, row %zu: %s", file, i, steno_last_error(g.session));
        int n_want;
        const int wrong = word_errors(steno_text(g.session), want, &n_want);
        if (wrong) print_message("row %zu of words.json: '%s', want '%s'\n", i, steno_text(g.session), want);
        errors += wrong;
        *words += n_want;
    }
    sound_free(&snd);
    engine_close(&g);
    json_decref(rows);
    return errors;
}

static void test_as_many_words_in_a_thousand_change_as_the_manual_has(void **state)
{
    (void)state;
    static const enum steno_compute compute[] = { STENO_COMPUTE_BF16, STENO_COMPUTE_INT16, STENO_COMPUTE_INT8 };
    for (size_t i = 0; i < 3; i++) {
        int words;
        const int errors = errors_in(compute[i], level_tested(), &words);
        assert_int_equal(words, SANITIZED ? words : figure("words of 117 recordings", NULL, STENO_COMPUTE_AUTO));
        assert_true(words >= 20 && errors <= figure("words of 117 recordings", NULL, compute[i]));
    }
}

static void test_auto_changes_no_word_at_levels_with_one_arithmetic(void **state)
{
    (void)state;
    int words;
    if (!level_of_auto()) skip();
    assert_int_equal(errors_in(STENO_COMPUTE_AUTO, level_of_auto(), &words), 0);
    assert_true(words >= (SANITIZED ? 20 : 1000));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bf16_changes_as_many_texts_as_the_manual_has),
        cmocka_unit_test(test_int16_changes_as_many_texts_as_the_manual_has),
        cmocka_unit_test(test_int8_changes_as_many_texts_as_the_manual_has),
        cmocka_unit_test(test_texts_that_change_by_default),
        cmocka_unit_test(test_as_many_words_in_a_thousand_change_as_the_manual_has),
        cmocka_unit_test(test_auto_changes_no_word_at_levels_with_one_arithmetic),
        cmocka_unit_test(test_encoder_output_stays_near_that_of_f32_at_every_level),
    };
    const struct CMUnitTest usual[] = { cmocka_unit_test(test_the_usual_options_change_as_many_texts_as_the_manual_has) };
    const int missing = collection_missing();
    if (argc > 1 && !strcmp(argv[1], "usual")) return missing ? missing : cmocka_run_group_tests(usual, NULL, NULL);
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
