/* steno tests: hot words by integrate-and-fire against the reference. SPDX-License-Identifier: MIT
 *
 * The small SeACo Paraformer of the collection, whose hot words are random weights: every list makes other texts. */
#include "funasr_pt.h"
#include "internal.h"
#include "model/parts.h"

static const char one[] = "三四", three[] = "seven\nalpha\n好我";

/* Sixty words of two characters, none of which the dictionary has. */
static void sixty(char *text)
{
    static const char a[] = "零一二三四五六七八九百千万点年月日你好我", b[] = "一二三四五六七八九";
    for (int i = 0; i < 60; i++) text += sprintf(text, "%.3s%.3s\n", a + 3 * (i % 20), b + 3 * (i % 9));
}

static void run_guarded(steno_session *s, const char *file, const char *words, enum steno_guards guards)
{
    struct sound a;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", file).s), 0);
    struct pcm_feed feed = { &a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    p.hotwords = words;
    p.guards = (int32_t)guards;
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s: %s", file, steno_last_error(s));
    sound_free(&a);
}

/* As the reference, which writes on silence. */
static void run(steno_session *s, const char *file, const char *words) { run_guarded(s, file, words, STENO_GUARDS_OFF); }

static void compare(const steno_session *s, const char *name, const char *list, json_t *want)
{
    json_t *ids = json_object_get(want, "ids"), *times = json_object_get(want, "timestamp");
    const char *text = json_string_value(json_object_get(want, "text"));
    steno_segment g = { .size = sizeof g };
    if (strcmp(steno_text(s), text) != 0) fail_msg("%s, %s: \"%s\", want \"%s\"", name, list, steno_text(s), text);
    if (steno_segment_get(s, 0, &g)) g.n_tokens = g.n_words = 0;
    int n = 0;
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_int_t id = json_integer_value(json_array_get(ids, i));
        if (id > 2) assert_true(n < g.n_tokens && g.tokens[n++] == id);
    }
    assert_int_equal(n, g.n_tokens);
    assert_int_equal(g.n_words, json_array_size(times));
    for (int i = 0; i < g.n_words; i++) {
        steno_word w = { .size = sizeof w };
        assert_int_equal(steno_word_get(s, 0, i, &w), 0);
        assert_int_equal((int)(w.start * 1000), json_integer_value(json_array_get(json_array_get(times, (size_t)i), 0)));
        assert_int_equal((int)(w.end * 1000), json_integer_value(json_array_get(json_array_get(times, (size_t)i), 1)));
    }
}

/* All files with every list where the margin allows it. @return their number */
static int compare_all(const char *path, double margin)
{
    static const char *const list[] = { "none", "one", "three", "sixty" };
    char many[60 * 7 + 1];
    const char *const words[] = { NULL, one, three, many };
    json_t *all = json_open(funasr_file("%s", "golden/paraformer-seaco/golden.json").s), *want;
    const char *name;
    steno_model *m;
    steno_session *s;
    steno_error e;
    int n = 0;
    sixty(many);
    steno_model_params as_reference;
    steno_model_params_init(&as_reference);
    as_reference.compute = STENO_COMPUTE_F32;
    if (steno_model_open(&m, path, &as_reference, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(all, "files"), name, want) {
        for (int k = 0; k < 4; k++) {
            json_t *r = json_object_get(json_object_get(want, "results"), list[k]);
            if (json_number_value(json_object_get(r, "min_margin")) < margin) continue;
            run(s, name, words[k]);
            compare(s, name, list[k], r);
            n++;
        }
    }
    run_guarded(s, "silence", one, STENO_GUARDS_FLAG); /* its token is placed behind the last frame */
    assert_true(!*steno_text(s) && steno_left_out_count(s) == 1);
    steno_session_close(s);
    steno_model_close(m);
    json_decref(all);
    return n;
}

static void test_folders_give_the_references_texts_and_times(void **state)
{
    (void)state;
    const struct golden_path pt = funasr_pt("paraformer-seaco"), safe = funasr_safetensors("paraformer-seaco");
    assert_int_equal(compare_all(pt.s, 0.02), 60);
    assert_int_equal(compare_all(safe.s, 0.02), 60);
    funasr_pt_remove(pt);
    funasr_safetensors_remove(safe);
}

/* Texts of all files with every list in an arithmetic, where its margin allows it. */
static void narrow_texts(const char *path, enum steno_compute compute, double margin, double sum)
{
    static const char *const list[] = { "none", "one", "three", "sixty" };
    char many[60 * 7 + 1];
    const char *const words[] = { NULL, one, three, many };
    json_t *all = json_open(funasr_file("%s", "golden/paraformer-seaco/golden.json").s), *want;
    const char *name;
    steno_model *m;
    steno_session *s;
    steno_error e;
    int n = 0, bad = 0, all_n = 0, all_bad = 0;
    double widest = 0;
    sixty(many);
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(all, "files"), name, want) {
        const double alphas = json_number_value(json_object_get(want, "alpha_sum"));
        for (int k = 0; k < 4; k++) {
            json_t *r = json_object_get(json_object_get(want, "results"), list[k]);
            const double own = json_number_value(json_object_get(r, "min_margin"));
            run(s, name, words[k]);
            const int differs = strcmp(steno_text(s), json_string_value(json_object_get(r, "text"))) != 0;
            all_n++;
            all_bad += differs;
            if (differs && own > widest) widest = own;
            if (own < margin || fabs(alphas - nearbyint(alphas)) < sum) continue;
            n++;
            bad += differs;
        }
    }
    print_message("SeACo, compute %d: %d texts, %d differ, of all %d %d, margins up to %.3f\n", (int)compute, n, bad, all_n, all_bad,
                  widest);
    assert_int_equal(bad, 0);
    assert_true(n >= 38);
    steno_session_close(s);
    steno_model_close(m);
    json_decref(all);
}

