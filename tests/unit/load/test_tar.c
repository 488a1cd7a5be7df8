/* steno tests: tar archives. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/tar.h"
#include "tar_file.h"

struct opened { struct buf bytes; uint8_t *copy; struct arena arena; struct file f; struct tar tar; steno_error e; int rc; };

/* Of a copy without room behind it. */
static void tar_read(struct opened *o)
{
    arena_init(&o->arena);
    o->copy = malloc(o->bytes.len + 1);
    assert_non_null(o->copy);
    if (o->bytes.len) memcpy(o->copy, o->bytes.p, o->bytes.len);
    file_from_memory(&o->f, "m.nemo", o->copy, o->bytes.len);
    o->rc = tar_open(&o->tar, &o->f, &o->arena, &o->e);
}

static void tar_free(struct opened *o)
{
    arena_free(&o->arena);
    buf_free(&o->bytes);
    free(o->copy);
}

static void has_member(struct opened *o, const char *name, const char *text)
{
    char got[64] = "";
    struct file part;
    const struct tar_member *m = tar_find(&o->tar, name);
    if (!m) fail_msg("no member %s", name);
    assert_int_equal(m->size, strlen(text));
    assert_int_equal(tar_member_file(&part, &o->f, m, &o->arena, &o->e), STENO_OK);
    assert_int_equal(file_read(&part, 0, got, (size_t)part.size, &o->e), STENO_OK);
    assert_string_equal(got, text);
    if (m->size) assert_int_not_equal(file_read(&part, 1, got, (size_t)part.size, &o->e), STENO_OK); /* past the member's end */
    assert_true(!strncmp(part.name, "m.nemo:", 7) && !strcmp(part.name + 7, name));
}

#define NAME_64 "0123456789012345678901234567890123456789012345678901234567890123"
#define NAME_512 NAME_64 NAME_64 NAME_64 NAME_64 NAME_64 NAME_64 NAME_64 NAME_64

static char const binary5[12] = "\x80\0\0\0\0\0\0\0\0\0\0\5"; /* 5 in base 256 */

static void test_members_of_all_kinds_of_headers_are_found(void **state)
{
    (void)state;
    static const char long_name[] = "long/" NAME_64 NAME_64;
    static const struct put_member all[] = {
        { .name = "./", .type = '5' },
        { .name = "./plain", .text = "one" },
        { .name = "empty" },
        { .name = "old", .text = "two", .type = 'N', .magic = "ustar  \0" },
        { .name = "binary", .text = "three", .size = binary5 },
        { .name = "spaces", .text = "four4", .size = "          5 " },
        { .name = "tail", .text = "six", .prefix = "./head" },
        { .name = "././@PaxHeader", .text = "21 path=./named.yaml\n22 mtime=1700000000.5\n10 size=5\n", .type = 'x' },
        { .name = "shortened", .text = "seven" },
        { .name = "././@PaxHeader", .text = "14 comment=ab\n", .type = 'g' },
        { .name = "././@LongLink", .text = long_name, .type = 'L', .magic = "ustar  \0" },
        { .name = "long/0123", .text = "eight" },
    };
    struct opened o = { 0 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) put_member(&o.bytes, &all[i]);
    put_end_of_tar(&o.bytes);
    tar_read(&o);
    if (o.rc) fail_msg("%s", o.e.text);
    assert_int_equal(o.tar.n, 8);
    has_member(&o, "plain", "one");
    has_member(&o, "empty", "");
    has_member(&o, "old", "two");
    has_member(&o, "binary", "three");
    has_member(&o, "spaces", "four4");
    has_member(&o, "head/tail", "six");
    has_member(&o, "named.yaml", "seven");
    has_member(&o, long_name, "eight");
    assert_null(tar_find(&o.tar, "shortened"));
    tar_free(&o);
}

