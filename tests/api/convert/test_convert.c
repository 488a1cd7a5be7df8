/* steno tests: models in another form. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "convert.h"
#include "funasr_model.h"
#include "shipped.h"

static float pcm[16000];

static int noise_fill(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (size_t i = 0; i < sizeof pcm / sizeof *pcm; i++) pcm[i] = (i / 4000 % 2 ? 0.3f : 0.001f) * noise(&seed);
    return 0;
}

/* The text and tags of the noise. */
static void text_of(char out[512], steno_model *m)
{
    steno_session *s;
    steno_error e;
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, &e), STENO_OK);
    if (steno_transcribe(s, pcm, sizeof pcm / sizeof *pcm, NULL)) fail_msg("%s", steno_last_error(s));
    const int has = steno_segment_get(s, 0, &g) == STENO_OK;
    snprintf(out, 512, "%s|%s|%g", steno_text(s), has && g.language ? g.language : "-", has ? g.avg_logprob : 0.0);
    steno_session_close(s);
    steno_model_close(m);
}

static struct buf converted(const char *path, const char *type)
{
    struct buf b = { 0 };
    steno_error e;
    if (convert_to(&b, path, type, &e)) fail_msg("%s", e.text);
    return b;
}

static steno_model *bytes_model(const struct buf *b)
{
    steno_model *m;
    steno_error e;
    if (steno_model_open_memory(&m, b->p, b->len, NULL, &e)) fail_msg("%s", e.text);
    return m;
}

static void test_a_folder_becomes_one_file_with_the_same_result_and_the_file_itself_again(void **state)
{
    (void)state;
    const struct folder d = ctc_folder();
    char want[512], got[512];
    steno_model *m;
    steno_error e;
    assert_int_equal(steno_model_open(&m, d.path, NULL, &e), STENO_OK);
    text_of(want, m);
    struct buf file = converted(d.path, NULL);
    text_of(got, bytes_model(&file));
    assert_string_equal(got, want);
    steno_model_info info = { .size = sizeof info };
    m = bytes_model(&file);
    assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
    assert_string_equal(info.format, "GGUF");
    assert_string_equal(info.weight_type, "f32");
    steno_model_close(m);
    const struct folder two = folder_new();
    folder_put(&two, "m.gguf", file.p, file.len);
    struct buf again = converted(folder_at(&two, "m.gguf").path, "f32");
    assert_int_equal(again.len, file.len);
    assert_memory_equal(again.p, file.p, file.len);
    buf_free(&again);
    buf_free(&file);
    folder_remove(&two);
    folder_remove(&d);
}

static void test_types_make_files_smaller_and_are_read_back(void **state)
{
    (void)state;
    static const char *const type[] = { "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0" };
    const struct folder d = ctc_folder();
    struct buf full = converted(d.path, "f32");
    char text[512];
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        struct buf b = converted(d.path, type[i]);
        assert_true(b.len < full.len);
        text_of(text, bytes_model(&b));
        buf_free(&b);
    }
    buf_free(&full);
    folder_remove(&d);
}

