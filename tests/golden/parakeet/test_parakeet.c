/* steno tests: Parakeet against NeMo and transformers. SPDX-License-Identifier: MIT
 *
 * The small models of the collection: features and rows of the encoder, then ids, texts and times of every clip. */
#include "golden/parakeet/nemo_clips.h"
#include "load/weights.h"

static struct arrays { struct weights w; struct file file; } hf_arrays, nemo_arrays;

static void arrays_open(struct arrays *a, const char *name)
{
    steno_error e;
    static struct golden_path path[2];
    struct golden_path *p = &path[a == &nemo_arrays];
    *p = material(name);
    if (file_open(&a->file, p->s, &e) || weights_open(&a->w, &a->file, &e)) fail_msg("%s", e.text);
}

static void arrays_close(struct arrays *a)
{
    weights_close(&a->w);
    file_close(&a->file);
}

static int group_begin(void **state)
{
    nemo_open(state);
    arrays_open(&hf_arrays, "golden_hf.npz");
    arrays_open(&nemo_arrays, "golden_nemo.npz");
    return 0;
}

static int group_end(void **state)
{
    nemo_close(state);
    arrays_close(&hf_arrays);
    arrays_close(&nemo_arrays);
    return 0;
}

/* ---- rows */

enum { ROWS = 256, WIDTH = 128 };
struct rows_seen { float features[ROWS * 8 * 128], encoder[ROWS * WIDTH]; int n_features, n_encoder; };

static void take_rows(void *user, const steno_rows *r)
{
    struct rows_seen *seen = user;
    const int is_features = !strcmp(r->name, "features");
    assert_in_range(r->n_rows, 1, ROWS);
    float *to = is_features ? seen->features : seen->encoder;
    if (!is_features && strcmp(r->name, "encoder") != 0) return;
    for (int i = 0; i < r->n_rows; i++) memcpy(to + i * r->width, r->rows + i * r->stride, (size_t)r->width * sizeof *to);
    *(is_features ? &seen->n_features : &seen->n_encoder) = r->n_rows;
}

static void rows_are_near(const char *clip, const char *what, const float *got, int n_rows, float near, int relative)
{
    char name[64];
    static float want[64 * 8 * 128];
    steno_error e;
    snprintf(name, sizeof name, "%s.%s", clip, what);
    const struct tensor *t = weights_find(&hf_arrays.w, name);
    if (!t) fail_msg("no array %s", name);
    const size_t n = (size_t)(t->dim[0] * t->dim[1]);
    assert_true(n <= sizeof want / sizeof *want && !tensor_read_f32(t, want, &e));
    assert_in_range(t->dim[0], 8 * (uint64_t)n_rows / (relative ? 8 : 1) - (relative ? 0 : 7), (uint64_t)n_rows * (relative ? 1 : 8));
    float most = 1;
    for (size_t i = 0; i < n && relative; i++) most = fabsf(want[i]) > most ? fabsf(want[i]) : most;
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= near * most))
            fail_msg("%s: number %zu is %.7g, want %.7g", name, i, (double)got[i], (double)want[i]);
}

static void test_features_and_rows_of_the_encoder(void **state)
{
    (void)state;
    static const char *const clip[] = { "three", "phrases", "edge_1280", "edge_2567" };
    static struct rows_seen seen;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    p.user = &seen;
    p.on_rows = take_rows;
    steno_model *m = model_of("hf/ctc");
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof clip / sizeof *clip; i++) {
        hear(s, clip[i], &p);
        rows_are_near(clip[i], "features", seen.features, seen.n_features, 1e-4f, 0);
        rows_are_near(clip[i], "encoder", seen.encoder, seen.n_encoder, 2e-5f, 1);
    }
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- texts */

static void test_ctc_folder(void **state)
{
    (void)state;
    check_clips("hf/ctc", "ctc", 1);
}

static void test_tdt_folder(void **state)
{
    (void)state;
    check_clips("hf/tdt", "tdt_ctc", 0);
}

