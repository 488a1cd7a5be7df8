/* steno: files and the bounded reader. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"


#include "base/file.h"
#include "base/rd.h"

enum { N_BYTES = 200000 }; /* several windows of the reader */

struct fixture {
    char dir[64], path[96];
    uint8_t *bytes; /* [N_BYTES], what the file at path holds */
};

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    snprintf(x->dir, sizeof x->dir, "/tmp/steno-test-XXXXXX");
    if (!mkdtemp(x->dir)) return -1;
    snprintf(x->path, sizeof x->path, "%s/bytes", x->dir);
    x->bytes = malloc(N_BYTES);
    for (uint32_t i = 0, seed = 1; i < N_BYTES; i++) {
        seed = seed * 1664525 + 1013904223;
        x->bytes[i] = (uint8_t)(seed >> 24);
    }
    FILE *f = fopen(x->path, "wb");
    if (!f || fwrite(x->bytes, 1, N_BYTES, f) != N_BYTES || fclose(f) != 0) return -1;
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    unlink(x->path);
    rmdir(x->dir);
    free(x->bytes);
    free(x);
    return 0;
}

/* ---- file -------------------------------------------------------------------------------------------------------------------- */

static void test_file_reads_exactly_what_was_asked(void **state)
{
    struct fixture *x = *state;
    struct file disk, mem;
    uint8_t *got = malloc(N_BYTES);
    assert_int_equal(file_open(&disk, x->path, NULL), STENO_OK);
    assert_int_equal(disk.size, N_BYTES);
    file_from_memory(&mem, "bytes", x->bytes, N_BYTES);
    const struct file *const both[2] = { &disk, &mem };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_read(both[i], 0, got, N_BYTES, NULL), STENO_OK);
        assert_memory_equal(got, x->bytes, N_BYTES);
        assert_int_equal(file_read(both[i], 777, got, 12345, NULL), STENO_OK);
        assert_memory_equal(got, x->bytes + 777, 12345);
        assert_int_equal(file_read(both[i], N_BYTES, NULL, 0, NULL), STENO_OK);
    }
    free(got);
    file_close(&disk);
    file_close(&disk);
    file_close(&mem);
    struct file zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    file_close(&zeroed);
    assert_true(fcntl(0, F_GETFD) >= 0); /* closing a zeroed file leaves standard input alone */
}

static void test_file_paths_are_utf8(void **state)
{
    struct fixture *x = *state;
    char path[128];
    struct file f;
    uint8_t got[4];
    snprintf(path, sizeof path, "%s/gr\u00f6\u00dfe \u6a21\u578b.bin", x->dir);
    assert_int_equal(rename(x->path, path), 0);
    assert_true(file_exists(path));
    assert_int_equal(file_open(&f, path, NULL), STENO_OK);
    assert_int_equal(f.size, N_BYTES);
    assert_int_equal(file_read(&f, 4, got, sizeof got, NULL), STENO_OK);
    assert_memory_equal(got, x->bytes + 4, sizeof got);
    file_close(&f);
    assert_int_equal(rename(path, x->path), 0);
}

static void test_file_refuses_ranges_past_the_end(void **state)
{
    struct fixture *x = *state;
    struct file f;
    steno_error e;
    uint8_t got[4];
    assert_int_equal(file_open(&f, x->path, &e), STENO_OK);
    assert_int_equal(file_read(&f, N_BYTES - 3, got, 4, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "199997+4"));
    assert_int_equal(file_read(&f, UINT64_MAX, got, 1, &e), STENO_EFORMAT);
    assert_int_equal(file_read(&f, UINT64_MAX - 1, got, 4, &e), STENO_EFORMAT);
    assert_int_equal(file_read(&f, 8, got, SIZE_MAX, &e), STENO_EFORMAT);
    file_close(&f);
}

static void test_file_that_shrinks_is_an_error(void **state)
{
    struct fixture *x = *state;
    struct file f;
    steno_error e;
    uint8_t got[100];
    assert_int_equal(file_open(&f, x->path, &e), STENO_OK);
    assert_int_equal(truncate(x->path, 1000), 0);
    assert_int_equal(file_read(&f, 950, got, 100, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "ends at 1000"));
    file_close(&f);
}

static void expect_refused(const char *path, const char *reason)
{
    struct file f;
    steno_error e;
    assert_int_equal(file_open(&f, path, &e), STENO_EIO);
    assert_int_equal(e.status, STENO_EIO);
    char quoted[200];
    snprintf(quoted, sizeof quoted, "'%s'", path);
    assert_non_null(strstr(e.text, quoted));
    if (!strstr(e.text, reason)) fail_msg("'%s' does not say '%s'", e.text, reason);
    file_close(&f);
}

