/* steno tests: stored types whose bits are places in a table, against values of another program. SPDX-License-Identifier: MIT
 *
 * tests/data/blockquant/NAME.bytes are random blocks as stored, NAME.f32 what the gguf package makes of them: every bit must agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "gguf_file.h"
#include "harness.h"

enum { MOST = 1024 };

struct golden { const char *name; uint32_t code; enum dtype as; size_t n; };
static const struct golden goldens[] = {
    { "iq4_xs", 23, DT_IQ4_XS, 1024 },
    { "iq4_nl", 20, DT_Q8_0, 256 },
    { "mxfp4", 39, DT_Q8_0, 256 },
    { "mxfp4_wide", 39, DT_BF16, 256 }, /* scales that f16 does not have */
};

static size_t read_data(void *to, size_t most, const char *name, const char *end)
{
    char path[100];
    snprintf(path, sizeof path, "tests/data/blockquant/%s.%s", name, end);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is missing", path);
    const size_t n = fread(to, 1, most, f);
    fclose(f);
    return n;
}

/* A file with one tensor of two rows. */
static struct buf file_of(const struct golden *g)
{
    struct buf b = { 0 };
    uint8_t bytes[MOST];
    const size_t n = read_data(bytes, sizeof bytes, g->name, "bytes");
    put_header(&b, 3, 1, 1);
    put_word(&b, "general.architecture", "test");
    put_tensor(&b, "a", (const uint64_t[4]){ g->n / 2, 2 }, g->code, 0);
    while (b.len % 32) put(&b, 0, 1);
    buf_add(&b, bytes, n);
    return b;
}

static void expect_same(const struct golden *g, const char *how, const float *got, const float *want)
{
    for (size_t i = 0; i < g->n; i++)
        if (got[i] != want[i]) fail_msg("%s %s: weight %zu is %.9g, want %.9g", g->name, how, i, (double)got[i], (double)want[i]);
}

static void test_values_are_those_of_the_golden_bit_for_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        const struct golden *g = &goldens[i];
        float want[MOST], got[MOST];
        uint8_t rows[MOST * 4];
        struct buf b = file_of(g);
        struct file f;
        struct weights w;
        struct tensor *t;
        steno_error e = { 0 };
        assert_int_equal(read_data(want, sizeof want, g->name, "f32"), g->n * 4);
        file_from_memory(&f, "x.gguf", b.p, b.len);
        if (weights_open(&w, &f, &e) || weights_settle(&w, &e)) fail_msg("%s", e.text);
        assert_int_equal(weights_get(&w, "a", (const uint64_t[4]){ 2, g->n / 2, 0, 0 }, &t, &e), STENO_OK);
        assert_int_equal(t->type, g->as);
        if (tensor_read_f32(t, got, &e)) fail_msg("%s", e.text);
        expect_same(g, "as f32", got, want);
        for (uint64_t r = 0; r < 2; r++) {
            if (tensor_read_rows(t, r, 1, rows, &e)) fail_msg("%s", e.text);
            assert_int_equal(tensor_check_rows(t, r, 1, rows, &e), STENO_OK);
            dtype_widen_row(got + r * g->n / 2, t->type, rows, g->n / 2);
        }
        expect_same(g, "row by row", got, want);
        weights_close(&w);
        buf_free(&b);
    }
}

/* What more than one reading of a file takes: pieces of all lengths, of a tensor larger than any. */
static void test_large_tensors_are_read_in_pieces(void **state)
{
    (void)state;
    enum { K = 4096, ROWS = 5, BLOCKS = K * ROWS / QBLOCK, ODD = BLOCKS - 1 };
    struct buf b = { 0 };
    struct file f;
    struct weights w;
    struct tensor *t;
    steno_error e = { 0 };
    put_header(&b, 3, 1, 1);
    put_word(&b, "general.architecture", "test");
    put_tensor(&b, "a", (const uint64_t[4]){ K, ROWS }, 39, 0);
    while (b.len % 32) put(&b, 0, 1);
    for (int i = 0; i < BLOCKS; i++) {
        put(&b, i == ODD ? 100 : 120 + (unsigned)i % 9, 1);
        for (int j = 0; j < 16; j++) put(&b, (unsigned)(i * 7 + j) & 255, 1);
    }
    file_from_memory(&f, "x.gguf", b.p, b.len);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    assert_int_equal(weights_get(&w, "a", (const uint64_t[4]){ ROWS, K, 0, 0 }, &t, &e), STENO_OK);
    assert_int_equal(t->type, DT_Q8_0);
    assert_string_equal(w.matrix_name, "mxfp4");
    if (weights_settle(&w, &e)) fail_msg("%s", e.text);
    assert_int_equal(t->type, DT_BF16); /* for the sake of its last block */
    static const int8_t twice[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };
    static float all[K * ROWS];
    if (tensor_read_f32(t, all, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < K * ROWS; i++) {
        const int block = i / QBLOCK, j = i % QBLOCK, byte = (block * 7 + j % 16) & 255;
        const float want = ldexpf((float)twice[j < 16 ? byte & 15 : byte >> 4], (block == ODD ? 100 : 120 + block % 9) - 128);
        if (all[i] != want) fail_msg("weight %d is %g, want %g", i, (double)all[i], (double)want);
    }
    weights_close(&w);
    buf_free(&b);
}

static void test_scales_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const struct { uint32_t code; uint8_t scale[2]; uint8_t quant; } bad[] = {
        { 39, { 255, 0 }, 0 }, { 39, { 255, 0x11 }, 0x11 }, { 39, { 254, 0x77 }, 0x77 },
        { 20, { 0x00, 0x7c }, 1 }, { 20, { 0x01, 0xfe }, 1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b = { 0 };
        struct file f;
        struct weights w;
        struct tensor *t;
        steno_error e = { 0 };
        float y[QBLOCK];
        put_header(&b, 3, 1, 1);
        put_word(&b, "general.architecture", "test");
        put_tensor(&b, "a", (const uint64_t[4]){ QBLOCK, 1 }, bad[i].code, 0);
        while (b.len % 32) put(&b, 0, 1);
        buf_add(&b, bad[i].scale, 2);
        for (int j = 0; j < 16; j++) put(&b, bad[i].quant, 1);
        file_from_memory(&f, "x.gguf", b.p, b.len);
        if (weights_open(&w, &f, &e) || weights_settle(&w, &e)) fail_msg("%s", e.text);
        assert_non_null(t = weights_find(&w, "a"));
        assert_int_equal(tensor_read_f32(t, y, &e), STENO_EFORMAT);
        if (!strstr(e.text, "tensor a: value 0 is not finite")) fail_msg("%zu: %s", i, e.text);
        weights_close(&w);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_those_of_the_golden_bit_for_bit),
        cmocka_unit_test(test_large_tensors_are_read_in_pieces),
        cmocka_unit_test(test_scales_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
