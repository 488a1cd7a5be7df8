/* steno tests: GGUF files, whole and in parts. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "folder.h"
#include "gguf_file.h"

#define DIMS(...) ((const uint64_t[4]) { __VA_ARGS__ })

static int gguf_open(struct weights *w, const struct buf *b, steno_error *e)
{
    struct file f;
    file_from_memory(&f, "x.gguf", b->p, b->len);
    return weights_open(w, &f, e);
}

static void put_array(struct buf *b, const char *key, uint32_t type, uint64_t n)
{
    put_key(b, key, GGUF_LIST);
    put(b, type, 4);
    put(b, n, 8);
}

/* Every type of value, a vocabulary, and tensors of three types, one of them integers. */
static struct buf whole_file(uint32_t version)
{
    static const struct { const char *key; uint32_t type; uint64_t bits; int n; } number[] = {
        { "a.u8", GGUF_U8, 200, 1 },          { "a.i8", GGUF_I8, 200, 1 },           { "a.u16", GGUF_U16, 60000, 2 },
        { "a.i16", GGUF_I16, 60000, 2 },      { "a.u32", GGUF_U32, 4000000000, 4 },  { "a.i32", GGUF_I32, 4000000000, 4 },
        { "a.f32", GGUF_F32, 0x3fc00000, 4 }, { "a.bool", GGUF_BOOL, 1, 1 },         { "a.u64", GGUF_U64, 1ull << 63, 8 },
        { "a.i64", GGUF_I64, ~0ull, 8 },      { "a.f64", GGUF_F64, 0x3ff8000000000000, 8 },
    };
    enum { N_NUMBERS = sizeof number / sizeof *number };
    struct buf b = { 0 };
    put_header(&b, version, 4, N_NUMBERS + 5);
    put_word(&b, "general.architecture", "test");
    for (int i = 0; i < N_NUMBERS; i++) {
        put_key(&b, number[i].key, number[i].type);
        put(&b, number[i].bits, number[i].n);
    }
    put_u32(&b, "general.alignment", 64);
    put_array(&b, "a.list", GGUF_I16, 3);
    for (int i = -1; i < 2; i++) put(&b, (uint64_t)(int64_t)i, 2);
    put_array(&b, "a.f64s", GGUF_F64, 1);
    put(&b, 0x4000000000000000, 8);
    put_array(&b, "a.vocab", GGUF_TEXT, 3);
    put_text(&b, "<unk>");
    put_text(&b, "");
    put_text(&b, "\xe2\x96\x81" "b");
    put_tensor(&b, "m", DIMS(3, 2), 0, 0);     /* f32 */
    put_tensor(&b, "ids", DIMS(5), 26, 64);    /* i32 */
    put_tensor(&b, "q", DIMS(32, 2, 1, 2), 8, 128); /* q8_0 */
    put_tensor(&b, "h", DIMS(1), 30, 320);     /* bf16 */
    put_data(&b, 64, 322);
    return b;
}

static double number_of(const struct weights *w, const char *key)
{
    const struct meta_entry *it = meta_find(&w->meta, key);
    if (!it) fail_msg("%s is not there", key);
    return it->kind == META_BOOL ? (double)it->i : it->x;
}

