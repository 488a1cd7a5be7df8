/* steno tests: figures of machines in a file, and what --compute auto takes by them. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "harness.h"
#include "models/auto_compute.h"
#include "models/machine.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { WRITERS = 2, ROUNDS = 10 };

static struct folder own;

static void file_path(char path[512])
{
    snprintf(path, 512, "%s/deep/speed.tsv", own.path);
}

static int lines_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    int n = 0;
    for (int c; f && (c = getc(f)) != EOF;) n += c == '\n';
    if (f) fclose(f);
    return n;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_a_line_is_read_whole_or_not(void **state)
{
    double v[2] = { 0 };
    (void)state;
    assert_true(figures_line(v, 2, "a machine, 2 threads\t120.5\t7.25\n", "a machine, 2 threads"));
    assert_true(v[0] == 120.5 && v[1] == 7.25);
    assert_true(figures_line(v, 2, "a machine, 2 threads\t1\t2", "a machine, 2 threads"));
    static const char *const none[] = {
        "", "a machine, 2 threads", "a machine, 2 threads\t1\n", "a machine, 2 threads\t1\tx\n", "a machine, 2 threads\t1\t2\t3\n",
        "a machine, 2 threads\t0\t1\n", "a machine, 2 threads\t-1\t1\n", "a machine, 2 threads\tnan\t1\n",
        "a machine, 2 threads\tinf\t1\n", "a machine, 2 threads\t1\t2x\n", "a machine, 2 threads\t\t2\n",
        "a machine, 2 threads\t1\t1e9\n", "a machine, 16 threads\t1\t2\n", "a machine, 2 threads and\t1\t2\n",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_false(figures_line(v, 2, none[i], "a machine, 2 threads"));
    assert_true(v[0] == 1 && v[1] == 2); /* a line that is not taken changes nothing */
}

static void test_a_kept_line_replaces_its_own_only(void **state)
{
    char path[512];
    double v[2];
    (void)state;
    file_path(path);
    assert_false(figures_find(v, 2, path, "b"));
    assert_true(figures_keep(path, "b", (const double[]){ 1, 2 }, 2));
    assert_true(figures_keep(path, "b, 2 threads", (const double[]){ 3, 4 }, 2)); /* begins as the other key does */
    assert_true(figures_keep(path, "b", (const double[]){ 5, 6 }, 2));
    assert_int_equal(lines_of(path), 2);
    assert_true(figures_find(v, 2, path, "b") && v[0] == 5 && v[1] == 6);
    assert_true(figures_find(v, 2, path, "b, 2 threads") && v[0] == 3 && v[1] == 4);
}

static void test_the_latest_lines_stay(void **state)
{
    char path[512], key[32];
    double v[1];
    (void)state;
    file_path(path);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "machine %d", i);
        assert_true(figures_keep(path, key, (const double[]){ i + 1 }, 1));
        assert_true(figures_find(v, 1, path, key));
    }
    assert_int_equal(lines_of(path), 64);
    assert_true(figures_find(v, 1, path, "machine 36") && v[0] == 37);
    assert_false(figures_find(v, 1, path, "machine 35"));
}

static void test_a_damaged_file_is_as_none(void **state)
{
    char path[512], *line = malloc(5000);
    double v[1];
    (void)state;
    assert_non_null(line);
    file_path(path);
    assert_true(figures_keep(path, "a", (const double[]){ 1 }, 1));
    memset(line, 'x', 4999);
    memcpy(line + 1022, "a\t7\n", 5); /* the end of a long line is no line, wherever it is cut */
    put(path, line);
    assert_false(figures_find(v, 1, path, "a"));
    memcpy(line + 511, "a\t7\n", 5);
    put(path, line);
    assert_false(figures_find(v, 1, path, "a"));
    put(path, "a\t\n\na\nnonsense\na\t-3\n");
    assert_false(figures_find(v, 1, path, "a"));
    assert_true(figures_keep(path, "a", (const double[]){ 2 }, 1));
    assert_true(figures_find(v, 1, path, "a") && v[0] == 2);
    free(line);
}