static void test_file_says_why_it_cannot_be_opened(void **state)
{
    struct fixture *x = *state;
    char path[128];
    expect_refused("/nonexistent/file", "cannot open '/nonexistent/file': No such file or directory");
    expect_refused("", "No such file");
    expect_refused(x->dir, "Is a directory");
    expect_refused("/dev/null", "device");
    snprintf(path, sizeof path, "%s/fifo", x->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refused(path, "pipe"); /* and does not wait for a writer */
    unlink(path);
    struct file f;
    assert_int_equal(file_open(&f, NULL, NULL), STENO_EARG);
}

/* ---- rd ---------------------------------------------------------------------------------------------------------------------- */

static void test_rd_numbers_are_little_endian(void **state)
{
    (void)state;
    static const uint8_t bytes[] = { 0xfe, 0x34, 0x12, 0x78, 0x56, 0x34, 0x92, 0xff, 0xff, 0xff, 0xff,
                                     1,    2,    3,    4,    5,    6,    7,    0x88, 0,    0,    0xc0, 0x3f };
    struct file f;
    struct rd *r = malloc(sizeof *r);
    file_from_memory(&f, "numbers", bytes, sizeof bytes);
    rd_init(r, &f, 0, UINT64_MAX);
    assert_int_equal(rd_left(r), sizeof bytes);
    assert_int_equal(rd_u8(r), 0xfe);
    assert_int_equal(rd_u16(r), 0x1234);
    assert_int_equal(rd_u32(r), 0x92345678);
    assert_int_equal(rd_i32(r), -1);
    assert_true(rd_u64(r) == UINT64_C(0x8807060504030201));
    assert_true(rd_f32(r) == 1.5f);
    assert_int_equal(r->err, 0);
    assert_int_equal(rd_left(r), 0);
    free(r);
}

static void test_rd_error_sticks_and_moves_nothing(void **state)
{
    (void)state;
    static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct file f;
    struct rd *r = malloc(sizeof *r);
    file_from_memory(&f, "short", bytes, sizeof bytes);
    rd_init(r, &f, 2, 5);
    assert_int_equal(rd_u32(r), 0);
    assert_int_equal(r->err, STENO_EFORMAT);
    assert_int_equal(r->pos, 2);
    uint8_t got[2] = { 9, 9 };
    rd_bytes(r, got, 2);
    assert_int_equal(got[0] | got[1], 0);
    assert_int_equal(rd_u8(r), 0);
    rd_skip(r, 1);
    assert_int_equal(r->pos, 2);
    assert_int_equal(rd_left(r), 0);
    free(r);
}

static void test_rd_refuses_skips_that_would_wrap(void **state)
{
    struct fixture *x = *state;
    static const uint64_t too_far[] = { 101, UINT64_MAX, UINT64_MAX - 99, (uint64_t)1 << 63 };
    struct file f;
    struct rd *r = malloc(sizeof *r);
    file_from_memory(&f, "skips", x->bytes, N_BYTES);
    for (size_t i = 0; i < sizeof too_far / sizeof *too_far; i++) {
        rd_init(r, &f, 100, 200);
        rd_skip(r, too_far[i]);
        assert_int_equal(r->err, STENO_EFORMAT);
        assert_int_equal(r->pos, 100);
    }
    rd_init(r, &f, 100, 200);
    rd_skip(r, 100);
    assert_int_equal(r->err, 0);
    assert_int_equal(rd_left(r), 0);
    rd_init(r, &f, N_BYTES + 1, UINT64_MAX); /* begins behind the end */
    assert_int_equal(r->err, STENO_EFORMAT);
    rd_init(r, &f, 10, 9);
    assert_int_equal(r->err, STENO_EFORMAT);
    free(r);
}

/* Read and skip in turn, `step` bytes at a time, from byte `at` on. */
static void check_steps(struct rd *r, const struct file *f, const struct fixture *x, uint8_t *got, size_t at, size_t step)
{
    rd_init(r, f, at, f->size);
    for (; at + step <= N_BYTES; at += 2 * step) {
        rd_bytes(r, got, step);
        assert_int_equal(r->err, 0);
        assert_memory_equal(got, x->bytes + at, step);
        if (at + 2 * step > N_BYTES) break;
        rd_skip(r, step);
    }
}

static void test_rd_sees_the_file_through_its_window_unchanged(void **state)
{
    struct fixture *x = *state;
    struct file f;
    struct rd *r = malloc(sizeof *r);
    uint8_t *got = malloc(N_BYTES + 1);
    assert_int_equal(file_open(&f, x->path, NULL), STENO_OK);
    for (size_t step = 1; step < 190000; step = step * 3 + 1) check_steps(r, &f, x, got, 0, step);
    for (size_t step = sizeof r->win - 1; step <= sizeof r->win + 1; step++) /* as long as the window, from anywhere in it */
        for (size_t at = 0; at < 3; at++) check_steps(r, &f, x, got, at, step);
    rd_init(r, &f, 0, f.size);
    rd_bytes(r, got, N_BYTES + 1);
    assert_int_equal(r->err, STENO_EFORMAT);
    file_close(&f);
    free(got);
    free(r);
}

static void test_rd_passes_on_that_the_file_shrank(void **state)
{
    struct fixture *x = *state;
    struct file f;
    struct rd *r = malloc(sizeof *r);
    assert_int_equal(file_open(&f, x->path, NULL), STENO_OK);
    assert_int_equal(truncate(x->path, 10), 0);
    rd_init(r, &f, 0, f.size);
    assert_int_equal(rd_u64(r), 0);
    assert_int_equal(r->err, STENO_EFORMAT);
    file_close(&f);
    free(r);
}

int main(void)
{
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FILE(test_file_reads_exactly_what_was_asked),
        WITH_FILE(test_file_paths_are_utf8),
        WITH_FILE(test_file_refuses_ranges_past_the_end),
        WITH_FILE(test_file_that_shrinks_is_an_error),
        WITH_FILE(test_file_says_why_it_cannot_be_opened),
        cmocka_unit_test(test_rd_numbers_are_little_endian),
        cmocka_unit_test(test_rd_error_sticks_and_moves_nothing),
        WITH_FILE(test_rd_refuses_skips_that_would_wrap),
        WITH_FILE(test_rd_sees_the_file_through_its_window_unchanged),
        WITH_FILE(test_rd_passes_on_that_the_file_shrank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
