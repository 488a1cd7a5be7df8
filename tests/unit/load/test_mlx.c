/* steno tests: folders that MLX has quantised. SPDX-License-Identifier: MIT
 *
 * tests/data/mlx holds matrices that MLX has quantised, and what it makes of them again in f32: every bit must agree. */
#include <string.h>
#include "folder.h"
#include "load/weights.h"

enum { ROWS = 3, K = 256, N = ROWS * K };

struct file_probe { int bits, group; const char *scales; enum dtype type; };
static const struct file_probe kinds[] = {
    { 2, 32, "float16", DT_Q4_1 },  { 2, 64, "bfloat16", DT_Q4_1 }, { 2, 128, "float32", DT_Q4_1F },
    { 3, 32, "float16", DT_Q4_1 },  { 3, 64, "bfloat16", DT_Q4_1 }, { 3, 128, "float32", DT_Q4_1F },
    { 4, 32, "float16", DT_Q4_1 },  { 4, 64, "bfloat16", DT_Q4_1 }, { 4, 128, "float32", DT_Q4_1F },
    { 5, 32, "float16", DT_Q5_1 },  { 5, 64, "bfloat16", DT_Q5_1 }, { 5, 128, "float32", DT_Q8_1F },
    { 6, 32, "float16", DT_Q8_1F }, { 6, 64, "bfloat16", DT_Q8_1F }, { 6, 128, "float32", DT_Q8_1F },
    { 8, 32, "float16", DT_Q8_1F }, { 8, 64, "bfloat16", DT_Q8_1F }, { 8, 128, "float32", DT_Q8_1F },
};

static size_t read_all(void *to, size_t most, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is missing", path);
    const size_t n = fread(to, 1, most, f);
    fclose(f);
    return n;
}

static int open_folder(struct weights *w, struct model_source *s, const struct folder *d, steno_error *e)
{
    int rc = model_source_open(s, d->path, NULL, e);
    if (!rc) rc = weights_open_source(w, s, e);
    if (!rc) rc = weights_settle(w, e);
    return rc;
}

static void put_matrix(const struct folder *d, const struct file_probe *k, const char *settings)
{
    char path[100];
    uint8_t bytes[8192];
    snprintf(path, sizeof path, "tests/data/mlx/%dbit-g%d-%s.safetensors", k->bits, k->group, k->scales);
    folder_put(d, "model.safetensors", bytes, read_all(bytes, sizeof bytes, path));
    folder_text(d, "config.json", settings);
}

static void check_kind(const struct file_probe *k, const char *settings)
{
    const struct folder d = folder_new();
    char path[100], name[8];
    float want[N], got[N];
    uint8_t rows[N * 4];
    struct model_source s = { 0 };
    struct weights w;
    struct tensor *t;
    steno_error e = { 0 };
    put_matrix(&d, k, settings);
    snprintf(path, sizeof path, "tests/data/mlx/%dbit-g%d-%s.f32", k->bits, k->group, k->scales);
    assert_int_equal(read_all(want, sizeof want, path), sizeof want);
    if (open_folder(&w, &s, &d, &e)) fail_msg("%s: %s", path, e.text);
    assert_int_equal(w.n_tensors, 1);
    snprintf(name, sizeof name, "mlx%d", k->bits);
    assert_string_equal(w.matrix_name, name);
    assert_int_equal(weights_get(&w, "m.weight", (const uint64_t[4]){ ROWS, K, 0, 0 }, &t, &e), STENO_OK);
    if (t->type != k->type) fail_msg("%s: %s, want %s", path, dtype_name(t->type), dtype_name(k->type));
    if (tensor_read_f32(t, got, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < N; i++)
        if (got[i] != want[i]) fail_msg("%s: weight %d is %.9g, want %.9g", path, i, (double)got[i], (double)want[i]);
    for (uint64_t r = ROWS; r-- > 0;) {
        if (tensor_read_rows(t, r, 1, rows, &e) || tensor_check_rows(t, r, 1, rows, &e)) fail_msg("%s", e.text);
        dtype_widen_row(got, t->type, rows, K);
        assert_memory_equal(got, want + r * K, K * sizeof *got);
    }
    weights_close(&w);
    model_source_close(&s);
    folder_remove(&d);
}

static void test_every_width_and_group_gives_what_mlx_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"quantization\": {\"group_size\": %d, \"bits\": %d, \"mode\": \"affine\"}}", kinds[i].group,
                 kinds[i].bits);
        check_kind(&kinds[i], text);
    }
}

static void test_a_module_has_settings_of_its_own_and_defaults(void **state)
{
    (void)state;
    check_kind(&kinds[1], "{\"quantization\": {\"bits\": 4, \"group_size\": 32, \"m\": {\"bits\": 2, \"group_size\": 64}, \"n\": false}}");
    check_kind(&kinds[4], "{\"quantization\": {\"bits\": 3}}");
    check_kind(&kinds[7], "{}");
    check_kind(&kinds[8], "{\"quantization\": {\"m\": {\"group_size\": 128}}}");
}