static void test_lines_beside_a_damaged_one_count(void **state)
{
    static const char text[] = "odd\0\377\na\t7\n\nx\0a\t8\nb\t0\0009\nc\t5"; /* the last line has no end */
    char path[512];
    double v[1] = { 0 };
    (void)state;
    file_path(path);
    assert_true(figures_keep(path, "a", (const double[]){ 1 }, 1));
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, sizeof text - 1, f), sizeof text - 1);
    fclose(f);
    for (int kept = 0; kept < 2; kept++) {
        assert_true(figures_find(v, 1, path, "a") && v[0] == 7);
        assert_true(figures_find(v, 1, path, "c") && v[0] == 5);
        assert_false(figures_find(v, 1, path, "b"));
        if (!kept) assert_true(figures_keep(path, "d", (const double[]){ 2 }, 1));
    }
    assert_int_equal(lines_of(path), 3);
}

static void a_line_of(char *line, size_t n)
{
    memset(line, 'k', n);
    memcpy(line + n - 2, "\t3", 3);
}

static void test_the_longest_line(void **state)
{
    char path[512], line[600], key[600];
    double v[1] = { 0 };
    (void)state;
    file_path(path);
    assert_true(figures_keep(path, "a", (const double[]){ 1 }, 1));
    for (size_t n = 505; n < 520; n++) {
        a_line_of(line, n);
        put(path, line);
        snprintf(key, sizeof key, "%.*s", (int)n - 2, line);
        assert_int_equal(figures_find(v, 1, path, key), n <= 510);
    }
}

static void test_a_file_that_cannot_be_written_is_reported(void **state)
{
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/taken", own.path);
    put(path, "");
    snprintf(path, sizeof path, "%s/taken/speed.tsv", own.path);
    assert_false(figures_keep(path, "a", (const double[]){ 1 }, 1));
}

static void *keep_many(void *arg)
{
    char path[512], key[32];
    const int me = *(const int *)arg;
    file_path(path);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "writer %d, %d", me, i % 5);
        if (!figures_keep(path, key, (const double[]){ 1 + me, 1 + i }, 2)) return arg;
    }
    return NULL;
}

/* @return 0 where nothing can be locked: some file systems. Folders of Windows have a file for that. */
static int has_locks(void)
{
    const int fd = open(own.path, O_RDONLY | O_DIRECTORY), locked = fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno == EISDIR);
    if (fd >= 0) close(fd);
    return locked;
}

