/* steno tests: the pickle machine. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "load/pickle.h"
#include "torch_file.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))
#define PROTO2 "\x80\2"

enum { MAKE_DICT, CALL, VALUE };
static const struct pickle_name names[] = {
    [MAKE_DICT] = { "collections", "OrderedDict", PICKLE_USE_DICT },
    [CALL] = { "here", "call", PICKLE_USE_CALL },
    [VALUE] = { "here", "value", PICKLE_USE_VALUE },
};

struct run { struct arena a; struct pickle_value v; steno_error e; };

static int run(struct run *r, const void *data, size_t n)
{
    memset(r, 0, sizeof *r);
    const int rc = pickle_read(&r->v, data, n, "m.pt: data.pkl", names, COUNT(names), &r->a, &r->e);
    assert_int_equal(rc, r->e.status);
    return rc;
}

#define RUN(r, text) run_text(r, text, sizeof(text) - 1)
static void run_text(struct run *r, const char *text, size_t n)
{
    if (run(r, text, n)) fail_msg("%s", r->e.text);
}

#define REFUSED(text, words) refused(text, sizeof(text) - 1, words)
static void refused(const char *text, size_t n, const char *words)
{
    struct run r;
    uint8_t *copy = malloc(n ? n : 1); /* its own block, so that reading past the end is seen */
    assert_non_null(copy);
    memcpy(copy, text, n);
    const int rc = run(&r, copy, n);
    if (rc != STENO_EFORMAT || !strstr(r.e.text, words)) fail_msg("status %d \"%s\", want \"%s\"", rc, r.e.text, words);
    if (strncmp(r.e.text, "m.pt: data.pkl: ", 16)) fail_msg("\"%s\" does not say where", r.e.text);
    arena_free(&r.a);
    free(copy);
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static void test_scalars_are_read(void **state)
{
    (void)state;
    struct run r;
    RUN(&r, PROTO2 "(NK\xffM\xff\xffJ\xfe\xff\xff\xff\x8a\0\x8a\1\x80\x8a\5\0\0\0\0\1\x88\x89G\xbf\xf8\0\0\0\0\0\0X\2\0\0\0hi\x8c\1xt.");
    static const struct { int kind; int64_t i; } want[] = {
        { PICKLE_NONE, 0 }, { PICKLE_INT, 255 }, { PICKLE_INT, 65535 }, { PICKLE_INT, -2 }, { PICKLE_INT, 0 }, { PICKLE_INT, -128 },
        { PICKLE_INT, INT64_C(1) << 32 }, { PICKLE_BOOL, 1 }, { PICKLE_BOOL, 0 },
    };
    assert_int_equal(r.v.kind, PICKLE_TUPLE);
    assert_int_equal(r.v.list->n, 12);
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(r.v.list->item[i].kind, want[i].kind);
        assert_int_equal(r.v.list->item[i].i, want[i].i);
    }
    assert_true(r.v.list->item[9].x == -1.5);
    assert_true(pickle_is_text(&r.v.list->item[10], "hi"));
    assert_true(pickle_is_text(&r.v.list->item[11], "x"));
    arena_free(&r.a);
}

static void test_containers_are_filled(void **state)
{
    (void)state;
    struct run r;
    RUN(&r, PROTO2 "}q\0(X\1\0\0\0a](K\1K\2eX\1\0\0\0bK\1K\2K\3\x87uX\1\0\0\0aK\7sX\1\0\0\0c]K\5as.");
    assert_int_equal(r.v.kind, PICKLE_DICT);
    assert_int_equal(pickle_find(&r.v, "a")->i, 7); /* the later one */
    assert_int_equal(pickle_find(&r.v, "b")->list->n, 3);
    assert_int_equal(pickle_find(&r.v, "c")->list->item[0].i, 5);
    assert_null(pickle_find(&r.v, "d"));
    assert_null(pickle_find(pickle_find(&r.v, "b"), "a"));
    arena_free(&r.a);
}

static void test_calls_are_noted_and_dictionaries_made(void **state)
{
    (void)state;
    struct run r;
    RUN(&r, PROTO2 "(chere\ncall\nq\1K\7\x85Rccollections\nOrderedDict\n)R}X\1\0\0\0k)sb(chere\nvalue\nK\1tQh\1K\4\x85Rt.");
    const struct pickle_value *it = r.v.list->item;
    assert_int_equal(r.v.list->n, 4);
    assert_int_equal(it[0].kind, PICKLE_CALL);
    assert_int_equal(it[0].name, CALL);
    assert_int_equal(it[0].list->item[0].i, 7);
    assert_int_equal(it[1].kind, PICKLE_DICT);
    assert_int_equal(it[1].list->n, 0);
    assert_int_equal(it[2].kind, PICKLE_OUTSIDE);
    assert_int_equal(it[2].list->item[0].name, VALUE);
    assert_int_equal(it[3].list->item[0].i, 4);
    arena_free(&r.a);
}

