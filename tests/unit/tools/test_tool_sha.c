/* steno: SHA-1 and SHA-256 give the standard's digests. SPDX-License-Identifier: MIT
 *
 * Messages and digests of FIPS 180-2, appendix B, and the empty message. */
#include "digest.h"
#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The digest of `times` copies of `text`, pushed `step` bytes at a time. */
static void check(enum sha_kind kind, const char *text, size_t times, size_t step, const char *want)
{
    const size_t one = strlen(text), n = one * times;
    char got[SHA_HEX_SZ], *all = malloc(n + 1);
    struct sha s;
    assert_non_null(all);
    for (size_t i = 0; i < times; i++) memcpy(all + i * one, text, one);
    sha_init(&s, kind);
    for (size_t i = 0; i < n; i += step) sha_push(&s, all + i, n - i < step ? n - i : step);
    sha_hex(got, &s);
    free(all);
    assert_string_equal(got, want);
}

static void test_digests_are_the_standards(void **state)
{
    (void)state;
    check(SHA_256, "", 1, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check(SHA_256, "abc", 1, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check(SHA_256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(SHA_1, "", 1, 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check(SHA_1, "abc", 1, 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    check(SHA_1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, 56, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void test_a_million_letters_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const size_t steps[] = { 1, 63, 64, 65, 4096, 1000000 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        check(SHA_256, "a", 1000000, steps[i], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
        check(SHA_1, "a", 1000000, steps[i], "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }
}

static void check_part(const char *path, int64_t n, int64_t n_read, const char *want)
{
    char got[SHA_HEX_SZ];
    struct digest d;
    digest_begin(&d, SHA_HEX_SZ - 1, 0);
    assert_int_equal(digest_push_file(&d, path, n), n_read);
    digest_hex(got, &d);
    assert_string_equal(got, want);
}

static void test_the_start_of_a_file_is_pushed(void **state)
{
    (void)state;
    static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    char path[] = "/tmp/.steno-sha-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abcd", 4), 4);
    check_part(path, 3, 3, of_abc);
    check_part(path, 0, 0, of_nothing);
    assert_int_equal(ftruncate(fd, 3), 0);
    check_part(path, 4, 3, of_abc); /* it is shorter */
    check_part(path, -1, 3, of_abc);
    close(fd);
    unlink(path);
    check_part(path, -1, -1, of_nothing);
    check_part("/tmp", -1, -1, of_nothing);
}

static void test_a_file_has_the_digest_of_its_bytes_and_a_folder_has_none(void **state)
{
    (void)state;
    char path[] = "/tmp/.steno-sha-XXXXXX", hex[SHA_HEX_SZ];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    assert_int_equal(sha256_file(hex, path, NULL, NULL), 0);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    unlink(path);
    assert_int_equal(sha256_file(hex, path, NULL, NULL), -1);
    assert_int_equal(sha256_file(hex, "/tmp", NULL, NULL), -1);
    assert_int_equal(sha256_file(hex, "/dev/null", NULL, NULL), -1);
}

static int stop_at_third(void *user)
{
    return ++*(int *)user == 3;
}

static void test_hashing_stops_between_reads(void **state)
{
    (void)state;
    char path[] = "/tmp/.steno-sha-XXXXXX", hex[SHA_HEX_SZ];
    int asked = 0;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 1 << 30), 0);
    close(fd);
    assert_int_equal(sha256_file(hex, path, stop_at_third, &asked), -1);
    assert_int_equal(asked, 3);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests_are_the_standards),
        cmocka_unit_test(test_a_million_letters_in_pieces_of_any_size),
        cmocka_unit_test(test_hashing_stops_between_reads),
        cmocka_unit_test(test_the_start_of_a_file_is_pushed),
        cmocka_unit_test(test_a_file_has_the_digest_of_its_bytes_and_a_folder_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
