/* steno tests: integrate-and-fire against the reference. SPDX-License-Identifier: MIT
 *
 * The small Paraformers of the collection: rows of frames, ids, text and times, from every form of their files. */
#include "batch.h"
#include "funasr_pt.h"
#include "internal.h"
#include "search/cif.h"

static double const margin_least = 0.02; /* of logits; ours differ by less than 1e-3 */

static int group_begin(void **state)
{
    (void)state;
    funasr_open_f32("golden/paraformer/golden.json", "models/paraformer/pt");
    return 0;
}

static void run(steno_session *s, const char *file, int words, double *seconds)
{
    struct sound a;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", file).s), 0);
    struct pcm_feed feed = { &a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = words;
    if (seconds) *seconds = (double)a.n / 16000;
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s: %s", file, steno_last_error(s));
    sound_free(&a);
}

/* Logits of a clip's tokens, of which there are few: a run itself keeps none. */
static void head_run(steno_session *s, const struct plan *plan)
{
    enum { PHASE_HEAD = 2 };
    struct run *r = inside_run(s);
    for (uint32_t i = 0; i < r->n_rows; i++) r->row[i].flags = ROW_BEST;
    run_prepare(r);
    assert_int_equal(inside_phases(s, plan, PHASE_HEAD, PHASE_HEAD + 1, 1, r->n_rows), 0);
}

/* The best ids of the run are those of its logits, to the last bit. */
static void test_logits_are_the_references(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const struct plan *plan = inside_plan(model, PLAN_ENCODER);
    for (size_t i = 0; i < 2; i++) {
        struct best best[64];
        run(s, stems[i], 0, NULL);
        const size_t n = inside_n_rows(s);
        assert_true(n > 1 && n <= sizeof best / sizeof *best);
        memcpy(best, inside_best(s, 0), n * sizeof *best);
        head_run(s, plan);
        assert_memory_equal(best, inside_best(s, 0), n * sizeof *best);
        const struct slot *slot = &plan->slot[plan->logits];
        const float *ours = inside_slot(s, plan, plan->logits);
        const double d = funasr_distance(ours, slot->ld, slot->width, "golden/paraformer/%s.decoder_logits.npy", stems[i]);
        print_message("%s: logits, distance %.2g\n", stems[i], d);
        assert_true(d <= 1e-3);
    }
    steno_session_close(s);
}

/* Ids without the end of the sentence, text, and the times of words in milliseconds, which the reference cuts. */
static void compare(const steno_session *s, const char *name, json_t *want, double seconds)
{
    json_t *ids = json_object_get(want, "ids"), *times = json_object_get(want, "timestamp");
    steno_segment g = { .size = sizeof g };
    if (strcmp(steno_text(s), json_string_value(json_object_get(want, "text"))) != 0)
        fail_msg("%s: \"%s\", want \"%s\"", name, steno_text(s), json_string_value(json_object_get(want, "text")));
    if (steno_segment_get(s, 0, &g)) g.n_tokens = g.n_words = 0;
    assert_int_equal(g.n_tokens, (int)json_array_size(ids) - 1);
    for (int i = 0; i < g.n_tokens; i++) assert_int_equal(g.tokens[i], json_integer_value(json_array_get(ids, (size_t)i)));
    assert_int_equal(g.n_words, json_array_size(times));
    for (int i = 0; i < g.n_words; i++) {
        steno_word w = { .size = sizeof w };
        assert_int_equal(steno_word_get(s, 0, i, &w), 0);
        const double ours[] = { w.start, w.end };
        for (size_t k = 0; k < 2; k++) {
            const json_int_t at = json_integer_value(json_array_get(json_array_get(times, (size_t)i), k));
            if ((json_int_t)(ours[k] * 1000) != at) fail_msg("%s: \"%s\" at %.17g s, want %d ms", name, w.text, ours[k], (int)at);
        }
        assert_true(w.probability > 0 && w.probability <= 1);
        assert_true(w.end <= seconds + 0.12); /* the predictor's frame behind the last counts */
    }
    if (g.n_words) assert_string_equal(g.word_source, "cif");
}

/* All files whose margin allows it. @return their number */
static int compare_with(steno_model *m, json_t *all)
{
    const char *name;
    json_t *want;
    steno_session *s;
    int n = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(all, "files"), name, want) {
        double seconds;
        if (json_number_value(json_object_get(want, "min_margin")) < margin_least) continue;
        run(s, name, 1, &seconds);
        compare(s, name, want, seconds);
        n++;
    }
    steno_session_close(s);
    return n;
}

