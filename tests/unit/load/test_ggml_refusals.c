/* steno tests: damaged whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * Each refusal is proved by changing one field of base.bin and reading the message. */
#include "ggml_base.h"

/* Open bytes as "m.bin" and bind all tensors, as a model does. @return the status */
static int open_bytes(const void *data, size_t n, steno_error *e)
{
    struct file f;
    struct weights w;
    memset(e, 0, sizeof *e);
    file_from_memory(&f, "m.bin", data, n);
    int rc = weights_open(&w, &f, e);
    if (!rc) rc = bind(&w, e);
    assert_int_equal(rc, e->status);
    weights_close(&w);
    return rc;
}

static void expect_refusal(const void *data, size_t n, int status, const char *text)
{
    steno_error e;
    const int rc = open_bytes(data, n, &e);
    if (rc != status || !strstr(e.text, text)) fail_msg("status %d \"%s\", want %d with \"%s\"", rc, e.text, status, text);
    if (strncmp(e.text, "m.bin: ", 7)) fail_msg("\"%s\" does not name the file", e.text);
}

/* base.bin with one number replaced must be refused with `text`. */
static void expect_refusal_of(size_t at, int64_t value, const char *text)
{
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    set32(copy + at, value);
    expect_refusal(copy, sizeof base, STENO_EFORMAT, text);
    free(copy);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void test_other_magics_are_refused_and_named(void **state)
{
    (void)state;
    static const struct { const char *head; int status; const char *text; } c[] = {
        { "GGUF\3\0\0\0", STENO_EFORMAT, "the header counts 34359738384 tensors" },
        { "tjgg\1\0\0\0", STENO_EUNSUPPORTED, "an old ggml file (ggjt)" },
        { "lmgh\0\0\0\0", STENO_EFORMAT, "magic is 6c 6d 67 68" }, { "\1\2\3\4\0\0\0\0", STENO_EFORMAT, "want a whisper.cpp .bin file" },
        { "RIFF\0\0\0\0", STENO_EUNSUPPORTED, "a sound file" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        uint8_t copy[128];
        memcpy(copy, base, sizeof copy);
        memcpy(copy, c[i].head, 8);
        expect_refusal(copy, sizeof copy, c[i].status, c[i].text);
    }
    expect_refusal("", 0, STENO_EFORMAT, "the file is empty");
    expect_refusal("lmg", 3, STENO_EFORMAT, "3 bytes");
    expect_refusal("lmgg", 4, STENO_EFORMAT, "the file ends at byte 4, inside the header");
}

static void test_header_fields_out_of_range_are_named(void **state)
{
    (void)state;
    static const struct { size_t at; int64_t value; const char *text; } c[] = {
        { 4, 0, "n_vocab is 0" }, { 4, 1 << 30, "n_vocab is 1073741824" }, { 8, 0, "n_audio_ctx is 0" },
        { 8, 65537, "n_audio_ctx is 65537" },
        { 12, -8, "n_audio_state is -8" }, { 12, 8193, "n_audio_state is 8193, want 1..8192" }, { 16, 0, "n_audio_head is 0" },
        { 16, 3, "n_audio_state is 8, no multiple of n_audio_head, 3" }, { 20, 0, "n_audio_layer is 0" },
        { 20, 1000000, "n_audio_layer is 1000000, want 1..256" }, { 24, 0, "n_text_ctx is 0" }, { 24, -1, "n_text_ctx is -1" },
        { 28, 16, "n_audio_state is 8 and n_text_state is 16" }, { 32, 5, "n_text_state is 8, no multiple of n_text_head, 5" },
        { 32, 8, "n_text_state / n_text_head is 1" }, { 36, -4, "n_text_layer is -4" }, { 40, 81, "n_mels is 81, want 80 or 128" },
        { 40, 0, "n_mels is 0" }, { 44, 4, "ftype 4 is unknown" }, { 44, -1, "ftype -1 is unknown" }, { 44, 2099, "ftype 2099 is unknown" },
        { 44, -2147483648LL, "ftype -2147483648 is unknown" }, { 44, 30, "ftype 30" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect_refusal_of(c[i].at, c[i].value, c[i].text);
}

static void test_head_wider_than_the_kernels_is_refused(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    set32(copy + 12, 520);
    set32(copy + 28, 520);
    expect_refusal(copy, sizeof base, STENO_EFORMAT, "header: n_audio_state / n_audio_head is 260, want a multiple of 4 up to 256");
    free(copy);
}

static void test_filters_of_other_shape_or_not_finite_are_refused(void **state)
{
    (void)state;
    expect_refusal_of(AT_FILTERS, 128, "mel filters are [128, 201], want [80, 201]");
    expect_refusal_of(AT_FILTERS + 4, 200, "mel filters are [80, 200], want [80, 201]");
    expect_refusal_of(AT_FILTERS + 4, -201, "mel filters are [80, -201]");
    expect_refusal_of(AT_FILTER_VALUES + 4 * (201 * 7 + 9), 0x7f800000, "mel filter [7, 9] is not finite");
}

static void test_vocabulary_that_cannot_fit_is_refused(void **state)
{
    (void)state;
    expect_refusal_of(AT_VOCAB, 0, "vocabulary has 0 strings, want 1..24");
    expect_refusal_of(AT_VOCAB, -1, "vocabulary has -1 strings");
    expect_refusal_of(AT_VOCAB, 25, "vocabulary has 25 strings, want 1..24");
    expect_refusal_of(AT_VOCAB, 2147483647, "vocabulary has 2147483647 strings");
    expect_refusal_of(AT_VOCAB + 4, 4294967280LL, "vocabulary string 0 before byte 64384 has length 4294967280, want at most 4096");
    expect_refusal(base, AT_VOCAB + 4 + 79, STENO_EFORMAT, "vocabulary has 20 strings, but only 79 bytes are left");
    expect_refusal(base, AT_VOCAB + 4 + 85, STENO_EFORMAT, "inside the vocabulary");
}

static void test_records_with_a_wrong_field_are_refused(void **state)
{
    (void)state;
    static const struct { size_t at; int64_t value; const char *text; } c[] = {
        { QUERY, 0, "tensor 19 at byte 72302: n_dims is 0, want 1..4" }, { QUERY, 5, "n_dims is 5" }, { QUERY, -1, "n_dims is -1" },
        { QUERY + 4, 0, "name length is 0" }, { QUERY + 4, 1 << 20, "name length is 1048576, want 1..255" },
        { QUERY + 4, -2, "name length is -2" }, { QUERY + 8, 77, "attn.query.weight has the unknown type 77, want f16" },
        { QUERY + 8, 15, "attn.query.weight has the unknown type 15, want f16" },
        { QUERY + 8, 8, "attn.query.weight has the type q8_0, want f16" }, { QUERY + 8, 0, "attn.query.weight has the type f32, want f16" },
        { QUERY_EXTENTS, 0, "extent 0 is out of range" }, { QUERY_EXTENTS, -8, "extent -8" },
        { QUERY_EXTENTS, 2147483647, "query.weight needs bytes 72356+34359738352, the file ends at 77076" },
        { QUERY_EXTENTS, 4, "at byte" },
        { QUERY_NAME, 0x0a636e65, "tensor 19: its name has byte 0x0a at 3" }, { QUERY_NAME, 0, "its name has byte 0x00 at 0" },
        { QUERY_NAME, 0x6363c3a9, "its name has byte 0xa9 at 0" },
        { AT_TENSORS + 8, 1, "encoder.positional_embedding has the type f16, want f32" },
        { 65040 + 8, 0, "encoder.conv1.weight has the type f32, want f16" },
        { 68924 + 8, 1, "encoder.conv1.bias has the type f16, want f32" },
        { LAST + 8, 1, "cross_attn.out.bias has the type f16, want f32" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect_refusal_of(c[i].at, c[i].value, c[i].text);
}

static void test_extents_whose_product_wraps_are_refused(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    set32(copy + 65040, 4);
    for (int i = 0; i < 4; i++) set32(copy + 65040 + 12 + 4 * i, 1 << 16); /* 2^64 weights */
    expect_refusal(copy, sizeof base, STENO_EFORMAT, "tensor 1 at byte 65040: extent 65536 is out of range");
    free(copy);
}

static void test_rows_that_are_no_whole_blocks_are_refused(void **state)
{
    (void)state;
    const struct whisper_dims m = { 80, 8, 40, 5, 1, 40, 6, 40, 5, 1 };
    struct buf b = { 0 };
    put_model(&b, &m, DT_Q5_1);
    expect_refusal(b.p, b.len, STENO_EFORMAT, "attn.query.weight has rows of 40, no multiple of the 32 of a q5_1 block");
    buf_free(&b);
    const struct whisper_dims tiny = { 80, 8, 384, 6, 1, 40, 6, 384, 6, 1 };
    b = (struct buf) { 0 };
    put_model(&b, &tiny, DT_Q4_K);
    expect_refusal(b.p, b.len, STENO_EFORMAT, "attn.query.weight has rows of 384, no multiple of the 256 of a q4_k block");
    buf_free(&b);
}

static void test_swapped_extents_are_refused_by_shape(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    set32(copy + 70778 + 12, 32);
    set32(copy + 70778 + 16, 8);
    expect_refusal(copy, sizeof base, STENO_EFORMAT, "tensor encoder.blocks.0.mlp.0.weight is [8, 32], want [32, 8]");
    free(copy);
}

static void test_tensor_stored_twice_is_refused(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    memcpy(copy, base, sizeof base);
    memcpy(copy + 73264 + 16, "encoder", 7); /* decoder.blocks.0.mlp_ln.weight becomes the encoder's */
    expect_refusal(copy, sizeof base, STENO_EFORMAT, "tensor encoder.blocks.0.mlp_ln.weight is stored twice");
    free(copy);
}

static void test_more_tensors_than_the_layers_have_are_refused(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_add(&b, base, sizeof base);
    put_tensor(&b, "surplus", DT_F32, (const uint64_t[4]) { 8, 0, 0, 0 }, 1);
    expect_refusal(b.p, b.len, STENO_EFORMAT, "tensor surplus is not part of such a model");
    buf_clear(&b); /* and one that is there already is named as that, whatever else is missing or too many */
    buf_add(&b, base, sizeof base);
    put_tensor(&b, "encoder.ln_post.bias", DT_F32, (const uint64_t[4]) { 8, 0, 0, 0 }, 1);
    expect_refusal(b.p, b.len, STENO_EFORMAT, "tensor encoder.ln_post.bias is stored twice");
    buf_free(&b);
}

static void test_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    steno_error e;
    for (size_t n = 0; n < sizeof base; n += n < 100 || n > AT_VOCAB ? 1 : 61) {
        uint8_t *copy = malloc(n + 1); /* its own block, so that a read past the end is seen */
        assert_non_null(copy);
        memcpy(copy, base, n);
        if (open_bytes(copy, n, &e) != STENO_EFORMAT) fail_msg("cut at byte %zu: status %d \"%s\"", n, (int)e.status, e.text);
        free(copy);
    }
    expect_refusal(base, LAST, STENO_EFORMAT, "tensor decoder.blocks.0.cross_attn.out.bias is missing, want [8]");
}

static void test_changed_bytes_never_crash_the_reader(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sizeof base);
    assert_non_null(copy);
    uint32_t rng = 12345;
    int refused = 0;
    for (int round = 0; round < 21500; round++) {
        const int header = round < 20000;
        memcpy(copy, base, header ? 128 : sizeof base);
        for (int k = 0; k < 1 + round % 3; k++) {
            rng = rng * 1664525u + 1013904223u;
            const size_t at = header ? rng % 3 ? 4 + (rng >> 8) % 44 : (rng >> 8) % 128 : AT_VOCAB + (rng >> 8) % (BASE_SZ - AT_VOCAB);
            rng = rng * 1664525u + 1013904223u;
            copy[at] = (rng >> 8 & 7) ? (uint8_t)(rng >> 16) : rng & 1 ? 0xff : 0x7f;
        }
        steno_error e;
        if (open_bytes(copy, header ? 128 : sizeof base, &e)) refused++;
    }
    assert_true(refused > 20000); /* the first kind holds no filters; of the second kind most are weights */
    assert_true(refused < 21500);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_magics_are_refused_and_named),
        cmocka_unit_test(test_header_fields_out_of_range_are_named),
        cmocka_unit_test(test_head_wider_than_the_kernels_is_refused),
        cmocka_unit_test(test_filters_of_other_shape_or_not_finite_are_refused),
        cmocka_unit_test(test_vocabulary_that_cannot_fit_is_refused),
        cmocka_unit_test(test_records_with_a_wrong_field_are_refused),
        cmocka_unit_test(test_extents_whose_product_wraps_are_refused),
        cmocka_unit_test(test_rows_that_are_no_whole_blocks_are_refused),
        cmocka_unit_test(test_swapped_extents_are_refused_by_shape),
        cmocka_unit_test(test_tensor_stored_twice_is_refused),
        cmocka_unit_test(test_more_tensors_than_the_layers_have_are_refused),
        cmocka_unit_test(test_file_cut_anywhere_is_refused),
        cmocka_unit_test(test_changed_bytes_never_crash_the_reader),
    };
    return cmocka_run_group_tests(tests, base_load, NULL);
}
