/* steno tests: Silero VAD against its own code and whisper.cpp. SPDX-License-Identifier: MIT
 *
 * whisper.cpp's file of the real weights on every file of the collection: probabilities frame by frame, with true context and as
 * in whisper.cpp, and spans under the five settings of both; and against the published graph with the weights of that file. STENO_SILERO
 * names a folder with the published files, whose weights have more bits. */
#include "funasr.h"

static const struct setting {
    const char *name;
    double threshold;
    int64_t min_speech, min_silence, pad, longest;
} settings[] = {
    { "default", NAN, -1, -1, -1, -1 },
    { "threshold_0.35", 0.35, -1, -1, -1, -1 },
    { "long_silence_500ms_pad_100", NAN, -1, 500, 100, -1 },
    { "max_5s", NAN, -1, -1, -1, 5000 },
    { "strict", 0.7, 500, 250, 0, -1 },
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* The file's f16 convolutions, and whisper.cpp's f16 products. */
#define FILE_ERROR 5e-3
#define GRAPH_ERROR 1e-5

static int group_begin(void **state)
{
    (void)state;
    funasr_open("silero/golden.json", "silero/ggml-silero-v6.2.0.bin");
    return 0;
}

struct frames { float *p; int64_t n, cap; };

static void on_frame(void *user, int64_t t_ms, float p_speech)
{
    struct frames *f = user;
    assert_int_equal(t_ms, f->n * 32);
    assert_true(f->n < f->cap);
    f->p[f->n++] = p_speech;
}

static void find(steno_session *s, const struct sound *a, int64_t piece, const steno_vad_params *p)
{
    struct pcm_feed feed = { a, 0, piece };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_find_speech(s, &src, p)) fail_msg("%s", steno_last_error(s));
}

static void params_of(steno_vad_params *p, const struct setting *k, int rules)
{
    steno_vad_params_init(p);
    p->threshold = k->threshold;
    p->min_speech_ms = k->min_speech;
    p->max_end_silence_ms = k->min_silence;
    p->speech_pad_ms = k->pad;
    p->max_segment_ms = k->longest;
    p->rules = rules;
}

/* Samples become whole milliseconds, centiseconds are rounded. */
static int64_t of_samples(json_t *v) { return json_integer_value(v) / 16; }
static int64_t of_cs(json_t *v) { return (int64_t)(json_number_value(v) * 10 + 0.5); }

static void compare_spans(steno_session *s, const char *file, const char *setting, json_t *want, int whispercpp)
{
    const size_t n = json_array_size(want);
    for (size_t i = 0; i < n; i++) {
        steno_span v = { .size = sizeof v, .t0_ms = -1, .t1_ms = -1 };
        steno_span_get(s, (int)i, &v);
        json_t *w = json_array_get(want, i);
        int64_t (*const of)(json_t * v) = whispercpp ? of_cs : of_samples;
        const int64_t t0 = of(json_array_get(w, 0)), t1 = of(json_array_get(w, 1));
        const int64_t is0 = whispercpp ? (v.t0_ms + 5) / 10 * 10 : v.t0_ms, is1 = whispercpp ? (v.t1_ms + 5) / 10 * 10 : v.t1_ms;
        if (is0 != t0 || is1 != t1)
            fail_msg("%s, %s: span %zu is %lld-%lld, want %lld-%lld", file, setting, i, (long long)is0, (long long)is1, (long long)t0,
                     (long long)t1);
    }
    if (steno_span_count(s) != (int)n) fail_msg("%s, %s: %d spans, want %zu", file, setting, steno_span_count(s), n);
}

