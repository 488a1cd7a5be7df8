/* steno tests: mean and variance of FunASR's features, whatever the file. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "gguf_file.h"
#include "model/funasr.h"

static void put_values(struct buf *b, const float *v, size_t n)
{
    while (b->len % 32) put(b, 0, 1);
    buf_add(b, v, n * sizeof *v);
}

/* A file with two lists, as long as they are given. */
static void put_file(const struct folder *d, const float *shift, size_t n_shift, const float *scale, size_t n_scale)
{
    struct buf b = { 0 };
    put_header(&b, 3, 2, 1);
    put_word(&b, "general.architecture", "fsmn-vad");
    put_tensor(&b, "cmvn.shift", (const uint64_t[4]){ n_shift }, 0, 0);
    put_tensor(&b, "cmvn.scale", (const uint64_t[4]){ n_scale }, 0, (n_shift * 4 + 31) / 32 * 32);
    put_values(&b, shift, n_shift);
    put_values(&b, scale, n_scale);
    folder_put(d, "m.gguf", b.p, b.len);
    buf_free(&b);
}

static int read_values(const struct folder *d, float out[4], steno_error *e)
{
    struct model_source p;
    struct weights w;
    struct arena a;
    float *shift, *scale;
    const struct folder_file at = folder_at(d, "m.gguf");
    arena_init(&a);
    assert_int_equal(model_source_open(&p, at.path, NULL, e), STENO_OK);
    if (weights_open_source(&w, &p, e)) fail_msg("%s", e->text);
    const int rc = funasr_read_cmvn(&w, 2, &a, &shift, &scale, e);
    if (!rc) memcpy(out, (float[4]){ shift[0], shift[1], scale[0], scale[1] }, 4 * sizeof *out);
    weights_close(&w);
    model_source_close(&p);
    arena_free(&a);
    return rc;
}

static void test_lists_of_the_right_length_are_taken_and_others_only_with_am_mvn(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const float zero = 0, shift[2] = { -9, -8 }, scale[2] = { 0.5f, 0.25f }, bad[2] = { 0.5f, -1 };
    float out[4];
    steno_error e = { 0 };
    put_file(&d, shift, 2, scale, 2);
    assert_int_equal(read_values(&d, out, &e), STENO_OK);
    assert_memory_equal(out, ((float[4]){ -9, -8, 0.5f, 0.25f }), sizeof out);
    put_file(&d, shift, 2, bad, 2);
    assert_int_equal(read_values(&d, out, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "cmvn.scale: value 1 is -1, want more than 0"));
    put_file(&d, &zero, 1, shift, 2); /* the first two lists of am.mvn: the scale is lost */
    assert_int_equal(read_values(&d, out, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "not 2 values each, and no am.mvn lies beside it"));
    static const char mvn[] = "<Splice> 2 2\n[ 0 ]\n<AddShift> 2 2\n[ -9 -8 ]\n<Rescale> 2 2\n[ 2 4 ]\n";
    folder_text(&d, "am.mvn", mvn);
    assert_int_equal(read_values(&d, out, &e), STENO_OK);
    assert_memory_equal(out, ((float[4]){ -9, -8, 2, 4 }), sizeof out);
    folder_text(&d, "am.mvn", "<AddShift> 2 2\n");
    assert_int_equal(read_values(&d, out, &e), STENO_EFORMAT);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_the_right_length_are_taken_and_others_only_with_am_mvn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
