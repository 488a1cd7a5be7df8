/* steno tests: Whisper models as CTranslate2 stores them. SPDX-License-Identifier: MIT
 *
 * The shipped model is written as folders of CTranslate2's kind. Where the values of its weights are the same, every bit of the results
 * must be; folders of integers give the results of the same folder with the numbers that the integers stand for. */
#include "api/convert.h"
#include "ct2_folder.h"
#include "transcript.h"

static steno_model *open_as(const char *path, enum steno_compute compute, int verify)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.verify = verify;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static struct shipped_text shipped_text_as(struct source *s, const struct ct2_how *h, enum steno_compute compute)
{
    const struct folder d = folder_new();
    ct2_model(&d, &s->w, h);
    const struct shipped_text said = shipped_text(open_as(d.path, compute, 0));
    folder_remove(&d);
    return said;
}

static void test_a_folder_of_the_shipped_model_gives_its_results(void **state)
{
    (void)state;
    static const struct ct2_how how[] = {
        { .type = DT_F32, .heads = "[[1, 0], [1, 1], [2, 0], [2, 1]]" },
        { .type = DT_F32, .vocab = CT2_LINES },
        { .type = DT_F32, .vocab = CT2_LINES_CRLF, .untied = 1 },
    };
    struct source src;
    source_open(&src);
    const struct shipped_text want = shipped_text(shipped_open());
    assert_string_equal(want.text, demo_text);
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof how / sizeof *how); i++) {
        const struct shipped_text got = shipped_text_as(&src, &how[i], STENO_COMPUTE_AUTO);
        assert_string_equal(got.text, want.text);
        if (got.all != want.all) fail_msg("%zu: same text, but ids, times or probabilities differ", i);
    }
    source_close(&src);
}

static void test_a_folder_gives_the_results_of_a_hugging_face_folder(void **state)
{
    (void)state;
    static int const type[] = { DT_F16, DT_BF16 };
    struct source src;
    source_open(&src);
    for (size_t i = 0; i < (SANITIZED ? 1 : 2); i++) {
        const struct folder d = folder_new();
        spell_model(&d, &src.w, type[i], 1);
        const struct shipped_text want = shipped_text(open_as(d.path, STENO_COMPUTE_AUTO, 0));
        const struct shipped_text got = shipped_text_as(&src, &(struct ct2_how){ .type = type[i] }, STENO_COMPUTE_AUTO);
        assert_string_equal(got.text, want.text);
        if (got.all != want.all) fail_msg("%d: same text, but ids, times or probabilities differ", type[i]);
        folder_remove(&d);
    }
    source_close(&src);
}

static void test_integers_give_the_results_of_their_numbers(void **state)
{
    (void)state;
    static const struct ct2_how how[] = {
        { .type = DT_F16, .integers = CT2_INT8 }, { .type = DT_F32, .integers = CT2_INT16 }, { .type = DT_BF16, .integers = CT2_INT8 },
    };
    struct source src;
    source_open(&src);
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof how / sizeof *how); i++) {
        struct ct2_how plain = how[i];
        plain.dequantised = 1;
        const struct shipped_text want = shipped_text_as(&src, &plain, STENO_COMPUTE_F32),
                                  got = shipped_text_as(&src, &how[i], STENO_COMPUTE_F32);
        assert_string_equal(got.text, demo_text);
        if (got.all != want.all) fail_msg("%zu: ids, times or probabilities differ", i);
    }
    source_close(&src);
}

static void test_low_precision_reads_integers(void **state)
{
    (void)state;
    struct source src;
    const struct folder d = folder_new();
    source_open(&src);
    ct2_model(&d, &src.w, &(struct ct2_how){ .type = DT_F16, .integers = CT2_INT8 });
    for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT8; compute++)
        assert_string_equal(shipped_text(open_as(d.path, (enum steno_compute)compute, 0)).text, demo_text);
    const struct shipped_text exact = shipped_text(open_as(d.path, STENO_COMPUTE_F32, 0)),
                              verified = shipped_text(open_as(d.path, STENO_COMPUTE_INT8, 1));
    assert_string_equal(verified.text, exact.text);
    assert_true(verified.ids == exact.ids);
    folder_remove(&d);
    source_close(&src);
}

