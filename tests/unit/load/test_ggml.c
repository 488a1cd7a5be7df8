/* steno tests: reader of whisper.cpp .bin files and the index over tensors. SPDX-License-Identifier: MIT */
#include "ggml_base.h"

static void find_one(void *user, const char *name, const uint64_t dim[4])
{
    (void)dim;
    weights_find(user, name);
}

static void open_base(struct weights *w, struct file *f)
{
    steno_error e = { 0 };
    file_from_memory(f, "m.bin", base, sizeof base);
    if (weights_open(w, f, &e)) fail_msg("%s", e.text);
}

/* ---- what a good file gives -------------------------------------------------------------------------------------------------- */

static void test_good_file_gives_header_filters_and_vocabulary(void **state)
{
    (void)state;
    struct weights w;
    struct file f;
    open_base(&w, &f);
    assert_string_equal(w.format, "whisper.cpp .bin");
    const struct whisper_dims dims = stored_dims(&w), *d = &dims;
    assert_true(w.has_shape);
    assert_int_equal(d->n_vocab, 24);
    assert_int_equal(d->n_audio_ctx, 16);
    assert_int_equal(d->n_audio_state, 8);
    assert_int_equal(d->n_audio_head, 2);
    assert_int_equal(d->n_audio_layer, 1);
    assert_int_equal(d->n_text_ctx, 12);
    assert_int_equal(d->n_text_state, 8);
    assert_int_equal(d->n_text_head, 2);
    assert_int_equal(d->n_text_layer, 1);
    assert_int_equal(d->n_mels, 80);
    assert_int_equal(w.matrix_type, DT_F16);
    assert_memory_equal(w.mel_filters, base + AT_FILTER_VALUES, 80 * 201 * 4);
    assert_int_equal(w.n_vocab_entries, 20);
    assert_int_equal(w.vocab[19].n, 1);
    assert_memory_equal(w.vocab[0].s, "!", 1);
    assert_memory_equal(w.vocab[19].s, "t", 1);
    weights_close(&w);
}

static void test_extents_are_turned_to_torch_order(void **state)
{
    (void)state;
    struct weights w;
    struct file f;
    open_base(&w, &f);
    assert_int_equal(w.n_tensors, 50);
    const struct tensor *t = weights_find(&w, "encoder.conv1.weight");
    assert_non_null(t);
    assert_int_equal(t->n_dims, 3);
    assert_int_equal(t->dim[0], 8);
    assert_int_equal(t->dim[1], 80);
    assert_int_equal(t->dim[2], 3);
    assert_int_equal(t->dim[3], 1);
    assert_int_equal(t->type, DT_F16);
    assert_int_equal(t->size, 8 * 80 * 3 * 2);
    t = weights_find(&w, "decoder.blocks.0.cross_attn.out.bias");
    assert_non_null(t);
    assert_int_equal(t->offset + t->size, BASE_SZ);
    assert_null(weights_find(&w, "decoder.blocks.0.cross_attn.key.bias"));
    weights_close(&w);
}

static void test_model_of_tiny_layout_has_167_tensors_in_every_type(void **state)
{
    (void)state;
    for (int t = 0; t < DT_COUNT; t++) {
        const int32_t d = (int32_t)dtype_block((enum dtype)t) > 32 ? 256 : 32;
        const struct whisper_dims tiny = { 80, 8, d, 4, 4, 40, 6, d, 4, 4 };
        if (t == DT_BF16 || t > DT_IQ4_XS) continue;
        struct buf b = { 0 };
        struct file f;
        struct weights w;
        steno_error e = { 0 };
        put_model(&b, &tiny, (enum dtype)t);
        file_from_memory(&f, "m.bin", b.p, b.len);
        if (weights_open(&w, &f, &e) || bind(&w, &e)) fail_msg("%s", e.text);
        assert_int_equal(w.n_tensors, 167);
        assert_int_equal(w.matrix_type, t);
        weights_close(&w);
        buf_free(&b);
    }
}

