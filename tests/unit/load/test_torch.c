/* steno tests: reader of PyTorch files. SPDX-License-Identifier: MIT
 *
 * Files are made as torch.save makes them; each refusal is proved by one wrong number in one of them. */
#include <stdio.h>
#include <stdlib.h>
#include "load/weights.h"
#include "torch_file.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))
#define PLAIN .storage = "FloatStorage", .key = "0", .n_stored = 8
#define SHAPE_2_3 .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 3, 1 }

static const uint8_t stored[32] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25 };

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

/* An archive of a pickle and storage 0. */
static void put_archive(struct buf *b, const struct buf *pickle, const char *order)
{
    const struct put_entry t[] = {
        { .name = "m/data.pkl", .data = pickle->p, .n = pickle->len },
        { .name = "m/byteorder", .data = order, .n = strlen(order) },
        { .name = "m/data/0", .data = stored, .n = sizeof stored },
    };
    put_zip(b, t, COUNT(t), &(struct put_end){ .zip64 = 1 });
}

/* {"dims": {"n_mels": 80, "name": "tiny", "rate": 0.5}, "epoch": 7, KEY: … */
static void put_settings(struct buf *pickle, const char *key)
{
    buf_str(pickle, "}(");
    put_text(pickle, "dims");
    buf_str(pickle, "}(");
    put_text(pickle, "n_mels");
    put_int(pickle, 80);
    put_text(pickle, "name");
    put_text(pickle, "tiny");
    put_text(pickle, "rate");
    buf_add(pickle, "G?\xe0\0\0\0\0\0\0", 9);
    buf_str(pickle, "u");
    put_text(pickle, "epoch");
    put_int(pickle, 7);
    put_text(pickle, key);
}

/* A dictionary of tensors, as it is or under a key, with the versions that torch.nn.Module.state_dict hangs to it. */
static void put_weights(struct buf *b, const char *key, const struct put_tensor *t, size_t n)
{
    struct buf pickle = { 0 };
    put_begin(&pickle);
    if (key) put_settings(&pickle, key);
    buf_str(&pickle, "ccollections\nOrderedDict\n)R(");
    for (size_t i = 0; i < n; i++) put_tensor(&pickle, &t[i]);
    buf_str(&pickle, "u}");
    put_text(&pickle, "_metadata");
    buf_str(&pickle, "ccollections\nOrderedDict\n)R(");
    put_text(&pickle, "");
    buf_str(&pickle, "}");
    put_text(&pickle, "version");
    buf_str(&pickle, "K\1susb");
    if (key) buf_str(&pickle, "u");
    buf_str(&pickle, ".");
    put_archive(b, &pickle, "little");
    buf_free(&pickle);
}

struct opened { struct buf b; struct file f; struct weights w; steno_error e; };

static int open_buf(struct opened *o)
{
    assert_false(o->b.err);
    file_from_memory(&o->f, "m.pt", o->b.p, o->b.len);
    const int rc = weights_open(&o->w, &o->f, &o->e);
    assert_int_equal(rc, o->e.status);
    return rc;
}

static void close_buf(struct opened *o)
{
    weights_close(&o->w);
    buf_free(&o->b);
}

static void open_weights(struct opened *o, const char *key, const struct put_tensor *t, size_t n)
{
    memset(o, 0, sizeof *o);
    put_weights(&o->b, key, t, n);
    if (open_buf(o)) fail_msg("%s", o->e.text);
}

static void expect_refusal(struct opened *o, int status, const char *text)
{
    const int rc = open_buf(o);
    if (rc != status || !strstr(o->e.text, text)) fail_msg("status %d \"%s\", want %d \"%s\"", rc, o->e.text, status, text);
    if (strncmp(o->e.text, "m.pt: ", 6)) fail_msg("\"%s\" does not name the file", o->e.text);
    close_buf(o);
}

static void expect_tensor_refused(const struct put_tensor *t, const char *text)
{
    struct opened o = { 0 };
    put_weights(&o.b, NULL, t, 1);
    expect_refusal(&o, STENO_EFORMAT, text);
}