/* The order of a stack in the table of names matters. */
static void test_a_stack_in_another_order_gives_other_results(void **state)
{
    (void)state;
    struct source src;
    source_open(&src);
    const struct ct2_how how = { .type = DT_F32, .swapped = 1 };
    assert_true(shipped_text_as(&src, &how, STENO_COMPUTE_F32).ids != shipped_text(shipped_open_as(STENO_COMPUTE_F32)).ids);
    source_close(&src);
}

static void test_other_forms_give_the_folder_s_results(void **state)
{
    (void)state;
    static const char *const form[] = { "bin", "pt" };
    struct source src;
    struct buf b = { 0 };
    const struct folder d = folder_new();
    source_open(&src);
    ct2_model(&d, &src.w, &(struct ct2_how){ .type = DT_F32, .integers = CT2_INT8 });
    const struct shipped_text want = shipped_text(open_as(d.path, STENO_COMPUTE_F32, 0));
    for (int k = 0; k < (SANITIZED ? 1 : 2); k++) {
        steno_convert_params p;
        steno_model_params mp;
        steno_model *m;
        steno_error e;
        steno_convert_params_init(&p);
        steno_model_params_init(&mp);
        mp.vocab = shipped_model;
        mp.compute = STENO_COMPUTE_F32;
        p.form = form[k];
        p.write = convert_take;
        p.user = &b;
        buf_clear(&b);
        if (steno_model_convert(d.path, &p, &e)) fail_msg("%s", e.text);
        if (steno_model_open_memory(&m, b.p, b.len, &mp, &e)) fail_msg("%s", e.text);
        const struct shipped_text got = shipped_text(m);
        assert_string_equal(got.text, want.text);
        assert_true(got.all == want.all);
    }
    buf_free(&b);
    folder_remove(&d);
    source_close(&src);
}

/* ---- a small model, so that this is quick everywhere ---- */

static struct whisper_dims const dims_64 = { 80, 30, 64, 4, 2, SMALL_VOCAB, 70, 64, 4, 2 };

