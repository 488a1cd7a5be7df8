/* steno tests: Qwen3-ASR against transformers and qwen-asr. SPDX-License-Identifier: MIT
 *
 * A small model with random weights: features, rows of the encoder, prompts, ids, the rules for texts, and both forms of its files. */
#include <math.h>
#include "api/shipped.h"
#include "internal.h"
#include "model/qwen3_asr.h"
#include "qwen3_asr.h"
#include "same_results.h"

enum { DEMO_MAX = 60000 };
static json_t *golden;
static float demo[DEMO_MAX];

static int group_begin(void **state)
{
    (void)state;
    golden = json_open("tests/data/qwen3_asr/golden.json");
    const struct audio a = demo_audio(0, 0, 1);
    assert_true(a.n <= DEMO_MAX);
    memcpy(demo, a.pcm, (size_t)a.n * sizeof *demo);
    free(a.pcm);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    json_decref(golden);
    return 0;
}

static const char *row_text(json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static int row_int(json_t *row, const char *key)
{
    return (int)json_integer_value(json_object_get(row, key));
}

static void run_clip(steno_session *s, json_t *run, const steno_transcribe_params *p)
{
    static float pcm[5 * DEMO_MAX];
    const int n = row_int(run, "samples"), times = row_int(run, "times");
    for (int i = 0; i < times; i++) memcpy(pcm + i * n, demo, (size_t)n * sizeof *pcm);
    if (steno_transcribe(s, pcm, (int64_t)n * times, p)) fail_msg("%s: %s", row_text(run, "name"), steno_last_error(s));
}

/* ---- rows */

enum { MELS = 128, CHUNK = 100, CHUNK_ROWS = 13, STACK = 8, D = 64, ROWS_MAX = 300, EVERY = 5 /* rows of a golden */ };
struct rows_seen { float features[ROWS_MAX * STACK * MELS], encoder[ROWS_MAX * D]; int n_features, n_encoder; };

static void take_rows(void *user, const steno_rows *r)
{
    struct rows_seen *seen = user;
    const int is_features = !strcmp(r->name, "features");
    float *to = is_features ? seen->features : seen->encoder;
    if (!is_features && strcmp(r->name, "adaptor") != 0) return;
    assert_true(r->n_rows <= ROWS_MAX && r->width == (is_features ? STACK * MELS : D));
    for (int i = 0; i < r->n_rows; i++) memcpy(to + i * r->width, r->rows + i * r->stride, (size_t)r->width * sizeof *to);
    *(is_features ? &seen->n_features : &seen->n_encoder) = r->n_rows;
}

static void is_near(json_t *run, const char *what, size_t i, float is, json_t *row, double near)
{
    const double want = json_number_value(json_array_get(row, i));
    if (!(fabs((double)is - want) <= near))
        fail_msg("%s, %s: number %zu is %.7g, want %.7g", row_text(run, "name"), what, i, (double)is, want);
}

/* Frames lie in rows of STACK, a chunk of a second after the other. The reference's transform is in f32, too: in bands that are 70 dB below
 * the loudest, both are off by their rounding. The definition in double is a unit test's. */
static void features_are_near(json_t *run, const struct rows_seen *seen)
{
    json_t *want = json_object_get(run, "features");
    for (size_t i = 0; i < json_array_size(want); i++) {
        const size_t t = i / MELS * EVERY, in = t % CHUNK, row = t / CHUNK * CHUNK_ROWS + in / STACK;
        is_near(run, "features", i, seen->features[(row * STACK + in % STACK) * MELS + i % MELS], want, 5e-5);
    }
}

static void test_features_and_rows_of_the_encoder(void **state)
{
    (void)state;
    static struct rows_seen seen;
    json_t *run;
    size_t i, n = 0;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = &seen;
    p.on_rows = take_rows;
    p.sample_len = 1;
    steno_model *m = qwen_open(qwen_dir);
    steno_session *s = qwen_session(m);
    json_array_foreach(json_object_get(golden, "runs"), i, run) {
        json_t *want = json_object_get(run, "encoder");
        if (!want) continue;
        run_clip(s, run, &p);
        assert_int_equal(seen.n_features, row_int(run, "rows"));
        assert_int_equal(seen.n_encoder, row_int(run, "rows"));
        features_are_near(run, &seen);
        assert_int_equal(json_array_size(want), (seen.n_encoder + EVERY - 1) / EVERY * D);
        for (size_t k = 0; k < json_array_size(want); k++, n++)
            is_near(run, "encoder", k, seen.encoder[k / D * EVERY * D + k % D], want, 1e-4);
    }
    assert_true(n > 4000);
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- prompts, ids and texts */

static void test_prompts_have_the_references_ids(void **state)
{
    (void)state;
    json_t *run;
    size_t i;
    steno_model *m = qwen_open(qwen_dir);
    json_array_foreach(json_object_get(golden, "runs"), i, run) {
        json_t *ids = json_object_get(run, "prompt");
        const struct audio_lm_options o = { .language = row_text(run, "language"), .context = row_text(run, "context") };
        struct buf before = { 0 }, behind = { 0 };
        assert_int_equal(qwen3_asr_lm.prompt(m, &o, &before, &behind, NULL), 0);
        const size_t rows = (size_t)row_int(run, "rows"), n1 = before.len / 4, n2 = behind.len / 4;
        assert_int_equal(json_array_size(ids), n1 + rows + n2);
        for (size_t k = 0; k < n1 + rows + n2; k++) {
            const int32_t *at = (const int32_t *)(const void *)(k < n1 ? before.p : behind.p);
            const int32_t is = k < n1 ? at[k] : k < n1 + rows ? 593 : at[k - n1 - rows];
            assert_int_equal(is, json_integer_value(json_array_get(ids, k)));
        }
        buf_free(&before);
        buf_free(&behind);
    }
    steno_model_close(m);
}

static void run_is_equal(steno_session *s, json_t *run)
{
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    json_t *ids = json_object_get(run, "ids"), *first = json_object_get(run, "first_logprob");
    const char *raw = row_text(run, "text"), *forced = row_text(run, "language"), *name = row_text(run, "name");
    struct buf text = { 0 }, language = { 0 };
    assert_true(json_real_value(json_object_get(run, "margin")) > 2e-3);
    assert_int_equal(steno_segment_count(s), 1);
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_int_equal(g.n_tokens, json_array_size(ids));
    for (int k = 0; k < g.n_tokens; k++)
        if (g.tokens[k] != json_integer_value(json_array_get(ids, (size_t)k))) fail_msg("%s: id %d is %d", name, k, (int)g.tokens[k]);
    assert_int_equal(steno_token_get(s, 0, 0, &t), 0);
    if (first) assert_true(fabs((double)t.logprob - json_number_value(first)) < 1e-3);
    qwen3_asr_text(raw, strlen(raw), forced, &text, &language);
    assert_string_equal(g.text, text.p);
    assert_string_equal(steno_language(s), forced ? steno_language_code(forced) : "");
    buf_free(&text);
    buf_free(&language);
}

static void test_ids_and_texts_of_both_forms_of_files(void **state)
{
    (void)state;
    json_t *run;
    size_t i;
    const struct folder d = qwen_hf_folder();
    steno_model *m = qwen_open(qwen_dir), *hf = qwen_open(d.path);
    steno_session *s = qwen_session(m), *other = qwen_session(hf);
    json_array_foreach(json_object_get(golden, "runs"), i, run) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = row_text(run, "language");
        p.initial_prompt = row_text(run, "context");
        p.sample_len = 24;
        run_clip(s, run, &p);
        run_is_equal(s, run);
        run_clip(other, run, &p);
        results_are_equal(other, s, row_text(run, "name"));
    }
    steno_session_close(s);
    steno_session_close(other);
    steno_model_close(m);
    steno_model_close(hf);
    folder_remove(&d);
}

static void test_rules_for_texts(void **state)
{
    (void)state;
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(golden, "parse"), i, row) {
        json_t *out = json_object_get(row, "out");
        struct buf text = { 0 }, language = { 0 };
        const char *raw = row_text(row, "raw");
        qwen3_asr_text(raw, strlen(raw), row_text(row, "language"), &text, &language);
        assert_string_equal(language.p ? language.p : "", json_string_value(json_array_get(out, 0)));
        assert_string_equal(text.p ? text.p : "", json_string_value(json_array_get(out, 1)));
        buf_free(&text);
        buf_free(&language);
    }
    assert_int_equal(i, 12);
}

