/* steno: what is read is never an output, and asking takes the same time however many files there are. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "ledger.h"
#include "atomic_file.h"
#include "results.h"
#include "message.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char in_memory[] = "/dev/shm/steno-ledger-XXXXXX", on_disk[] = "/tmp/steno-ledger-XXXXXX", *folder;

static int folder_make(void **state)
{
    (void)state;
    folder = mkdtemp(in_memory); /* so many files take seconds on a disk */
    if (!folder) folder = mkdtemp(on_disk);
    return folder && chdir(folder) == 0 && mkdir("out", 0777) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir("out") || chdir("/") || rmdir(folder);
}

static void touch(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    close(fd);
}

static void test_what_is_read_is_no_output_whichever_comes_first(void **state)
{
    (void)state;
    touch("a");
    assert_int_equal(symlink("a", "soft"), 0);
    assert_int_equal(link("a", "hard"), 0);
    static const char *const names[] = { "a", "soft", "hard", "./a", "out/../a" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct ledger l = { 0 }, m = { 0 };
            assert_int_equal(ledger_read(&l, "an input", names[i]), EXIT_OK);
            assert_int_equal(ledger_read(&l, "an input", names[i]), EXIT_OK); /* may be read twice */
            assert_int_equal(ledger_plan(&l, names[k]), EXIT_USAGE);
            assert_int_equal(ledger_check(&l, names[k]), EXIT_USAGE);
            assert_int_equal(ledger_plan(&m, names[k]), EXIT_OK);
            assert_int_equal(ledger_read(&m, "the model", names[i]), EXIT_USAGE);
            ledger_free(&l);
            ledger_free(&m);
        }
    unlink("a"), unlink("soft"), unlink("hard");
}

static void test_two_outputs_are_told_apart_by_folder_and_name(void **state)
{
    (void)state;
    struct ledger l = { 0 };
    assert_int_equal(symlink("out", "same"), 0);
    assert_int_equal(symlink("x", "out/link"), 0);
    assert_int_equal(ledger_plan(&l, "out/x"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "out/y"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "x"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "none/x"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "nowhere/x"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "same/x"), EXIT_USAGE);
    assert_int_equal(ledger_plan(&l, "out/link"), EXIT_USAGE);
    assert_int_equal(ledger_plan(&l, "./x"), EXIT_USAGE);
    assert_int_equal(ledger_plan(&l, "none/x"), EXIT_USAGE);
    assert_int_equal(ledger_plan(&l, "/dev/null"), EXIT_OK);
    assert_int_equal(ledger_plan(&l, "/dev/null"), EXIT_OK);
    touch("out/y");
    assert_int_equal(ledger_check(&l, "out/y"), EXIT_OK);
    assert_int_equal(ledger_wrote(&l, "out/y"), EXIT_OK);
    assert_int_equal(ledger_check(&l, "same/y"), EXIT_USAGE);
    ledger_free(&l);
    unlink("same"), unlink("out/link"), unlink("out/y");
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
    return ledger_read(NULL, "the model", "a");
}

static int read_b_alone(void)
{
    return ledger_read(NULL, "the model", "b");
}

static int read_a_before(void)
{
    struct ledger l = { 0 };
    assert_int_equal(ledger_read(&l, "an input", "b"), EXIT_OK);
    assert_int_equal(ledger_read(&l, "an input", "a"), EXIT_OK);
    const int code = ledger_plan_stdout(&l);
    ledger_free(&l);
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

/* n inputs whose outputs exist: 3 looks at files for each, and at some entries, 20,000 as for 4,000. */
static void check_work(int n)
{
    struct ledger l = { 0 };
    char **files = calloc((size_t)n, sizeof *files), name[64];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "in%d", i);
        files[i] = strdup(name);
        touch(name);
        snprintf(name, sizeof name, "out/in%d.txt", i);
        touch(name);
    }
    struct results r = { .dir = "out", .formats = 1u << WRITER_TXT, .files = files, .n = n, .ledger = &l };
    assert_int_equal(results_check(&r), EXIT_OK);
    if (l.n_looks > 24 * (int64_t)n) fail_msg("%d inputs took %lld looks", n, (long long)l.n_looks);
    const int64_t begun = l.n_looks;
    for (int i = 0; i < n; i++) { /* what the language decides is asked for at the end of each */
        snprintf(name, sizeof name, "out/in%d.txt", i);
        assert_int_equal(ledger_check(&l, name), EXIT_OK);
        assert_int_equal(ledger_wrote(&l, name), EXIT_OK);
    }
    if (l.n_looks - begun > 24 * (int64_t)n) fail_msg("%d outputs took %lld looks", n, (long long)(l.n_looks - begun));
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "out/in%d.txt", i);
        unlink(name);
        unlink(files[i]);
        free(files[i]);
    }
    free(files);
    ledger_free(&l);
    results_free(&r);
}

static void test_work_grows_with_the_number_of_files_and_no_faster(void **state)
{
    (void)state;
    check_work(1);
    check_work(4000);
    check_work(20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read_is_no_output_whichever_comes_first),
        cmocka_unit_test(test_two_outputs_are_told_apart_by_folder_and_name),
        cmocka_unit_test(test_standard_output_is_an_output),
        cmocka_unit_test(test_work_grows_with_the_number_of_files_and_no_faster),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
