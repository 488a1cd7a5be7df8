/* steno tests: numbers as stored types. SPDX-License-Identifier: MIT
 *
 * The reference's blocks of a row of simple fractions: the first one, and a hash (FNV-1a, 64 bits) over all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "harness.h"
#include "kern/quantize_row.h"

enum { N = 256 };

static uint64_t fnv(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void test_blocks_are_those_of_the_reference(void **state)
{
    (void)state;
    static const struct { enum dtype t; const char *first; uint64_t hash; } want[] = {
        { DT_Q8_0, "4d1e9dfb59b61472d02e8be947a50361be1c7ad73593f14fac0a68c62481df3d9af8", UINT64_C(0xa3ef8296be38ee43) },
        { DT_Q4_0, "402ef258be1379df359bf147ac0268ce248a", UINT64_C(0x8057f8b5e47a8764) },
        { DT_Q4_1, "892e40baf257bd1379cf358ae146ac0268bd2479", UINT64_C(0xb4d5c1ded9ee0ce4) },
        { DT_Q5_0, "402ab4b4a525f4bf7b27e3ae5a16d19d4904c08c38f4", UINT64_C(0xddff9b67f84131e8) },
        { DT_Q5_1, "532a40bab4b4a525f3bf6b27e2ae5a16d19d4904c07c38f3", UINT64_C(0xcca859ec2a5e337a) },
        { DT_IQ4_NL, "981ef157ce137adf249be146bd0258ce137a", UINT64_C(0x0c0c216c72f74edb) },
        { DT_Q2_K, NULL, UINT64_C(0x361e3d301a2f99da) },
        { DT_Q3_K, NULL, UINT64_C(0xfe7297ce5726b835) },
        { DT_Q4_K, NULL, UINT64_C(0x62b7c59d1309b2c6) },
        { DT_Q5_K, NULL, UINT64_C(0x7264d06f96afb623) },
        { DT_Q6_K, NULL, UINT64_C(0x841825225f898573) },
    };
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)((37 * i + 11) % 101 - 50) / 64;
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        uint8_t row[N * 4];
        char first[2 * 34 + 1] = "";
        const size_t block = want[k].first ? dtype_row_sz(want[k].t, QBLOCK) : 0;
        quantize_row_weighed(row, want[k].t, x, NULL, N);
        for (size_t i = 0; i < block; i++) snprintf(first + 2 * i, 3, "%02x", row[i]);
        if (want[k].first) assert_string_equal(first, want[k].first);
        const uint64_t hash = fnv(row, dtype_row_sz(want[k].t, N));
        if (hash != want[k].hash) fail_msg("%s: %016" PRIx64, dtype_name(want[k].t), hash);
    }
}

/* tests/data/blockquant/narrow.bin: four rows of 512 numbers, among them zeros, subnormals, outliers and signed zeros, and how much each
 * column counts; then what llama.cpp stores of them in each type, without and with the latter. */
