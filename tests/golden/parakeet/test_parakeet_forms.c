/* steno tests: Parakeet models in other forms. SPDX-License-Identifier: MIT
 *
 * Models of the collection are converted. The results of a file are those of its source to the last bit where the type is exact, and the
 * bytes of NVIDIA's form are those of NVIDIA's converter. */
#include <math.h>
#include <unistd.h>
#include "../../api/convert.h"
#include "folder.h"
#include "golden/golden.h"
#include "golden/same_results.h"
#include "load/weights.h"

static struct golden_path material(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/%s", shared, name);
    return p;
}

static const char *const clips[] = { "phrases", "three", "edge_1280", "long", "a", "b", "c", "clean", "d", "e", "edge_1279", "edge_2567",
                                     "noise", "one", "silence", "stranger", "tiny" };
enum { CLIPS = sizeof clips / sizeof *clips, FEW = 4 };
static struct sound audio[CLIPS];

static int group_begin(void **state)
{
    (void)state;
    for (int i = 0; i < CLIPS; i++) {
        char name[64];
        snprintf(name, sizeof name, "parakeet/audio/%s.wav", clips[i]);
        assert_int_equal(sound_read(&audio[i], material(name).s), 0);
    }
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    for (int i = 0; i < CLIPS; i++) sound_free(&audio[i]);
    return 0;
}

static steno_model *model_of(const char *path, const struct buf *bytes)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    if (bytes ? steno_model_open_memory(&m, bytes->p, bytes->len, &p, &e) : steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static steno_session *heard(const steno_model *m, int clip)
{
    steno_session *s;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    if (steno_transcribe(s, audio[clip].pcm, audio[clip].n, &p)) fail_msg("%s: %s", clips[clip], steno_last_error(s));
    return s;
}

static void models_are_equal(const char *name, steno_model *want, steno_model *got)
{
    for (int i = 0; i < FEW; i++) {
        steno_session *x = heard(got, i), *y = heard(want, i);
        results_are_equal(x, y, name);
        steno_session_close(x);
        steno_session_close(y);
    }
    steno_model_close(want);
    steno_model_close(got);
}

static struct buf converted(const char *path, const char *form, const char *type)
{
    struct buf b = { 0 };
    steno_error e;
    if (convert_to_form(&b, path, form, type, &e)) fail_msg("%s", e.text);
    return b;
}

/* A folder of transformers with the parts that the collection does not have for each. */
static struct folder streams_folder(void)
{
    static const char *const from[] = { "nemotron/hf/config.json", "nemotron/hf/model.safetensors", "parakeet/hf/rnnt/tokenizer.json" };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        assert_int_equal(symlink(material(from[i]).s, folder_at(&d, strrchr(from[i], '/') + 1).path), 0);
    folder_text(&d, "processor_config.json", "{ \"supported_num_lookahead_tokens\": [3, 1, 0], \"prompt_dictionary\": "
                                             "{ \"en-US\": 0, \"de-DE\": 2, \"auto\": 5 } }");
    return d;
}

static const char *const sources[] = {
    "parakeet/nemo/parakeet-digits-ctc.nemo", "parakeet/nemo/parakeet-digits-tdt_ctc.nemo", "parakeet/nemo/parakeet-digits-rnnt.nemo",
    "parakeet/nemo/odd-tdt_ctc.nemo", "parakeet/hf/ctc", "parakeet/hf/tdt", "parakeet/hf/rnnt",
    "parakeet/gguf/parakeet-digits-rnnt.fp16.gguf", "parakeet/gguf/parakeet-digits-tdt_ctc.q8_0.gguf",
    "parakeet/ggml/parakeet-digits-tdt.f16.bin", "nemotron/nemotron-tiny.nemo",
};

static void test_a_gguf_file_gives_the_bits_of_its_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct golden_path path = material(sources[i]);
        struct buf b = converted(path.s, "gguf", "f32");
        models_are_equal(sources[i], model_of(path.s, NULL), model_of(NULL, &b));
        buf_free(&b);
    }
    const struct folder d = streams_folder();
    struct buf b = converted(d.path, "gguf", NULL);
    models_are_equal("a folder of streams", model_of(d.path, NULL), model_of(NULL, &b));
    buf_free(&b);
    folder_remove(&d);
}