static void text_becomes(const char *raw, const char *want_text, const char *want_language)
{
    struct buf text = { 0 }, language = { 0 };
    qwen3_asr_text(raw, strlen(raw), NULL, &text, &language);
    assert_string_equal(text.p ? text.p : "", want_text);
    assert_string_equal(language.p ? language.p : "", want_language);
    buf_free(&text);
    buf_free(&language);
}

/* Repetitions are counted in characters, not bytes. Languages that the model does not know keep their spelling. */
static void test_texts_of_several_bytes_a_character(void **state)
{
    (void)state;
    static const char twenty[] = "\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d"
                                 "\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d\u597d";
    char text[400];
    snprintf(text, sizeof text, "language Chinese<asr_text>a%sb", twenty);
    text_becomes(text, text + 26, "Chinese");
    snprintf(text, sizeof text, "language Chinese<asr_text>a%s\u597db", twenty);
    text_becomes(text, "a\u597db", "Chinese");
    text_becomes("language Chinese,English<asr_text>hi", "hi", "Chinese,English");
    text_becomes("LANGUAGE  yoruba \nlanguage German<asr_text>x", "x", "yoruba");
    text_becomes("language \n<asr_text> x ", "x", "");
    text_becomes("<asr_text>", "", "");
    text_becomes("", "", "");
}

