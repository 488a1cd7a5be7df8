/* steno: the hash of an input of a batch is that of its file. SPDX-License-Identifier: MIT */
#include "batch/input_hash.h"
#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static struct input_hashes hashes;
static char path[] = "/tmp/.steno-hash-XXXXXX";

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_a_file_is_hashed_once(void **state)
{
    (void)state;
    struct stat st;
    put("abc");
    assert_string_equal(input_hash(&hashes, path), of_abc);
    assert_int_equal(stat(path, &st), 0);
    strcpy(hashes.of_file[st.st_ino % INPUT_HASHES].hex, "the hash that is kept");
    assert_string_equal(input_hash(&hashes, path), "the hash that is kept");
}

static void test_a_file_that_changed_is_hashed_again(void **state)
{
    (void)state;
    char own[SHA_HEX_SZ];
    put("abcd");
    assert_int_equal(sha256_file(own, path, NULL, NULL), 0);
    assert_string_equal(input_hash(&hashes, path), own);
    const struct timespec clock_step = { 0, 20000000 }; /* times of files may be those of a tick of 10 ms */
    nanosleep(&clock_step, NULL);
    put("abce"); /* of the same size */
    assert_int_equal(sha256_file(own, path, NULL, NULL), 0);
    assert_string_equal(input_hash(&hashes, path), own);
    char other[] = "/tmp/.steno-hash-XXXXXX";
    const int fd = mkstemp(other);
    assert_true(fd >= 0 && write(fd, "abc", 3) == 3 && close(fd) == 0);
    assert_int_equal(rename(other, path), 0);
    assert_string_equal(input_hash(&hashes, path), of_abc);
}

static void test_a_path_that_is_no_file_has_no_hash(void **state)
{
    (void)state;
    assert_null(input_hash(&hashes, "/tmp"));
    assert_null(input_hash(&hashes, "/dev/null"));
    unlink(path);
    assert_null(input_hash(&hashes, path));
    assert_null(input_hash(&hashes, "http://localhost/a.wav"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_is_hashed_once),
        cmocka_unit_test(test_a_file_that_changed_is_hashed_again),
        cmocka_unit_test(test_a_path_that_is_no_file_has_no_hash),
    };
    const int fd = mkstemp(path);
    if (fd < 0 || close(fd)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