/* Of all files; `most`: how far a probability may be off. */
static void compare_all(const steno_model *m, int rules, double most)
{
    const int whispercpp = rules == STENO_VAD_RULES_CPP;
    steno_session *s;
    const char *name;
    json_t *file;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(golden, name, file) {
        struct sound a;
        char stem[64];
        assert_int_equal(sound_read(&a, funasr_file("audio/vad/%s", name).s), 0);
        snprintf(stem, sizeof stem, "%.*s", (int)strlen(name) - 4, name);
        struct npy want = funasr_tensor(whispercpp ? "silero/%s.prob_whispercpp.npy" : "silero/%s.prob.npy", stem);
        struct frames f = { calloc(want.n + 1, sizeof(float)), 0, (int64_t)want.n };
        double worst = 0;
        for (int k = 0; k < N_SETTINGS; k++) {
            steno_vad_params p;
            params_of(&p, &settings[k], rules);
            if (!k) p.user = &f, p.on_frame = on_frame;
            find(s, &a, k % 3 == 1 ? 4321 : k % 3 == 2 ? 511 : 0, &p);
            for (size_t i = 0; i < want.n && !k; i++) worst = fmax(worst, fabs((double)f.p[i] - want.v[i]));
            if (!k) print_message("%s: %zu frames, largest difference of a probability %.2g\n", name, want.n, worst);
            json_t *want_spans = json_object_get(file, whispercpp ? "whisper_cpp_centiseconds" : "segments_samples");
            compare_spans(s, name, settings[k].name, json_object_get(want_spans, settings[k].name), whispercpp);
        }
        assert_int_equal(f.n, want.n);
        assert_true(worst <= most);
        free(f.p);
        free(want.v);
        sound_free(&a);
    }
    steno_session_close(s);
}

static void test_spans_are_those_of_its_own_code(void **state)
{
    (void)state;
    compare_all(model, STENO_VAD_RULES_OWN, FILE_ERROR);
}

static void test_spans_are_whisper_cpps_by_its_rules(void **state)
{
    (void)state;
    compare_all(model, STENO_VAD_RULES_CPP, FILE_ERROR);
}

/* What onnxruntime makes of NAME with the weights of the file, by make_silero.py: with true context, then between mirror images. */
static double difference_from_graph(steno_session *s, const char *name, int rules)
{
    static float want[2][1024];
    struct golden_path sound = funasr_file("audio/vad/%s.wav", name);
    struct sound a;
    steno_vad_params p;
    char path[64];
    double worst = 0;
    assert_int_equal(sound_read(&a, sound.s), 0);
    const size_t n = (size_t)(a.n + 511) / 512;
    snprintf(path, sizeof path, "tests/data/silero/%s.f32", name);
    FILE *f = fopen(path, "rb");
    assert_true(f && n <= 1024);
    for (int i = 0; i < 2; i++) assert_int_equal(fread(want[i], sizeof(float), n, f), n);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    struct frames got = { calloc(n, sizeof(float)), 0, (int64_t)n };
    params_of(&p, &settings[0], rules);
    p.user = &got, p.on_frame = on_frame;
    find(s, &a, 700, &p);
    assert_int_equal(got.n, n);
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs((double)got.p[i] - want[rules][i]));
    free(got.p);
    sound_free(&a);
    return worst;
}

static void test_the_files_weights_give_what_the_published_graph_gives_with_them(void **state)
{
    static const char *const name[] = { "jfk", "sample", "pauses", "noise10s" };
    steno_session *s;
    (void)state;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    for (int i = 0; i < 8; i++) {
        const double d = difference_from_graph(s, name[i / 2], i % 2 ? STENO_VAD_RULES_CPP : STENO_VAD_RULES_OWN);
        print_message("%s, rules %d: %.2g\n", name[i / 2], i % 2, d);
        assert_true(d <= GRAPH_ERROR);
    }
    steno_session_close(s);
}

static void test_published_weights_give_the_probabilities_of_its_own_code(void **state)
{
    static const char *const form[] = { "silero_vad.onnx", "silero_vad_16k_op15.onnx", "silero_vad_op18_ifless.onnx",
                                        "silero_vad_openvino_16k.onnx" };
    const char *dir = getenv("STENO_SILERO");
    (void)state;
    if (!dir) skip();
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char path[512];
        steno_model *m;
        steno_error e;
        snprintf(path, sizeof path, "%s/%s", dir, form[i]);
        if (steno_model_open(&m, path, NULL, &e)) fail_msg("%s", e.text);
        compare_all(m, STENO_VAD_RULES_OWN, GRAPH_ERROR);
        steno_model_close(m);
    }
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_are_those_of_its_own_code),
        cmocka_unit_test(test_spans_are_whisper_cpps_by_its_rules),
        cmocka_unit_test(test_the_files_weights_give_what_the_published_graph_gives_with_them),
        cmocka_unit_test(test_published_weights_give_the_probabilities_of_its_own_code),
    };
    return cmocka_run_group_tests(tests, group_begin, funasr_close);
}
