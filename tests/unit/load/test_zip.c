/* steno tests: the directory of a zip archive. SPDX-License-Identifier: MIT
 *
 * Each refusal is proved by one lie in an archive that is whole otherwise, and by the words of the message. */
#include <stdio.h>
#include <stdlib.h>
#include "load/zip.h"
#include "torch_file.h"

#define STORED(name_, text) .name = name_, .data = text, .n = sizeof(text) - 1
#define BOTH { STORED("a/one", "12345") }, { STORED("a/two", "6789") }
#define COUNT(x) (sizeof(x) / sizeof *(x))

/* Open what put_zip makes. @return the status; *e has the reason */
static int open_zip(const struct put_entry *t, size_t n, const struct put_end *end, struct zip *z, struct arena *a, struct buf *b,
                    steno_error *e)
{
    struct file f;
    memset(e, 0, sizeof *e);
    put_zip(b, t, n, end);
    file_from_memory(&f, "m.pt", b->p, b->len);
    arena_init(a);
    const int rc = zip_open(z, &f, ZIP_STORED, a, e);
    assert_int_equal(rc, e->status);
    return rc;
}

static void expect_refusal(const struct put_entry *t, size_t n, const struct put_end *end, const char *text)
{
    struct zip z;
    struct arena a;
    struct buf b = { 0 };
    steno_error e;
    const int rc = open_zip(t, n, end, &z, &a, &b, &e);
    if (rc != STENO_EFORMAT || !strstr(e.text, text)) fail_msg("status %d \"%s\", want \"%s\"", rc, e.text, text);
    if (strncmp(e.text, "m.pt: ", 6)) fail_msg("\"%s\" does not name the file", e.text);
    arena_free(&a);
    buf_free(&b);
}

static void expect_entries(const struct put_entry *t, size_t n, const struct put_end *end)
{
    struct zip z;
    struct arena a;
    struct buf b = { 0 };
    steno_error e;
    if (open_zip(t, n, end, &z, &a, &b, &e)) fail_msg("%s", e.text);
    assert_int_equal(z.n, n);
    for (size_t i = 0; i < n; i++) {
        const struct zip_entry *it = zip_find(&z, t[i].name);
        assert_non_null(it);
        assert_int_equal(it->size, t[i].n);
        if (it->size) assert_memory_equal(b.p + it->offset, t[i].data, t[i].n);
    }
    assert_null(zip_find(&z, "a"));
    arena_free(&a);
    buf_free(&b);
}

static void test_entries_are_found_by_name(void **state)
{
    (void)state;
    const struct put_entry t[] = { BOTH, { STORED("a/empty", "") } };
    expect_entries(t, COUNT(t), NULL);
}

static void test_a_comment_that_looks_like_an_end_is_passed_over(void **state)
{
    (void)state;
    const struct put_entry t[] = { BOTH };
    const struct put_end end = { .comment = "PK\5\6 and more words than an end record has bytes" };
    expect_entries(t, COUNT(t), &end);
}

static void test_zip64_numbers_are_read(void **state)
{
    (void)state;
    const struct put_entry t[] = { { STORED("a/one", "12345"), .zip64 = 1 }, { STORED("a/two", "6789") } };
    expect_entries(t, COUNT(t), &(struct put_end){ .zip64 = 1 });
    expect_entries(t, COUNT(t), &(struct put_end){ .zip64 = 1, .full = 1 });
}

static void test_sizes_behind_the_bytes_are_taken_from_the_directory(void **state)
{
    (void)state;
    const struct put_entry t[] = { { STORED("a/one", "12345"), .flags = 0x808, .local_size_lie = (uint64_t)-5 } };
    expect_entries(t, 1, NULL);
    const struct put_entry half[] = { { STORED("a/one", "12345"), .flags = 0x808, .local_size_lie = (uint64_t)-2 } };
    expect_refusal(half, 1, NULL, "one size or compression in its header and another");
}