static int compare_all(steno_model *m)
{
    return compare_with(m, golden);
}

static void test_ids_text_and_times_are_the_references_from_the_folder(void **state)
{
    (void)state;
    assert_true(compare_all(model) >= 15);
}

static void test_ids_text_and_times_are_the_references_from_safetensors(void **state)
{
    (void)state;
    const struct golden_path dir = funasr_safetensors("paraformer");
    steno_model *m;
    steno_error e;
    if (model_open_f32(&m, dir.s, &e)) fail_msg("%s", e.text);
    assert_true(compare_all(m) >= 15);
    steno_model_close(m);
    funasr_safetensors_remove(dir);
}

static void test_ids_text_and_times_are_the_references_from_gguf(void **state)
{
    (void)state;
    static const char *const files[] = { "paraformer-mini.gguf", "paraformer-mini-f16.gguf", "paraformer-mini-q8.gguf" };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        steno_model *m;
        steno_error e;
        if (model_open_f32(&m, funasr_file("models/paraformer/gguf/%s", files[k]).s, &e)) fail_msg("%s", e.text);
        assert_true(compare_all(m) >= 15);
        steno_model_close(m);
    }
}

/* Its times come from weights of their own, of rows finer than frames. */
static void test_bicif_is_the_reference_from_every_form(void **state)
{
    (void)state;
    const struct golden_path form[] = { funasr_pt("paraformer-bicif"), funasr_safetensors("paraformer-bicif"),
                                        funasr_file("models/paraformer-bicif/gguf/paraformer-bicif-mini-%s.gguf", "f16"),
                                        funasr_file("models/paraformer-bicif/gguf/paraformer-bicif-mini-%s.gguf", "q8") };
    json_t *all = json_open(funasr_file("%s", "golden/paraformer-bicif/golden.json").s);
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        steno_model *m;
        steno_error e;
        if (model_open_f32(&m, form[i].s, &e)) fail_msg("%s", e.text);
        assert_true(compare_with(m, all) >= 15);
        steno_model_close(m);
    }
    json_decref(all);
    funasr_pt_remove(form[0]);
    funasr_safetensors_remove(form[1]);
}