static void test_heads_that_fit_are_taken_from_config_json(void **state)
{
    (void)state;
    static const struct { const char *heads, *want; } row[] = {
        { "[[0, 1], [1, 3]]", "0,1 1,3" },
        { NULL, "1,0 1,1 1,2 1,3" },              /* no config.json: the upper half */
        { "null", "1,0 1,1 1,2 1,3" },
        { "[]", "1,0 1,1 1,2 1,3" },
        { "[[0, 1], [2, 0]]", "1,0 1,1 1,2 1,3" }, /* of a larger model, as distilled models have them */
        { "[[0, 4]]", "1,0 1,1 1,2 1,3" },
        { "[[0, -1]]", "1,0 1,1 1,2 1,3" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct folder d = folder_new();
        steno_model_info info = { .size = sizeof info };
        ct2_random(&d, &dims_64, &(struct ct2_how){ .type = DT_F16, .heads = row[i].heads });
        steno_model *m = open_as(d.path, STENO_COMPUTE_F32, 0);
        steno_model_info_get(m, &info);
        assert_string_equal(info.alignment_heads, row[i].want);
        assert_string_equal(info.format, "CTranslate2");
        assert_string_equal(info.weight_type, "f16");
        steno_model_close(m);
        folder_remove(&d);
    }
}

static int64_t parameters_at(const char *path)
{
    steno_model_info info = { .size = sizeof info };
    steno_model *m = open_as(path, STENO_COMPUTE_F32, 0);
    steno_model_info_get(m, &info);
    steno_model_close(m);
    return info.parameters;
}

static void test_model_bin_is_the_model_of_its_folder(void **state)
{
    (void)state;
    const struct folder d = folder_new(), hf = folder_new();
    ct2_random(&d, &dims_64, &(struct ct2_how){ .type = DT_F16, .integers = CT2_INT8 });
    const struct folder_file file = folder_at(&d, "model.bin");
    folder_text(&d, "pytorch_model.bin", "another form of the same model");
    const int64_t n = parameters_at(d.path);
    assert_true(n > 0 && parameters_at(file.path) == n);
    const struct bytes b = random_bytes(&dims_64, DT_F32, 5);
    struct file f;
    struct weights w;
    steno_error e;
    file_from_memory(&f, "small", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    spell_model(&hf, &w, DT_F16, 1);
    assert_true(parameters_at(hf.path) == n); /* scales, biases of keys and second names are not parameters */
    weights_close(&w);
    free(b.p);
    folder_remove(&d);
    folder_remove(&hf);
}

static int64_t weight_bytes_at(const char *path, enum steno_compute compute)
{
    steno_model_info info = { .size = sizeof info };
    steno_model *m = open_as(path, compute, 0);
    steno_model_info_get(m, &info);
    steno_model_close(m);
    return info.weight_bytes;
}

static void test_int8_is_held_in_less_memory_than_f16(void **state)
{
    (void)state;
    const struct folder f16 = folder_new(), int8 = folder_new();
    struct source src;
    source_open(&src);
    ct2_model(&f16, &src.w, &(struct ct2_how){ .type = DT_F16 });
    ct2_model(&int8, &src.w, &(struct ct2_how){ .type = DT_F16, .integers = CT2_INT8 });
    for (int compute = STENO_COMPUTE_BF16; compute <= STENO_COMPUTE_INT8; compute++)
        assert_true(weight_bytes_at(int8.path, (enum steno_compute)compute) < weight_bytes_at(f16.path, (enum steno_compute)compute));
    folder_remove(&f16);
    folder_remove(&int8);
    source_close(&src);
}

static void test_folders_that_are_not_such_a_model_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { struct ct2_how how; int status; const char *says; } bad[] = {
        { { .type = DT_F16, .words_left_out = 1 }, STENO_EFORMAT,
          "its vocabulary lists 1899 strings, and its token embedding has 1900 rows" },
        { { .type = DT_F16, .vocab = CT2_NO_VOCAB }, STENO_ENOVOCAB, "none of vocab.json, " },
        { { .type = DT_F16, .untied = 2 }, STENO_EUNSUPPORTED, "decoder/projection/weight differs from decoder/embeddings/weight" },
        { { .type = DT_F16, .integers = CT2_INT8, .untied = 2 }, STENO_EUNSUPPORTED, "decoder/projection/weight differs from" },
        { { .type = DT_F16, .activation = 1 }, STENO_EUNSUPPORTED, "decoder/activation is 1; Whisper models have 3" },
        { { .type = DT_F16, .revision = 4 }, STENO_EUNSUPPORTED, "revision is 4; Whisper models have 3" },
        { { .type = DT_F16, .revision = 2 }, STENO_EUNSUPPORTED, "revision is 2; Whisper models have 3" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct folder d = folder_new();
        steno_model *m;
        steno_error e = { 0 };
        ct2_random(&d, &dims_64, &bad[i].how);
        const int rc = steno_model_open(&m, d.path, NULL, &e);
        if (rc != bad[i].status || !strstr(e.text, bad[i].says)) fail_msg("%zu: %d, \"%s\", want \"%s\"", i, rc, e.text, bad[i].says);
        folder_remove(&d);
    }
}

static void test_strings_that_are_no_bytes_are_refused(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    steno_model *m;
    steno_error e = { 0 };
    ct2_random(&d, &dims_64, &(struct ct2_how){ .type = DT_F16, .vocab = CT2_NO_VOCAB });
    folder_text(&d, "vocabulary.txt", "a\n\xe2\x96\x81" "b\n");
    assert_int_equal(steno_model_open(&m, d.path, NULL, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "the string of id 1 has U+2581, which stands for no byte"));
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folder_of_the_shipped_model_gives_its_results),
        cmocka_unit_test(test_a_folder_gives_the_results_of_a_hugging_face_folder),
        cmocka_unit_test(test_integers_give_the_results_of_their_numbers),
        cmocka_unit_test(test_low_precision_reads_integers),
        cmocka_unit_test(test_a_stack_in_another_order_gives_other_results),
        cmocka_unit_test(test_other_forms_give_the_folder_s_results),
        cmocka_unit_test(test_heads_that_fit_are_taken_from_config_json),
        cmocka_unit_test(test_model_bin_is_the_model_of_its_folder),
        cmocka_unit_test(test_int8_is_held_in_less_memory_than_f16),
        cmocka_unit_test(test_folders_that_are_not_such_a_model_are_refused_by_name),
        cmocka_unit_test(test_strings_that_are_no_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