static void expect_pickle_refused(const char *body, const char *text)
{
    struct opened o = { 0 };
    struct buf pickle = { 0 };
    put_begin(&pickle);
    buf_str(&pickle, body);
    put_archive(&o.b, &pickle, "little");
    buf_free(&pickle);
    expect_refusal(&o, STENO_EFORMAT, text);
}

/* ---- what a good file gives ---------------------------------------------------------------------------------------------------- */

static void test_tensors_have_their_type_shape_and_bytes(void **state)
{
    (void)state;
    const struct put_tensor t[] = {
        { .name = "a", PLAIN, SHAPE_2_3, .offset = 2 },
        { .name = "b", .storage = "HalfStorage", .key = "0", .n_stored = 16, .n_size = 1, .n_stride = 1, .size = { 16 }, .stride = { 1 } },
        { .name = "c", .storage = "BFloat16Storage", .key = "0", .n_stored = 16, .offset = 15 },
        { .name = "d", PLAIN, .n_size = 3, .n_stride = 3, .size = { 4, 1, 2 }, .stride = { 2, 77, 1 }, .parameter = 1 },
    };
    struct opened o;
    float a[6];
    uint8_t c[2];
    open_weights(&o, NULL, t, COUNT(t));
    assert_string_equal(o.w.format, "PyTorch .pt");
    assert_int_equal(o.w.n_tensors, 4);
    const struct tensor *x = weights_find(&o.w, "a");
    assert_int_equal(x->type, DT_F32);
    assert_int_equal(x->n_dims, 2);
    assert_int_equal(x->dim[0], 2);
    assert_int_equal(x->dim[1], 3);
    assert_int_equal(x->dim[2], 1);
    assert_int_equal(tensor_read_f32(x, a, &o.e), 0);
    assert_memory_equal(a, stored + 8, sizeof a);
    x = weights_find(&o.w, "b");
    assert_int_equal(x->type, DT_F16);
    assert_int_equal(x->size, 32);
    x = weights_find(&o.w, "c");
    assert_int_equal(x->type, DT_BF16);
    assert_int_equal(x->n_dims, 1);
    assert_int_equal(tensor_read_rows(x, 0, 1, c, &o.e), 0);
    assert_memory_equal(c, stored + 30, 2);
    x = weights_find(&o.w, "d");
    assert_int_equal(x->n_dims, 3);
    assert_int_equal(x->dim[0] * 100 + x->dim[1] * 10 + x->dim[2], 412);
    close_buf(&o);
}

static void test_tensors_in_another_order_are_read_by_their_shape(void **state)
{
    (void)state;
    const struct put_tensor t[] = {
        { .name = "by columns", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 1, 2 }, .offset = 1 },
        { .name = "taps first", .storage = "HalfStorage", .key = "0", .n_stored = 16, .n_size = 3, .n_stride = 3, .size = { 2, 2, 3 },
          .stride = { 6, 1, 2 } },
    };
    struct opened o;
    float x[6], in_order[8];
    uint16_t y[12], halves[16];
    open_weights(&o, NULL, t, COUNT(t));
    memcpy(in_order, stored, sizeof in_order);
    memcpy(halves, stored, sizeof halves);
    const struct tensor *a = weights_find(&o.w, "by columns"), *b = weights_find(&o.w, "taps first");
    assert_int_equal(tensor_read_f32(a, x, &o.e), 0);
    for (size_t i = 0; i < 6; i++) assert_memory_equal(&x[i], &in_order[1 + i / 3 + i % 3 * 2], sizeof *x);
    assert_int_equal(tensor_read_rows(b, 0, 2, y, &o.e), 0);
    for (size_t i = 0; i < 12; i++) assert_int_equal(y[i], halves[i / 6 * 6 + i / 3 % 2 + i % 3 * 2]);
    assert_int_equal(tensor_read_rows(a, 1, 1, x, &o.e), 0);
    for (size_t i = 0; i < 3; i++) assert_memory_equal(&x[i], &in_order[2 + i * 2], sizeof *x);
    close_buf(&o);
}

