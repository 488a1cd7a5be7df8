/* steno: numbers are spelled as Python spells them. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "sink.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(double v, const char *want)
{
    char got[NUM_SZ];
    assert_string_equal(num_repr(got, v), want);
}

static void test_whole_numbers_keep_a_zero_behind_the_point(void **state)
{
    (void)state;
    check(0.0, "0.0");
    check(-0.0, "-0.0");
    check(3.0, "3.0");
    check(100.0, "100.0");
    check(123456789012345680.0, "1.2345678901234568e+17");
    check(1e15, "1000000000000000.0");
    check(9007199254740993.0, "9007199254740992.0");
}

static void test_exponents_begin_where_pythons_do(void **state)
{
    (void)state;
    check(1e16, "1e+16");
    check(1e-4, "0.0001");
    check(0.00012345, "0.00012345");
    check(1e-5, "1e-05");
    check(1.5e-5, "1.5e-05");
    check(1e22, "1e+22");
    check(1e100, "1e+100");
    check(1.4585198326866333e-10, "1.4585198326866333e-10");
}

static void test_digits_are_the_fewest_that_read_back(void **state)
{
    (void)state;
    check(0.1, "0.1");
    check(0.1 + 0.2, "0.30000000000000004");
    check(230 * 0.02, "4.6000000000000005");
    check(-0.4630597886585054, "-0.4630597886585054");
    check(5e-324, "5e-324");
    check(1.7976931348623157e308, "1.7976931348623157e+308");
    check(7.120236347223045e-307, "7.120236347223045e-307"); /* a power of two: the nearest 16 digits do not read back */
}

static void test_infinities_and_nan_have_jsons_usual_names(void **state)
{
    (void)state;
    check(NAN, "null");
    check(INFINITY, "null");
    check(-INFINITY, "null");
}

static void test_every_bit_pattern_reads_back(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        char text[NUM_SZ];
        double v;
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        memcpy(&v, &x, sizeof v);
        if (!isfinite(v)) continue;
        if (strtod(num_repr(text, v), NULL) != v) fail_msg("%s does not read back as %a", text, v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers_keep_a_zero_behind_the_point),
        cmocka_unit_test(test_exponents_begin_where_pythons_do),
        cmocka_unit_test(test_digits_are_the_fewest_that_read_back),
        cmocka_unit_test(test_infinities_and_nan_have_jsons_usual_names),
        cmocka_unit_test(test_every_bit_pattern_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
