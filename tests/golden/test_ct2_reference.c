/* steno tests: folders that CTranslate2's converter wrote, and what CTranslate2 computes with them. SPDX-License-Identifier: MIT
 *
 * golden.json has numbers of dequantised variables, the encoder's output and greedy ids with compute type float32; golden_tiny.json the
 * same of random models in int16 and bfloat16, without ids. Needs the collection named by STENO_SHARED. */
#include "ct2_folder.h"
#include "layers.h"
#include "load/weights.h"
#include "plan/mt19937.h"

static struct golden_path ct2_path(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/ct2/%s", shared, name);
    return p;
}

static json_t *ct2_json(const char *name)
{
    return json_open(ct2_path(name).s);
}

/* ---- variables ----------------------------------------------------------------------------------------------------------------- */

static void assert_near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s is %.9g, want %.9g", what, got, want);
}

static void assert_probe(struct weights *w, const char *name, json_t *want)
{
    const struct tensor *t = weights_find(w, name);
    steno_error e;
    assert_non_null(t);
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
    float *x = malloc((size_t)n * sizeof *x);
    double sum = 0, sum_abs = 0;
    assert_non_null(x);
    if (tensor_read_f32(t, x, &e)) fail_msg("%s", e.text);
    for (uint64_t i = 0; i < n; i++) sum += (double)x[i], sum_abs += fabs((double)x[i]);
    json_t *first = json_object_get(want, "first"), *last = json_object_get(want, "last"), *total = json_object_get(want, "sum");
    assert_int_equal(json_array_size(first), 4);
    for (size_t i = 0; i < 4; i++) {
        const double v = json_real_value(json_array_get(first, i));
        assert_near(name, (double)x[i], v, 1e-6 * fabs(v));
    }
    if (last) assert_near(name, (double)x[n - 1], json_real_value(last), 1e-6 * fabs(json_real_value(last)));
    const double magnitude = json_real_value(json_object_get(want, "sum_abs"));
    assert_near(name, sum_abs, magnitude, 1e-6 * magnitude);
    if (total) assert_near(name, sum, json_real_value(total), 1e-6 * magnitude);
    free(x);
}

static void assert_probes(const char *folder, json_t *probes)
{
    struct model_source p;
    struct weights w;
    steno_error e;
    const char *name;
    json_t *want;
    assert_non_null(probes);
    const struct golden_path path = ct2_path(folder);
    if (model_source_open(&p, path.s, NULL, &e) || weights_open_source(&w, &p, &e)) fail_msg("%s", e.text);
    json_object_foreach(probes, name, want) assert_probe(&w, name, want);
    weights_close(&w);
    model_source_close(&p);
}

static const char *const digits[] = { "int8_float16", "int8_float32" }, *const tiny[] = { "int16", "bfloat16" };

static void test_variables_have_the_numbers_of_the_reference(void **state)
{
    (void)state;
    json_t *golden = ct2_json("golden.json"), *of_tiny = ct2_json("golden_tiny.json");
    for (int i = 0; i < 2; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "digits-%s", digits[i]);
        assert_probes(folder, json_object_get(json_object_get(golden, "tensors"), digits[i]));
        snprintf(folder, sizeof folder, "tiny-%s", tiny[i]);
        assert_probes(folder, json_object_get(json_object_get(json_object_get(of_tiny, "folders"), tiny[i]), "probes"));
    }
    json_decref(golden);
    json_decref(of_tiny);
}

/* ---- the encoder --------------------------------------------------------------------------------------------------------------- */

/* Differences are relative to the largest number. */
static void assert_encoder(steno_session *s, json_t *want)
{
    const steno_model *m = s->model;
    const size_t d = (size_t)m->widths.audio_state, ld = inside_encoded_ld(m), n = (size_t)inside_audio_ctx(m);
    const float *y = inside_encoded(s);
    json_t *first = json_object_get(want, "encoder_first"), *last = json_object_get(want, "encoder_last");
    double sum = 0, max = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < d; i++) sum += fabs((double)y[r * ld + i]), max = fmax(max, fabs((double)y[r * ld + i]));
    assert_true(json_array_size(first) >= 4);
    for (size_t i = 0; i < json_array_size(first); i++)
        assert_near("the first row", (double)y[i], json_real_value(json_array_get(first, i)), 1e-4 * max);
    for (size_t i = 0; i < json_array_size(last); i++)
        assert_near("the last row", (double)y[(n - 1) * ld + i], json_real_value(json_array_get(last, i)), 1e-4 * max);
    assert_near("the mean", sum / (double)(n * d), json_real_value(json_object_get(want, "encoder_abs_mean")), 1e-4 * max);
}

/* torch.randn of 80 x 3000 numbers, times 0.5, as frames: Box and Muller's rule over groups of 16 uniform numbers of 24 bits. */
static void fill_random(float *mel, uint32_t seed)
{
    enum { MELS = 80, FRAMES = 3000 };
    struct mt19937 *g = malloc(sizeof *g);
    float *x = malloc(sizeof *x * MELS * FRAMES);
    assert_true(g && x);
    mt19937_seed(g, seed);
    for (size_t i = 0; i < MELS * FRAMES; i++) x[i] = (float)(mt19937_word(g) & 0xffffff) / (1 << 24);
    for (size_t i = 0; i < MELS * FRAMES; i += 16)
        for (size_t j = i; j < i + 8; j++) {
            const float radius = sqrtf(-2 * logf(1 - x[j])), angle = 6.28318530717958647692f * x[j + 8];
            x[j] = radius * cosf(angle);
            x[j + 8] = radius * sinf(angle);
        }
    for (size_t i = 0; i < MELS; i++)
        for (size_t t = 0; t < FRAMES; t++) mel[t * MELS + i] = 0.5f * x[i * FRAMES + t];
    free(x);
    free(g);
}