static void test_protocol_4_is_read(void **state)
{
    (void)state;
    struct run r;
    RUN(&r, "\x80\4\x95\x1a\0\0\0\0\0\0\0\x8c\4here\x94\x8c\4call\x94\x93\x94K\1\x85\x94R\x94h\2\x86.");
    assert_int_equal(r.v.list->n, 2);
    assert_int_equal(r.v.list->item[0].kind, PICKLE_CALL);
    assert_int_equal(r.v.list->item[1].kind, PICKLE_NAME);
    arena_free(&r.a);
}

static void test_a_value_used_twice_is_shared(void **state)
{
    (void)state;
    struct run r;
    RUN(&r, PROTO2 "]q\7h\7h\7\x87.");
    assert_ptr_equal(r.v.list->item[0].list, r.v.list->item[2].list);
    arena_free(&r.a);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------------ */

static void test_nothing_but_known_names_is_asked_for(void **state)
{
    (void)state;
    REFUSED(PROTO2 "cos\nsystem\nX\2\0\0\0ls\x85R.", "byte 2: instruction 0x63 (GLOBAL): asks for os.system");
    REFUSED("\x80\4\x8c\5posix\x8c\6system\x93.", "instruction 0x93 (STACK_GLOBAL): asks for posix.system");
    REFUSED(PROTO2 "chere\ncall.x\n.", "asks for here.call.x");
    REFUSED(PROTO2 "chere\ncal\n.", "asks for here.cal,");
    REFUSED(PROTO2 "chere\nvalue\n)R.", "want something to call");
    REFUSED(PROTO2 "chere\ncall\n]R.", "want something to call");
    REFUSED(PROTO2 "K\1)R.", "want something to call");
    REFUSED(PROTO2 "ccollections\nOrderedDict\nK\1\x85R.", "want no arguments");
    REFUSED(PROTO2 "}chere\ncall\nb.", "want a dictionary of attributes");
    REFUSED(PROTO2 "chere\ncall\n)R}b.", "want a dictionary of attributes");
    REFUSED("\x80\4K\1K\2\x93.", "want two texts");
}

static void test_every_other_instruction_is_refused(void **state)
{
    (void)state;
    static const char known[] = "(.JKMNQRXabcehj]qrst)u}G\x80\x85\x86\x87\x88\x89\x8a\x8c\x93\x94\x95";
    for (int op = 0; op < 256; op++) {
        if (memchr(known, op, sizeof known - 1)) continue;
        const char data[] = { '\x80', 2, '}', ')', ')', (char)op, 0, 0, 0, 0, 0, 0, 0, 0, '.' };
        refused(data, sizeof data, "is not one that weights are written with");
    }
    REFUSED(PROTO2 "\x82\1.", "instruction 0x82 (EXT1)");
}

static void test_the_stack_is_not_taken_from_below_a_mark(void **state)
{
    (void)state;
    REFUSED(PROTO2 "R.", "byte 2: instruction 0x52 (REDUCE): takes more values");
    REFUSED(PROTO2 "]K\1(a.", "takes more values");
    REFUSED(PROTO2 "](q\1.", "takes more values");
    REFUSED(PROTO2 "K\1(\x85.", "takes more values");
    REFUSED(PROTO2 "(K\1u.", "takes more values");
    REFUSED(PROTO2 "K\1t.", "there is no mark");
    REFUSED(PROTO2 "](K\1u.", "want a dictionary below");
    REFUSED(PROTO2 "}(K\1e.", "want a list below");
    REFUSED(PROTO2 "}(K\1u.", "a key without a value");
    REFUSED(PROTO2 "K\1Q.", "want a tuple");
}

static void test_a_pickle_ends_with_one_value_and_nothing_behind_it(void **state)
{
    (void)state;
    REFUSED(PROTO2 ".", "want one value");
    REFUSED(PROTO2 "K\1K\1.", "want one value");
    REFUSED(PROTO2 "K\1(.", "want one value");
    REFUSED(PROTO2 "K\1.K", "bytes follow");
    REFUSED(PROTO2 "}", "ends at byte 3 without STOP");
    REFUSED("", "no pickle");
    REFUSED("}.", "no pickle");
    REFUSED("\x80\1}.", "want protocol 2 to 5");
    REFUSED("\x80\6}.", "want protocol 2 to 5");
    REFUSED(PROTO2 PROTO2 "}.", "want protocol 2 to 5");
}

static void test_a_cut_pickle_is_refused_at_every_length(void **state)
{
    (void)state;
    static const char whole[] = "\x80\4\x95\3\0\0\0\0\0\0\0}q\1r\1\0\0\0(X\2\0\0\0abJ\1\0\0\0uccollections\nOrderedDict\n)R"
                                "\x86\x8a\2\1\1\x86G\0\0\0\0\0\0\0\0\x86M\1\1\x86j\1\0\0\0\x86\x8c\1x\x86.";
    struct run r;
    RUN(&r, whole);
    arena_free(&r.a);
    for (size_t n = 0; n < sizeof whole - 1; n++) refused(whole, n, n ? "byte" : "no pickle");
}

static void test_a_memo_or_list_larger_than_the_pickle_allows_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    REFUSED(PROTO2 "}r\xf0\xff\xff\xff.", "want a place in the memo below 1048576");
    REFUSED(PROTO2 "}r\0\0\x10\0.", "want a place in the memo below 1048576");
    REFUSED(PROTO2 "}r\xff\xff\x0f\0.", "a place in the memo that no pickle of this size has");
    REFUSED(PROTO2 "h\1.", "nothing was put into this place");
    REFUSED(PROTO2 "}q\4h\3.", "nothing was put into this place");
    REFUSED(PROTO2 "]q\0h\0a.", "a value that contains itself");
    REFUSED(PROTO2 "}q\0(X\1\0\0\0ah\0u.", "a value that contains itself");
    REFUSED(PROTO2 "X\xff\xff\xff\xff.", "the pickle ends inside of it");
    REFUSED("\x80\4\x95\xff\xff\xff\xff\xff\xff\xff\xff}.", "the frame is longer");
    REFUSED(PROTO2 "\x8a\xff.", "more than 64 bits");
}