/* Write an opened model in the order of its index. */
static void rewrite(struct buf *b, const struct weights *w)
{
    const struct whisper_dims d = stored_dims(w);
    put_header(b, &d, w->matrix_type);
    put_i32(b, d.n_mels);
    put_i32(b, 201);
    buf_add(b, w->mel_filters, (size_t)d.n_mels * 201 * sizeof(float));
    put_i32(b, w->n_vocab_entries);
    for (uint32_t i = 0; i < w->n_vocab_entries; i++) {
        put_i32(b, w->vocab[i].n);
        buf_add(b, w->vocab[i].s, w->vocab[i].n);
    }
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        steno_error e;
        put_i32(b, t->n_dims);
        put_i32(b, (int64_t)strlen(t->name));
        put_i32(b, stored_type[t->type].record);
        for (int k = t->n_dims - 1; k >= 0; k--) put_i32(b, (int64_t)t->dim[k]);
        buf_str(b, t->name);
        char *data = malloc(t->size);
        assert_non_null(data);
        assert_int_equal(tensor_read_rows(t, 0, t->dim[0], data, &e), STENO_OK);
        buf_add(b, data, t->size);
        free(data);
    }
}

static void expect_same_after_rewrite(const char *path)
{
    struct file f;
    struct weights w;
    steno_error e = { 0 };
    struct buf b = { 0 };
    if (file_open(&f, path, &e)) skip();
    if (weights_open(&w, &f, &e) || bind(&w, &e)) fail_msg("%s", e.text);
    rewrite(&b, &w);
    assert_int_equal(b.err, 0);
    assert_int_equal(b.len, f.size);
    uint8_t *bytes = malloc(b.len);
    assert_non_null(bytes);
    assert_int_equal(file_read(&f, 0, bytes, b.len, &e), STENO_OK);
    for (size_t i = 0; i < b.len; i++)
        if (bytes[i] != (uint8_t)b.p[i]) fail_msg("%s differs at byte %zu: %02x, rewritten %02x", path, i, bytes[i], (uint8_t)b.p[i]);
    free(bytes);
    buf_free(&b);
    weights_close(&w);
    file_close(&f);
}

static void test_base_file_written_again_has_the_same_bytes(void **state)
{
    (void)state;
    expect_same_after_rewrite("tests/data/base.bin");
}

static void test_built_in_model_written_again_has_the_same_bytes(void **state)
{
    (void)state;
    expect_same_after_rewrite("tests/data/../../models/whisper-digits/whisper-digits.bin");
}