static void test_a_directory_at_another_place_than_the_end_record_has_is_refused(void **state)
{
    (void)state;
    const struct put_entry t[] = { BOTH };
    static const struct { struct put_end end; const char *text; } lie[] = {
        { { .offset_lie = 1000 }, "zip directory given at bytes" },
        { { .offset_lie = (uint64_t)-1 }, "zip directory given at bytes" },
        { { .size_lie = 1 }, "zip directory given at bytes" },
        { { .n_lie = 1 }, "3 zip entries are declared, but the directory's 102 bytes hold at most 2" },
        { { .n_lie = (uint64_t)-1 }, "belong to no entry" },
        { { .n_lie = 5000 }, "zip entries are declared" },
        { { .disk = 1 }, "on several disks" },
        { { .full = 1 }, "zip directory given at bytes" },
        { { .zip64 = 1, .end64_lie = 1 }, "zip64 end record given at byte" },
        { { .zip64 = 1, .end64_lie = (uint64_t)-1 }, "is not a zip64 end record" },
        { { .zip64 = 1, .full = 1, .end64_lie = UINT64_MAX / 2 }, "zip64 end record given at byte" },
        { { .zip64 = 1, .full = 1, .n_lie = UINT64_MAX / 2 }, "zip entries, want at most 65536" },
        { { .zip64 = 1, .full = 1, .size_lie = UINT64_MAX - 100 }, "zip directory given at bytes" },
    };
    for (size_t i = 0; i < COUNT(lie); i++) expect_refusal(t, COUNT(t), &lie[i].end, lie[i].text);
}

static void test_an_entry_whose_header_and_directory_differ_is_refused(void **state)
{
    (void)state;
    static const struct { struct put_entry t; const char *text; } lie[] = {
        { { STORED("a/one", "12345"), .method = 8 }, "is compressed" },
        { { STORED("a/one", "12345"), .flags = 1 }, "is encrypted" },
        { { STORED("a/one", "12345"), .local_name = "a/0ne" }, "is not the header of zip entry 'a/one'" },
        { { STORED("a/one", "12345"), .local_size_lie = 1 }, "one size or compression in its header and another" },
        { { STORED("a/one", "12345"), .size_lie = 1000, .local_size_lie = 1000 }, "the directory begins at" },
        { { STORED("a/one", "12345"), .header_lie = 1 }, "is not the header of zip entry" },
        { { STORED("a/one", "12345"), .header_lie = 0x7ffffff0 }, "given at byte" },
        { { STORED("a/one", "12345"), .zip64 = 1, .header_lie = INT64_MIN }, "given at byte" },
        { { STORED("a/one", "12345"), .zip64 = 1, .size_lie = UINT64_MAX / 2 }, "one size or compression in its header and another" },
        { { STORED("a/one", "12345"), .zip64 = 2 }, "lacks the 64-bit numbers" },
    };
    for (size_t i = 0; i < COUNT(lie); i++) expect_refusal(&lie[i].t, 1, NULL, lie[i].text);
}

static void test_names_that_lead_elsewhere_are_refused(void **state)
{
    (void)state;
    static const char *const name[] = { "/a", "../a", "a/../b", "a/..", "a\\b", "c:a", "", "a//b", "./a", "a/\n" };
    for (size_t i = 0; i < COUNT(name); i++)
        expect_refusal(&(struct put_entry){ STORED(name[i], "x") }, 1, NULL, "want a plain relative name");
    char longest[ZIP_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[ZIP_NAME_MAX] = 0;
    expect_entries(&(struct put_entry){ STORED(longest, "x") }, 1, NULL);
    longest[ZIP_NAME_MAX] = 'n';
    longest[ZIP_NAME_MAX + 1] = 0;
    expect_refusal(&(struct put_entry){ STORED(longest, "x") }, 1, NULL, "has a name of 512 bytes, want at most 511");
}

/* n empty entries; records of the directory have 53 bytes and a comment, the last one of `more` bytes more. */
static int open_many(uint32_t n, uint32_t n_comment, int more, steno_error *e)
{
    struct put_entry *t = calloc(n, sizeof *t);
    char(*name)[12] = calloc(n, sizeof *name);
    struct zip z;
    struct arena a;
    struct buf b = { 0 };
    assert_true(t && name);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name[i], sizeof name[i], "m/%05x", (unsigned)i);
        t[i] = (struct put_entry){ .name = name[i], .data = "", .n_comment = n_comment };
    }
    t[n - 1].n_comment += (uint32_t)more;
    const int rc = open_zip(t, n, &(struct put_end){ .zip64 = 1, .full = 1 }, &z, &a, &b, e);
    assert_int_equal(z.n, rc ? 0 : n);
    arena_free(&a);
    buf_free(&b);
    free(t);
    free(name);
    return rc;
}

