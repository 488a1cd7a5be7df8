/* steno tests: numbers as stored types. SPDX-License-Identifier: MIT
 *
 * The reference's blocks of a row of simple fractions: the first one, and a hash (FNV-1a, 64 bits) over all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "../harness.h"
#include "kern/kern.h"

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
    };
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)((37 * i + 11) % 101 - 50) / 64;
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        uint8_t row[N * 4];
        char first[2 * 34 + 1] = "";
        const size_t block = dtype_row_sz(want[k].t, QBLOCK);
        dtype_narrow_row(row, want[k].t, x, N);
        for (size_t i = 0; i < block; i++) snprintf(first + 2 * i, 3, "%02x", row[i]);
        assert_string_equal(first, want[k].first);
        const uint64_t hash = fnv(row, dtype_row_sz(want[k].t, N));
        if (hash != want[k].hash) fail_msg("%s: %016" PRIx64, dtype_name(want[k].t), hash);
    }
}

static void test_what_fits_comes_back_and_zeros_stay_zeros(void **state)
{
    (void)state;
    uint8_t row[QBLOCK * 4];
    float x[QBLOCK], y[QBLOCK];
    for (int t = 0; dtype_is_narrowed((enum dtype)t); t++) {
        memset(x, 0, sizeof x);
        dtype_narrow_row(row, (enum dtype)t, x, QBLOCK);
        dtype_widen_row(y, (enum dtype)t, row, QBLOCK);
        assert_memory_equal(x, y, sizeof x);
        for (int i = 0; i < QBLOCK; i++) x[i] = i == 3 ? -8 : (float)(i % 8); /* whole numbers that every type has */
        dtype_narrow_row(row, (enum dtype)t, x, QBLOCK);
        dtype_widen_row(y, (enum dtype)t, row, QBLOCK);
        for (int i = 0; i < QBLOCK; i++)
            if (fabsf(y[i] - x[i]) > (t <= DT_BF16 ? 0 : 0.6f))
                fail_msg("%s: %g became %g", dtype_name((enum dtype)t), (double)x[i], (double)y[i]);
    }
    assert_false(dtype_is_narrowed(DT_Q2_K));
    assert_int_equal(dtype_find("q5_1"), DT_Q5_1);
    assert_int_equal(dtype_find("q5_2"), DT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_of_the_reference),
        cmocka_unit_test(test_what_fits_comes_back_and_zeros_stay_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