static void test_values_vocabulary_and_tensors_of_both_versions_are_read(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        struct buf b = whole_file(version);
        struct weights w;
        steno_error e;
        struct tensor *t;
        double x[3];
        uint8_t row[68];
        if (gguf_open(&w, &b, &e)) fail_msg("%s", e.text);
        assert_string_equal(w.format, "GGUF");
        assert_string_equal(meta_text(&w.meta, "general.architecture", ""), "test");
        static const struct { const char *key; double is; } want[] = {
            { "a.u8", 200 }, { "a.i8", -56 }, { "a.u16", 60000 }, { "a.i16", -5536 }, { "a.u32", 4e9 }, { "a.i32", 4e9 - 4294967296.0 },
            { "a.f32", 1.5 }, { "a.bool", 1 }, { "a.u64", 9223372036854775808.0 }, { "a.i64", -1 }, { "a.f64", 1.5 },
        };
        for (size_t i = 0; i < sizeof want / sizeof *want; i++)
            if (number_of(&w, want[i].key) != want[i].is) fail_msg("%s is %g", want[i].key, number_of(&w, want[i].key));
        assert_int_equal(meta_list_numbers(meta_find_list(&w.meta, "a.list"), 0, 3, x, &e), STENO_OK);
        assert_true(x[0] == -1 && x[1] == 0 && x[2] == 1);
        assert_int_equal(meta_list_numbers(meta_find_list(&w.meta, "a.f64s"), 0, 1, x, &e), STENO_OK);
        assert_true(x[0] == 2);
        assert_int_equal(w.n_vocab_entries, 3);
        assert_int_equal(w.vocab[1].n, 0);
        assert_memory_equal(w.vocab[2].s, "\xe2\x96\x81" "b", 4);
        assert_int_equal(w.n_tensors, 3);
        assert_int_equal(weights_get(&w, "m", DIMS(2, 3), &t, &e), STENO_OK);
        assert_int_equal(weights_get(&w, "h", DIMS(1), &t, &e), STENO_OK);
        assert_int_equal(t->type, DT_BF16);
        assert_int_equal(weights_get(&w, "q", DIMS(2, 1, 2, 32), &t, &e), STENO_OK);
        assert_int_equal(t->type, DT_Q8_0);
        assert_int_equal(tensor_read_rows(t, 1, 1, row, &e), STENO_OK);
        assert_int_equal(row[0], 128 + 68);
        weights_close(&w);
        buf_free(&b);
    }
}

static void test_every_length_that_a_file_may_be_cut_to_is_refused(void **state)
{
    (void)state;
    struct buf b = whole_file(3);
    const size_t full = b.len;
    for (size_t n = 4; n < full; n++) {
        struct file f;
        struct weights w;
        steno_error e = { 0 };
        uint8_t *cut = malloc(n);
        memcpy(cut, b.p, n);
        file_from_memory(&f, "x.gguf", cut, n);
        const int rc = weights_open(&w, &f, &e);
        if (rc != STENO_EFORMAT || strncmp(e.text, "x.gguf: ", 8) != 0) fail_msg("cut to %zu: %d, %s", n, rc, e.text);
        free(cut);
    }
    buf_free(&b);
}

/* Open it and close it; says: a part of the refusal, "" where it opens. */
static void expect(struct buf *b, int status, const char *says, size_t i)
{
    struct weights w;
    steno_error e = { 0 };
    const int rc = gguf_open(&w, b, &e);
    if (rc != status || (rc && !strstr(e.text, says))) fail_msg("%zu: %d, %s, want %s", i, rc, e.text, says);
    if (!rc) weights_close(&w);
    buf_free(b);
}