#define PAX(text_) { .name = "././@PaxHeader", .text = text_, .type = 'x' }
static const struct { struct put_member m[2]; const char *says; } bad[] = {
    { { { .name = "a", .sum_lie = 1 } }, "the tar header at byte 0 does not match its checksum" },
    { { { .name = "a", .text = "x" }, { .name = "b", .sum_lie = -1 } }, "the tar header at byte 1024 does not match its checksum" },
    { { { .name = "a", .magic = "USTAR\0" "00" } }, "is not one of POSIX or GNU" },
    { { { .name = "a", .size = "0000000000x" } }, "has a size that is not a number" },
    { { { .name = "a", .size = "           " } }, "has a size that is not a number" },
    { { { .name = "a", .size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" } }, "has a size that is not a number" },
    { { { .name = "a", .size = "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff" } },
      "announces 18446744073709551615 bytes, but the file has 1024 more; is the copy complete?" },
    { { { .name = "a", .size = "77777777777" } }, "announces 8589934591 bytes, but the file has 1024 more" },
    { { { .name = "a", .text = "x", .size = "00000003001" } }, "announces 1537 bytes, but the file has 1536 more" },
    { { { .name = "a", .type = '2' } }, "is of type 0x32; want files and folders" },
    { { { .name = "a", .type = 'K' } }, "is of type 0x4b; want files and folders" },
    { { { .name = "a", .type = 'S' } }, "is of type 0x53; want files and folders" },
    { { { .name = "a", .text = "x", .type = '5' } }, "is of a folder with bytes" },
    { { { .name = "a/" } }, "is of a file without a name" },
    { { { .name = "./" } }, "is of a file without a name" },
    { { { .name = "" } }, "has a name of no bytes" },
    { { { .name = "/etc/passwd" } }, "has a name that leads out of the archive" },
    { { { .name = "a/../../b" } }, "has a name that leads out of the archive" },
    { { { .name = ".." } }, "has a name that leads out of the archive" },
    { { { .name = "a\\b" } }, "has a name that leads out of the archive" },
    { { { .name = "a\nb" } }, "has a name that leads out of the archive" },
    { { { .name = "./a" }, { .name = "a" } }, "a is in the tar archive twice" },
    { { PAX("9 path=a\n"), { .name = "b" } }, "" }, /* well-formed */
    { { PAX("8 path=a\n"), { .name = "b" } }, "has a pax record whose length is wrong" },
    { { PAX("99 path=a\n"), { .name = "b" } }, "has a pax record whose length is wrong" },
    { { PAX("9999999 path=a\n"), { .name = "b" } }, "has a pax record whose length is wrong" },
    { { PAX("0 path=a\n"), { .name = "b" } }, "has a pax record whose length is wrong" },
    { { PAX("path=a\n"), { .name = "b" } }, "has a pax record whose length is wrong" },
    { { PAX("9 path:a\n"), { .name = "b" } }, "has a pax record without '='" },
    { { PAX("8 path=\n"), { .name = "b" } }, "has a name of no bytes" },
    { { PAX("15 path=../../\n"), { .name = "b" } }, "has a name that leads out of the archive" },
    { { PAX("10 size=2\n"), { .name = "b", .text = "x" } }, "has a size of 1, the pax header before it 2" },
    { { PAX("18 size=999999999\n"), { .name = "b", .text = "x" } }, "has a size of 1, the pax header before it 999999999" },
    { { PAX("29 size=18446744073709551615\n"), { .name = "b" } }, "has a pax size that is not a number" },
    { { PAX("21 size=999999999999\n"), { .name = "b", .text = "x" } }, "announces 999999999999 bytes, but the file has" },
    { { PAX("11 size=-1\n"), { .name = "b" } }, "has a pax size that is not a number" },
    { { PAX("8 size=\n"), { .name = "b" } }, "has an empty pax size" },
    { { PAX("10 size=1\n"), PAX("9 path=a\n") }, "follows another one that gives a size" },
    { { PAX("10 size=1\n") }, "ends the archive, but a member is announced" },
    { { PAX("22 GNU.sparse.major=1\n"), { .name = "b" } }, "describes a sparse file" },
    { { { .name = "x", .text = "9 path=a\n", .type = 'g' } }, "gives one path or size to all members" },
    { { { .name = "x", .text = "10 size=1\n", .type = 'g' } }, "gives one path or size to all members" },
    { { { .name = "././@LongLink", .text = NAME_512, .type = 'L' }, { .name = "b" } }, "has a name of no bytes, of more than 511" },
    { { { .name = "././@LongLink", .text = "../a", .type = 'L' }, { .name = "b" } }, "has a name that leads out of the archive" },
    { { { .name = "././@LongLink", .type = 'L' }, { .name = "b" } }, "has a name of no bytes" },
};

static void test_wrong_archives_are_refused_with_their_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct opened o = { 0 };
        put_member(&o.bytes, &bad[i].m[0]);
        if (bad[i].m[1].name) put_member(&o.bytes, &bad[i].m[1]);
        put_end_of_tar(&o.bytes);
        tar_read(&o);
        if (!*bad[i].says) assert_int_equal(o.rc, STENO_OK);
        else if (o.rc != STENO_EFORMAT || !strstr(o.e.text, bad[i].says) || strncmp(o.e.text, "m.nemo: ", 8) != 0)
            fail_msg("%zu: %d, '%s', want '%s'", i, o.rc, o.e.text, bad[i].says);
        tar_free(&o);
    }
}

static void test_a_header_is_described_in_at_most_64_KiB(void **state)
{
    (void)state;
    static char text[(1 << 16) + 2];
    struct opened o = { 0 };
    memset(text, 'a', sizeof text - 1);
    put_member(&o.bytes, &(struct put_member){ .name = "x", .text = text, .type = 'x' });
    put_end_of_tar(&o.bytes);
    tar_read(&o);
    assert_int_equal(o.rc, STENO_EFORMAT);
    assert_non_null(strstr(o.e.text, "describes a member in more than 64 KiB"));
    tar_free(&o);
}

static void test_an_archive_has_at_most_1024_members(void **state)
{
    (void)state;
    for (int n = TAR_MEMBERS_MAX; n <= TAR_MEMBERS_MAX + 1; n++) {
        struct opened o = { 0 };
        char name[16];
        for (int i = 0; i < n; i++) {
            snprintf(name, sizeof name, "m%d", i);
            put_member(&o.bytes, &(struct put_member){ .name = name });
        }
        put_end_of_tar(&o.bytes);
        tar_read(&o);
        assert_int_equal(o.rc, n > TAR_MEMBERS_MAX ? STENO_EFORMAT : STENO_OK);
        if (o.rc) assert_string_equal(o.e.text, "m.nemo: more than 1024 members in a tar archive");
        tar_free(&o);
    }
}

/* The end record, two blocks of zeros, may be one. */
static void test_no_cut_of_an_archive_is_read(void **state)
{
    (void)state;
    struct opened whole = { 0 };
    put_member(&whole.bytes, &(struct put_member)PAX("9 path=c\n"));
    put_member(&whole.bytes, &(struct put_member){ .name = "a", .text = "text" });
    put_member(&whole.bytes, &(struct put_member){ .name = "b", .text = "more" });
    put_end_of_tar(&whole.bytes);
    for (size_t n = 0; n < whole.bytes.len; n += n % 512 == 510 ? 1 : 17) {
        struct opened o = { 0 };
        if (n) buf_add(&o.bytes, whole.bytes.p, n);
        tar_read(&o);
        if (n < whole.bytes.len - 512 && o.rc != STENO_EFORMAT) fail_msg("cut at %zu: %d", n, o.rc);
        if (o.rc && !strstr(o.e.text, "is the copy complete?")) fail_msg("cut at %zu: %s", n, o.e.text);
        tar_free(&o);
    }
    buf_free(&whole.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_of_all_kinds_of_headers_are_found),
        cmocka_unit_test(test_wrong_archives_are_refused_with_their_cause),
        cmocka_unit_test(test_a_header_is_described_in_at_most_64_KiB),
        cmocka_unit_test(test_an_archive_has_at_most_1024_members),
        cmocka_unit_test(test_no_cut_of_an_archive_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
