/* steno: journals as large as they may be. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "journal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BESIDE = 16 + 2 * 16 + 3 /* the beginning, heads of the key and of a piece, the key */, END = 16 };

static char in_memory[] = "/dev/shm/steno-journal-XXXXXX", on_disk[] = "/tmp/steno-journal-XXXXXX", *folder;
static char *data; /* [JOURNAL_MAX + 1] */

static int folder_make(void **state)
{
    (void)state;
    data = malloc((size_t)JOURNAL_MAX + 1);
    folder = mkdtemp(in_memory);
    if (!folder) folder = mkdtemp(on_disk);
    for (size_t i = 0; data && i <= JOURNAL_MAX; i += 4096) data[i] = (char)(i >> 12);
    return data && folder && chdir(folder) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    free(data);
    return unlink("j") || chdir("/") || rmdir(folder);
}

static int64_t size_of_file(void)
{
    struct stat st;
    assert_int_equal(stat("j", &st), 0);
    return st.st_size;
}

static void assert_read(enum journal_found want, size_t n)
{
    struct journal j;
    assert_int_equal(journal_read(&j, "j", "key"), want);
    assert_int_equal(j.n, n);
    assert_true(memcmp(j.data, data, n) == 0);
    assert_int_equal(j.damaged, 0);
    journal_close(&j);
}

static void test_pieces_up_to_the_limit_are_kept_and_none_beyond(void **state)
{
    (void)state;
    for (int off = -1; off <= 1; off++) {
        struct journal j = { .fd = -1 };
        const size_t first = 1000, rest = (size_t)(JOURNAL_MAX - BESIDE - 16 - 1000 + off);
        assert_int_equal(journal_open(&j, "j", "key", 0), 0);
        assert_int_equal(journal_add(&j, data, first, 1), 0);
        errno = 0;
        assert_int_equal(journal_add(&j, data + first, rest, 2), off > 0 ? -1 : 0);
        if (off > 0) assert_int_equal(errno, EFBIG);
        if (off == 0) assert_int_equal(journal_add(&j, "", 0, 3), -1); /* its head alone is more */
        journal_close(&j);
        if (off <= 0) assert_int_equal(size_of_file(), JOURNAL_MAX + off);
        assert_read(JOURNAL_BEGUN, off > 0 ? first : first + rest);
    }
}

static void test_results_up_to_the_limit_are_kept_and_none_beyond(void **state)
{
    (void)state;
    const size_t most = JOURNAL_MAX - BESIDE - END;
    assert_int_equal(journal_finish("j", "key", data, most - 1), 0);
    assert_read(JOURNAL_DONE, most - 1);
    assert_int_equal(journal_finish("j", "key", data, most), 0);
    assert_int_equal(size_of_file(), JOURNAL_MAX);
    for (size_t more = 1; more <= (size_t)BESIDE + END + 1; more += BESIDE + END) { /* and more than all by itself */
        errno = 0;
        assert_int_equal(journal_finish("j", "key", data, most + more), -1);
        assert_int_equal(errno, EFBIG);
    }
    assert_read(JOURNAL_DONE, most); /* as it was */
}

static void test_a_file_of_a_byte_more_is_not_read(void **state)
{
    (void)state;
    struct journal j;
    assert_int_equal(truncate("j", (off_t)JOURNAL_MAX + 1), 0);
    errno = 0;
    assert_int_equal(journal_read(&j, "j", "key"), -1);
    assert_int_equal(errno, EFBIG);
    journal_close(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_up_to_the_limit_are_kept_and_none_beyond),
        cmocka_unit_test(test_results_up_to_the_limit_are_kept_and_none_beyond),
        cmocka_unit_test(test_a_file_of_a_byte_more_is_not_read),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