/* What the run left: of finer rows the running sums, as the reference has them. */
static void test_bicif_fires_where_the_reference_does(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" };
    steno_model *m;
    steno_session *s;
    steno_error e;
    const struct golden_path from = funasr_file("models/paraformer-bicif/gguf/paraformer-bicif-mini-%s.gguf", "f16");
    if (model_open_f32(&m, from.s, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    const struct plan *plan = inside_plan(m, PLAN_ENCODER);
    for (size_t i = 0; i < 2; i++) {
        run(s, stems[i], 1, NULL);
        struct npy peaks = funasr_tensor("golden/paraformer-bicif/%s.us_peaks.npy", stems[i]);
        struct npy weights = funasr_tensor("golden/paraformer-bicif/%s.us_alphas.npy", stems[i]);
        const int32_t n = (int32_t)peaks.n;
        const float *x = inside_slot(s, plan, plan->side_output[1]);
        float *weight = calloc((size_t)n, sizeof *weight), *peak = calloc((size_t)n, sizeof *peak);
        double all = 0;
        for (int32_t t = 0; t < n; t++) weight[t] = cif_alpha(x[(size_t)t * plan->slot[plan->side_output[1]].ld], 0.25f, 0.01f);
        for (int32_t t = 0; t < n; t++) all += (double)weights.v[t];
        cif_fine_peaks(peak, weight, n, (int32_t)lround(all));
        for (int32_t t = 0; t < n; t++) assert_true(fabsf(weight[t] - weights.v[t]) < 3e-3f && fabsf(peak[t] - peaks.v[t]) < 3e-2f);
        free(weight);
        free(peak);
        free(peaks.v);
        free(weights.v);
    }
    steno_session_close(s);
    steno_model_close(m);
}

/* Writer of a converted model. */
static int put(void *user, const void *data, size_t n)
{
    return fwrite(data, 1, n, user) != n;
}

/* Written as GGUF, and read back: the same. */
static void test_bicif_is_the_reference_after_conversion(void **state)
{
    (void)state;
    static const char *const type[] = { "f32", "f16", "q8_0" };
    const struct golden_path from = funasr_safetensors("paraformer-bicif");
    json_t *all = json_open(funasr_file("%s", "golden/paraformer-bicif/golden.json").s);
    for (size_t i = 0; i < 3; i++) {
        char path[] = "/tmp/steno-bicif-XXXXXX";
        FILE *f = fdopen(mkstemp(path), "wb");
        steno_convert_params p;
        steno_model *m;
        steno_error e;
        steno_convert_params_init(&p);
        p.type = type[i];
        p.write = put;
        p.user = f;
        if (steno_model_convert(from.s, &p, &e)) fail_msg("%s", e.text);
        fclose(f);
        if (model_open_f32(&m, path, &e)) fail_msg("%s", e.text);
        assert_true(compare_with(m, all) >= 15);
        steno_model_close(m);
        unlink(path);
    }
    json_decref(all);
    funasr_safetensors_remove(from);
}

/* The folder's configuration with what follows a key put in place of its value, the text of a file, and whether it opens. */
static int open_with(const char *key, const char *value, char *text, size_t n, steno_error *e)
{
    const struct golden_path dir = funasr_safetensors("paraformer");
    char path[PATH_MAX_LEN], all[8192] = "";
    steno_model *m = NULL;
    steno_session *s;
    FILE *f = fopen(funasr_file("%s", "models/paraformer/safetensors/config.json").s, "r");
    assert_non_null(f);
    all[fread(all, 1, sizeof all - 1, f)] = '\0';
    fclose(f);
    char *at = strstr(all, key);
    assert_non_null(at);
    snprintf(path, sizeof path, "%.200s/config.json", dir.s);
    assert_int_equal(unlink(path), 0);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s: %s%s", (int)(at - all), all, key, strchr(key, '"') ? "" : "\"", value, at + strcspn(at, ",}"));
    fclose(f);
    const int rc = model_open_f32(&m, dir.s, e);
    if (!rc) {
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        run(s, "en_bgm", 0, NULL);
        snprintf(text, n, "%s", steno_text(s));
        steno_session_close(s);
    }
    steno_model_close(m);
    funasr_safetensors_remove(dir);
    return rc;
}

/* "four four two" and the end of the sentence have a sum of 4.44, of which 0.45 are the last frame's; half of the rest is two tokens. */
static void test_the_predictor_follows_the_configuration(void **state)
{
    (void)state;
    char text[64];
    steno_error e;
    assert_int_equal(open_with("tail_threshold", "0.45", text, sizeof text, &e), STENO_OK);
    assert_string_equal(text, "four four two");
    assert_int_equal(open_with("tail_threshold", "0.45, \"smooth_factor\": 0.5", text, sizeof text, &e), STENO_OK);
    assert_string_not_equal(text, "four four two");
    assert_int_equal(open_with("tail_threshold", "2", text, sizeof text, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "predictor_conf.tail_threshold"));
    assert_int_equal(open_with("threshold", "0.9", text, sizeof text, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "predictor_conf.threshold"));
}

static void test_kinds_that_are_not_served_are_named(void **state)
{
    (void)state;
    static const struct { const char *key, *value; int rc; const char *named; } case_of[] = {
        { "predictor\"", "\"CifPredictor\"", STENO_EUNSUPPORTED, "CifPredictor is not served" },
        { "predictor\"", "\"CifPredictorV3\"", STENO_EUNSUPPORTED, "upsample_times: 5" },
        { "tail_threshold", "0.45, \"smooth_factor\": 0.5, \"upsample_type\": \"cnn_attn\"", STENO_OK, "" }, /* of another kind */
        { "encoder\"", "\"ConformerEncoder\"", STENO_EUNSUPPORTED, "encoder: ConformerEncoder" },
        { "decoder\"", "\"ParaformerSANDecoder\"", STENO_EUNSUPPORTED, "decoder: ParaformerSANDecoder" },
    };
    for (size_t i = 0; i < sizeof case_of / sizeof *case_of; i++) {
        char text[64];
        steno_error e = { .text = "" };
        assert_int_equal(open_with(case_of[i].key, case_of[i].value, text, sizeof text, &e), case_of[i].rc);
        if (case_of[i].rc && !strstr(e.text, case_of[i].named)) fail_msg("%s", e.text);
    }
}

/* The same bits at every number of threads, in a batch with others or alone. */
static void test_requests_of_a_batch_are_those_alone(void **state)
{
    (void)state;
    static const char *const file[] = { "en_george", "zh_synth_long", "noise", "en_lucas", "silence" };
    enum { N = sizeof file / sizeof *file };
    struct sound a[N];
    struct pcm_feed feed[N];
    steno_source src[N];
    steno_session *s[N], *alone;
    steno_batch *b = batch_with(model, 3);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    assert_int_equal(steno_session_open(&alone, model, NULL, NULL, NULL), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(sound_read(&a[i], funasr_file("audio/%s.wav", file[i]).s), 0);
        feed[i] = (struct pcm_feed){ &a[i], 0, 977 };
        src[i] = (steno_source){ pcm_read, NULL, &feed[i] };
        s[i] = member_new(model, b);
        assert_int_equal(steno_batch_add(b, s[i], &src[i], &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < N; i++) {
        steno_segment g = { .size = sizeof g }, want = { .size = sizeof want };
        run(alone, file[i], 0, NULL);
        assert_string_equal(steno_text(s[i]), steno_text(alone));
        assert_int_equal(steno_segment_count(s[i]), steno_segment_count(alone));
        if (!steno_segment_get(alone, 0, &want)) {
            assert_int_equal(steno_segment_get(s[i], 0, &g), 0);
            assert_true(g.avg_logprob == want.avg_logprob);
        }
        steno_session_close(s[i]);
        sound_free(&a[i]);
    }
    steno_session_close(alone);
    steno_batch_close(b);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_are_the_references),
        cmocka_unit_test(test_ids_text_and_times_are_the_references_from_the_folder),
        cmocka_unit_test(test_ids_text_and_times_are_the_references_from_safetensors),
        cmocka_unit_test(test_ids_text_and_times_are_the_references_from_gguf),
        cmocka_unit_test(test_bicif_is_the_reference_from_every_form),
        cmocka_unit_test(test_bicif_fires_where_the_reference_does),
        cmocka_unit_test(test_bicif_is_the_reference_after_conversion),
        cmocka_unit_test(test_kinds_that_are_not_served_are_named),
        cmocka_unit_test(test_the_predictor_follows_the_configuration),
        cmocka_unit_test(test_requests_of_a_batch_are_those_alone),
    };
    return cmocka_run_group_tests(tests, group_begin, funasr_close);
}