static void test_texts_are_the_references_in_every_arithmetic(void **state)
{
    (void)state;
    const struct golden_path safe = funasr_safetensors("paraformer-seaco");
    narrow_texts(safe.s, STENO_COMPUTE_BF16, 0.1, 0.002);
    narrow_texts(safe.s, STENO_COMPUTE_INT16, 0.02, 0.0005);
    narrow_texts(safe.s, STENO_COMPUTE_INT8, 0.3, 0.01);
    funasr_safetensors_remove(safe);
}

static int put(void *user, const void *data, size_t n)
{
    return fwrite(data, 1, n, user) != n;
}

static void convert(const char *from, const char *type, char *path)
{
    FILE *f = fdopen(mkstemp(path), "wb");
    steno_convert_params p;
    steno_error e;
    steno_convert_params_init(&p);
    p.type = type;
    p.write = put;
    p.user = f;
    if (steno_model_convert(from, &p, &e)) fail_msg("%s", e.text);
    fclose(f);
}

/* The dictionary is in the file, too. Smaller weights move what random ones say further. */
static void test_gguf_files_give_the_folders_texts_and_times(void **state)
{
    (void)state;
    static const struct { const char *type; double margin; int least; } form[] = { { "f32", 0.02, 60 }, { "f16", 0.1, 50 },
                                                                                       { "q8_0", 1, 19 } };
    const struct golden_path safe = funasr_safetensors("paraformer-seaco");
    for (size_t i = 0; i < 3; i++) {
        char path[] = "/tmp/steno-hot-XXXXXX", again[] = "/tmp/steno-hot-XXXXXX";
        convert(safe.s, form[i].type, path);
        assert_true(compare_all(path, form[i].margin) >= form[i].least);
        convert(path, form[i].type, again);
        assert_true(compare_all(again, form[i].margin) >= form[i].least);
        unlink(path);
        unlink(again);
    }
    funasr_safetensors_remove(safe);
}

/* The run's results: for tokens where the head finds a hot word, the reference's log-probabilities. */
static void test_logits_are_the_references(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" }, *const list[] = { "one", "three", "sixty" };
    const struct golden_path safe = funasr_safetensors("paraformer-seaco");
    char many[60 * 7 + 1];
    const char *const words[] = { one, three, many };
    steno_model *m;
    steno_session *s;
    steno_error e;
    int n_hot = 0;
    sixty(many);
    steno_model_params as_reference;
    steno_model_params_init(&as_reference);
    as_reference.compute = STENO_COMPUTE_F32;
    if (steno_model_open(&m, safe.s, &as_reference, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    const struct plan *plan = inside_plan(m, PLAN_HOT);
    const struct slot *slot = &plan->slot[plan->logits];
    for (size_t k = 0; k < 6; k++) {
        char name[80];
        run(s, stems[k % 2], words[k / 2]);
        snprintf(name, sizeof name, "golden/paraformer-seaco/%%s.logp_hw_%s.npy", list[k / 2]);
        struct npy want = funasr_tensor(name, stems[k % 2]);
        const float *x = inside_slot(s, plan, plan->logits);
        for (size_t r = 0; r < want.n / slot->width; r++, x += slot->ld) {
            double sum = 0, most = -1e9;
            size_t best = 0;
            for (size_t i = 0; i < slot->width; i++)
                if ((double)x[i] > most) most = (double)x[i], best = i;
            for (size_t i = 0; i < slot->width; i++) sum += exp((double)x[i] - most);
            for (size_t i = 0; i < slot->width && best != 68; i++)
                assert_true(fabs((double)x[i] - most - log(sum) - (double)want.v[r * slot->width + i]) < 2e-3);
            n_hot += best != 68;
        }
        free(want.v);
    }
    assert_true(n_hot >= 8);
    steno_session_close(s);
    steno_model_close(m);
    funasr_safetensors_remove(safe);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders_give_the_references_texts_and_times),
        cmocka_unit_test(test_texts_are_the_references_in_every_arithmetic),
        cmocka_unit_test(test_gguf_files_give_the_folders_texts_and_times),
        cmocka_unit_test(test_logits_are_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