static void test_writers_at_the_same_time_lose_nothing(void **state)
{
    pthread_t id[WRITERS];
    int number[WRITERS];
    char path[512], key[32];
    double v[2];
    (void)state;
    if (!has_locks()) skip();
    file_path(path);
    for (int i = 0; i < WRITERS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&id[i], NULL, keep_many, &number[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        void *failed = NULL;
        pthread_join(id[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(lines_of(path), WRITERS * 5);
    for (int i = 0; i < WRITERS; i++) {
        for (int k = 0; k < 5; k++) {
            snprintf(key, sizeof key, "writer %d, %d", i, k);
            assert_true(figures_find(v, 2, path, key) && v[0] == 1 + i && v[1] == 1 + ROUNDS - 5 + k);
        }
    }
}

/* ---- auto -------------------------------------------------------------------------------------------------------------------- */

static void test_bf16_is_taken_beyond_the_margin_only(void **state)
{
    (void)state;
    assert_false(auto_takes_bf16(&(struct auto_figures){ 140, 100, 2 }));
    assert_false(auto_takes_bf16(&(struct auto_figures){ 139.9, 100, 2 }));
    assert_true(auto_takes_bf16(&(struct auto_figures){ 140.1, 100, 2 }));
    assert_false(auto_takes_bf16(&(struct auto_figures){ 50, 100, 2 }));
    assert_true(auto_takes_bf16(&(struct auto_figures){ 147, 75, 2 }));
}

/* @return the number of rounds until they settled, 0: they did not */
static int rounds_until(struct auto_rounds *r, const double *level_ms, const double *bf16_ms, int n)
{
    *r = (struct auto_rounds){ .n = 0 };
    for (int i = 0; i < n; i++)
        if (auto_round_add(r, level_ms[i], bf16_ms[i])) return i + 1;
    return 0;
}

static void test_a_figure_that_is_alone_does_not_settle(void **state)
{
    struct auto_rounds r;
    (void)state;
    static const double still[] = { 100, 101, 100, 102, 100 }, one_fast[] = { 300, 100, 310, 305, 320 };
    assert_int_equal(rounds_until(&r, still, still, 4), 0); /* too few */
    assert_int_equal(rounds_until(&r, still, still, 5), 5);
    assert_true(r.level_ms[0] == 100 && r.level_ms[1] == 100 && r.level_ms[2] == 100 && r.bf16_ms[0] == 100);
    assert_int_equal(rounds_until(&r, still, one_fast, 5), 0);
    assert_true(r.bf16_ms[0] == 100 && r.bf16_ms[1] == 300 && r.bf16_ms[2] == 305);
    assert_int_equal(rounds_until(&r, one_fast, still, 5), 0);
    static const double later[] = { 300, 100, 310, 305, 109, 111, 110, 90 };
    assert_int_equal(rounds_until(&r, later, later, 8), 7); /* 100, 109 and 110 */
    assert_true(r.level_ms[0] == 100 && r.level_ms[1] == 109 && r.level_ms[2] == 110);
}

/* Writes a line as of this machine, with a part of its key replaced. */
static void line_as_ours(const char *folder, const char *cpu_level, const char *part, const char *by, const char *figures)
{
    char path[512], key[FIGURES_KEY_SZ], text[1024];
    machine_key(key, cpu_level);
    snprintf(text, sizeof text, "%s, auto and bf16\t%s\n", key, figures);
    char *at = part ? strstr(text, part) : NULL;
    if (part) {
        assert_non_null(at);
        memcpy(at, by, strlen(by)); /* as long */
    }
    snprintf(path, sizeof path, "%s/speed.tsv", folder);
    put(path, text);
}

static void test_only_figures_of_this_machine_and_version_count(void **state)
{
    struct auto_figures f = { 0 };
    (void)state;
    assert_false(auto_figures_find(&f, NULL, NULL));
    assert_false(auto_figures_find(&f, own.path, NULL));
    line_as_ours(own.path, NULL, NULL, NULL, "147\t75\t2");
    assert_true(auto_figures_find(&f, own.path, NULL));
    assert_true(f.level_ms == 147 && f.bf16_ms == 75 && f.threads == 2);
    line_as_ours(own.path, NULL, "steno", "stenp", "147\t75\t2"); /* another version, another processor */
    assert_false(auto_figures_find(&f, own.path, NULL));
    line_as_ours(own.path, NULL, ", auto", "x auto", "147\t75\t2");
    assert_false(auto_figures_find(&f, own.path, NULL));
    line_as_ours(own.path, "c", NULL, NULL, "147\t75\t2"); /* another level */
    assert_true(auto_figures_find(&f, own.path, "c"));
    assert_false(auto_figures_find(&f, own.path, NULL) && strcmp(steno_cpu_level_name(1) ? "more" : "c", "c") != 0);
    static const char *const damaged[] = { "147\t75", "147\t75\t", "147\t0\t2", "147\tnan\t2", "147\t75\t2\t9", "" };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        line_as_ours(own.path, NULL, NULL, NULL, damaged[i]);
        assert_false(auto_figures_find(&f, own.path, NULL));
    }
}

/* On a busy machine rounds may not settle, which is no fault. */
static void test_what_is_measured_is_kept(void **state)
{
    char path[512];
    struct auto_figures f = { 0 }, kept = { 0 };
    steno_error e = { 0 };
    (void)state;
    file_path(path);
    *strrchr(path, '/') = '\0';
    const int measured = auto_figures_measure(&f, path, "tiny", 1000000, &e);
    if (!measured) assert_non_null(strstr(e.text, "other programs use the processor"));
    assert_int_equal(auto_figures_find(&kept, path, NULL), measured);
    assert_true(f.level_ms > 0 && f.bf16_ms > 0 && f.threads > 0);
    if (measured) assert_true(fabs(kept.level_ms / f.level_ms - 1) < 1e-3 && fabs(kept.bf16_ms / f.bf16_ms - 1) < 1e-3);
    assert_int_equal(auto_figures_measure(&f, NULL, "tiny", 1000000, &e), 0);
    assert_non_null(strstr(e.text, "HOME is not set"));
    assert_int_equal(auto_figures_measure(&f, path, "no shape", 1000000, &e), 0);
}

static void test_the_name_of_a_processor(void **state)
{
    char path[512], name[64], want[256];
    struct utsname u;
    (void)state;
    snprintf(path, sizeof path, "%s/cpuinfo", own.path);
    put(path, "processor\t: 0\nvendor_id\t: x\nmodel\t\t: 17\nmodel name\t: A  B @ 2\n\nmodel name\t: other\n");
    machine_name_from(name, sizeof name, path);
    assert_string_equal(name, "A  B @ 2");
    assert_int_equal(uname(&u), 0);
    put(path, "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n"
              "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n");
    machine_name_from(name, sizeof name, path);
    snprintf(want, sizeof want, "%s 0x41:0xd05 0x41:0xd0b", u.machine);
    assert_string_equal(name, want);
    FILE *f = fopen(path, "wb"); /* more kinds than there is room for, with long values */
    assert_non_null(f);
    for (int i = 0; i < 100; i++) fprintf(f, "CPU implementer : %0300d\nCPU part : 0x%d%s\n", i, i, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    fclose(f);
    machine_name_from(name, sizeof name, path);
    assert_int_equal(strlen(name), sizeof name - 1);
    put(path, "CPU part\n: x\nmodel name\n");
    machine_name_from(name, sizeof name, path);
    assert_string_equal(name, u.machine);
    unlink(path);
    machine_name_from(name, sizeof name, path);
    assert_string_equal(name, u.machine);
}

static int setup(void **state)
{
    (void)state;
    own = folder_new();
    return 0;
}

static int teardown(void **state)
{
    char path[512], lock[520];
    (void)state;
    file_path(path);
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path); /* Windows has it */
    unlink(lock);
    *strrchr(path, '/') = '\0';
    rmdir(path); /* a temporary file that is left would keep it */
    assert_int_equal(access(path, F_OK), -1);
    folder_remove(&own);
    return 0;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_is_read_whole_or_not),
        IN_FOLDER(test_a_kept_line_replaces_its_own_only),
        IN_FOLDER(test_the_latest_lines_stay),
        IN_FOLDER(test_a_damaged_file_is_as_none),
        IN_FOLDER(test_lines_beside_a_damaged_one_count),
        IN_FOLDER(test_the_longest_line),
        IN_FOLDER(test_a_file_that_cannot_be_written_is_reported),
        IN_FOLDER(test_writers_at_the_same_time_lose_nothing),
        cmocka_unit_test(test_a_figure_that_is_alone_does_not_settle),
        cmocka_unit_test(test_bf16_is_taken_beyond_the_margin_only),
        IN_FOLDER(test_only_figures_of_this_machine_and_version_count),
        IN_FOLDER(test_what_is_measured_is_kept),
        IN_FOLDER(test_the_name_of_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