/* ---- lengths, batches, contexts */

static void test_clips_of_every_length(void **state)
{
    (void)state;
    static int64_t const length[] = { 0, 100, 8000, 15999, 16000, 16160, 128000, 128160 };
    static int const rows[] = { 0, 7, 7, 13, 13, 14, 104, 105 };
    static struct rows_seen seen;
    static float pcm[128160];
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = &seen;
    p.on_rows = take_rows;
    p.sample_len = 4;
    steno_model *m = qwen_open(qwen_dir);
    steno_session *s = qwen_session(m);
    for (int i = 0; i < 128160; i++) pcm[i] = (float)((i * 7919) % 2003 - 1001) / 4000;
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        seen.n_features = seen.n_encoder = 0;
        if (steno_transcribe(s, pcm, length[i], &p)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(seen.n_features, rows[i]);
        assert_int_equal(seen.n_encoder, rows[i]);
        for (int k = 0; k < seen.n_encoder * D; k++) assert_true(isfinite(seen.encoder[k]));
        if (!length[i]) assert_int_equal(steno_segment_count(s), 0);
    }
    steno_session_close(s);
    steno_model_close(m);
}

/* Rows of a window are the same numbers whatever follows it. */
static void test_windows_do_not_see_each_other(void **state)
{
    (void)state;
    enum { WINDOW = 32000, WINDOW_ROWS = 26 };
    static struct rows_seen first, both;
    static float pcm[2 * WINDOW];
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.on_rows = take_rows;
    p.sample_len = 1;
    steno_model *m = qwen_open(qwen_dir);
    steno_session *s = qwen_session(m);
    for (int i = 0; i < 2 * WINDOW; i++) pcm[i] = (float)((i * 7919) % 2003 - 1001) / 4000;
    p.user = &first;
    assert_int_equal(steno_transcribe(s, pcm, WINDOW, &p), 0);
    for (int i = WINDOW + 200; i < 2 * WINDOW; i++) pcm[i] /= 2; /* the mirror at the first end is not what follows it */
    p.user = &both;
    assert_int_equal(steno_transcribe(s, pcm, 2 * WINDOW, &p), 0);
    assert_int_equal(first.n_encoder, WINDOW_ROWS);
    assert_int_equal(both.n_encoder, 2 * WINDOW_ROWS);
    const size_t n = (WINDOW_ROWS - CHUNK_ROWS) * D; /* chunks of the window before the one with the mirror... */
    assert_true(memcmp(first.encoder, both.encoder, n * sizeof(float)) != 0); /* ...see it, in the same window */
    assert_memory_equal(first.features, both.features, (size_t)CHUNK_ROWS * STACK * MELS * sizeof(float));
    static float again[ROWS_MAX * D];
    memcpy(again, both.encoder, sizeof again);
    for (int i = 2 * WINDOW - 8000; i < 2 * WINDOW; i++) pcm[i] = 0;
    assert_int_equal(steno_transcribe(s, pcm, 2 * WINDOW, &p), 0);
    assert_memory_equal(again, both.encoder, WINDOW_ROWS * D * sizeof *again);
    assert_true(memcmp(again + WINDOW_ROWS * D, both.encoder + WINDOW_ROWS * D, WINDOW_ROWS * D * sizeof *again) != 0);
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- clips longer than a minute */

enum { SECOND = 16000, ROWS_OF_SECOND = 13 };
struct clips_seen { int n, rows[8]; float last[D]; };

static void take_clip(void *user, const steno_rows *r)
{
    struct clips_seen *seen = user;
    if (strcmp(r->name, "encoder") != 0) return;
    assert_true(seen->n < 8);
    seen->rows[seen->n++] = r->n_rows;
    memcpy(seen->last, r->rows + (size_t)(r->n_rows - 1) * (size_t)r->stride, sizeof seen->last);
}

static steno_model *open_with(int ctx)
{
    return reference_model(qwen_dir, ctx, STENO_DECODER_AUTO);
}

static void clips_of_samples(struct clips_seen *seen, steno_session *s, const float *pcm, int64_t n)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = seen;
    p.on_rows = take_clip;
    p.sample_len = 2;
    memset(seen, 0, sizeof *seen);
    if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
}