static void test_a_vad_becomes_a_file_with_the_same_spans(void **state)
{
    (void)state;
    const struct folder d = vad_folder();
    struct buf b = converted(d.path, "f32");
    steno_model *m[2];
    steno_error e;
    int n[2];
    steno_span span[2] = { { .size = sizeof span[0] }, { .size = sizeof span[0] } };
    assert_int_equal(steno_model_open(&m[0], d.path, NULL, &e), STENO_OK);
    m[1] = bytes_model(&b);
    for (int i = 0; i < 2; i++) {
        steno_session *s;
        struct tap t = { pcm, sizeof pcm / sizeof *pcm, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        assert_int_equal(steno_session_open(&s, m[i], NULL, NULL, &e), STENO_OK);
        assert_int_equal(steno_find_speech(s, &src, NULL), STENO_OK);
        n[i] = steno_span_count(s);
        steno_span_get(s, 0, &span[i]);
        steno_session_close(s);
        steno_model_close(m[i]);
    }
    assert_int_equal(n[0], n[1]);
    assert_int_equal(span[0].t0_ms, span[1].t0_ms);
    assert_int_equal(span[0].t1_ms, span[1].t1_ms);
    struct buf none = { 0 };
    assert_int_equal(convert_to(&none, d.path, "q8_0", &e), STENO_EARG);
    assert_non_null(strstr(e.text, "stored in f32, not q8_0"));
    assert_int_equal(none.len, 0);
    buf_free(&b);
    folder_remove(&d);
}

struct stop { size_t left; };

static int stop_take(void *user, const void *data, size_t n)
{
    struct stop *s = user;
    (void)data;
    if (n > s->left) return 1;
    s->left -= n;
    return 0;
}

static void test_unsupported_calls_are_refused_and_write_nothing(void **state)
{
    (void)state;
    const struct folder d = ctc_folder(), two = folder_new();
    struct buf b = { 0 };
    steno_error e = { 0 };
    assert_int_equal(convert_to(&b, d.path, "q4_k", &e), STENO_EARG);
    assert_non_null(strstr(e.text, "q4_k is not a type that is written; f32, f16"));
    assert_int_equal(convert_to(&b, d.path, "fp8", &e), STENO_EARG);
    assert_int_equal(convert_to(&b, shipped_model, "f16", &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "a whisper model is not written as GGUF; those of sensevoice, "));
    assert_int_equal(convert_to(&b, "no/such/model", "f16", &e), STENO_EIO);
    steno_convert_params p;
    steno_convert_params_init(&p);
    assert_int_equal(steno_model_convert(d.path, &p, &e), STENO_EARG); /* no callback takes it */
    assert_int_equal(steno_model_convert(d.path, NULL, &e), STENO_EARG);
    assert_int_equal(b.len, 0);
    struct buf rounded = converted(d.path, "q8_0");
    folder_put(&two, "q8.gguf", rounded.p, rounded.len);
    assert_int_equal(convert_to(&b, folder_at(&two, "q8.gguf").path, "q4_0", &e), STENO_EARG);
    assert_non_null(strstr(e.text, "is q8_0 already, and would be rounded again"));
    assert_int_equal(b.len, 0);
    struct buf same = converted(folder_at(&two, "q8.gguf").path, "q8_0");
    assert_int_equal(same.len, rounded.len);
    assert_memory_equal(same.p, rounded.p, rounded.len);
    for (size_t n = 0; n < rounded.len; n += 997) {
        struct stop stop = { n };
        p.write = stop_take;
        p.user = &stop;
        assert_int_equal(steno_model_convert(d.path, &p, &e), STENO_ECANCELED);
    }
    buf_free(&same);
    buf_free(&rounded);
    folder_remove(&two);
    folder_remove(&d);
}

static void test_forms_that_a_model_has_not_are_refused(void **state)
{
    (void)state;
    static const struct { const char *form, *type; int code; const char *reason; } bad[] = {
        { "onnx", NULL, STENO_EUNSUPPORTED, "a whisper model is not written as onnx, but as bin, pt, hf" },
        { "hf", NULL, STENO_EARG, "form hf is a folder, and needs the function `file`" },
        { "pt", "q8_0", STENO_EARG, "q8_0 is written to a .bin file alone" },
        { "bin", "bf16", STENO_EARG, "bf16 is not a type of whisper.cpp's files; f32, f16, " },
        { "bin", "q4_k_m", STENO_EARG, "q4_k_m is not a type of whisper.cpp's files" },
        { "bin", "q4_k", STENO_EARG, "has rows of 128, which are not whole blocks of q4_k" },
    };
    struct buf b = { 0 };
    steno_error e = { 0 };
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.write = convert_take;
    p.user = &b;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p.form = bad[i].form;
        p.type = bad[i].type;
        assert_int_equal(steno_model_convert(shipped_model, &p, &e), bad[i].code);
        if (!strstr(e.text, bad[i].reason)) fail_msg("%s, not %s", e.text, bad[i].reason);
        assert_int_equal(b.len, 0);
    }
    const struct folder d = ctc_folder();
    p.form = "bin";
    p.type = NULL;
    assert_int_equal(steno_model_convert(d.path, &p, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "a sensevoice model is not written as bin, but as gguf"));
    folder_remove(&d);
}

/* What the file's own program would ask for: four rows behind the key, its type, the type of its values and their number. */
static void test_memory_requests_of_a_file_are_reported_and_checked(void **state)
{
    (void)state;
    static const char key[] = "sv.query_tokens";
    const struct folder d = ctc_folder();
    struct buf b = converted(d.path, NULL);
    steno_error e = { 0 };
    size_t at = 0;
    while (memcmp(b.p + at, key, sizeof key - 1) != 0) at++;
    char *rows = b.p + at + sizeof key - 1 + 4 + 4, *last = rows + 8 + 3 * 4;
    static const struct { char row; int itn; const char *told; } asked[] = {
        { 14, 1, NULL }, { 15, 0, NULL }, { 16, 0, "sv.query_tokens: value 3 is 16, want 0 to 15" },
        { -1, 0, "sv.query_tokens: value 3 is 255, want 0 to 15" },
    };
    assert_int_equal(*last, 14);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        steno_model *m;
        steno_model_info info = { .size = sizeof info };
        *last = asked[i].row;
        const int rc = steno_model_open_memory(&m, b.p, b.len, NULL, &e);
        assert_int_equal(rc, asked[i].told ? STENO_EFORMAT : STENO_OK);
        if (rc) assert_non_null(strstr(e.text, asked[i].told));
        else assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_int_equal(info.itn, asked[i].itn);
        steno_model_close(m);
    }
    buf_free(&b);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folder_becomes_one_file_with_the_same_result_and_the_file_itself_again),
        cmocka_unit_test(test_types_make_files_smaller_and_are_read_back),
        cmocka_unit_test(test_a_vad_becomes_a_file_with_the_same_spans),
        cmocka_unit_test(test_unsupported_calls_are_refused_and_write_nothing),
        cmocka_unit_test(test_forms_that_a_model_has_not_are_refused),
        cmocka_unit_test(test_memory_requests_of_a_file_are_reported_and_checked),
    };
    return cmocka_run_group_tests(tests, noise_fill, NULL);
}
