/* steno tests: settings from YAML. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "folder.h"
#include "load/flat.h"

struct read { struct arena arena; struct meta meta; steno_error e; int rc; };

static struct read *read_file(const struct file *f)
{
    struct read *r = calloc(1, sizeof *r);
    assert_non_null(r);
    arena_init(&r->arena);
    meta_init(&r->meta, &r->arena);
    r->rc = meta_read_yaml(&r->meta, NULL, f, &r->e);
    return r;
}

static struct read *read_text(const char *text, size_t n)
{
    struct file f;
    file_from_memory(&f, "x.yaml", text, n);
    return read_file(&f);
}

static void read_free(struct read *r)
{
    arena_free(&r->arena);
    free(r);
}

static const struct meta_entry *entry(const struct read *r, const char *key)
{
    const struct meta_entry *it = meta_find(&r->meta, key);
    if (!it) fail_msg("no key %s", key);
    return it;
}

static void test_plain_scalars_are_typed_by_the_core_schema(void **state)
{
    (void)state;
    static const struct { const char *text; enum meta_kind kind; double x; } plain[] = {
        { "12", META_INT, 12 }, { "-3", META_INT, -3 }, { "+4", META_INT, 4 }, { "0x1F", META_INT, 31 }, { "0o17", META_INT, 15 },
        { "007", META_INT, 7 }, { "1e-5", META_NUM, 1e-5 }, { ".5", META_NUM, .5 }, { "2.", META_NUM, 2 }, { "0.1", META_NUM, 0.1 },
        { "-1.5E+3", META_NUM, -1500 }, { ".inf", META_NUM, INFINITY }, { "-.Inf", META_NUM, -INFINITY },
        { "true", META_BOOL, 1 }, { "False", META_BOOL, 0 }, { "null", META_NULL, 0 }, { "~", META_NULL, 0 }, { "", META_NULL, 0 },
        { "yes", META_TEXT, 0 }, { "0x", META_TEXT, 0 }, { "0xg", META_TEXT, 0 }, { "1.2.3", META_TEXT, 0 }, { "1e", META_TEXT, 0 },
        { "- 1", META_INT, 1 }, { "'12'", META_TEXT, 0 }, { "\"true\"", META_TEXT, 0 }, { "99999999999999999999", META_NUM, 1e20 },
        { "0xffffffffffffffff", META_TEXT, 0 },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char text[64];
        const char *gap = !strncmp(plain[i].text, "- ", 2) ? "\n  " : " ";
        const int n = snprintf(text, sizeof text, "k:%s%s\n", gap, plain[i].text);
        struct read *r = read_text(text, (size_t)n);
        if (r->rc) fail_msg("%s: %s", text, r->e.text);
        const struct meta_entry *it = &r->meta.entry[0];
        const double x = it->kind == META_BOOL ? (double)it->i : it->x;
        if (r->meta.n != 1 || it->kind != plain[i].kind || x != plain[i].x)
            fail_msg("'%s' is kind %d, %g", plain[i].text, (int)it->kind, x);
        read_free(r);
    }
}

static void test_block_and_flow_style_give_the_same_keys(void **state)
{
    (void)state;
    static const char text[] = "# a comment\nfrontend_conf:\n  lfr_m: 7\n  list:\n  - a\n  - {b: 1, c: [2, 3]}\nlong: |\n  two\n  lines\n";
    struct read *r = read_text(text, sizeof text - 1);
    if (r->rc) fail_msg("%s", r->e.text);
    assert_int_equal(r->meta.n, 6);
    assert_int_equal(entry(r, "frontend_conf.lfr_m")->i, 7);
    assert_string_equal(entry(r, "frontend_conf.list.0")->text, "a");
    assert_int_equal(entry(r, "frontend_conf.list.1.b")->i, 1);
    assert_int_equal(entry(r, "frontend_conf.list.1.c.1")->i, 3);
    assert_string_equal(entry(r, "long")->text, "two\nlines\n");
    read_free(r);
}

static void test_invalid_configurations_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } bad[] = {
        { "", "map of settings" }, { "- 1\n", "map of settings" }, { "word\n", "map of settings" }, { "a: 1\na: 2\n", "line 2: key 'a'" },
        { "a: &x 1\nb: 2\n", "line 1: anchors" }, { "a: 1\nb: *a\n", "line 2: aliases" }, { "a: !!str 1\n", "tags" },
        { "a: !x {}\n", "tags" }, { "a: &x [1]\n", "anchors" }, { "? [1]\n: 2\n", "text as key" },
        { "a: 1\n---\nb: 1\n", "second document" },
        { "a: [1\n", "line" }, { "a:\n\tb: 1\n", "line 2" }, { "a: \"x\\0y\"\n", "NUL" }, { "a: b: c\n", "line 1" },
        { "a: \xff\xfe\n", "line 1" }, { "a: '\n", "line" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct read *r = read_text(bad[i].text, strlen(bad[i].text));
        if (r->rc != STENO_EFORMAT || !strstr(r->e.text, bad[i].says) || strncmp(r->e.text, "x.yaml: line ", 13) != 0)
            fail_msg("'%s' gives %d, '%s', want '%s'", bad[i].text, r->rc, r->e.text, bad[i].says);
        read_free(r);
    }
}

static void test_a_list_of_thousands_of_tokens_is_left_out(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_str(&b, "before: 1\ntoken_list:\n");
    for (int i = 0; i < 8404; i++) buf_fmt(&b, "- 't%d'\n", i);
    buf_str(&b, "after: 2\n");
    struct read *r = read_text(b.p, b.len);
    if (r->rc) fail_msg("%s", r->e.text);
    assert_int_equal(r->meta.n, 2);
    assert_int_equal(entry(r, "after")->i, 2);
    read_free(r);
    buf_free(&b);
}

static void test_deep_nesting_is_refused_at_its_limit(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_str(&b, "a: ");
    for (int i = 0; i < 100000; i++) buf_str(&b, "[");
    struct read *r = read_text(b.p, b.len);
    assert_int_equal(r->rc, STENO_EFORMAT);
    read_free(r);
    buf_free(&b);
}

/* Of the small models in the collection, which are configured as the published ones are. */
static void test_a_real_configuration_gives_its_values(void **state)
{
    (void)state;
    static const char *const folder[] = { "sensevoice", "paraformer", "paraformer-bicif", "paraformer-online", "paraformer-seaco", "nano",
                                          "punc" };
    const char *shared = getenv("STENO_SHARED");
    if (!shared) skip();
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        char path[512];
        struct file f;
        steno_error e;
        snprintf(path, sizeof path, "%s/material/funasr/models/%s/pt/config.yaml", shared, folder[i]);
        if (file_open(&f, path, &e)) fail_msg("%s", e.text);
        struct read *r = read_file(&f);
        if (r->rc) fail_msg("%s", r->e.text);
        assert_int_equal(entry(r, "model")->kind, META_TEXT);
        if (i == 0) {
            assert_int_equal(entry(r, "frontend_conf.lfr_m")->i, 7);
            assert_true(entry(r, "encoder_conf.dropout_rate")->x == 0.05);
            assert_int_equal(entry(r, "encoder_conf.normalize_before")->kind, META_BOOL);
            assert_int_equal(entry(r, "frontend_conf.cmvn_file")->kind, META_NULL);
            assert_string_equal(entry(r, "tokenizer_conf.unk_symbol")->text, "<unk>");
        }
        read_free(r);
        file_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_scalars_are_typed_by_the_core_schema),
        cmocka_unit_test(test_block_and_flow_style_give_the_same_keys),
        cmocka_unit_test(test_invalid_configurations_are_refused_with_their_line),
        cmocka_unit_test(test_a_list_of_thousands_of_tokens_is_left_out),
        cmocka_unit_test(test_deep_nesting_is_refused_at_its_limit),
        cmocka_unit_test(test_a_real_configuration_gives_its_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
