/* steno tests: one value of a key, however the file stores it. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "harness.h"
#include "load/meta.h"

/* A table with the list `key` of n values of a type, stored in `bytes`. */
static void with_list(struct meta *m, struct arena *a, const char *key, enum meta_list_type type, const void *bytes, size_t n, size_t size)
{
    steno_error e;
    struct meta_list l = { .key = key, .type = type, .n = n, .size = n * size };
    file_from_memory(&l.file, "x.gguf", bytes, n * size);
    arena_init(a);
    meta_init(m, a);
    assert_int_equal(meta_add_list(m, &l, &e), STENO_OK);
}

static void with_number(struct meta *m, struct arena *a, double x)
{
    steno_error e;
    arena_init(a);
    meta_init(m, a);
    assert_int_equal(meta_add(m, &(struct meta_entry){ .key = "k", .kind = META_NUM, .x = x, .source = "x.gguf" }, &e), STENO_OK);
}

static void test_a_list_of_equal_values_is_one_value(void **state)
{
    (void)state;
    static const int32_t heads[4] = { 8, 8, 8, 8 };
    static const float base[3] = { 1e6f, 1e6f, 1e6f };
    struct meta m;
    struct arena a;
    steno_error e;
    int32_t i = 0;
    double x = 0;
    for (int optional = 0; optional < 2; optional++) {
        with_list(&m, &a, "k", META_LIST_I32, heads, 4, 4);
        assert_int_equal(meta_int(&m, "x", "k", 1, 8, optional, &i, &e), STENO_OK);
        assert_int_equal(i, 8);
        assert_int_equal(meta_int(&m, "x", "k", 1, 7, optional, &i, &e), STENO_EFORMAT);
        arena_free(&a);
        with_list(&m, &a, "k", META_LIST_F32, base, 3, 4);
        assert_int_equal(meta_num(&m, "x", "k", 1, 1e12, optional, &x, &e), STENO_OK);
        assert_true(x > 999999 && x < 1000001);
        assert_int_equal(meta_int(&m, "x", "k", 1, 1000000, optional, &i, &e), STENO_OK);
        assert_int_equal(i, 1000000);
        arena_free(&a);
    }
}

static void test_a_list_of_other_values_is_never_overlooked(void **state)
{
    (void)state;
    static const float values[600] = { 1, 2, 2 }, none[] = { 1, NAN, NAN };
    static const uint8_t truth[] = { 1, 1 };
    static const struct { const void *of; size_t n, size; enum meta_list_type type; int rc; const char *why; } list[] = {
        { values, 2, 4, META_LIST_F32, STENO_EUNSUPPORTED, "k is 1 in layer 0 and 2 in layer 1" },
        { values, 1, 4, META_LIST_F32, STENO_OK, "" },
        { values, 0, 4, META_LIST_F32, STENO_EFORMAT, "want one of each layer" },
        { values, 600, 4, META_LIST_F32, STENO_EFORMAT, "want one of each layer" },
        { none, 2, 4, META_LIST_F32, STENO_EUNSUPPORTED, "k is 1 in layer 0 and nan in layer 1" },
        { none + 1, 2, 4, META_LIST_F32, STENO_EUNSUPPORTED, "layers of different sizes" },
        { none + 1, 1, 4, META_LIST_F32, STENO_EFORMAT, "want 0..10" },
        { truth, 2, 1, META_LIST_BOOL, STENO_EFORMAT, "k is a list of true or false, want numbers" }, /* as one of them is refused */
        { truth, 2, 1, META_LIST_U8, STENO_OK, "" },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct meta m;
        struct arena a;
        steno_error e = { .text = "" };
        double x = 0;
        int32_t whole = -7;
        with_list(&m, &a, "k", list[i].type, list[i].of, list[i].n, list[i].size);
        assert_int_equal(meta_num(&m, "x", "k", 0, 10, 1, &x, &e), list[i].rc);
        if (list[i].rc) assert_non_null(strstr(e.text, list[i].why));
        assert_int_equal(meta_int(&m, "x", "k", 0, 10, 1, &whole, &e), list[i].rc);
        assert_int_equal(meta_whole(&m, "k", 0, 10, -7), whole);
        arena_free(&a);
    }
}

static void test_a_whole_number_may_be_stored_as_a_float(void **state)
{
    (void)state;
    static const struct { double x; int rc; } number[] = {
        { 4, STENO_OK }, { -0.0, STENO_EFORMAT }, { 4.5, STENO_EFORMAT }, { (double)NAN, STENO_EFORMAT },
        { (double)INFINITY, STENO_EFORMAT }, { 1e300, STENO_EFORMAT }, { -1e300, STENO_EFORMAT }, { 9223372036854775808.0, STENO_EFORMAT },
        { 100, STENO_OK }, { 101, STENO_EFORMAT },
    };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct meta m;
        struct arena a;
        steno_error e;
        int32_t out = -7;
        with_number(&m, &a, number[i].x);
        assert_int_equal(meta_int(&m, "x", "k", 1, 100, 1, &out, &e), number[i].rc);
        assert_int_equal(out, number[i].rc ? -7 : (int)number[i].x);
        assert_int_equal(meta_whole(&m, "k", 1, 100, -7), out);
        assert_int_equal(meta_whole(&m, "other", 1, 100, -7), -7);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_of_equal_values_is_one_value),
        cmocka_unit_test(test_a_list_of_other_values_is_never_overlooked),
        cmocka_unit_test(test_a_whole_number_may_be_stored_as_a_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
