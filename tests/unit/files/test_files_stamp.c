/* steno tests: what made a result. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "stamp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static char path[] = "/tmp/steno-stamp-XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* A file system without such attributes has nothing to test. */
static void need_attributes(void)
{
    if (setxattr(path, "user.steno.try", "x", 1, 0)) skip();
}

/* Stamps the file with its present bytes, as result 1 of 3. */
static void put(const char *key)
{
    char piece[100];
    struct stamp_bytes bytes = stamp_no_bytes();
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;) stamp_add(&bytes, piece, n);
    fclose(f);
    stamp_put(path, &bytes, &(struct stamp_origin){ .key = key, .name = "a.txt", .at = 1, .n = 3 });
}

static enum stamp_found look_in(const char *file, const char *key, char word[STAMP_WORD_SZ])
{
    struct stamp_origin origin = { .key = key, .name = "a.txt" };
    const enum stamp_found found = stamp_look(file, &origin, word);
    if (found == STAMP_SAME) assert_true(origin.at == 1 && origin.n == 3);
    return found;
}

static void expect(enum stamp_found want, const char *key, const char *want_word)
{
    char word[STAMP_WORD_SZ];
    const enum stamp_found found = look_in(path, key, word);
    if (found != want || strcmp(word, want_word) != 0) fail_msg("\"%s\": %d \"%s\", want %d \"%s\"", key, found, word, want, want_word);
}

static const char key[] = "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor x\noptions {\"a\": 1}";

static void test_a_stamp_names_the_difference(void **state)
{
    static const struct { const char *key, *word; } others[] = {
        { "input 6 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor x\noptions {\"a\": 1}", "input" },
        { "input 5 bytes\nsteno 2\nmodel a 1\nmodel b 2\nprocessor x\noptions {\"a\": 1}", "steno" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 3\nprocessor x\noptions {\"a\": 1}", "model" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nprocessor x\noptions {\"a\": 1}", "model" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor y\noptions {\"a\": 1}", "processor" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor x\noptions {\"a\": 2}", "options" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor x", "options" },
        { "input 5 bytes\nsteno 1\nmodel a 1\nmodel b 2\nprocessor x\noptions {\"a\": 1}\nmore", "more" },
    };
    (void)state;
    need_attributes();
    write_file("hello");
    expect(STAMP_NONE, key, "");
    put(key);
    expect(STAMP_SAME, key, "");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) expect(STAMP_OTHER, others[i].key, others[i].word);
    put(others[0].key);
    expect(STAMP_SAME, others[0].key, "");
    expect(STAMP_OTHER, key, "input");
}

static void test_bytes_that_change_are_seen(void **state)
{
    (void)state;
    need_attributes();
    write_file("hello");
    put(key);
    write_file("hellO"); /* in its place: the attribute stays */
    expect(STAMP_CHANGED, key, "");
    write_file("");
    expect(STAMP_CHANGED, key, "");
    write_file("hello, too");
    expect(STAMP_CHANGED, key, "");
    write_file("hello");
    expect(STAMP_SAME, key, "");
    write_file("");
    put(key);
    expect(STAMP_SAME, key, ""); /* an empty text is a result */
}

static void test_invalid_stamps_are_ignored(void **state)
{
    char much[3000], word[STAMP_WORD_SZ];
    (void)state;
    need_attributes();
    write_file("hello");
    put(key);
    char good[1024] = "";
    const ssize_t n = getxattr(path, STAMP_ATTRIBUTE, good, sizeof good);
    assert_true(n > 40);
    struct stamp_origin other = { .key = key, .name = "b.txt" };
    assert_int_equal(stamp_look(path, &other, word), STAMP_RENAMED);
    for (ssize_t i = 0; i < n; i++) /* each part has a hash of 64 bits */
        if (good[i] == '=') assert_int_equal(strspn(good + i + 1, "0123456789abcdef"), 16);
    for (ssize_t cut = 0; cut < n; cut++) { /* anything in its place, never SAME */
        setxattr(path, STAMP_ATTRIBUTE, good, (size_t)cut, 0);
        assert_int_not_equal(look_in(path, key, word), STAMP_SAME);
        good[cut] ^= 1;
        setxattr(path, STAMP_ATTRIBUTE, good, (size_t)n, 0);
        assert_int_not_equal(look_in(path, key, word), STAMP_SAME);
        good[cut] ^= 1;
    }
    memset(much, 'x', sizeof much);
    setxattr(path, STAMP_ATTRIBUTE, much, sizeof much, 0);
    expect(STAMP_NONE, key, "");
    much[sizeof much - 1] = '\0'; /* a key without room is not kept */
    put(much);
    assert_int_equal(look_in(path, much, word), STAMP_NONE);
    assert_int_equal(look_in("/tmp", key, word), STAMP_NONE);
    assert_int_equal(look_in("/tmp/steno/none", key, word), STAMP_MISSING);
    assert_int_equal(look_in("/etc/passwd/none", key, word), STAMP_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stamp_names_the_difference),
        cmocka_unit_test(test_bytes_that_change_are_seen),
        cmocka_unit_test(test_invalid_stamps_are_ignored),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