static void test_rnnt_folder(void **state)
{
    (void)state;
    check_clips("hf/rnnt", "rnnt", 0);
}

static void is_refused(steno_session *s, const char *name, const steno_transcribe_params *p)
{
    static const float pcm[1600];
    assert_int_equal(steno_transcribe(s, pcm, 1600, p), STENO_EARG);
    if (!strstr(steno_last_error(s), name)) fail_msg("%s: %s", name, steno_last_error(s));
}

static void test_options_without_effect_are_refused(void **state)
{
    static const char *const models[] = { "hf/ctc", "hf/tdt", "hf/rnnt" };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        steno_model *m = model_of(models[i]);
        steno_session *s;
        steno_transcribe_params p[4];
        for (int k = 0; k < 4; k++) steno_transcribe_params_init(&p[k]);
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        p[0].language = "en", p[1].tags = STENO_TAGS_RICH, p[2].itn = 1, p[3].n_best = 2;
        static const char *const name[] = { "language", "tags", "itn", "n_best" };
        for (int k = 0; k < 4; k++) is_refused(s, name[k], &p[k]);
        steno_session_close(s);
        steno_model_close(m);
    }
}

static void test_nemo_files(void **state)
{
    (void)state;
    check_clips("nemo/parakeet-digits-ctc.nemo", "ctc", 1);
    check_clips("nemo/parakeet-digits-tdt_ctc.nemo", "tdt_ctc", 0);
    check_clips("nemo/parakeet-digits-rnnt.nemo", "rnnt", 0);
}

/* Weights in f16 are the same numbers. */
static void test_gguf_file_in_f16(void **state)
{
    (void)state;
    check_clips("gguf/parakeet-digits-rnnt.fp16.gguf", "rnnt", 0);
}

/* Rounding of the weights changes a few letters of the long clip, which the model was not trained for, and nothing else. */
static void test_gguf_files_in_q8_0(void **state)
{
    (void)state;
    check_clips_but("long", model_of("gguf/parakeet-digits-ctc.q8_0.gguf"), "ctc", 1);
    check_clips_but("long", model_of("gguf/parakeet-digits-tdt_ctc.q8_0.gguf"), "tdt_ctc", 0);
}

/* Rows of the encoder of a clip, and its text. */
static void rows_of(steno_model *m, const char *clip, struct rows_seen *seen, char text[256])
{
    steno_transcribe_params p;
    steno_session *s;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    p.user = seen;
    p.on_rows = take_rows;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    hear(s, clip, &p);
    snprintf(text, 256, "%s", steno_text(s));
    steno_session_close(s);
}

static void test_forms_of_one_model_give_the_same_bits(void **state)
{
    static const char *const form[] = { "nemo/parakeet-digits-tdt_ctc.nemo", "ggml/parakeet-digits-tdt.f32.bin",
                                        "ggml/parakeet-digits-tdt.f16.bin" };
    static struct rows_seen want, got;
    (void)state;
    steno_model *folder = model_of("hf/tdt");
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        const char *clip;
        json_t *results;
        steno_model *m = model_of(form[i]);
        json_object_foreach(json_object_get(nemo, "clips"), clip, results) {
            char text[2][256];
            rows_of(folder, clip, &want, text[0]);
            rows_of(m, clip, &got, text[1]);
            assert_int_equal(got.n_encoder, want.n_encoder);
            assert_memory_equal(got.features, want.features, (size_t)want.n_features * 80 * sizeof(float));
            assert_memory_equal(got.encoder, want.encoder, (size_t)want.n_encoder * WIDTH * sizeof(float));
            assert_string_equal(text[1], text[0]);
        }
        steno_model_close(m);
    }
    steno_model_close(folder);
}

/* ---- local attention */

