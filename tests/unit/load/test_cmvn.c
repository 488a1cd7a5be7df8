/* steno tests: the reader of mean and variance. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "load/cmvn.h"

static const char small[] = "<Nnet>\n<Splice> 3 3\n[ 0 ]\n<AddShift> 3 3\n<LearnRateCoef> 0 [ -8.311879 2 -0.5 ]\n"
                            "<Rescale> 3 3\n<LearnRateCoef> 0 [ 0.155775 1e-2 .25 ]\n</Nnet>\n";

struct result { int rc; float *shift, *scale; steno_error e; struct arena a; };

static struct result read_bytes(const void *data, size_t n, int want)
{
    struct result r = { 0 };
    struct file f;
    uint8_t *copy = malloc(n + !n); /* exactly n, so that reading past the end is seen */
    assert_non_null(copy);
    memcpy(copy, data, n);
    arena_init(&r.a);
    file_from_memory(&f, "am.mvn", copy, n);
    r.rc = cmvn_read(&f, &r.a, want, &r.shift, &r.scale, &r.e);
    free(copy);
    return r;
}

static void expect_values(const char *text, const float shift[3], const float scale[3])
{
    struct result r = read_bytes(text, strlen(text), 3);
    if (r.rc) fail_msg("%s", r.e.text);
    assert_memory_equal(r.shift, shift, 3 * sizeof *shift);
    assert_memory_equal(r.scale, scale, 3 * sizeof *scale);
    arena_free(&r.a);
}

static void expect_refusal(const char *text, size_t n, const char *a, const char *b)
{
    struct result r = read_bytes(text, n, 3);
    assert_int_equal(r.rc, STENO_EFORMAT);
    assert_null(r.shift);
    assert_null(r.scale);
    if (strncmp(r.e.text, "am.mvn: ", 8) != 0 || !strstr(r.e.text, a) || !strstr(r.e.text, b))
        fail_msg("\"%s\", want the file, \"%s\" and \"%s\"", r.e.text, a, b);
    arena_free(&r.a);
}

static void test_lists_are_found_by_the_names_of_their_tags(void **state)
{
    (void)state;
    static const float shift[] = { -8.311879f, 2, -0.5f }, scale[] = { 0.155775f, 0.01f, 0.25f };
    expect_values(small, shift, scale);
    expect_values("<Rescale> 3 3 <LearnRateCoef> 0 [ 0.155775 1e-2 .25 ] [ 9 9 9 ] <AddShift> [ -8.311879 2 -0.5 ]", shift, scale);
}

static void test_white_space_does_not_matter(void **state)
{
    (void)state;
    static const float shift[] = { -8.311879f, 2, -0.5f }, scale[] = { 0.155775f, 0.01f, 0.25f };
    expect_values("<AddShift>\r\n3\t3\r\n<LearnRateCoef>\n0[-8.311879\n\n2\v-0.5]<Rescale>[0.155775 1e-2\n.25]", shift, scale);
}

static void test_numbers_of_every_form_are_read_as_the_compiler_reads_them(void **state)
{
    (void)state;
    static const struct { const char *text; float x; } form[] = {
        { "1", 1 }, { "-1.", -1 }, { "+.5", 0.5f }, { "1e+3", 1e3f }, { "2.5E-3", 2.5e-3f }, { "0e999", 0 }, { "-0", -0.0f },
        { "123456789012345678901234567890", 123456789012345678901234567890.0f }, { "0.1000000000000000000000000000001", 0.1f },
        { "3.4028234e38", 3.4028234e38f }, { "1e-50", 0 }, { "1e-999999999999", 0 }, { "0.0000000000000000000000123", 1.23e-23f },
        { "-15.05852", -15.05852f }, { "16777217", 16777216 },
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char text[256];
        snprintf(text, sizeof text, "<AddShift> [ %s 0 0 ] <Rescale> [ 0 0 %s ]", form[i].text, form[i].text);
        struct result r = read_bytes(text, strlen(text), 3);
        if (r.rc) fail_msg("%s", r.e.text);
        if (memcmp(&r.shift[0], &form[i].x, sizeof(float)) || memcmp(&r.scale[2], &form[i].x, sizeof(float)))
            fail_msg("%s gives %.9g, want %.9g", form[i].text, (double)r.shift[0], (double)form[i].x);
        arena_free(&r.a);
    }
}

static void test_the_locale_of_the_program_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) skip(); /* no locale with a decimal comma is installed */
    static const float shift[] = { -8.311879f, 2, -0.5f }, scale[] = { 0.155775f, 0.01f, 0.25f };
    expect_values(small, shift, scale);
    setlocale(LC_ALL, "C");
}