static void test_encoders_of_random_models_equal_the_reference(void **state)
{
    (void)state;
    json_t *golden = ct2_json("golden_tiny.json");
    for (int i = 0; i < 2; i++) {
        struct engine g;
        char folder[64];
        snprintf(folder, sizeof folder, "tiny-%s", tiny[i]);
        engine_open(&g, ct2_path(folder).s, NULL, 2);
        layers_hear(g.session, "zh_phrases");
        fill_random(inside_mel(g.session), 9);
        assert_int_equal(inside_encode(g.session), 0);
        assert_encoder(g.session, json_object_get(json_object_get(golden, "folders"), tiny[i]));
        engine_close(&g);
    }
    json_decref(golden);
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------------- */

/* The reference's clips have silence up to 30 s. */
static struct sound padded_sound(const char *file)
{
    enum { WINDOW = 30 * 16000 };
    struct sound snd = { 0 };
    assert_int_equal(sound_read(&snd, audio_of(file).s), 0);
    assert_true(snd.n < WINDOW);
    memset(snd.pcm + snd.n, 0, (size_t)(WINDOW - snd.n) * sizeof *snd.pcm);
    snd.n = WINDOW;
    return snd;
}

static void assert_ids(steno_session *s, const char *file, json_t *want)
{
    struct sound snd = padded_sound(file);
    steno_transcribe_params p;
    const char language[3] = { file[0], file[1], 0 };
    size_t n = 0;
    steno_transcribe_params_init(&p);
    p.language = language;
    p.temperature_increment_on_fallback = 0;
    p.guards = STENO_GUARDS_OFF;
    if (steno_transcribe(s, snd.pcm, snd.n, &p)) fail_msg("%s: %s", file, steno_last_error(s));
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        for (int k = 0; k < g.n_tokens; k++, n++) {
            const json_int_t id = json_integer_value(json_array_get(want, n));
            if (g.tokens[k] != id) fail_msg("%s: id %zu is %d, want %d", file, n, (int)g.tokens[k], (int)id);
        }
    }
    assert_int_equal(n, json_array_size(want));
    sound_free(&snd);
}

static void test_ids_and_encoders_equal_the_reference(void **state)
{
    (void)state;
    json_t *golden = ct2_json("golden.json"), *run;
    size_t i, n = 0;
    for (int k = 0; k < 2; k++) {
        struct engine g;
        char folder[64];
        snprintf(folder, sizeof folder, "digits-%s", digits[k]);
        engine_open(&g, ct2_path(folder).s, NULL, 2);
        json_array_foreach(json_object_get(golden, "runs"), i, run) {
            const char *file = json_string_value(json_object_get(run, "file"));
            if (strcmp(json_string_value(json_object_get(run, "folder")), digits[k]) != 0 ||
                strcmp(json_string_value(json_object_get(run, "compute")), "float32") != 0)
                continue;
            struct sound snd = padded_sound(file);
            layers_hear_sound(g.session, &snd);
            sound_free(&snd);
            assert_int_equal(inside_encode(g.session), 0);
            assert_encoder(g.session, run);
            assert_ids(g.session, file, json_object_get(run, "ids"));
            n++;
        }
        engine_close(&g);
    }
    assert_int_equal(n, 8);
    json_decref(golden);
}

/* A folder of f16 has the weights of the model that openai-whisper ran. */
static void test_word_times_of_an_f16_folder_equal_the_reference(void **state)
{
    (void)state;
    static const char *const file[] = { "en_short.wav", "en_phrases.wav", "zh_phrases.wav", "de_8k.wav" };
    const struct folder d = folder_new();
    struct tolerance numbers = exact_numbers;
    struct tally t = { 0 };
    struct engine g;
    struct weights w;
    struct file f;
    steno_error e;
    if (file_open(&f, shared_file("whisper-digits.bin").s, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    ct2_model(&d, &w, &(struct ct2_how){ .type = DT_F16, .heads = "[[1, 0], [1, 1], [2, 0], [2, 1]]" });
    weights_close(&w);
    file_close(&f);
    json_t *golden = json_open(shared_file("golden/golden.json").s);
    engine_open(&g, d.path, NULL, 2);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        file_run(&t, &g, golden, file[i], audio_of(file[i]).s, "words", case_equal, &numbers);
    engine_close(&g);
    json_decref(golden);
    folder_remove(&d);
    print_message("%d cases, %d differ, %d not stable\n", t.cases, t.differ, t.unstable);
    assert_int_equal(t.differ, 0);
    assert_int_equal(t.cases, sizeof file / sizeof *file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_have_the_numbers_of_the_reference),
        cmocka_unit_test(test_encoders_of_random_models_equal_the_reference),
        cmocka_unit_test(test_ids_and_encoders_equal_the_reference),
        cmocka_unit_test(test_word_times_of_an_f16_folder_equal_the_reference),
    };
    const int missing = collection_missing();
    if (missing) return missing;
    if (is_there(ct2_path("golden.json").s)) return cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "skipped: the collection has no models of CTranslate2\n");
    return 77;
}