static void test_weights_are_found_under_known_keys(void **state)
{
    (void)state;
    static const char *const key[] = { "model_state_dict", "state_dict", "model" };
    const struct put_tensor t = { .name = "a", PLAIN, SHAPE_2_3 };
    for (size_t i = 0; i < COUNT(key); i++) {
        struct opened o;
        int32_t mels = 0;
        open_weights(&o, key[i], &t, 1);
        assert_non_null(weights_find(&o.w, "a"));
        assert_int_equal(meta_int(&o.w.meta, "m.pt", "dims.n_mels", 1, 128, 0, &mels, &o.e), 0);
        assert_int_equal(mels, 80);
        assert_string_equal(meta_text(&o.w.meta, "dims.name", ""), "tiny");
        assert_true(meta_find(&o.w.meta, "dims.rate")->x == 0.5);
        assert_int_equal(meta_find(&o.w.meta, "epoch")->i, 7);
        close_buf(&o);
    }
    struct opened o = { 0 };
    put_weights(&o.b, "weights", &t, 1);
    expect_refusal(&o, STENO_EFORMAT, "m/data.pkl: no dictionary of tensors");
}

static void test_the_wrapping_of_training_is_taken_off_all_names_or_none(void **state)
{
    (void)state;
    const struct put_tensor t[] = { { .name = "module.a", PLAIN, SHAPE_2_3 }, { .name = "module.b", PLAIN, SHAPE_2_3 },
                                    { .name = "c", PLAIN, SHAPE_2_3 } };
    struct opened o;
    open_weights(&o, NULL, t, 2);
    assert_non_null(weights_find(&o.w, "a"));
    assert_non_null(weights_find(&o.w, "b"));
    close_buf(&o);
    open_weights(&o, NULL, t, 3);
    assert_non_null(weights_find(&o.w, "module.a"));
    close_buf(&o);
}

static void test_counters_and_empty_tensors_are_left_out(void **state)
{
    (void)state;
    const struct put_tensor t[] = {
        { .name = "a", PLAIN, SHAPE_2_3 },
        { .name = "steps", .storage = "LongStorage", .key = "0", .n_stored = 4 },
        { .name = "none", PLAIN, .n_size = 2, .n_stride = 2, .size = { 0, 3 }, .stride = { 3, 1 } },
    };
    struct opened o;
    open_weights(&o, NULL, t, COUNT(t));
    assert_int_equal(o.w.n_tensors, 1);
    close_buf(&o);
    memset(&o, 0, sizeof o);
    put_weights(&o.b, NULL, &t[1], 2);
    expect_refusal(&o, STENO_EFORMAT, "no tensor of floating-point numbers");
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------------ */

static void test_a_tensor_outside_of_its_storage_is_refused(void **state)
{
    (void)state;
    static const struct { struct put_tensor t; const char *text; } lie[] = {
        { { .name = "a", PLAIN, SHAPE_2_3, .offset = 3 }, "tensor a needs elements 3+6 of m/data/0, which has 8" },
        { { .name = "a", PLAIN, SHAPE_2_3, .offset = -1 }, "needs elements -1+6" },
        { { .name = "a", PLAIN, SHAPE_2_3, .offset = INT64_MAX }, "needs elements 9223372036854775807+6" },
        { { .name = "a", .storage = "FloatStorage", .key = "0", .n_stored = 9, SHAPE_2_3 }, "storage of 9 elements in m/data/0" },
        { { .name = "a", .storage = "FloatStorage", .key = "0", .n_stored = -1, SHAPE_2_3 }, "storage of -1 elements" },
        { { .name = "a", .storage = "FloatStorage", .key = "0", .n_stored = INT64_MAX, SHAPE_2_3 }, "storage of 9223372036854775807" },
        { { .name = "a", .storage = "DoubleStorage", .key = "0", .n_stored = 5, SHAPE_2_3 }, "storage of 5 elements" },
        { { .name = "a", .storage = "FloatStorage", .key = "1", .n_stored = 8, SHAPE_2_3 }, "the archive has no m/data/1" },
        { { .name = "a", .storage = "FloatStorage", .key = "../data/0", .n_stored = 8, SHAPE_2_3 }, "the archive has no m/data/../data/0" },
        { { .name = "a", .storage = "ComplexFloatStorage", .key = "0", .n_stored = 8, SHAPE_2_3 }, "asks for torch.ComplexFloatStorage" },
    };
    for (size_t i = 0; i < COUNT(lie); i++) expect_tensor_refused(&lie[i].t, lie[i].text);
}

static void test_a_shape_with_gaps_or_without_sense_is_refused(void **state)
{
    (void)state;
    static const struct { struct put_tensor t; const char *text; } lie[] = {
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 1, 3 } }, "strides 1, 3, 1, 1 leave gaps" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 1, 1 } }, "strides 1, 1, 1, 1 leave gaps" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 4, 1 } }, "or let elements overlap; save" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 0, 1 } }, "strides 0, 1, 1, 1 leave gaps" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 2, 3 }, .stride = { 1, INT64_MAX } }, "leave gaps" },
        { { .name = "a", PLAIN, .n_size = 1, .n_stride = 1, .size = { 4 }, .stride = { -1 } }, "extent 0 is 4, its stride -1" },
        { { .name = "a", PLAIN, .n_size = 1, .n_stride = 1, .size = { -4 }, .stride = { 1 } }, "extent 0 is -4" },
        { { .name = "a", PLAIN, .n_size = 1, .n_stride = 1, .size = { INT64_MAX }, .stride = { 1 } }, "extent 0 is 9223372036854775807" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 2, .size = { 1 << 30, 1 << 30 }, .stride = { 1 << 30, 1 } }, "more elements" },
        { { .name = "a", PLAIN, .n_size = 2, .n_stride = 1, .size = { 2, 3 }, .stride = { 3 } }, "has 2 extents and 1 strides" },
        { { .name = "a", PLAIN, .n_size = 5, .n_stride = 5, .size = { 1, 1, 1, 1, 1 } }, "has 5 extents and 5 strides" },
    };
    for (size_t i = 0; i < COUNT(lie); i++) expect_tensor_refused(&lie[i].t, lie[i].text);
}

