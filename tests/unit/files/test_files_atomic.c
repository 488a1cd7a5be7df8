/* steno: files appear whole or not at all. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "atomic_file.h"
#include "path.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/steno-out-XXXXXX";

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Entries of the folder; when there is one, its name. */
static int entries(char *name, size_t n)
{
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, n, "%s", e->d_name);
        count++;
    }
    if (d) closedir(d);
    return count;
}

static void test_a_file_has_its_name_only_when_it_is_whole(void **state)
{
    (void)state;
    struct atomic_file o;
    char name[256], *path = path_join(folder, "x.txt");
    assert_int_equal(atomic_file_open(&o, path), 0);
    fputs("half", o.f);
    fflush(o.f);
    assert_int_equal(entries(name, sizeof name), 1);
    assert_int_equal(strncmp(name, ".steno-", 7), 0);
    assert_int_equal(atomic_file_commit(&o), 0);
    assert_int_equal(entries(name, sizeof name), 1);
    assert_string_equal(name, "x.txt");
    assert_int_equal(atomic_file_open(&o, path), 0);
    atomic_file_abort(&o);
    assert_int_equal(entries(name, sizeof name), 1);
    unlink(path);
    free(path);
}

static void test_missing_folders_of_a_name_are_made(void **state)
{
    (void)state;
    struct atomic_file o;
    char *path = path_join(folder, "a/b/x.txt");
    assert_int_equal(atomic_file_open(&o, path), 0);
    assert_int_equal(atomic_file_commit(&o), 0);
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < 2; i++) {
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
    free(path);
}

static void test_sweeping_removes_files_without_an_owner_alone(void **state)
{
    (void)state;
    static const struct { const char *name; mode_t mode; } kept[] = {
        { ".steno-abc", 01200 }, { ".steno-abcdefg", 01200 }, { ".steno-abc.ef", 01200 }, { "steno-abcdef", 01200 },
        { ".stenoXabcdef", 01200 }, { ".steno-aB3xY0", 0644 }, { ".steno-aB3xY1", 0600 }, { ".steno-aB3xY2", 0200 },
        { ".steno-aB3xY3", 01600 }, { ".steno-aB3xY4", 01644 }, { ".steno-aB3xY5", 0 },
    };
    struct atomic_file alive;
    char name[256], *path = path_join(folder, "x"), *dead = path_join(folder, ".steno-aB3xYz"), *other;
    assert_int_equal(atomic_file_open(&alive, path), 0);
    fclose(fopen(dead, "w"));
    assert_int_equal(chmod(dead, 01200), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        other = path_join(folder, kept[i].name);
        fclose(fopen(other, "w"));
        assert_int_equal(chmod(other, kept[i].mode), 0);
        free(other);
    }
    atomic_file_sweep(folder);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(entries(name, sizeof name), 1 + (int)(sizeof kept / sizeof *kept));
    assert_int_equal(atomic_file_commit(&alive), 0);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        other = path_join(folder, kept[i].name);
        assert_int_equal(unlink(other), 0);
        free(other);
    }
    free(path);
    free(dead);
}

/* A kill at this moment leaves a file that the next run recognizes. */
static void test_a_file_is_marked_until_it_is_whole(void **state)
{
    (void)state;
    static const mode_t masks[] = { 022, 077, 0777, 0 };
    char name[256], *path = path_join(folder, "x");
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct atomic_file o;
        struct stat st;
        const mode_t old = umask(masks[i]);
        assert_int_equal(atomic_file_open(&o, path), 0);
        assert_int_equal(stat(o.tmp, &st), 0);
        assert_int_equal(st.st_mode & 07777, 01200);
        assert_int_equal(atomic_file_commit(&o), 0);
        umask(old);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0666 & ~masks[i]);
        assert_int_equal(entries(name, sizeof name), 1);
        assert_int_equal(unlink(path), 0);
    }
    free(path);
}

static void test_targets_are_found_behind_links(void **state)
{
    (void)state;
    char *at = path_join(folder, "a"), *dir = path_join(folder, "d"), *in = path_join(folder, "d/b");
    char *end = path_join(folder, "d/c"), *target;
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(symlink("d/b", at), 0); /* a -> d/b -> c, beside it, which is not there */
    assert_int_equal(symlink("c", in), 0);
    target = path_target(at);
    assert_string_equal(target, end);
    free(target);
    target = path_target(end);
    assert_string_equal(target, end);
    free(target);
    assert_int_equal(unlink(in), 0);
    assert_int_equal(symlink("../a", in), 0);
    assert_null(path_target(at));
    assert_int_equal(unlink(in), 0);
    assert_int_equal(unlink(at), 0);
    assert_int_equal(rmdir(dir), 0);
    free(at);
    free(dir);
    free(in);
    free(end);
}

/* Whatever is in a folder, finding out whether it can be written touches none of it. */
static void test_a_folder_is_tried_with_a_name_of_its_own(void **state)
{
    (void)state;
    char *fifo = path_join(folder, "probe"), name[256];
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(atomic_file_prepare(folder), 0);
    assert_int_equal(entries(name, sizeof name), 1);
    assert_string_equal(name, "probe");
    assert_int_equal(unlink(fifo), 0);
    assert_int_equal(mkdir(fifo, 0700), 0);
    assert_int_equal(atomic_file_prepare(folder), 0);
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(atomic_file_prepare("/proc/steno"), -1);
    assert_int_equal(entries(name, sizeof name), 0);
    free(fifo);
}

static char named[256];
static int n_named;

/* The name is known while there is no such file yet, and until there is none any more. */
static void on_name(const char *temp, int is_there)
{
    assert_int_equal(access(temp, F_OK), -1);
    n_named += is_there ? 1 : -1;
    snprintf(named, sizeof named, "%s", temp);
}

static void test_a_name_is_known_before_its_file_is_made(void **state)
{
    (void)state;
    struct atomic_file o;
    char *path = path_join(folder, "x");
    atomic_file_watch(on_name);
    for (int keep = 0; keep < 2; keep++) {
        assert_int_equal(atomic_file_open(&o, path), 0);
        assert_int_equal(n_named, 1);
        assert_string_equal(named, o.tmp);
        if (keep) assert_int_equal(atomic_file_commit(&o), 0);
        else atomic_file_abort(&o);
        assert_int_equal(n_named, 0);
    }
    *named = 0;
    assert_int_equal(atomic_file_prepare(folder), 0);
    assert_non_null(strstr(named, "/.steno-"));
    assert_int_equal(atomic_file_open(&o, "/proc/steno/x"), -1);
    assert_int_equal(n_named, 0);
    atomic_file_watch(NULL);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_has_its_name_only_when_it_is_whole),
        cmocka_unit_test(test_a_name_is_known_before_its_file_is_made),
        cmocka_unit_test(test_missing_folders_of_a_name_are_made),
        cmocka_unit_test(test_a_file_is_marked_until_it_is_whole),
        cmocka_unit_test(test_targets_are_found_behind_links),
        cmocka_unit_test(test_a_folder_is_tried_with_a_name_of_its_own),
        cmocka_unit_test(test_sweeping_removes_files_without_an_owner_alone),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