/* One tensor of f32 that differs from a good one in something, and the message about it. */
static void test_records_that_lie_are_refused_with_place_and_cause(void **state)
{
    (void)state;
    static const struct { uint64_t dims[4]; uint32_t type; uint64_t offset; size_t data; int rc; const char *says; } bad[] = {
        { { 4 }, 0, 0, 16, STENO_OK, "" },
        { { 0 }, 0, 0, 16, STENO_EFORMAT, "n_dims is 0" },
        { { 1ull << 41 }, 0, 0, 16, STENO_EFORMAT, "extent 2199023255552 is out of range" },
        { { 1 << 20, 1 << 20, 1 << 20, 1 << 20 }, 0, 0, 16, STENO_EFORMAT, "out of range" },
        { { 5 }, 0, 0, 16, STENO_EFORMAT, "needs bytes 0+20 of the data, the file has 16" },
        { { 4 }, 0, 1, 32, STENO_EFORMAT, "byte 1 of the data, no multiple of 32" },
        { { 4 }, 0, 32, 48, STENO_EFORMAT, "tensor a begins at byte 32 of the data, but what is before it ends at 0" },
        { { 4 }, 0, ~31ull, 16, STENO_EFORMAT, "needs bytes 18446744073709551584+16" },
        { { 33 }, 2, 0, 64, STENO_EFORMAT, "rows of 33, no multiple of the 32 of a q4_0 block" },
        { { 64 }, 12, 0, 64, STENO_EFORMAT, "rows of 64, no multiple of the 256 of a q4_k block" },
        { { 32 }, 4, 0, 64, STENO_EUNSUPPORTED, "the type Q4_2, which is read by no program any more" },
        { { 32 }, 38, 0, 64, STENO_EUNSUPPORTED, "IQ4_NL_8_8" },
        { { 32 }, 18, 0, 64, STENO_EUNSUPPORTED, "IQ3_XXS, which is not read by this version; quantise the model again" },
        { { 32 }, 35, 0, 64, STENO_EUNSUPPORTED, "TQ2_0" },
        { { 48 }, 20, 0, 64, STENO_EFORMAT, "rows of 48, no multiple of the 32 of a iq4_nl block" },
        { { 48 }, 39, 0, 64, STENO_EFORMAT, "rows of 48, no multiple of the 32 of a mxfp4 block" },
        { { 32 }, 20, 0, 18, STENO_OK, "" },
        { { 32 }, 20, 0, 17, STENO_EFORMAT, "needs bytes 0+18 of the data, the file has 17" },
        { { 32 }, 39, 0, 17, STENO_OK, "" },
        { { 64 }, 39, 0, 33, STENO_EFORMAT, "needs bytes 0+34 of the data, the file has 33" },
        { { 32 }, 9, 0, 64, STENO_EUNSUPPORTED, "Q8_1, which is no type of weights" },
        { { 4 }, 28, 0, 64, STENO_EUNSUPPORTED, "F64" },
        { { 4 }, 40, 0, 64, STENO_EFORMAT, "the unknown type 40" },
        { { 4 }, ~0u, 0, 64, STENO_EFORMAT, "the unknown type -1" },
        { { 4 }, 26, 0, 16, STENO_OK, "" }, /* whole numbers are left out */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b = { 0 };
        put_header(&b, 3, 1, 1);
        put_word(&b, "general.architecture", "test");
        put_tensor(&b, "a", bad[i].dims, bad[i].type, bad[i].offset);
        put_data(&b, 32, bad[i].data);
        expect(&b, bad[i].rc, bad[i].says, i);
    }
}

static void test_tensors_do_not_share_bytes_or_names(void **state)
{
    (void)state;
    static const struct { const char *name; uint64_t at; const char *says; } second[] = {
        { "b", 64, "" }, { "b", 32, "tensor b begins at byte 32 of the data, but a ends at 40" }, { "b", 96, "but a ends at 40" },
        { "b", 0, "begins at byte 0 of the data, but" }, { "a", 64, "tensor a is stored twice" },
    };
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        struct buf b = { 0 };
        put_header(&b, 3, 2, 1);
        put_word(&b, "general.architecture", "test");
        put_tensor(&b, "a", DIMS(10), 0, 0);
        put_tensor(&b, second[i].name, DIMS(10), 0, second[i].at);
        put_data(&b, 32, 200);
        expect(&b, *second[i].says ? STENO_EFORMAT : STENO_OK, second[i].says, i);
    }
}