/* A million and one of the same instruction. */
static void test_more_than_a_million_values_marks_or_lists_are_refused(void **state)
{
    (void)state;
    static const struct { const char *begin, *again, *words; } bomb[] = {
        { "", "N", "more than 1048576 values" }, { "", "(", "more than 1048576 marks" },
        { "", ")", "more than 1048576" },        { ")", "\x85", "more than 1048576 lists" },
        { "]", "Na", "more than 1048576 values" }, { "}", "]0", "is not one" },
    };
    for (size_t i = 0; i < COUNT(bomb); i++) {
        struct buf b = { 0 };
        struct run r;
        buf_fmt(&b, "\x80\2%s", bomb[i].begin);
        for (int k = 0; k <= PICKLE_MAX; k++) buf_str(&b, bomb[i].again);
        assert_false(b.err);
        assert_int_equal(run(&r, b.p, b.len), STENO_EFORMAT);
        if (!strstr(r.e.text, bomb[i].words)) fail_msg("\"%s\", want \"%s\"", r.e.text, bomb[i].words);
        assert_true(r.a.total <= 96 * b.len);
        arena_free(&r.a);
        buf_free(&b);
    }
    struct buf b = { 0 }; /* sixteen lists that each keep the limit */
    struct run r;
    buf_add(&b, "\x80\2", 2);
    for (int i = 0; i < 16; i++) {
        buf_str(&b, "](");
        for (int k = 0; k < PICKLE_MAX / 2; k++) buf_str(&b, "N");
        buf_str(&b, "e");
    }
    assert_int_equal(run(&r, b.p, b.len), STENO_EFORMAT);
    assert_non_null(strstr(r.e.text, "more than 8388608 values in all"));
    assert_true(r.a.total <= 17 * ((size_t)8 * PICKLE_MAX));
    arena_free(&r.a);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_are_read),
        cmocka_unit_test(test_containers_are_filled),
        cmocka_unit_test(test_calls_are_noted_and_dictionaries_made),
        cmocka_unit_test(test_protocol_4_is_read),
        cmocka_unit_test(test_a_value_used_twice_is_shared),
        cmocka_unit_test(test_nothing_but_known_names_is_asked_for),
        cmocka_unit_test(test_every_other_instruction_is_refused),
        cmocka_unit_test(test_the_stack_is_not_taken_from_below_a_mark),
        cmocka_unit_test(test_a_pickle_ends_with_one_value_and_nothing_behind_it),
        cmocka_unit_test(test_a_cut_pickle_is_refused_at_every_length),
        cmocka_unit_test(test_a_memo_or_list_larger_than_the_pickle_allows_is_refused_before_memory_is_taken),
        cmocka_unit_test(test_more_than_a_million_values_marks_or_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