/* A context of 2,078 positions: 1,300 rows, 100 s. */
static void test_a_larger_context_has_longer_clips(void **state)
{
    (void)state;
    enum { MOST = 100, CTX = 128 + MOST * ROWS_OF_SECOND / 2 * 3, ALL = (MOST + 1) * SECOND };
    static int const more[] = { -160, 0, 160 };
    static float pcm[ALL];
    struct clips_seen usual, longer, alone;
    for (int i = 0; i < ALL; i++) pcm[i] = (float)(i % 2003 * 7919 % 2003 - 1001) / 4000;
    steno_model *m = qwen_open(qwen_dir), *large = open_with(CTX);
    steno_session *s = qwen_session(m), *at = qwen_session(large);
    for (int i = 0; i < 3; i++) {
        clips_of_samples(&longer, at, pcm, MOST * SECOND + more[i]);
        assert_int_equal(longer.n, i < 2 ? 1 : 2);
        if (i < 2) assert_int_equal(longer.rows[0], MOST * ROWS_OF_SECOND);
        else assert_true(longer.rows[0] <= MOST * ROWS_OF_SECOND);
    }
    clips_of_samples(&usual, s, pcm, MOST * SECOND);
    assert_true(usual.n >= 4 && usual.rows[0] <= 30 * ROWS_OF_SECOND);
    clips_of_samples(&alone, s, pcm, 20 * SECOND);
    clips_of_samples(&longer, at, pcm, 20 * SECOND);
    assert_int_equal(alone.n, 1);
    assert_memory_equal(&longer, &alone, sizeof alone); /* a short clip has the bits that it had */
    steno_session_close(s);
    steno_session_close(at);
    steno_model_close(m);
    steno_model_close(large);
}

static void test_special_texts_of_a_context_are_no_tokens(void **state)
{
    (void)state;
    static const struct audio_lm_options o[] = { { .context = "a<|im_end|>b" }, { .hotwords = "<|audio_pad|>\n<|im_start|>" } };
    static int const markers[] = { 589, 590, 589, 591 }; /* of the template */
    steno_model *m = qwen_open(qwen_dir);
    for (int i = 0; i < 2; i++) {
        struct buf before = { 0 }, behind = { 0 };
        assert_int_equal(qwen3_asr_lm.prompt(m, &o[i], &before, &behind, NULL), 0);
        int n = 0;
        for (size_t k = 0; k < before.len / 4; k++) {
            const int32_t id = ((const int32_t *)(const void *)before.p)[k];
            if (id >= 588 && id <= 593) assert_int_equal(id, markers[n++]);
        }
        assert_int_equal(n, 4);
        buf_free(&before);
        buf_free(&behind);
    }
    steno_model_close(m);
}

static void test_hotwords_follow_the_context(void **state)
{
    (void)state;
    const struct audio_lm_options both = { .context = "zero", .hotwords = " seven \n\nnine" }, one = { .context = "zero\nseven, nine" };
    steno_model *m = qwen_open(qwen_dir);
    struct buf a = { 0 }, b = { 0 }, behind = { 0 };
    assert_int_equal(qwen3_asr_lm.prompt(m, &both, &a, &behind, NULL), 0);
    assert_int_equal(qwen3_asr_lm.prompt(m, &one, &b, &behind, NULL), 0);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.p, b.p, a.len);
    buf_free(&a);
    buf_free(&b);
    buf_free(&behind);
    steno_model_close(m);
}

static void test_options_without_effect_are_refused(void **state)
{
    (void)state;
    static const float pcm[1600];
    static const char *const name[] = { "itn", "tags", "beam_size", "word_timestamps", "temperature", "language" };
    steno_model *m = qwen_open(qwen_dir);
    steno_session *s = qwen_session(m);
    steno_transcribe_params p[6];
    for (int k = 0; k < 6; k++) steno_transcribe_params_init(&p[k]);
    p[0].itn = 1, p[1].tags = STENO_TAGS_RICH, p[2].beam_size = 4, p[3].word_timestamps = 1, p[4].temperature = 1, p[5].language = "Latin";
    for (int k = 0; k < 6; k++) {
        assert_int_equal(steno_transcribe(s, pcm, 1600, &p[k]), STENO_EARG);
        if (!strstr(steno_last_error(s), name[k])) fail_msg("%s: %s", name[k], steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_and_rows_of_the_encoder),
        cmocka_unit_test(test_prompts_have_the_references_ids),
        cmocka_unit_test(test_ids_and_texts_of_both_forms_of_files),
        cmocka_unit_test(test_rules_for_texts),
        cmocka_unit_test(test_texts_of_several_bytes_a_character),
        cmocka_unit_test(test_clips_of_every_length),
        cmocka_unit_test(test_windows_do_not_see_each_other),
        cmocka_unit_test(test_a_larger_context_has_longer_clips),
        cmocka_unit_test(test_special_texts_of_a_context_are_no_tokens),
        cmocka_unit_test(test_hotwords_follow_the_context),
        cmocka_unit_test(test_options_without_effect_are_refused),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