static void test_keys_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct { uint32_t type, of; uint64_t value; const char *key, *says; } bad[] = {
        { 13, 0, 0, "a.b", "key a.b has a value of the unknown type 13" },
        { GGUF_BOOL, 0, 2, "a.b", "stored as 2" },
        { GGUF_U32, 0, 0, "a b", "not of printable characters" },
        { GGUF_U32, 0, 1, "general.name", "written twice" },
        { GGUF_U32, 0, 0, "general.alignment", "is 0, want a power of two" },
        { GGUF_U32, 0, 24, "general.alignment", "is 24" },
        { GGUF_U32, 0, 1 << 21, "general.alignment", "up to 1048576" },
        { GGUF_I32, 0, 32, "general.alignment", "is not of the type u32" },
        { GGUF_TEXT, 0, 0, "general.alignment", "is not of the type u32" },
        { GGUF_TEXT, 0, 1ull << 40, "a.b", "a text of 1099511627776 bytes" },
        { GGUF_TEXT, 0, ~0ull, "a.b", "a text of 18446744073709551615 bytes" },
        { GGUF_LIST, GGUF_LIST, 1, "a.b", "a list of lists" },
        { GGUF_LIST, 13, 1, "a.b", "a list of the unknown type 13" },
        { GGUF_LIST, GGUF_U64, (1ull << 61) + 1, "a.b", "lists 2305843009213693953 values" },
        { GGUF_LIST, GGUF_TEXT, 1 << 20, "a.b", "lists 1048576 values" },
        { GGUF_LIST, GGUF_TEXT, 1, "a.b", "" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b = { 0 };
        put_header(&b, 3, 1, 3);
        put_word(&b, "general.architecture", "test");
        put_word(&b, "general.name", "x");
        put_key(&b, bad[i].key, bad[i].type);
        if (bad[i].type == GGUF_LIST) put(&b, bad[i].of, 4);
        put(&b, bad[i].value, bad[i].type == GGUF_BOOL ? 1 : bad[i].type == GGUF_U32 || bad[i].type == GGUF_I32 ? 4 : 8);
        if (!*bad[i].says) put_text(&b, "one");
        put_tensor(&b, "a", DIMS(4), 0, 0);
        put_data(&b, 32, 16);
        expect(&b, *bad[i].says ? STENO_EFORMAT : STENO_OK, bad[i].says, i);
    }
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------- */

static void put_part(const struct folder *d, const char *file, uint16_t no, uint16_t count, int32_t total, const char *tensor)
{
    struct buf b = { 0 };
    put_header(&b, 3, tensor ? 1 : 0, 4);
    put_word(&b, "general.architecture", "test");
    put_key(&b, "split.no", GGUF_U16);
    put(&b, no, 2);
    put_key(&b, "split.count", GGUF_U16);
    put(&b, count, 2);
    put_key(&b, "split.tensors.count", GGUF_I32);
    put(&b, (uint32_t)total, 4);
    if (tensor) put_tensor(&b, tensor, DIMS(4), 0, 0);
    if (tensor) put_data(&b, 32, 16);
    folder_put(d, file, b.p, b.len);
    buf_free(&b);
}

static int parts_open(struct weights *w, struct model_source *p, const struct folder *d, const char *name, steno_error *e)
{
    const struct folder_file at = folder_at(d, name);
    const int rc = model_source_open(p, at.path, NULL, e);
    return rc ? rc : weights_open_source(w, p, e);
}

static void test_a_model_in_parts_is_whole_when_all_of_them_fit(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct weights w;
    struct model_source p;
    steno_error e = { 0 };
    struct tensor *t;
    put_part(&d, "m-00001-of-00003.gguf", 0, 3, 2, NULL);
    put_part(&d, "m-00002-of-00003.gguf", 1, 3, 2, "a");
    put_part(&d, "m-00003-of-00003.gguf", 2, 3, 2, "b");
    const struct folder_file at = folder_at(&d, "m-00001-of-00003.gguf");
    assert_int_equal(model_source_open(&p, at.path, NULL, &e), STENO_OK);
    if (weights_open_source(&w, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(w.n_tensors, 2);
    assert_int_equal(weights_get(&w, "b", DIMS(4), &t, &e), STENO_OK);
    assert_non_null(strstr(t->file->name, "m-00003"));
    float x[4];
    assert_int_equal(tensor_read_f32(t, x, &e), STENO_OK);
    weights_close(&w);
    model_source_close(&p);
    folder_remove(&d);
}

static void test_settings_beside_a_file_are_not_its_own(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct buf b = whole_file(3);
    struct weights w;
    struct model_source p;
    steno_error e = { 0 };
    folder_put(&d, "m.gguf", b.p, b.len);
    folder_text(&d, "config.json", "{\"model_type\": \"whisper\"}");
    const struct folder_file at = folder_at(&d, "m.gguf");
    assert_int_equal(model_source_open(&p, at.path, NULL, &e), STENO_OK);
    if (weights_open_source(&w, &p, &e)) fail_msg("%s", e.text);
    assert_null(meta_find(&w.meta, "model_type"));
    weights_close(&w);
    model_source_close(&p);
    folder_remove(&d);
    buf_free(&b);
}

static void test_parts_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct { const char *open, *second; uint16_t no, count; int32_t total; const char *tensor, *says; } bad[] = {
        { "m-00002-of-00002.gguf", "m-00002-of-00002.gguf", 1, 2, 2, "b", "name the first one, which ends in -00001-of-00002.gguf" },
        { "m-00001-of-00002.gguf", "x.gguf", 1, 2, 2, "b", "there is no file m-00002-of-00002.gguf beside it" },
        { "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", 2, 2, 2, "b", "its header has file 3 of 2, want 2 of 2" },
        { "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", 1, 3, 2, "b", "its header has file 2 of 3" },
        { "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", 1, 2, 3, "b", "split.tensors.count is 3, but its 2 files have 2 tensors" },
        { "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", 1, 2, 2, "a", "tensor a is stored twice" },
        { "m.gguf", "m-00002-of-00002.gguf", 1, 2, 2, "b", "want a name that ends in -00001-of-00002.gguf" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct folder d = folder_new();
        struct weights w;
        struct model_source p;
        steno_error e = { 0 };
        put_part(&d, "m-00001-of-00002.gguf", 0, 2, bad[i].total, "a");
        put_part(&d, "m.gguf", 0, 2, bad[i].total, "a");
        put_part(&d, bad[i].second, bad[i].no, bad[i].count, 2, bad[i].tensor);
        const int rc = parts_open(&w, &p, &d, bad[i].open, &e);
        if (rc != STENO_EFORMAT || !strstr(e.text, bad[i].says)) fail_msg("%zu: %d, %s, want %s", i, rc, e.text, bad[i].says);
        model_source_close(&p);
        folder_remove(&d);
    }
}

/* ---- what language models say -------------------------------------------------------------------------------------------------- */

static void test_layers_heads_and_tokens_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct { const char *key, *says; double v; int is_float; } bad[] = {
        { "test.block_count", "block_count is 513, want 1..512", 513, 0 },
        { "test.attention.head_count", "head_count is 0", 0, 0 },
        { "test.attention.head_count", "5 heads of queries do not share 2 heads", 5, 0 },
        { "test.rope.dimension_count", "is 7, want an even number", 7, 0 },
        { "test.rope.dimension_count", "is 18, but a head has 16", 18, 0 },
        { "test.attention.layer_norm_epsilon", "is 0, want", 0, 1 },
        { "test.attention.layer_norm_epsilon", "is inf", INFINITY, 1 },
        { "tokenizer.ggml.eos_token_id", "eos_token_id is 2, want an id of 2 tokens", 2, 0 },
        { "test.context_length", "", 4e9, 0 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b = { 0 };
        put_header(&b, 3, 1, 7);
        put_word(&b, "general.architecture", "test");
        put_u32(&b, strcmp(bad[i].key, "test.block_count") ? "test.block_count" : "x", 2);
        put_u32(&b, strcmp(bad[i].key, "test.attention.head_count") ? "test.attention.head_count" : "x", 4);
        put_u32(&b, "test.attention.head_count_kv", 2);
        put_u32(&b, "test.attention.key_length", 16);
        put_array(&b, "tokenizer.ggml.tokens", GGUF_TEXT, 2);
        put_text(&b, "a");
        put_text(&b, "b");
        put_key(&b, bad[i].key, bad[i].is_float ? GGUF_F32 : GGUF_U32);
        const float x = (float)bad[i].v;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        put(&b, bad[i].is_float ? bits : (uint32_t)bad[i].v, 4);
        put_tensor(&b, "a", DIMS(4), 0, 0);
        put_data(&b, 32, 16);
        expect(&b, *bad[i].says ? STENO_EFORMAT : STENO_OK, bad[i].says, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_vocabulary_and_tensors_of_both_versions_are_read),
        cmocka_unit_test(test_every_length_that_a_file_may_be_cut_to_is_refused),
        cmocka_unit_test(test_records_that_lie_are_refused_with_place_and_cause),
        cmocka_unit_test(test_tensors_do_not_share_bytes_or_names),
        cmocka_unit_test(test_keys_that_lie_are_refused),
        cmocka_unit_test(test_a_model_in_parts_is_whole_when_all_of_them_fit),
        cmocka_unit_test(test_settings_beside_a_file_are_not_its_own),
        cmocka_unit_test(test_parts_that_do_not_fit_are_refused),
        cmocka_unit_test(test_layers_heads_and_tokens_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
