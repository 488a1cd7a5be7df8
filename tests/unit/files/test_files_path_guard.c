/* steno: what is read is never an output, and asking takes the same time however many files there are. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "result_files.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char in_memory[] = "/dev/shm/steno-ledger-XXXXXX", on_disk[] = "/tmp/steno-ledger-XXXXXX", *folder;

static int folder_make(void **state)
{
    (void)state;
    folder = mkdtemp(in_memory); /* thousands of files take seconds on a disk */
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

static void test_inputs_are_never_outputs_in_any_order(void **state)
{
    (void)state;
    touch("a");
    assert_int_equal(symlink("a", "soft"), 0);
    assert_int_equal(link("a", "hard"), 0);
    static const char *const names[] = { "a", "soft", "hard", "./a", "out/../a" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct path_guard l = { 0 }, m = { 0 };
            assert_int_equal(path_guard_read(&l, "an input", names[i]), LEDGER_OK);
            assert_int_equal(path_guard_read(&l, "an input", names[i]), LEDGER_OK); /* may be read twice */
            assert_int_equal(path_guard_plan(&l, names[k]), LEDGER_READ);
            assert_string_equal(l.refused.path, names[k]);
            assert_string_equal(l.refused.what, "an input");
            assert_int_equal(path_guard_check(&l, names[k]), LEDGER_READ);
            assert_int_equal(path_guard_plan(&m, names[k]), LEDGER_OK);
            assert_int_equal(path_guard_read(&m, "the model", names[i]), LEDGER_READ);
            path_guard_free(&l);
            path_guard_free(&m);
        }
    unlink("a"), unlink("soft"), unlink("hard");
}

static void test_folder_and_name_distinguish_two_outputs(void **state)
{
    (void)state;
    struct path_guard l = { 0 };
    assert_int_equal(symlink("out", "same"), 0);
    assert_int_equal(symlink("x", "out/link"), 0);
    assert_int_equal(path_guard_plan(&l, "out/x"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "out/y"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "x"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "none/x"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "nowhere/x"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "same/x"), LEDGER_PLANNED_TWICE);
    assert_int_equal(path_guard_plan(&l, "out/link"), LEDGER_PLANNED_TWICE);
    assert_int_equal(path_guard_plan(&l, "./x"), LEDGER_PLANNED_TWICE);
    assert_int_equal(path_guard_plan(&l, "none/x"), LEDGER_PLANNED_TWICE);
    assert_int_equal(path_guard_plan(&l, "/dev/null"), LEDGER_OK);
    assert_int_equal(path_guard_plan(&l, "/dev/null"), LEDGER_OK);
    touch("out/y");
    assert_int_equal(path_guard_check(&l, "out/y"), LEDGER_OK);
    assert_int_equal(path_guard_wrote(&l, "out/y"), LEDGER_OK);
    assert_int_equal(path_guard_check(&l, "same/y"), LEDGER_WRITTEN);
    path_guard_free(&l);
    unlink("same"), unlink("out/link"), unlink("out/y");
}

static void test_an_open_file_is_an_output(void **state)
{
    (void)state;
    touch("a"), touch("b");
    const int fd = open("a", O_WRONLY | O_APPEND);
    struct path_guard l = { 0 }, m = { 0 }, other = { 0 };
    assert_true(fd >= 0);
    assert_int_equal(path_guard_read(&l, "an input", "a"), LEDGER_OK);
    assert_int_equal(path_guard_plan_open(&l, fd, "the stream"), LEDGER_READ);
    assert_string_equal(l.refused.path, "the stream");
    assert_int_equal(path_guard_plan_open(&m, fd, "the stream"), LEDGER_OK);
    assert_int_equal(path_guard_read(&m, "the model", "a"), LEDGER_READ);
    assert_string_equal(m.refused.path, "the stream");
    assert_int_equal(path_guard_read(&other, "an input", "b"), LEDGER_OK);
    assert_int_equal(path_guard_plan_open(&other, fd, "the stream"), LEDGER_OK);
    path_guard_free(&l);
    path_guard_free(&m);
    path_guard_free(&other);
    close(fd);
    unlink("a"), unlink("b");
}

/* n inputs whose outputs exist: 3 looks at files for each, and at some entries, 20,000 as for 4,000. */
static void check_work(int n)
{
    struct path_guard l = { 0 };
    char **files = calloc((size_t)n, sizeof *files), name[64];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "in%d", i);
        files[i] = strdup(name);
        touch(name);
        snprintf(name, sizeof name, "out/in%d.txt", i);
        touch(name);
    }
    struct result_files r = { .naming = { .dir = "out", .formats = 1u << WRITER_TXT }, .path_guard = &l };
    struct out_names names;
    for (int i = 0; i < n; i++) assert_int_equal(path_guard_read(&l, "an input", files[i]), LEDGER_OK);
    assert_int_equal(out_names_list(&names, &r.naming, files, n), OUT_NAMES_OK);
    assert_int_equal(result_files_plan(&r, &names), RESULT_FILES_OK);
    out_names_free(&names);
    if (l.n_looks > 24 * (int64_t)n) fail_msg("%d inputs took %lld looks", n, (long long)l.n_looks);
    const int64_t begun = l.n_looks;
    for (int i = 0; i < n; i++) { /* what the language decides is asked for at the end of each */
        snprintf(name, sizeof name, "out/in%d.txt", i);
        assert_int_equal(path_guard_check(&l, name), LEDGER_OK);
        assert_int_equal(path_guard_wrote(&l, name), LEDGER_OK);
    }
    if (l.n_looks - begun > 24 * (int64_t)n) fail_msg("%d outputs took %lld looks", n, (long long)(l.n_looks - begun));
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "out/in%d.txt", i);
        unlink(name);
        unlink(files[i]);
        free(files[i]);
    }
    free(files);
    path_guard_free(&l);
    result_files_free(&r);
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
        cmocka_unit_test(test_inputs_are_never_outputs_in_any_order),
        cmocka_unit_test(test_folder_and_name_distinguish_two_outputs),
        cmocka_unit_test(test_an_open_file_is_an_output),
        cmocka_unit_test(test_work_grows_with_the_number_of_files_and_no_faster),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