static void test_a_gguf_file_becomes_itself_again(void **state)
{
    static const char *const type[] = { "f32", "q8_0", "q4_k" };
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file file = folder_at(&d, "m.gguf");
    for (size_t i = 0; i < 3 * sizeof type / sizeof *type; i++) {
        const struct golden_path path = material(sources[i < 3 ? 0 : i < 6 ? 3 : 10]);
        struct buf b = converted(path.s, "gguf", type[i % 3]);
        folder_put(&d, "m.gguf", b.p, b.len);
        struct buf again = converted(file.path, "gguf", type[i % 3]);
        assert_int_equal(again.len, b.len);
        assert_memory_equal(again.p, b.p, b.len);
        buf_free(&again);
        buf_free(&b);
    }
    folder_remove(&d);
}

/* The choices of a request: look-ahead and language. */
static void test_a_gguf_file_of_streams_has_all_choices(void **state)
{
    static const char *const language[] = { NULL, "de", "en-US" };
    (void)state;
    const struct folder d = streams_folder();
    struct buf b = converted(d.path, "gguf", "f16");
    steno_model *m[2] = { model_of(d.path, NULL), model_of(NULL, &b) };
    for (int r = 0; r < 4; r++)
        for (size_t l = 0; l < sizeof language / sizeof *language; l++) {
            steno_session *s[2];
            int rc[2];
            for (int i = 0; i < 2; i++) {
                steno_transcribe_params p;
                steno_transcribe_params_init(&p);
                p.lookahead = r;
                p.language = language[l];
                assert_int_equal(steno_session_open(&s[i], m[i], NULL, NULL, NULL), 0);
                rc[i] = steno_transcribe(s[i], audio[0].pcm, audio[0].n, &p);
            }
            assert_int_equal(rc[0], r == 2 ? STENO_EARG : STENO_OK);
            assert_int_equal(rc[1], rc[0]);
            if (r == 2) assert_string_equal(steno_last_error(s[1]), steno_last_error(s[0]));
            else results_are_equal(s[1], s[0], "streams");
            for (int i = 0; i < 2; i++) steno_session_close(s[i]);
        }
    for (int i = 0; i < 2; i++) steno_model_close(m[i]);
    buf_free(&b);
    folder_remove(&d);
}

/* ---- whisper.cpp's files */

static void test_a_bin_file_gives_the_bits_of_its_source(void **state)
{
    static const char *const from[] = { "parakeet/nemo/parakeet-digits-tdt_ctc.nemo", "parakeet/hf/tdt",
                                        "parakeet/ggml/parakeet-digits-tdt.f16.bin", "parakeet/gguf/parakeet-digits-tdt_ctc.q8_0.gguf" };
    (void)state;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        const struct golden_path path = material(from[i]);
        struct buf b = converted(path.s, "bin", NULL);
        models_are_equal(from[i], model_of(path.s, NULL), model_of(NULL, &b));
        buf_free(&b);
    }
}

/* From the .nemo file the bytes differ in the number of batches in training alone: three numbers. */
static void test_bin_files_are_those_of_whisper_cpps_converter(void **state)
{
    static const char *const type[] = { "f32", "f16" };
    (void)state;
    for (int i = 0; i < 2; i++) {
        char name[64];
        struct file f;
        steno_error e;
        snprintf(name, sizeof name, "parakeet/ggml/parakeet-digits-tdt.%s.bin", type[i]);
        const struct golden_path path = material(name);
        if (file_open(&f, path.s, &e)) fail_msg("%s", e.text);
        const size_t n = (size_t)f.size;
        char *want = malloc(n);
        assert_true(want && !file_read(&f, 0, want, n, &e));
        file_close(&f);
        struct buf same = converted(path.s, "bin", NULL), b = converted(material(sources[1]).s, "bin", type[i]);
        assert_int_equal(same.len, n);
        assert_memory_equal(same.p, want, n);
        assert_int_equal(b.len, n);
        size_t differ = 0;
        for (size_t k = 0; k < n; k++) differ += b.p[k] != want[k];
        assert_in_range(differ, 0, 3 * sizeof(float));
        buf_free(&same);
        buf_free(&b);
        free(want);
    }
}

