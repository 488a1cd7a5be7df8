/* steno tests: safetensors files, whole and in shards. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "base/buf.h"
#include "folder.h"
#include "load/weights.h"

/* A file of a header as it is given, behind its length, and n bytes of data: 0, 1, 2, … */
static struct buf st_file(const char *header, size_t n)
{
    struct buf b = { 0 };
    const uint64_t len = strlen(header);
    for (int i = 0; i < 8; i++) buf_add(&b, &(uint8_t) { (uint8_t)(len >> 8 * i) }, 1);
    buf_str(&b, header);
    for (size_t i = 0; i < n; i++) buf_add(&b, &(uint8_t) { (uint8_t)i }, 1);
    return b;
}

static int st_open(struct weights *w, const struct buf *b, steno_error *e)
{
    struct file f;
    file_from_memory(&f, "x.safetensors", b->p, b->len);
    return weights_open(w, &f, e);
}

static void test_tensors_are_found_with_type_shape_and_bytes(void **state)
{
    (void)state;
    struct buf b = st_file("{\"__metadata__\":{\"format\":\"pt\"},\"b\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[24,30]},"
                           "\"a\":{\"shape\":[2,3],\"data_offsets\":[0,24],\"dtype\":\"F32\"},"
                           "\"c\":{\"dtype\":\"BF16\",\"shape\":[1,1,1,1],\"data_offsets\":[30,32]},"
                           "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[32,36]}}   ", 36);
    struct weights w;
    steno_error e;
    struct tensor *t;
    uint8_t bytes[24];
    if (st_open(&w, &b, &e)) fail_msg("%s", e.text);
    assert_string_equal(w.format, "safetensors");
    assert_int_equal(w.n_tensors, 4);
    assert_int_equal(w.matrix_type, DT_F32);
    assert_string_equal(meta_text(&w.meta, "metadata.format", ""), "pt");
    assert_int_equal(weights_get(&w, "a", (const uint64_t[4]) { 2, 3, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(t->type, DT_F32);
    assert_int_equal(tensor_read_rows(t, 1, 1, bytes, &e), STENO_OK);
    assert_int_equal(bytes[0], 12);
    assert_int_equal(weights_get(&w, "b", (const uint64_t[4]) { 3, 0, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(t->type, DT_F16);
    assert_int_equal(t->size, 6);
    assert_int_equal(weights_get(&w, "c", (const uint64_t[4]) { 1, 0, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(t->type, DT_BF16);
    assert_int_equal(weights_get(&w, "s", (const uint64_t[4]) { 1, 0, 0, 0 }, &t, &e), STENO_OK);
    weights_close(&w);
    buf_free(&b);
}

static void test_no_settings_are_written_as_null(void **state)
{
    (void)state;
    struct buf b = st_file("{\"__metadata__\":null,\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
    struct weights w;
    steno_error e;
    if (st_open(&w, &b, &e)) fail_msg("%s", e.text);
    assert_int_equal(w.n_tensors, 1);
    weights_close(&w);
    buf_free(&b);
}

static void test_integers_and_empty_tensors_are_checked_and_left_out(void **state)
{
    (void)state;
    struct buf b = st_file("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},\"e\":{\"dtype\":\"F32\",\"shape\":[0,7],"
                           "\"data_offsets\":[8,8]},\"i\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 12);
    struct weights w;
    steno_error e;
    if (st_open(&w, &b, &e)) fail_msg("%s", e.text);
    assert_int_equal(w.n_tensors, 1);
    assert_string_equal(w.tensor[0].name, "a");
    weights_close(&w);
    buf_free(&b);
}

#define T4(type, shape, at) "{\"a\":{\"dtype\":" type ",\"shape\":" shape ",\"data_offsets\":" at "}}"

static void test_headers_that_lie_are_refused_with_place_and_cause(void **state)
{
    (void)state;
    static const struct { const char *header; size_t n; int rc; const char *says; } bad[] = {
        { T4("\"F32\"", "[4]", "[0,16]"), 15, STENO_EFORMAT, "the file has 15" },
        { T4("\"F32\"", "[4]", "[0,16]"), 17, STENO_EFORMAT, "the tensors end at byte 16 of the data, the file at 17" },
        { T4("\"F32\"", "[4]", "[16,0]"), 16, STENO_EFORMAT, "behind their end" },
        { T4("\"F32\"", "[4]", "[4,20]"), 20, STENO_EFORMAT, "tensor a begins at byte 4 of the data, want the first at 0" },
        { T4("\"F32\"", "[5]", "[0,16]"), 16, STENO_EFORMAT, "take 20 bytes" },
        { T4("\"F64\"", "[2]", "[0,16]"), 16, STENO_EUNSUPPORTED, "tensor a has the type F64" },
        { T4("\"F8_E4M3\"", "[16]", "[0,16]"), 16, STENO_EUNSUPPORTED, "F8_E4M3" },
        { T4("\"F33\"", "[4]", "[0,16]"), 16, STENO_EFORMAT, "unknown type 'F33'" },
        { T4("7", "[4]", "[0,16]"), 16, STENO_EFORMAT, "dtype is not a text" },
        { T4("\"F32\"", "[-2,-2]", "[0,16]"), 16, STENO_EFORMAT, "not a whole number" },
        { T4("\"F32\"", "[4.0]", "[0,16]"), 16, STENO_EFORMAT, "not a whole number" },
        { T4("\"F32\"", "\"4\"", "[0,16]"), 16, STENO_EFORMAT, "shape is not a list" },
        { T4("\"F32\"", "[1,1,1,1,4]", "[0,16]"), 16, STENO_EFORMAT, "more than 4" },
        { T4("\"F32\"", "[4294967296,4294967296]", "[0,16]"), 16, STENO_EFORMAT, "out of range" },
        { T4("\"F32\"", "[2305843009213693952,8]", "[0,0]"), 0, STENO_EFORMAT, "out of range" },
        { T4("\"F32\"", "[9223372036854775808]", "[0,0]"), 0, STENO_EFORMAT, "not a whole number" },
        { T4("\"F32\"", "[4]", "[0]"), 16, STENO_EFORMAT, "has 1 members" },
        { T4("\"F32\"", "[4]", "[0,16,16]"), 16, STENO_EFORMAT, "more than 2" },
        { T4("\"F32\"", "[4]", "[0,9223372036854775807]"), 16, STENO_EFORMAT, "the file has 16" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", 0, STENO_EFORMAT, "data_offsets is missing" },
        { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, STENO_EFORMAT, "dtype is written twice" },
        { "{\"a\":{\"type\":\"F32\"}}", 0, STENO_EFORMAT, "unknown field 'type'" },
        { "{\"a\":4}", 0, STENO_EFORMAT, "tensor a: want an object" },
        { "{\"\":{}}", 0, STENO_EFORMAT, "name has 0 bytes" },
        { "{\"a b\":{}}", 0, STENO_EFORMAT, "printable" },
        { "{} x", 0, STENO_EFORMAT, "text follows" },
        { "{\"__metadata__\":{\"a\":1}}", 0, STENO_EFORMAT, "texts only" },
        { "{\"__metadata__\":[]}", 0, STENO_EFORMAT, "not an object" },
        { "{\"__metadata__\":null,\"__metadata__\":null}", 0, STENO_EFORMAT, "twice" },
        { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, STENO_EFORMAT, "twice" },
        { "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, STENO_EFORMAT, "key 'metadata.a' is written twice" },
        { " {}", 0, STENO_EFORMAT, "want '{'" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b = st_file(bad[i].header, bad[i].n);
        struct weights w;
        steno_error e = { 0 };
        const int rc = st_open(&w, &b, &e);
        if (rc != bad[i].rc || !strstr(e.text, bad[i].says) || strncmp(e.text, "x.safetensors: ", 15) != 0)
            fail_msg("%s gives %d, '%s', want '%s'", bad[i].header, rc, e.text, bad[i].says);
        buf_free(&b);
    }
}

static void test_every_length_that_a_file_may_be_cut_to_is_refused(void **state)
{
    (void)state;
    struct buf b = st_file("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
    for (size_t n = 0; n < b.len; n++) {
        struct buf cut = { 0 };
        struct weights w;
        steno_error e = { 0 };
        buf_add(&cut, b.p, n);
        if (st_open(&w, &cut, &e) != STENO_EFORMAT || !e.text[0]) fail_msg("cut to %zu bytes: %s", n, e.text);
        buf_free(&cut);
    }
    buf_free(&b);
}

/* ---- shards ---- */

static void put_shard(const struct folder *d, const char *file, const char *tensor)
{
    char header[200];
    snprintf(header, sizeof header, "{\"%s\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", tensor);
    struct buf b = st_file(header, 8);
    folder_put(d, file, b.p, b.len);
    buf_free(&b);
}

static int open_folder(const struct folder *d, struct weights *w, struct model_source *p, steno_error *e)
{
    assert_int_equal(model_source_open(p, d->path, NULL, e), STENO_OK);
    const int rc = weights_open_source(w, p, e);
    if (rc) model_source_close(p);
    return rc;
}

static void test_an_index_opens_each_shard_once(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    put_shard(&d, "one", "a");
    put_shard(&d, "two", "b");
    folder_text(&d, "model.safetensors.index.json", "{\"metadata\":{\"x\":[1,{}]},\"weight_map\":{\"b\":\"two\",\"a\":\"one\"}}");
    struct weights w;
    struct model_source p;
    steno_error e;
    struct tensor *t;
    if (open_folder(&d, &w, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(w.n_shards, 2);
    assert_int_equal(w.n_tensors, 2);
    assert_int_equal(weights_get(&w, "b", (const uint64_t[4]) { 2, 0, 0, 0 }, &t, &e), STENO_OK);
    assert_non_null(strstr(t->file->name, "two"));
    weights_close(&w);
    model_source_close(&p);
    folder_remove(&d);
}

/* n shards of one tensor each. */
static int open_shards(int n, steno_error *e)
{
    const struct folder d = folder_new();
    struct buf index = { 0 };
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        put_shard(&d, name, name);
        buf_fmt(&index, "%s\"%s\":\"%s\"", i ? "," : "{\"weight_map\":{", name, name);
    }
    buf_str(&index, "}}");
    folder_put(&d, "model.safetensors.index.json", index.p, index.len);
    struct weights w;
    struct model_source p;
    const int rc = open_folder(&d, &w, &p, e);
    if (!rc) {
        assert_int_equal(w.n_shards, n);
        assert_int_equal(w.n_tensors, n);
        weights_close(&w);
        model_source_close(&p);
    }
    buf_free(&index);
    folder_remove(&d);
    return rc;
}

static void test_there_may_be_256_shards(void **state)
{
    (void)state;
    steno_error e;
    for (int n = 255; n <= 256; n++)
        if (open_shards(n, &e)) fail_msg("%s", e.text);
    assert_int_equal(open_shards(257, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "weight_map names more than 256 files"));
}

static void test_an_index_and_its_shards_must_agree_both_ways(void **state)
{
    (void)state;
    static const struct { const char *index, *says; } bad[] = {
        { "{\"weight_map\":{\"a\":\"one\"}}", NULL },
        { "{\"weight_map\":{\"a\":\"one\",\"x\":\"one\"}}", "tensor x is not in one, where the index puts it" },
        { "{\"weight_map\":{\"x\":\"one\"}}", "one: tensor a is not in the index" },
        { "{\"weight_map\":{\"a\":\"two\",\"b\":\"one\"}}", "the index puts it into" },
        { "{\"weight_map\":{\"a\":\"none\"}}", "there is no file none" },
        { "{\"weight_map\":{\"a\":\"../one\"}}", "'../one' is not the name of a file beside it" },
        { "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "not the name of a file beside it" },
        { "{\"weight_map\":{\"a\":\"\"}}", "not the name of a file beside it" },
        { "{\"weight_map\":{\"a\":1}}", "want the name of a file" },
        { "{\"weight_map\":{\"a\":\"one\",\"a\":\"one\"}}", "names tensor a twice" },
        { "{\"weight_map\":{}}", "weight_map is empty" },
        { "{\"weight_map\":[]}", "not an object" },
        { "{\"a\":1}", "no weight_map" },
        { "{\"weight_map\":{\"a\":\"one\"},\"weight_map\":{}}", "written twice" },
        { "[]", "want an object" },
        { "{", "ends inside" },
    };
    const struct folder d = folder_new();
    put_shard(&d, "one", "a");
    put_shard(&d, "two", "b");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights w;
        struct model_source p;
        steno_error e = { 0 };
        folder_text(&d, "model.safetensors.index.json", bad[i].index);
        const int rc = open_folder(&d, &w, &p, &e);
        if (!rc != !bad[i].says || (rc && (rc != STENO_EFORMAT || !strstr(e.text, bad[i].says))))
            fail_msg("%s gives %d, '%s'", bad[i].index, rc, e.text);
        if (rc) continue;
        weights_close(&w);
        model_source_close(&p);
    }
    folder_remove(&d);
}

static void test_an_index_names_a_bounded_number_of_files(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct buf b = { 0 };
    struct weights w;
    struct model_source p;
    steno_error e = { 0 };
    buf_str(&b, "{\"weight_map\":{");
    for (int i = 0; i < 257; i++) buf_fmt(&b, "%s\"t%d\":\"f%d\"", i ? "," : "", i, i);
    buf_str(&b, "}}");
    folder_put(&d, "model.safetensors.index.json", b.p, b.len);
    assert_int_equal(open_folder(&d, &w, &p, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "more than 256 files"));
    folder_remove(&d);
    buf_free(&b);
}

/* ---- the collection ---- */

static void test_damaged_files_of_the_collection_are_refused(void **state)
{
    (void)state;
    const char *shared = getenv("STENO_SHARED");
    if (!shared) skip();
    char path[512];
    snprintf(path, sizeof path, "%s/material/bad/bad.json", shared);
    json_t *list = json_load_file(path, 0, NULL), *it;
    size_t i;
    int n = 0;
    assert_non_null(list);
    json_array_foreach(list, i, it)
    {
        if (strcmp(json_string_value(json_object_get(it, "format")), "safetensors") != 0) continue;
        struct file f;
        struct weights w;
        steno_error e = { 0 };
        snprintf(path, sizeof path, "%s/material/bad/%s", shared, json_string_value(json_object_get(it, "file")));
        if (file_open(&f, path, &e)) fail_msg("%s", e.text);
        const int rc = weights_open(&w, &f, &e);
        if (rc == STENO_OK) weights_close(&w);
        if (rc == STENO_OK && strcmp(json_string_value(json_object_get(it, "expect")), "either") != 0) fail_msg("%s is taken", path);
        if (rc && strncmp(e.text, path, strlen(path)) != 0) fail_msg("%s: the message does not name the file: %s", path, e.text);
        file_close(&f);
        n++;
    }
    json_decref(list);
    assert_int_equal(n, 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_are_found_with_type_shape_and_bytes),
        cmocka_unit_test(test_no_settings_are_written_as_null),
        cmocka_unit_test(test_integers_and_empty_tensors_are_checked_and_left_out),
        cmocka_unit_test(test_headers_that_lie_are_refused_with_place_and_cause),
        cmocka_unit_test(test_every_length_that_a_file_may_be_cut_to_is_refused),
        cmocka_unit_test(test_an_index_opens_each_shard_once),
        cmocka_unit_test(test_there_may_be_256_shards),
        cmocka_unit_test(test_an_index_and_its_shards_must_agree_both_ways),
        cmocka_unit_test(test_an_index_names_a_bounded_number_of_files),
        cmocka_unit_test(test_damaged_files_of_the_collection_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
