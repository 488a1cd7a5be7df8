/* steno: standard output is no file that is read. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "cli/message.h"
#include "path_guard.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/steno-ledger-XXXXXX";

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return chdir("/") || rmdir(folder);
}

static void touch(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    close(fd);
}

/* `what` with standard output appended to file "a". */
static int with_stdout_at_a(int (*what)(void))
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), fd = open("a", O_WRONLY | O_APPEND | O_CREAT, 0666);
    assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    const int code = what();
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(fd);
    close(kept);
    return code;
}

static int read_a_alone(void)
{
    return path_guard_code_read(NULL, "the model", "a");
}

static int read_b_alone(void)
{
    return path_guard_code_read(NULL, "the model", "b");
}

static int read_a_before(void)
{
    struct path_guard l = { 0 };
    assert_int_equal(path_guard_code_read(&l, "an input", "b"), EXIT_OK);
    assert_int_equal(path_guard_code_read(&l, "an input", "a"), EXIT_OK);
    const int code = path_guard_code_stdout(&l);
    path_guard_free(&l);
    return code;
}

static void test_standard_output_is_an_output(void **state)
{
    (void)state;
    touch("a"), touch("b");
    assert_int_equal(with_stdout_at_a(read_a_alone), EXIT_USAGE);
    assert_int_equal(with_stdout_at_a(read_a_before), EXIT_USAGE);
    assert_int_equal(with_stdout_at_a(read_b_alone), EXIT_OK);
    assert_int_equal(read_a_alone(), EXIT_OK);
    unlink("a"), unlink("b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_output_is_an_output),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