static void test_what_a_bin_file_cannot_have_is_refused(void **state)
{
    static const struct { const char *from, *type, *error; int status; } row[] = {
        { "parakeet/nemo/odd-tdt_ctc.nemo", NULL, "no place for biases of linears; write a GGUF file", STENO_EUNSUPPORTED },
        { "parakeet/hf/rnnt", NULL, "no place for a head other than TDT", STENO_EUNSUPPORTED },
        { "parakeet/hf/ctc", NULL, "a parakeet-ctc model is not written as bin, but as gguf", STENO_EUNSUPPORTED },
        { "parakeet/hf/tdt", "bf16", "bf16 is not a type of whisper.cpp's files", STENO_EARG },
        { "parakeet/hf/tdt", "q4_k", "which are not whole blocks of q4_k, of 256", STENO_EARG },
        { "parakeet/gguf/parakeet-digits-tdt_ctc.q8_0.gguf", "q4_0", "would be rounded again", STENO_EARG },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = { 0 };
        steno_error e;
        assert_int_equal(convert_to_form(&b, material(row[i].from).s, "bin", row[i].type, &e), row[i].status);
        if (!strstr(e.text, row[i].error)) fail_msg("%s", e.text);
        assert_int_equal(b.len, 0);
        buf_free(&b);
    }
}

/* ---- NVIDIA's files */

/* Computed tables may differ in the last bits. */
static void tables_are_near(const struct tensor *x, const struct tensor *y)
{
    const size_t n = (size_t)(x->dim[0] * x->dim[1]);
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    steno_error e;
    assert_true(a && b && !tensor_read_f32(x, a, &e) && !tensor_read_f32(y, b, &e));
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-3f)) fail_msg("%s: number %zu is %g, want %g", x->name, i, (double)a[i], (double)b[i]);
    free(a);
    free(b);
}

static void tensors_are_equal(const struct tensor *got, const struct tensor *want)
{
    steno_error e;
    assert_int_equal(got->n_dims, want->n_dims);
    assert_memory_equal(got->dim, want->dim, sizeof got->dim);
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->size, want->size);
    if (!strcmp(got->name, "encoder.pos_enc.pe") || !strcmp(got->name, "preprocessor.fb")) {
        tables_are_near(got, want);
        return;
    }
    uint8_t *a = malloc((size_t)got->size), *b = malloc((size_t)got->size);
    assert_true(a && b && !file_read(got->file, got->offset, a, (size_t)got->size, &e) &&
                !file_read(want->file, want->offset, b, (size_t)got->size, &e));
    if (memcmp(a, b, (size_t)got->size) != 0) fail_msg("%s differs", got->name);
    free(a);
    free(b);
}

static void settings_are_equal(const struct meta *got, const struct meta *want)
{
    for (uint32_t i = 0; i < want->n; i++) {
        const struct meta_entry *b = &want->entry[i], *a = meta_find(got, b->key);
        if (!strncmp(b->key, "general.", 8) && strcmp(b->key, "general.file_type") != 0) continue;
        if (!a) fail_msg("no %s", b->key);
        if (a->kind != b->kind || a->i != b->i || a->x != b->x || (b->kind == META_TEXT && strcmp(a->text, b->text) != 0))
            fail_msg("%s differs", b->key);
    }
    for (uint32_t i = 0; i < want->n_lists; i++) {
        const struct meta_list *b = &want->list[i], *a = meta_find_list(got, b->key);
        if (!a || a->type != b->type || a->n != b->n || a->size != b->size) fail_msg("%s differs", b->key);
    }
}