static void test_settings_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *settings; int rc; const char *says; } bad[] = {
        { "{\"quantization\": {\"bits\": 7}}", STENO_EFORMAT, "quantization of m: bits is 7, want 2, 3, 4, 5, 6 or 8" },
        { "{\"quantization\": {\"bits\": 0}}", STENO_EFORMAT, "bits is 0" },
        { "{\"quantization\": {\"bits\": \"4\"}}", STENO_EFORMAT, "bits is not a whole number" },
        { "{\"quantization\": {\"bits\": 4, \"group_size\": 16}}", STENO_EFORMAT, "group_size is 16, want 32, 64 or 128" },
        { "{\"quantization\": {\"bits\": 4, \"group_size\": -64}}", STENO_EFORMAT, "group_size is -64" },
        { "{\"quantization\": {\"bits\": 4, \"group_size\": 32}}", STENO_EFORMAT,
          "m.scales is [3, 4], but the words of m.weight want [3, 8]" },
        { "{\"quantization\": {\"bits\": 8}}", STENO_EFORMAT, "m.scales is [3, 4], but the words of m.weight want [3, 2]" },
        { "{\"quantization\": {\"bits\": 3}}", STENO_EFORMAT, "rows of 32 words, no whole groups of 64 weights of 3 bits" },
        { "{\"quantization\": {\"mode\": \"mxfp4\"}}", STENO_EUNSUPPORTED, "in the mode mxfp4; affine is read" },
        { "{\"quantization\": {\"mode\": 4}}", STENO_EUNSUPPORTED, "affine is read" },
        { "{\"quantization\": {\"bits\": 4, \"m\": {\"mode\": \"nvfp4\"}}}", STENO_EUNSUPPORTED, "nvfp4" },
        { "{\"quantization\": {\"bits\": 4, \"m\": false}}", STENO_EFORMAT, "m is not quantised, but m.weight is of words" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct folder d = folder_new();
        struct model_source s = { 0 };
        struct weights w;
        steno_error e = { 0 };
        put_matrix(&d, &kinds[7], bad[i].settings);
        const int rc = open_folder(&w, &s, &d, &e);
        if (rc != bad[i].rc || !strstr(e.text, bad[i].says)) fail_msg("%zu: %d \"%s\", want \"%s\"", i, rc, e.text, bad[i].says);
        model_source_close(&s);
        folder_remove(&d);
    }
}

/* A file of a header and n zeros. */
static int open_header(struct weights *w, const char *header, size_t n, steno_error *e)
{
    static uint8_t bytes[4096];
    struct file f;
    const size_t len = strlen(header);
    memset(bytes, 0, sizeof bytes);
    bytes[0] = (uint8_t)len, bytes[1] = (uint8_t)(len >> 8);
    memcpy(bytes + 8, header, len);
    file_from_memory(&f, "x.safetensors", bytes, 8 + len + n);
    return weights_open(w, &f, e);
}

#define TENSOR(name, type, shape, from, to) \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" #from "," #to "]}"

static void test_tensors_that_do_not_fit_together_are_refused_by_name(void **state)
{
    (void)state;
#define WORDS(shape, to) "{" TENSOR("m.weight", "U32", shape, 0, to)
#define SCALES(type, shape, from, to) "," TENSOR("m.scales", type, shape, from, to)
#define OFFSETS(type, shape, from, to) "," TENSOR("m.biases", type, shape, from, to) "}"
    static const struct { const char *header; size_t n; int rc; const char *says; } bad[] = {
        { WORDS("1,8", 32) SCALES("F16", "1,1", 32, 34) OFFSETS("F16", "1,1", 34, 36), 36, STENO_OK, "" },
        { WORDS("1,8", 32) SCALES("F16", "1,1", 32, 34) "}", 34, STENO_EFORMAT, "tensor m.biases is missing" },
        { WORDS("1,8", 32) OFFSETS("F16", "1,1", 32, 34), 34, STENO_EFORMAT, "tensor m.scales is missing" },
        { WORDS("1,8", 32) SCALES("F16", "1,1", 32, 34) OFFSETS("BF16", "1,1", 34, 36), 36, STENO_EFORMAT,
          "tensor m.scales is f16, but m.biases is bf16" },
        { WORDS("1,8", 32) SCALES("F16", "1", 32, 34) OFFSETS("F16", "1,1", 34, 36), 36, STENO_EFORMAT,
          "m.scales has 1 dimensions, want [1, 1]" },
        { WORDS("2,8", 64) SCALES("F16", "1,2", 64, 68) OFFSETS("F16", "1,2", 68, 72), 72, STENO_EFORMAT,
          "m.scales is [1, 2], but the words of m.weight want [2, 1]" },
        { WORDS("1,7", 28) SCALES("F16", "1,1", 28, 30) OFFSETS("F16", "1,1", 30, 32), 32, STENO_EFORMAT, "rows of 7 words" },
        { "{" TENSOR("ids.weight", "U32", "1,8", 0, 32) "," TENSOR("a", "F32", "1", 32, 36) "}", 36, STENO_OK, "" }, /* other words */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights w;
        steno_error e = { 0 };
        const int rc = open_header(&w, bad[i].header, bad[i].n, &e);
        if (rc != bad[i].rc || (rc && !strstr(e.text, bad[i].says))) fail_msg("%zu: %d \"%s\", want \"%s\"", i, rc, e.text, bad[i].says);
        if (rc) continue;
        assert_int_equal(w.n_tensors, 1);
        weights_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_width_and_group_gives_what_mlx_gives),
        cmocka_unit_test(test_a_module_has_settings_of_its_own_and_defaults),
        cmocka_unit_test(test_settings_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(test_tensors_that_do_not_fit_together_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
