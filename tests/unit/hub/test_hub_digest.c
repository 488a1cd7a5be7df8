/* steno tests: hashes that name files. SPDX-License-Identifier: MIT */
#include "digest.h"
#include "harness.h"
#include <string.h>

static const char *hex(int portable, size_t digits, const char *data, size_t n, size_t step, char out[SHA_HEX_SZ])
{
    struct digest d;
    (portable ? digest_begin_portable : digest_begin)(&d, digits, (int64_t)n);
    for (size_t i = 0; i < n; i += step) digest_push(&d, data + i, n - i < step ? n - i : step);
    digest_hex(out, &d);
    return out;
}

static void test_known_answers_of_both_bodies(void **state)
{
    char out[SHA_HEX_SZ];
    (void)state;
    for (int portable = 0; portable < 2; portable++) {
        assert_string_equal(hex(portable, 64, "abc", 3, 3, out), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_string_equal(hex(portable, 64, "", 0, 1, out), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_string_equal(hex(portable, 40, "", 0, 1, out), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"); /* git's empty blob */
        assert_string_equal(hex(portable, 40, "what is up, doc?", 16, 5, out), "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
    }
}

static void test_both_bodies_agree_at_every_length(void **state)
{
    char data[700], a[SHA_HEX_SZ], b[SHA_HEX_SZ];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7 + 1);
    for (size_t n = 0; n < sizeof data; n += n < 140 ? 1 : 37)
        for (size_t digits = 40; digits <= 64; digits += 24)
            assert_string_equal(hex(0, digits, data, n, 64, a), hex(1, digits, data, n, 17, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers_of_both_bodies),
        cmocka_unit_test(test_both_bodies_agree_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
