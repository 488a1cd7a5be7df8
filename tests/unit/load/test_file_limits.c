/* steno tests: what files may hold at most. SPDX-License-Identifier: MIT
 *
 * Each limit of the readers below it, at it and above it. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "harness.h"
#include "load/meta.h"
#include "load/pickle.h"

/* ---- pickles ----------------------------------------------------------------------------------------------------------------- */

/* `a` n times, `b` m times and the end. @return the status */
static int pickle_of(const char *begin, char a, size_t n, char b, size_t m, const char *words)
{
    struct buf text = { 0 };
    struct arena arena;
    struct pickle_value v;
    steno_error e = { 0 };
    arena_init(&arena);
    buf_fmt(&text, "\x80\2%s", begin);
    const size_t at = text.len;
    for (size_t i = 0; i < n; i++) buf_add(&text, &a, 1);
    for (size_t i = 0; i < m; i++) buf_add(&text, &b, 1);
    buf_str(&text, ".");
    assert_false(text.err);
    assert_int_equal(text.len, at + n + m + 1);
    const int rc = pickle_read(&v, (const uint8_t *)text.p, text.len, "m.pt", NULL, 0, &arena, &e);
    if (rc && !strstr(e.text, words)) fail_msg("\"%s\", want \"%s\"", e.text, words);
    arena_free(&arena);
    buf_free(&text);
    return rc;
}

static void test_a_pickle_has_a_limit_of_marks_lists_and_values(void **state)
{
    (void)state;
    for (int over = -1; over <= 1; over++) {
        const int want = over > 0 ? STENO_EFORMAT : STENO_OK;
        const size_t n = (size_t)(PICKLE_MAX + over);
        assert_int_equal(pickle_of("", '(', n, 't', n, "marks"), want);
        assert_int_equal(pickle_of("(", 'N', n, 't', 1, "values in one place"), want);
        assert_int_equal(pickle_of("(", ')', n - 1, 't', 1, "lists, tuples and dictionaries"), want);
    }
}

/* ---- settings ---------------------------------------------------------------------------------------------------------------- */

static void test_a_configuration_has_a_limit_of_settings(void **state)
{
    (void)state;
    struct arena arena;
    struct meta m;
    steno_error e;
    arena_init(&arena);
    meta_init(&m, &arena);
    const struct meta_entry entry = { .key = "k", .source = "config.json", .kind = META_INT };
    for (int i = 0; i < META_ENTRIES_MAX; i++) assert_int_equal(meta_add(&m, &entry, &e), STENO_OK);
    assert_int_equal(m.n, META_ENTRIES_MAX);
    assert_int_equal(meta_add(&m, &entry, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "config.json: more than 65536 settings"));
    arena_free(&arena);
}

static int read_settings(int yaml, struct meta *m, const struct file *f, steno_error *e)
{
    return yaml ? meta_read_yaml(m, "", f, e) : meta_read_json(m, "", f, e);
}

static void test_a_configuration_has_a_limit_of_bytes(void **state)
{
    (void)state;
    enum { SIZE_MAX_SAID = 16 << 20 };
    static const char *const said[] = { "{\"a\": 1}", "a: 1\n" };
    char *text = malloc(SIZE_MAX_SAID + 1);
    assert_non_null(text);
    for (int i = 0; i < 2; i++)
        for (int over = -1; over <= 1; over++) {
            struct arena arena;
            struct meta m;
            struct file f;
            steno_error e;
            const size_t n = strlen(said[i]);
            memset(text, '\n', SIZE_MAX_SAID + 1);
            memcpy(text, said[i], n);
            arena_init(&arena);
            meta_init(&m, &arena);
            file_from_memory(&f, "config", text, (size_t)(SIZE_MAX_SAID + over));
            const int rc = read_settings(i, &m, &f, &e);
            if (rc != (over > 0 ? STENO_EFORMAT : STENO_OK)) fail_msg("%d bytes over: status %d \"%s\"", over, rc, e.text);
            assert_int_equal(m.n, over > 0 ? 0 : 1);
            if (rc) assert_non_null(strstr(e.text, "16777217 bytes, want at most 16777216 for settings"));
            arena_free(&arena);
        }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pickle_has_a_limit_of_marks_lists_and_values),
        cmocka_unit_test(test_a_configuration_has_a_limit_of_settings),
        cmocka_unit_test(test_a_configuration_has_a_limit_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
