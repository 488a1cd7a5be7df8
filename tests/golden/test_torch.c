/* steno tests: the shipped model as a PyTorch file. SPDX-License-Identifier: MIT
 *
 * The .bin file's tensors are put into an archive as OpenAI's files have them, with the dimensions in a dictionary and without filters and
 * vocabulary; the result must then be the .bin file's to the last bit. */
#include "api/shipped.h"
#include "api/torch_model.h"

static struct buf torch_file(const char *path, int by_columns)
{
    struct file f;
    struct weights w;
    steno_error e;
    if (file_open(&f, path, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    const struct buf b = torch_model(&w, &f, by_columns);
    weights_close(&w);
    file_close(&f);
    return b;
}

static uint64_t digest_of(steno_model *m)
{
    const struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    steno_session *s = session_new(m, NULL, 1);
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
    assert_string_equal(steno_text(s), demo_text);
    const uint64_t digest = result_digest(s);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
    return digest;
}

static void expect_the_same(int by_columns)
{
    struct buf b = torch_file(shipped_model, by_columns);
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    assert_int_equal(steno_model_open_memory(&m, b.p, b.len, &p, &e), STENO_ENOVOCAB);
    p.vocab = shipped_model;
    if (steno_model_open_memory(&m, b.p, b.len, &p, &e)) fail_msg("%s", e.text);
    steno_model_info info = { .size = sizeof info };
    assert_int_equal(steno_model_info_get(m, &info), 0);
    assert_string_equal(info.format, "PyTorch .pt");
    assert_true(digest_of(m) == digest_of(shipped_open()));
    buf_free(&b);
}

static void test_the_shipped_model_as_a_pytorch_file_gives_the_same_text(void **state)
{
    (void)state;
    expect_the_same(0);
}

static void test_matrices_that_lie_column_by_column_give_the_same_text(void **state)
{
    (void)state;
    expect_the_same(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_shipped_model_as_a_pytorch_file_gives_the_same_text),
        cmocka_unit_test(test_matrices_that_lie_column_by_column_give_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