/* Every `step`-th row. */
static void rows_equal_golden(const char *name, const struct rows_seen *seen, int step)
{
    static float want[ROWS * WIDTH];
    steno_error e;
    const struct tensor *t = weights_find(&nemo_arrays.w, name);
    if (!t) fail_msg("no array %s", name);
    const int n = (seen->n_encoder + step - 1) / step, width = (int)t->dim[1];
    assert_true(t->dim[0] * t->dim[1] <= ROWS * WIDTH && !tensor_read_f32(t, want, &e));
    assert_in_range(t->dim[0], n, n + 1); /* the reference may have a row of padding */
    float most = 1;
    for (int i = 0; i < n * width; i++) most = fmaxf(most, fabsf(want[i]));
    for (int i = 0; i < n * width; i++) {
        const float got = seen->encoder[i / width * step * width + i % width];
        if (!(fabsf(got - want[i]) <= 2e-5f * most))
            fail_msg("%s: row %d: number %d is %.7g, want %.7g", name, i / width * step, i % width, (double)got, (double)want[i]);
    }
}

/* A .nemo file with another pair of rows in its settings. */
static steno_model *model_with_context(const char *pair)
{
    static const char full[] = "att_context_size:\n  - -1\n  - -1\n";
    steno_model *m;
    steno_error e;
    steno_model_params p;
    struct file f;
    const struct golden_path path = material("nemo/parakeet-digits-tdt_ctc.nemo");
    if (file_open(&f, path.s, &e)) fail_msg("%s", e.text);
    const size_t n = (size_t)f.size;
    char *bytes = malloc(n), *at = bytes;
    assert_true(bytes && !file_read(&f, 0, bytes, n, &e));
    file_close(&f);
    while (at + sizeof full < bytes + n && memcmp(at, full, sizeof full - 1) != 0) at++;
    assert_true(at + sizeof full < bytes + n);
    memcpy(strstr(at, "- -1"), pair, strlen(pair));
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    if (steno_model_open_memory(&m, bytes, n, &p, &e)) fail_msg("%s", e.text);
    free(bytes);
    return m;
}

static void test_local_attention_of_a_given_width(void **state)
{
    static const struct { const char *pair, *key, *rows; } row[] = {
        { "- 16\n  - 16", "local_16_16", "long.local_16_16" }, { "- 40\n  - 40", "local_40_40", "long.local_40_40" },
    };
    static struct rows_seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[256];
        steno_model *m = model_with_context(row[i].pair);
        rows_of(m, "long", &seen, text);
        rows_equal_golden(row[i].rows, &seen, 8);
        assert_string_equal(text, json_string_value(json_object_get(json_object_get(nemo, row[i].key), "text")));
        steno_model_close(m);
    }
}

/* Local attention by the file's settings, a window of its own (rounded to f16), durations of up to 8, three symbols in a row. */
static void test_odd_nemo_file(void **state)
{
    static const struct { const char *name; int step; } row[] = { { "phrases", 1 }, { "long", 8 }, { "edge_2567", 1 } };
    static struct rows_seen seen;
    (void)state;
    const char *clip;
    json_t *results;
    steno_model *m = model_of("nemo/odd-tdt_ctc.nemo");
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(nemo, "odd"), clip, results) {
        hear(s, clip, NULL);
        check_ids(s, clip, json_object_get(results, "tdt"), 0);
    }
    steno_session_close(s);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[256], name[64];
        rows_of(m, row[i].name, &seen, text);
        snprintf(name, sizeof name, "odd.%s.encoder", row[i].name);
        rows_equal_golden(name, &seen, row[i].step);
    }
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_and_rows_of_the_encoder),
        cmocka_unit_test(test_ctc_folder),
        cmocka_unit_test(test_tdt_folder),
        cmocka_unit_test(test_rnnt_folder),
        cmocka_unit_test(test_nemo_files),
        cmocka_unit_test(test_gguf_file_in_f16),
        cmocka_unit_test(test_gguf_files_in_q8_0),
        cmocka_unit_test(test_forms_of_one_model_give_the_same_bits),
        cmocka_unit_test(test_local_attention_of_a_given_width),
        cmocka_unit_test(test_odd_nemo_file),
        cmocka_unit_test(test_options_without_effect_are_refused),
    };
    if (!is_there(material("README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