static void test_gguf_files_are_those_of_nvidias_converter(void **state)
{
    static const struct { const char *from, *type, *want; } row[] = {
        { "ctc.nemo", "q8_0", "ctc.q8_0.gguf" }, { "tdt_ctc.nemo", "q8_0", "tdt_ctc.q8_0.gguf" }, { "rnnt.nemo", "f16", "rnnt.fp16.gguf" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char from[64], want[64];
        struct weights w[2];
        struct file f[2];
        steno_error e;
        snprintf(from, sizeof from, "parakeet/nemo/parakeet-digits-%s", row[i].from);
        snprintf(want, sizeof want, "parakeet/gguf/parakeet-digits-%s", row[i].want);
        const struct golden_path path = material(want);
        struct buf b = converted(material(from).s, "gguf", row[i].type);
        file_from_memory(&f[0], "ours", b.p, b.len);
        assert_int_equal(file_open(&f[1], path.s, &e), 0);
        for (int k = 0; k < 2; k++) assert_int_equal(weights_open(&w[k], &f[k], &e), 0);
        settings_are_equal(&w[0].meta, &w[1].meta);
        for (uint32_t k = 0; k < w[1].n_tensors; k++) {
            const struct tensor *t = weights_find(&w[0], w[1].tensor[k].name);
            if (!t) fail_msg("no tensor %s", w[1].tensor[k].name);
            tensors_are_equal(t, &w[1].tensor[k]);
        }
        for (int k = 0; k < 2; k++) weights_close(&w[k]), file_close(&f[k]);
        buf_free(&b);
    }
}

/* ---- types */

enum { TEXT = 256 };

/* Texts of all clips but the long one, for which the models were not trained. */
static void texts_of(char text[CLIPS][TEXT], steno_model *m)
{
    for (int i = 0; i < CLIPS; i++) {
        if (!strcmp(clips[i], "long")) continue;
        steno_session *s = heard(m, i);
        snprintf(text[i], TEXT, "%s", steno_text(s));
        steno_session_close(s);
    }
    steno_model_close(m);
}

static int texts_that_differ(char want[CLIPS][TEXT], const char *path, const char *form, const char *type)
{
    static char got[CLIPS][TEXT];
    struct buf b = converted(path, form, type);
    int n = 0;
    texts_of(got, model_of(NULL, &b));
    for (int i = 0; i < CLIPS; i++) n += strcmp(got[i], want[i]) != 0;
    buf_free(&b);
    return n;
}

static void test_few_texts_change_in_types_of_blocks(void **state)
{
    static const struct { const char *type; int most; } row[] = {
        { "f16", 0 }, { "bf16", 1 }, { "q8_0", 1 }, { "q5_1", 3 }, { "q5_0", 8 }, { "q4_1", 3 }, { "q4_0", 8 }, { "q6_k", 1 },
        { "q5_k", 1 }, { "q4_k", 3 }, { "q3_k", 3 }, { "q2_k", 3 },
    };
    static char want[3][CLIPS][TEXT];
    (void)state;
    for (size_t k = 0; k < 3; k++) texts_of(want[k], model_of(material(sources[k]).s, NULL));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int n = 0;
        for (size_t k = 0; k < 3; k++) n += texts_that_differ(want[k], material(sources[k]).s, "gguf", row[i].type);
        print_message("%s: %d of 48 texts differ\n", row[i].type, n);
        if (n > row[i].most) fail_msg("%s: more than %d", row[i].type, row[i].most);
    }
}

static void test_few_texts_change_in_a_bin_file_of_blocks(void **state)
{
    static const struct { const char *type; int most; } row[] = { { "f16", 0 }, { "q8_0", 1 }, { "q5_0", 5 }, { "q4_0", 5 } };
    static char want[CLIPS][TEXT];
    const struct golden_path path = material(sources[1]);
    (void)state;
    texts_of(want, model_of(path.s, NULL));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const int n = texts_that_differ(want, path.s, "bin", row[i].type);
        print_message("%s: %d of 16 texts differ\n", row[i].type, n);
        if (n > row[i].most) fail_msg("%s: more than %d", row[i].type, row[i].most);
    }
}

static void test_rounding_again_and_mixtures_are_refused(void **state)
{
    static const struct { const char *from, *type, *error; } row[] = {
        { "parakeet/gguf/parakeet-digits-tdt_ctc.q8_0.gguf", "q4_0", "would be rounded again" },
        { "parakeet/nemo/parakeet-digits-ctc.nemo", "q4_k_m", "q4_k_m is for language models; of parakeet-ctc f32, f16" },
        { "parakeet/nemo/parakeet-digits-ctc.nemo", "q9", "q9 is not a type" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = { 0 };
        steno_error e;
        assert_int_equal(convert_to_form(&b, material(row[i].from).s, "gguf", row[i].type, &e), STENO_EARG);
        if (!strstr(e.text, row[i].error)) fail_msg("%s", e.text);
        assert_int_equal(b.len, 0);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_gguf_file_gives_the_bits_of_its_source),
        cmocka_unit_test(test_a_gguf_file_becomes_itself_again),
        cmocka_unit_test(test_a_gguf_file_of_streams_has_all_choices),
        cmocka_unit_test(test_a_bin_file_gives_the_bits_of_its_source),
        cmocka_unit_test(test_bin_files_are_those_of_whisper_cpps_converter),
        cmocka_unit_test(test_what_a_bin_file_cannot_have_is_refused),
        cmocka_unit_test(test_few_texts_change_in_a_bin_file_of_blocks),
        cmocka_unit_test(test_gguf_files_are_those_of_nvidias_converter),
        cmocka_unit_test(test_few_texts_change_in_types_of_blocks),
        cmocka_unit_test(test_rounding_again_and_mixtures_are_refused),
    };
    if (!is_there(material("parakeet/README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