static void test_names_that_are_too_long_or_stored_twice_are_refused(void **state)
{
    (void)state;
    char longest[257];
    memset(longest, 'n', sizeof longest);
    longest[256] = 0;
    const struct put_tensor t[] = { { .name = "a", PLAIN, SHAPE_2_3 }, { .name = "a", PLAIN, SHAPE_2_3 } };
    struct opened o = { 0 };
    put_weights(&o.b, NULL, t, 2);
    expect_refusal(&o, STENO_EFORMAT, "tensor a is stored twice");
    expect_tensor_refused(&(struct put_tensor){ .name = "", PLAIN, SHAPE_2_3 }, "its name has no bytes");
    expect_tensor_refused(&(struct put_tensor){ .name = longest, PLAIN, SHAPE_2_3 }, "more than 255");
    expect_tensor_refused(&(struct put_tensor){ .name = "a\nb", PLAIN, SHAPE_2_3 }, "control characters");
}

static void test_calls_with_other_arguments_are_refused(void **state)
{
    (void)state;
#define TENSOR "}X\1\0\0\0actorch._utils\n_rebuild_tensor_v2\n"
    static const struct { const char *body, *text; } lie[] = {
        { "K\1.", "no dictionary of tensors" },
        { "}.", "no dictionary of tensors" },
        { "]q\1.", "no dictionary of tensors" },
        { "ctorch\nFloatStorage\n.", "no dictionary of tensors" },
        { "cos\nsystem\n.", "m/data.pkl: byte 2: instruction 0x63 (GLOBAL): asks for os.system" },
    };
    for (size_t i = 0; i < COUNT(lie); i++) expect_pickle_refused(lie[i].body, lie[i].text);
    static const struct { const char *args; size_t n; const char *text; } call[] = {
        { ")R", 2, "want a call of _rebuild_tensor_v2" },
        { "(NNNNtR", 7, "want a storage, an offset" },
        { "(NK\1))tR", 8, "want a storage as" },
        { "()QK\1))tR", 9, "want a storage as" },
        { "((NNNNNtQK\1))tR", 15, "want a storage as" },
    };
    for (size_t i = 0; i < COUNT(call); i++) {
        struct opened o = { 0 };
        struct buf pickle = { 0 };
        put_begin(&pickle);
        buf_add(&pickle, TENSOR, sizeof TENSOR - 1);
        buf_add(&pickle, call[i].args, call[i].n);
        buf_str(&pickle, "s.");
        put_archive(&o.b, &pickle, "little");
        buf_free(&pickle);
        expect_refusal(&o, STENO_EFORMAT, call[i].text);
    }
}