static void test_malformed_files_are_refused_with_line_and_cause(void **state)
{
    (void)state;
    static const struct { const char *text, *a, *b; } bad[] = {
        { "", "<AddShift>", "no " },
        { "<Nnet>\n</Nnet>\n", "<AddShift>", "no " },
        { "<AddShift> [ 1 2 3 ]\n", "<Rescale>", "no " },
        { "<Rescale> [ 1 2 3 ]\n", "<AddShift>", "no " },
        { "<AddShift> 3 3\n<Rescale> [ 1 2 3 ]\n", "line 2", "no list in brackets" },
        { "<AddShift> 3 3\n] 4 [ 1 2 3 ]", "line 2", "no list in brackets" },
        { "<AddShift> 3 3\n<LearnRateCoef> 0 ", "line 2", "ends inside <AddShift>" },
        { "<AddShift>\n[ 1 2 3\n\n", "line 4", "ends inside <AddShift>" },
        { "<AddShift> [ 1 2 ]\n", "line 1", "2 values, want 3" },
        { "<AddShift> [ 1 2 3 4 ]\n", "line 1", "4 values, want 3" },
        { "<AddShift> [ ]\n", "line 1", "0 values, want 3" },
        { "<AddShift>\n[ 1\n nan 3 ]\n", "line 3", "value 2 of <AddShift> is 'nan'" },
        { "<AddShift> [ 1 2 3 ]\n<Rescale> [ 1 2 inf ]\n", "line 2", "value 3 of <Rescale> is 'inf'" },
        { "<AddShift> [ 1e39 2 3 ]\n", "line 1", "'1e39', want a finite number" },
        { "<AddShift> [ 1 1e999999999999 3 ]\n", "line 1", "finite" },
        { "<AddShift> [ 1 2,5 3 ]\n", "line 1", "'2,5'" },
        { "<AddShift> [ 1 0x10 3 ]\n", "line 1", "'0x10'" },
        { "<AddShift> [ 1 - 3 ]\n", "line 1", "'-'" },
        { "<AddShift> [ 1 . 3 ]\n", "line 1", "'.'" },
        { "<AddShift> [ 1 1e 3 ]\n", "line 1", "'1e'" },
        { "<AddShift> [ 1 1e- 3 ]\n", "line 1", "'1e-'" },
        { "<AddShift> [ 1 --1 3 ]\n", "line 1", "'--1'" },
        { "<AddShift> [ 1 [ 2 3 ]\n", "line 1", "'['" },
        { "<AddShift> [ 1 1.00000000000000000000000000000000000000000000000000001 3 ]\n", "line 1", "finite" },
        { "<AddShift> [ 1 2 3 ]\n<AddShift> [ 1 2 3 ]\n", "line 2", "second time" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_refusal(bad[i].text, strlen(bad[i].text), bad[i].a, bad[i].b);
    expect_refusal("<AddShift> [ 1 2\0 3 ]", 21, "line 1", "'2?'");
}

static void test_every_cut_of_a_good_file_is_refused(void **state)
{
    (void)state;
    const size_t whole = (size_t)(strrchr(small, ']') - small) + 1;
    for (size_t n = 0; n < whole; n++) {
        struct result r = read_bytes(small, n, 3);
        assert_int_equal(r.rc, STENO_EFORMAT);
        arena_free(&r.a);
    }
}

static void test_large_files_and_absurd_sizes_cost_no_memory(void **state)
{
    (void)state;
    const size_t n = ((size_t)1 << 20) + 1;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, ' ', n);
    struct result r = read_bytes(text, n, 3);
    assert_int_equal(r.rc, STENO_EFORMAT);
    assert_non_null(strstr(r.e.text, "1048577 bytes, want at most 1048576"));
    assert_int_equal(r.a.total, 0);
    memset(text, '7', n); /* one word as long as a file may be */
    expect_refusal(text, n - 1, "<AddShift>", "no ");
    memcpy(text, "<AddShift>[", 11);
    for (size_t i = 11; i + 1 < n; i += 2) memcpy(text + i, " 7", 2);
    text[n - 2] = ']';
    expect_refusal(text, n - 1, "line 1", "values, want 3");
    free(text);
    assert_int_equal(read_bytes(small, sizeof small - 1, 0).rc, STENO_EARG);
    assert_int_equal(read_bytes(small, sizeof small - 1, 1 << 30).rc, STENO_EARG);
}

/* ---- real files -------------------------------------------------------------------------------------------------------------- */

static struct result read_shared(const char *name, int want)
{
    struct result r = { .rc = -1 };
    const char *shared = getenv("STENO_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/material/funasr/%s", shared ? shared : "", name);
    struct file f = { 0 };
    arena_init(&r.a);
    if (!shared || file_open(&f, path, NULL)) return r;
    r.rc = cmvn_read(&f, &r.a, want, &r.shift, &r.scale, &r.e);
    file_close(&f);
    return r;
}

static void test_real_files_have_560_and_400_values(void **state)
{
    (void)state;
    struct result r = read_shared("models/sensevoice/pt/am.mvn", 560), v = read_shared("fsmn-vad/pt/am.mvn", 400);
    if (r.rc == -1 || v.rc == -1) skip();
    if (r.rc || v.rc) fail_msg("%s%s", r.e.text, v.e.text);
    static const float shift[] = { -8.311879f, -8.600912f, -9.615928f }, scale[] = { 0.155775f, 0.154484f, 0.1527379f };
    assert_memory_equal(r.shift, shift, sizeof shift);
    assert_memory_equal(r.scale, scale, sizeof scale);
    for (int i = 80; i < 560; i++) assert_true(r.shift[i] == r.shift[i - 80] && r.scale[i] == r.scale[i - 80]);
    assert_memory_equal(r.shift, v.shift, 400 * sizeof(float));
    assert_memory_equal(r.scale, v.scale, 400 * sizeof(float));
    arena_free(&r.a);
    arena_free(&v.a);
    r = read_shared("fsmn-vad/pt/am.mvn", 560);
    assert_int_equal(r.rc, STENO_EFORMAT);
    assert_non_null(strstr(r.e.text, "<AddShift> has 400 values, want 560"));
    arena_free(&r.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_found_by_the_names_of_their_tags),
        cmocka_unit_test(test_white_space_does_not_matter),
        cmocka_unit_test(test_numbers_of_every_form_are_read_as_the_compiler_reads_them),
        cmocka_unit_test(test_the_locale_of_the_program_does_not_matter),
        cmocka_unit_test(test_malformed_files_are_refused_with_line_and_cause),
        cmocka_unit_test(test_every_cut_of_a_good_file_is_refused),
        cmocka_unit_test(test_large_files_and_absurd_sizes_cost_no_memory),
        cmocka_unit_test(test_real_files_have_560_and_400_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