static void test_the_number_of_entries_has_a_limit_and_must_fit_the_directory(void **state)
{
    (void)state;
    const struct put_entry one = { STORED("a/one", "12345") };
    static const struct { uint64_t lie; const char *text; } c[] = {
        { 1, "2 zip entries are declared, but the directory's 51 bytes hold at most 1" },
        { ZIP_ENTRIES_MAX - 3, "65534 zip entries are declared, but" },
        { ZIP_ENTRIES_MAX - 1, "65536 zip entries are declared, but" },
        { ZIP_ENTRIES_MAX, "65537 zip entries, want at most 65536" },
        { UINT64_MAX / 2, "9223372036854775808 zip entries, want at most 65536" },
    };
    for (size_t i = 0; i < COUNT(c); i++)
        expect_refusal(&one, 1, &(struct put_end){ .zip64 = 1, .full = 1, .n_lie = c[i].lie }, c[i].text);
    steno_error e;
    assert_int_equal(open_many(ZIP_ENTRIES_MAX - 1, 0, 0, &e), STENO_OK);
    assert_int_equal(open_many(ZIP_ENTRIES_MAX, 0, 0, &e), STENO_OK);
    assert_int_equal(open_many(ZIP_ENTRIES_MAX + 1, 0, 0, &e), STENO_EFORMAT);
    assert_string_equal(e.text, "m.pt: 65537 zip entries, want at most 65536");
}

static void test_a_directory_may_have_64_mib(void **state)
{
    (void)state;
    enum { RECORD = 1 << 16, HEAD = 46 + 7, COMMENT = RECORD - HEAD, RECORDS = (64 << 20) / RECORD };
    steno_error e;
    for (int more = -1; more <= 0; more++)
        if (open_many(RECORDS, COMMENT, more, &e)) fail_msg("%s", e.text);
    assert_int_equal(open_many(RECORDS, COMMENT, 1, &e), STENO_EFORMAT);
    assert_string_equal(e.text, "m.pt: a zip directory of 67108865 bytes, want at most 67108864");
}

static void test_entries_that_share_a_name_or_bytes_are_refused(void **state)
{
    (void)state;
    const struct put_entry twice[] = { BOTH, { STORED("a/one", "x") } };
    expect_refusal(twice, COUNT(twice), NULL, "'a/one' is there twice");
    struct buf inner = { 0 }; /* an entry inside of another's bytes */
    const struct put_entry small = { STORED("a/two", "6789") };
    put_header(&inner, &small, 1, 0);
    buf_add(&inner, "6789", 4);
    const struct put_entry over[] = { { .name = "a/one", .data = inner.p, .n = inner.len },
                                      { STORED("a/two", "6789"), .header_lie = -(int64_t)inner.len } };
    expect_refusal(over, COUNT(over), NULL, "share bytes");
    buf_free(&inner);
}

static void test_a_cut_archive_is_refused_at_every_length(void **state)
{
    (void)state;
    const struct put_entry t[] = { BOTH };
    struct buf b = { 0 };
    put_zip(&b, t, COUNT(t), &(struct put_end){ .zip64 = 1 });
    for (size_t n = 0; n < b.len; n++) {
        uint8_t *cut = malloc(n ? n : 1); /* its own block, so that reading past the end is seen */
        struct file f;
        struct zip z;
        struct arena a;
        steno_error e = { 0 };
        assert_non_null(cut);
        memcpy(cut, b.p, n);
        file_from_memory(&f, "m.pt", cut, n);
        arena_init(&a);
        assert_int_equal(zip_open(&z, &f, ZIP_STORED, &a, &e), STENO_EFORMAT);
        arena_free(&a);
        free(cut);
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_are_found_by_name),
        cmocka_unit_test(test_a_comment_that_looks_like_an_end_is_passed_over),
        cmocka_unit_test(test_zip64_numbers_are_read),
        cmocka_unit_test(test_sizes_behind_the_bytes_are_taken_from_the_directory),
        cmocka_unit_test(test_a_directory_at_another_place_than_the_end_record_has_is_refused),
        cmocka_unit_test(test_an_entry_whose_header_and_directory_differ_is_refused),
        cmocka_unit_test(test_names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(test_the_number_of_entries_has_a_limit_and_must_fit_the_directory),
        cmocka_unit_test(test_a_directory_may_have_64_mib),
        cmocka_unit_test(test_entries_that_share_a_name_or_bytes_are_refused),
        cmocka_unit_test(test_a_cut_archive_is_refused_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