static void test_whole_tensor_is_widened(void **state)
{
    (void)state;
    const struct whisper_dims m = { 80, 8, 32, 4, 1, 40, 6, 32, 4, 1 };
    struct buf b = { 0 };
    struct file f;
    struct weights w;
    struct tensor *t;
    steno_error e = { 0 };
    float v[80 * 32 * 3];
    put_model(&b, &m, DT_Q8_0);
    file_from_memory(&f, "m.bin", b.p, b.len);
    assert_int_equal(weights_open(&w, &f, &e), STENO_OK);
    assert_int_equal(weights_get(&w, "encoder.conv1.weight", (const uint64_t[4]) { 32, 80, 3, 0 }, &t, &e), STENO_OK);
    assert_int_equal(tensor_read_f32(t, v, &e), STENO_OK);
    for (int i = 0; i < 32 * 80 * 3; i++) assert_true(v[i] == 0.5f);
    assert_int_equal(weights_get(&w, "encoder.blocks.0.mlp.2.weight", (const uint64_t[4]) { 32, 128, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(tensor_read_f32(t, v, &e), STENO_OK);
    for (int i = 0; i < 32 * 128; i++) assert_true(v[i] == 0.5f * 0x11);
    weights_close(&w);
    buf_free(&b);
}

static void test_rows_are_read_as_stored_and_only_inside_the_tensor(void **state)
{
    (void)state;
    struct weights w;
    struct file f;
    steno_error e;
    uint8_t rows[3 * 16];
    open_base(&w, &f);
    const struct tensor *t = weights_find(&w, "decoder.token_embedding.weight");
    assert_int_equal(tensor_read_rows(t, 21, 3, rows, &e), STENO_OK);
    assert_memory_equal(rows, base + t->offset + 21 * 16, sizeof rows);
    assert_int_equal(tensor_read_rows(t, 24, 0, rows, &e), STENO_OK);
    assert_int_equal(tensor_read_rows(t, 22, 3, rows, &e), STENO_EARG);
    assert_int_equal(tensor_read_rows(t, UINT64_MAX, 2, rows, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "decoder.token_embedding.weight has 24 rows"));
    weights_close(&w);
}

static void test_value_that_is_not_finite_is_refused_when_widened(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    set32(copy + BASE_SZ - 8, 0x7fc00000);
    struct file f;
    struct weights w;
    steno_error e;
    float v[8];
    file_from_memory(&f, "m.bin", copy, sizeof base);
    assert_int_equal(weights_open(&w, &f, &e), STENO_OK);
    const struct tensor *t = weights_find(&w, "decoder.blocks.0.cross_attn.out.bias");
    assert_int_equal(tensor_read_f32(t, v, &e), STENO_EFORMAT);
    assert_string_equal(e.text,
                        "m.bin: tensor decoder.blocks.0.cross_attn.out.bias: value 6 is not finite; "
                        "the file is damaged, take another copy");
    weights_close(&w);
    free(copy);
}

/* ---- look-up ----------------------------------------------------------------------------------------------------------------- */

static void test_get_names_a_shape_that_differs_and_a_missing_tensor(void **state)
{
    (void)state;
    struct weights w;
    struct file f;
    struct tensor *t;
    steno_error e;
    open_base(&w, &f);
    assert_int_equal(weights_get(&w, "encoder.conv1.weight", (const uint64_t[4]) { 8, 80, 5, 0 }, &t, &e), STENO_EFORMAT);
    assert_null(t);
    assert_string_equal(e.text, "m.bin: tensor encoder.conv1.weight is [8, 80, 3], want [8, 80, 5]");
    assert_int_equal(weights_get(&w, "encoder.conv3.weight", (const uint64_t[4]) { 8, 80, 3, 0 }, &t, &e), STENO_EFORMAT);
    assert_string_equal(e.text, "m.bin: tensor encoder.conv3.weight is missing, want [8, 80, 3]");
    weights_close(&w);
}

static void test_extents_of_one_do_not_matter(void **state)
{
    (void)state;
    struct weights w;
    struct file f;
    struct tensor *t;
    steno_error e;
    open_base(&w, &f);
    assert_int_equal(weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 8, 0, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 1, 8, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 8, 1, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 8, 8, 0, 0 }, &t, &e), STENO_EFORMAT);
    assert_int_equal(weights_get(&w, "encoder.conv1.bias", (const uint64_t[4]) { 2, 4, 0, 0 }, &t, &e), STENO_EFORMAT);
    weights_close(&w);
}

static void test_a_tensor_that_no_part_reads_is_named(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    copy[AT_TENSORS + 20] = 'E';
    struct file f;
    struct weights w;
    steno_error e;
    file_from_memory(&f, "m.bin", copy, sizeof base);
    assert_int_equal(weights_open(&w, &f, &e), STENO_EFORMAT); /* no longer a name whose matrix may be f32 */
    assert_non_null(strstr(e.text, "tensor Encoder.positional_embedding has the type f32, want f16"));
    memcpy(copy, base, sizeof base);
    copy[LAST + 16] = 'D';
    file_from_memory(&f, "m.bin", copy, sizeof base);
    assert_int_equal(weights_open(&w, &f, &e), STENO_OK);
    const struct whisper_dims d = stored_dims(&w);
    shape_each(find_one, &w, &d);
    assert_int_equal(weights_check_used(&w, NULL, &e), STENO_EFORMAT);
    assert_string_equal(e.text, "m.bin: tensor Decoder.blocks.0.cross_attn.out.bias is not part of such a model");
    assert_int_equal(weights_check_used(&w, (const char *const[]){ "decoder.*", "*.out.weight", NULL }, &e), STENO_EFORMAT);
    assert_int_equal(weights_check_used(&w, (const char *const[]){ "x", "Decoder.*.cross_*.bias", NULL }, &e), STENO_OK);
    weights_close(&w);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file_gives_header_filters_and_vocabulary),
        cmocka_unit_test(test_extents_are_turned_to_torch_order),
        cmocka_unit_test(test_model_of_tiny_layout_has_167_tensors_in_every_type),
        cmocka_unit_test(test_base_file_written_again_has_the_same_bytes),
        cmocka_unit_test(test_built_in_model_written_again_has_the_same_bytes),
        cmocka_unit_test(test_whole_tensor_is_widened),
        cmocka_unit_test(test_rows_are_read_as_stored_and_only_inside_the_tensor),
        cmocka_unit_test(test_value_that_is_not_finite_is_refused_when_widened),
        cmocka_unit_test(test_get_names_a_shape_that_differs_and_a_missing_tensor),
        cmocka_unit_test(test_extents_of_one_do_not_matter),
        cmocka_unit_test(test_a_tensor_that_no_part_reads_is_named),
    };
    return cmocka_run_group_tests(tests, base_load, NULL);
}