static void test_other_archives_are_named(void **state)
{
    (void)state;
    struct buf pickle = { 0 };
    struct opened o = { 0 };
    buf_add(&pickle, "\x80\2}.", 4);
    put_archive(&o.b, &pickle, "big");
    expect_refusal(&o, STENO_EUNSUPPORTED, "m/byteorder is 'big', want little");
    const struct put_entry two[] = { { .name = "m/data.pkl", .data = pickle.p, .n = pickle.len },
                                     { .name = "n/data.pkl", .data = pickle.p, .n = pickle.len } };
    put_zip(&o.b, two, 2, NULL);
    expect_refusal(&o, STENO_EFORMAT, "the archive has both m/data.pkl and n/data.pkl");
    const struct put_entry deep = { .name = "m/x/data.pkl", .data = pickle.p, .n = pickle.len };
    put_zip(&o.b, &deep, 1, NULL);
    expect_refusal(&o, STENO_EFORMAT, "has no NAME/data.pkl");
    put_zip(&o.b, NULL, 0, NULL);
    expect_refusal(&o, STENO_EFORMAT, "has no NAME/data.pkl");
    buf_add(&o.b, "\x80\2\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19.", 15);
    expect_refusal(&o, STENO_EUNSUPPORTED, "this is a PyTorch file of before version 1.6 (a pickle ");
    buf_free(&pickle);
}

/* n tensors that are all of one storage. */
static void put_views(struct buf *b, const void *bytes, size_t n_bytes, int n)
{
    struct buf pickle = { 0 };
    put_begin(&pickle);
    buf_str(&pickle, "ccollections\nOrderedDict\n)R(");
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        const int64_t count = (int64_t)n_bytes / 4;
        put_tensor(&pickle, &(struct put_tensor){ .name = name, .storage = "FloatStorage", .key = "0", .n_stored = count, .n_size = 1,
                                                  .n_stride = 1, .size = { count }, .stride = { 1 } });
    }
    buf_str(&pickle, "u.");
    const struct put_entry it[] = { { .name = "m/data.pkl", .data = pickle.p, .n = pickle.len },
                                    { .name = "m/data/0", .data = bytes, .n = n_bytes } };
    put_zip(b, it, 2, NULL);
    buf_free(&pickle);
}

static void test_bytes_stand_under_two_names_and_not_under_many(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static const char bytes[N];
    static const int many[] = { 3, 4, 100, 4000 };
    for (int n = 1; n <= 2; n++) {
        struct opened o = { 0 };
        put_views(&o.b, bytes, N, n);
        if (open_buf(&o)) fail_msg("%d views: %s", n, o.e.text);
        assert_int_equal(o.w.n_tensors, n);
        close_buf(&o);
    }
    for (size_t i = 0; i < COUNT(many); i++) {
        struct opened o = { 0 };
        put_views(&o.b, bytes, N, many[i]);
        expect_refusal(&o, STENO_EFORMAT, "many of them share the same bytes");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_have_their_type_shape_and_bytes),
        cmocka_unit_test(test_tensors_in_another_order_are_read_by_their_shape),
        cmocka_unit_test(test_weights_are_found_under_known_keys),
        cmocka_unit_test(test_the_wrapping_of_training_is_taken_off_all_names_or_none),
        cmocka_unit_test(test_counters_and_empty_tensors_are_left_out),
        cmocka_unit_test(test_a_tensor_outside_of_its_storage_is_refused),
        cmocka_unit_test(test_a_shape_with_gaps_or_without_sense_is_refused),
        cmocka_unit_test(test_names_that_are_too_long_or_stored_twice_are_refused),
        cmocka_unit_test(test_calls_with_other_arguments_are_refused),
        cmocka_unit_test(test_other_archives_are_named),
        cmocka_unit_test(test_bytes_stand_under_two_names_and_not_under_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