static void test_rows_are_those_of_the_reference_with_and_without_importance(void **state)
{
    (void)state;
    enum { ROWS = 4, K = 512 };
    static const enum dtype type[] = { DT_Q4_0, DT_Q4_1, DT_Q5_0, DT_Q5_1, DT_Q8_0, DT_Q4_K, DT_Q5_K, DT_Q6_K };
    static float x[ROWS][K], importance[K];
    uint8_t want[K * 2], got[K * 2];
    FILE *f = fopen("tests/data/blockquant/narrow.bin", "rb");
    assert_non_null(f);
    assert_int_equal(fread(x, sizeof x, 1, f) + fread(importance, sizeof importance, 1, f), 2);
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (int i = 0; i < 2 * ROWS; i++) {
            const size_t n = dtype_row_sz(type[t], K);
            assert_int_equal(fread(want, n, 1, f), 1);
            quantize_row_weighed(got, type[t], x[i % ROWS], i < ROWS ? NULL : importance, K);
            for (size_t k = 0; k < n; k++)
                if (got[k] != want[k])
                    fail_msg("%s, row %d%s: byte %zu is %02x, want %02x", dtype_name(type[t]), i % ROWS, i < ROWS ? "" : " by importance",
                             k, got[k], want[k]);
        }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

/* The same rows in types of few bits: hashes of what llama.cpp stores of them. */
static void test_so_are_rows_of_few_bits(void **state)
{
    (void)state;
    enum { ROWS = 4, K = 512 };
    static const struct { enum dtype t; uint64_t hash[2]; } want[] = {
        { DT_Q2_K, { UINT64_C(0xf9c17aad56132f37), UINT64_C(0x346878bc09e6ffdb) } },
        { DT_Q3_K, { UINT64_C(0xb417e069eea3c6a0), UINT64_C(0x93ea1b109c2aceb2) } },
        { DT_IQ4_XS, { UINT64_C(0x68b40c5c5904871c), UINT64_C(0x6a4b948a8dca6817) } },
        { DT_IQ4_NL, { UINT64_C(0x04b1c20f391937fa), UINT64_C(0x06e7382a0425d899) } },
    };
    static float x[ROWS][K], importance[K];
    static uint8_t got[ROWS * K];
    FILE *f = fopen("tests/data/blockquant/narrow.bin", "rb");
    assert_non_null(f);
    assert_int_equal(fread(x, sizeof x, 1, f) + fread(importance, sizeof importance, 1, f), 2);
    fclose(f);
    for (size_t t = 0; t < sizeof want / sizeof *want; t++)
        for (int by = 0; by < 2; by++) {
            const size_t n = dtype_row_sz(want[t].t, K);
            for (int i = 0; i < ROWS; i++) quantize_row_weighed(got + (size_t)i * n, want[t].t, x[i], by ? importance : NULL, K);
            const uint64_t hash = fnv(got, ROWS * n);
            if (hash != want[t].hash[by])
                fail_msg("%s%s: %016" PRIx64, dtype_name(want[t].t), by ? " by importance" : "", hash);
        }
}

/* Columns that count more come back better. */
static void test_importance_moves_errors_to_where_they_count_less(void **state)
{
    (void)state;
    static const enum dtype type[] = { DT_Q4_0, DT_Q4_1, DT_Q5_0, DT_Q5_1, DT_Q4_K, DT_Q5_K, DT_Q6_K, DT_Q2_K,
                                       DT_IQ4_NL };
    float x[KBLOCK], importance[KBLOCK], y[KBLOCK];
    uint32_t seed = 5;
    for (int i = 0; i < KBLOCK; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)seed * 0x1p-31f;
        importance[i] = i % 7 ? 0.01f : 10;
    }
    for (size_t t = 0; t < sizeof type / sizeof *type; t++) {
        double cost[2] = { 0 };
        for (int w = 0; w < 2; w++) {
            uint8_t row[KBLOCK];
            quantize_row_weighed(row, type[t], x, w ? importance : NULL, KBLOCK);
            dtype_widen_row(y, type[t], row, KBLOCK);
            for (int i = 0; i < KBLOCK; i++) cost[w] += (double)importance[i] * (double)((y[i] - x[i]) * (y[i] - x[i]));
        }
        if (!(cost[1] < 0.9 * cost[0])) fail_msg("%s: %g, and %g by importance", dtype_name(type[t]), cost[0], cost[1]);
    }
}

static void test_representable_values_round_trip(void **state)
{
    (void)state;
    uint8_t row[KBLOCK * 4];
    float x[KBLOCK], y[KBLOCK];
    for (int t = 0; t < DT_WRITTEN; t++) {
        if (t == DT_COUNT || !dtype_is_quantized((enum dtype)t)) continue;
        memset(x, 0, sizeof x);
        quantize_row_weighed(row, (enum dtype)t, x, NULL, KBLOCK);
        dtype_widen_row(y, (enum dtype)t, row, KBLOCK);
        for (int i = 0; i < KBLOCK; i++) assert_true(y[i] == 0);
        for (int i = 0; i < KBLOCK; i++) x[i] = i % 32 == 3 ? -8 : (float)(i % 8); /* whole numbers that every type has */
        if (t == DT_Q2_K || t == DT_Q3_K || t == DT_IQ4_XS || t == DT_IQ4_NL) continue; /* these have not */
        quantize_row_weighed(row, (enum dtype)t, x, NULL, KBLOCK);
        dtype_widen_row(y, (enum dtype)t, row, KBLOCK);
        for (int i = 0; i < KBLOCK; i++)
            if (fabsf(y[i] - x[i]) > (t <= DT_BF16 ? 0 : 0.6f))
                fail_msg("%s: %g became %g", dtype_name((enum dtype)t), (double)x[i], (double)y[i]);
    }
    assert_false(dtype_is_quantized(DT_Q4_1F));
    assert_int_equal(dtype_find("q5_1"), DT_Q5_1);
    assert_int_equal(dtype_find("q5_2"), DT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_of_the_reference),
        cmocka_unit_test(test_rows_are_those_of_the_reference_with_and_without_importance),
        cmocka_unit_test(test_so_are_rows_of_few_bits),
        cmocka_unit_test(test_importance_moves_errors_to_where_they_count_less),
        cmocka_unit_test(test_representable_values_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
