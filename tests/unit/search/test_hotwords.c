/* steno tests: hot words. SPDX-License-Identifier: MIT
 *
 * Over a small vocabulary in which every push can be named; ids are looked up by their bytes. */
#include "api/heap.h"
#include "search/hotwords.h"
#include "toy_vocab.h"

enum { N_LOGITS = 320 };

static struct toy toy;
static struct bpe *bpe;

static int group_begin(void **state)
{
    (void)state;
    toy = TOY(" K", " Ku", "er", "ne", "ern", "et", "es", "Ku", " P", "Po", " Po", "st", "gr", "\xe4\xbd", "\xe4\xbd\xa0", "\xe5\xa5",
              "\xe5\xa5\xbd", " a", "a ", "it");
    return bpe_open(&bpe, &toy.v, NULL);
}

static int group_end(void **state)
{
    (void)state;
    bpe_close(bpe);
    toy_free(&toy);
    return 0;
}

static int32_t id_of(const char *s)
{
    const int32_t id = vocab_find(&toy.v, (const uint8_t *)s, strlen(s));
    if (id < 0) fail_msg("no id for \"%s\"", s);
    return id;
}

/* What a push of 2 adds after tokens (NULL ends; "<>" is an id that is no text), and whether it equals `want`: token, push, … */
static void expect_pushes(const char *lines, const char *const *after, const char *const *want, const float *by)
{
    struct hotwords *h;
    steno_error e;
    if (hotwords_open(&h, lines, bpe, &e)) fail_msg("%s", e.text);
    int32_t ids[32], n = 0;
    for (; after[n]; n++) ids[n] = strcmp(after[n], "<>") ? id_of(after[n]) : toy.n_text;
    float got[N_LOGITS] = { 0 }, expected[N_LOGITS] = { 0 };
    hotwords_push(h, got, ids, n, 2);
    for (int i = 0; want[i]; i++) expected[id_of(want[i])] = by[i];
    for (int32_t id = 0; id < N_LOGITS; id++) {
        assert_true(hotwords_push_of(h, id, ids, n, 2) == got[id]);
        if (got[id] == expected[id]) continue;
        fail_msg("after %d ids: id %d (\"%.*s\") is pushed by %g, want %g", (int)n, (int)id, id < toy.n_text ? (int)toy.v.len[id] : 0,
                 id < toy.n_text ? (const char *)toy.v.bytes[id] : "", (double)got[id], (double)expected[id]);
    }
    hotwords_close(h);
}

#define AFTER(...) (const char *const[]) { __VA_ARGS__, NULL }
#define TOKENS(...) (const char *const[]) { __VA_ARGS__, NULL }
#define BY(...) (const float[]) { __VA_ARGS__ }
static const char *const nothing[] = { NULL };

/* "Kubernetes" is Ku b er ne t es, as a word of its own " Ku" b er ne t es */
static void test_a_start_gets_half_the_boost_and_what_goes_on_all_of_it(void **state)
{
    (void)state;
    expect_pushes("Kubernetes", nothing, TOKENS(" Ku", "Ku"), BY(1, 1));
    expect_pushes("Kubernetes", AFTER(" a"), TOKENS(" Ku"), BY(1));
    expect_pushes("Kubernetes", AFTER(" a", " Ku"), TOKENS(" Ku", "b"), BY(1, 2));
    expect_pushes("Kubernetes", AFTER("Ku", "b"), TOKENS(" Ku", "er"), BY(1, 2));
    expect_pushes("Kubernetes", AFTER(" Ku", "b", "er", "ne", "t", "es"), TOKENS(" Ku"), BY(1));
    expect_pushes("Kubernetes", AFTER(" Ku", "b", "ne"), TOKENS(" Ku"), BY(1));
}

static void test_a_bare_start_waits_for_the_end_of_a_word(void **state)
{
    (void)state;
    expect_pushes("Kubernetes", AFTER("a", "-"), TOKENS(" Ku", "Ku"), BY(1, 1));
    expect_pushes("Kubernetes", AFTER("a "), TOKENS(" Ku", "Ku"), BY(1, 1));
    expect_pushes("Kubernetes", AFTER("a", "<>"), TOKENS(" Ku", "Ku"), BY(1, 1));
    expect_pushes("Kubernetes", AFTER("7"), TOKENS(" Ku"), BY(1));
    expect_pushes("Kubernetes", AFTER("\xe5\xa5\xbd"), TOKENS(" Ku", "Ku"), BY(1, 1));
    expect_pushes("Kubernetes", AFTER("\xa5", "\x80"), TOKENS(" Ku"), BY(1)); /* bytes of nothing */
}

static void test_no_word_starts_inside_a_character(void **state)
{
    (void)state;
    expect_pushes("Kubernetes", AFTER("\xe5"), nothing, NULL);
    expect_pushes("Kubernetes", AFTER("\xe5", "\xa5"), nothing, NULL);
    expect_pushes("Kubernetes", AFTER("a", "\xf0", "\x9f", "\x80"), nothing, NULL);
    expect_pushes("\xe4\xbd\xa0", AFTER("\xe5", "\xa5"), nothing, NULL);
    expect_pushes("Kubernetes", AFTER("\xe5", "\xa5", "\xbd"), TOKENS(" Ku", "Ku"), BY(1, 1));
}

static void test_ids_that_are_no_text_end_a_word(void **state)
{
    (void)state;
    expect_pushes("Kubernetes", AFTER(" Ku", "<>"), TOKENS(" Ku", "Ku"), BY(1, 1));
}

/* One is the beginning of the other, and both begin with " P": the longer suffix does not hide the shorter one. */
static void test_an_id_is_pushed_once_by_the_strongest(void **state)
{
    (void)state;
    expect_pushes("Kubernetes\nKubernetes\nKuber\nKubit", AFTER(" Ku", "b"), TOKENS(" Ku", "er", "it"), BY(1, 2, 2));
    expect_pushes("Ku\nb Ku", AFTER("b"), TOKENS(" Ku", " "), BY(2, 0));
    expect_pushes("erer\nb", AFTER("er", "er"), TOKENS(" ", "er", "b"), BY(0, 2, 0));
}

/* Neither the space before Chinese nor the first bytes of a character say which word it will be. */
static void test_an_undecided_text_is_a_start(void **state)
{
    (void)state;
    static const char hello[] = "\xe4\xbd\xa0\xe5\xa5\xbd";
    expect_pushes(hello, nothing, TOKENS("\xe4\xbd\xa0"), BY(1));
    expect_pushes(hello, AFTER("a"), TOKENS("\xe4\xbd\xa0"), BY(1));
    expect_pushes(hello, AFTER(" "), TOKENS("\xe4\xbd\xa0"), BY(1));
    expect_pushes(hello, AFTER("\xe4\xbd\xa0"), TOKENS("\xe4\xbd\xa0", "\xe5\xa5\xbd"), BY(1, 2));
    expect_pushes("\xe4\xbd\x80", nothing, TOKENS("\xe4\xbd"), BY(1)); /* a character of two tokens */
    expect_pushes("\xe4\xbd\x80", AFTER("\xe4\xbd"), TOKENS("\x80"), BY(1));
}

static void test_blank_lines_and_spaces_around_do_not_count(void **state)
{
    (void)state;
    expect_pushes("\n \t\n  Ku \r\n\nit", AFTER("."), TOKENS(" Ku", "Ku", "it"), BY(1, 1, 1));
}

static void expect_refused(const struct bpe *b, const char *lines, const char *why)
{
    struct hotwords *h = (struct hotwords *)&toy;
    steno_error e = { 0 };
    assert_int_equal(hotwords_open(&h, lines, b, &e), STENO_EARG);
    assert_null(h);
    if (!strstr(e.text, why)) fail_msg("\"%s\" does not say \"%s\"", e.text, why);
}

static void test_invalid_hot_words_are_refused_with_their_line(void **state)
{
    (void)state;
    expect_refused(bpe, "", "line 1");
    expect_refused(bpe, "\n \n", "line 2");
    expect_refused(bpe, "a\n\xff\xfe", "line 2: not UTF-8");
    char *s = malloc(4 * HOTWORDS_IDS);
    memset(s, 'x', 4 * HOTWORDS_IDS);
    memcpy(s, "a\nb\n", 4);
    s[4 + HOTWORD_IDS + 1] = 0;
    expect_refused(bpe, s, "line 3: 66 tokens");
    s[4 + HOTWORD_IDS + 1] = 'x';
    for (int i = 30; i < 4 * HOTWORDS_IDS; i += 31) s[i] = '\n';
    s[4 * HOTWORDS_IDS - 1] = 0;
    expect_refused(bpe, s, "tokens in all");
    free(s);
    struct vocab few = toy.v; /* without the byte z */
    struct arena a;
    struct bpe *b;
    arena_init(&a);
    uint32_t len[300];
    memcpy(len, toy.v.len, (size_t)toy.v.n * sizeof *len);
    len['z'] = 0;
    few.len = len;
    assert_int_equal(vocab_index(&few, &a, NULL), 0);
    assert_int_equal(bpe_open(&b, &few, NULL), 0);
    expect_refused(b, "a\nzoo", "line 2: byte 0x7a");
    bpe_close(b);
    arena_free(&a);
}

static void test_without_memory_nothing_stays_behind(void **state)
{
    (void)state;
    need_counting();
    for (int64_t fail_at = 0;; fail_at++) {
        struct hotwords *h;
        steno_error e = { 0 };
        count_begin(fail_at);
        const int rc = hotwords_open(&h, "Kubernetes\nPostgres\nKu ber", bpe, &e);
        if (!rc) hotwords_close(h);
        const struct heap heap_then = count_end();
        assert_int_equal(heap_then.bytes, 0);
        if (!rc && fail_at >= heap_then.calls) break;
        if (rc) assert_int_equal(rc, STENO_ENOMEM);
        if (rc) assert_true(e.text[0]);
        assert_true(fail_at < 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_gets_half_the_boost_and_what_goes_on_all_of_it),
        cmocka_unit_test(test_a_bare_start_waits_for_the_end_of_a_word),
        cmocka_unit_test(test_no_word_starts_inside_a_character),
        cmocka_unit_test(test_ids_that_are_no_text_end_a_word),
        cmocka_unit_test(test_an_id_is_pushed_once_by_the_strongest),
        cmocka_unit_test(test_an_undecided_text_is_a_start),
        cmocka_unit_test(test_blank_lines_and_spaces_around_do_not_count),
        cmocka_unit_test(test_invalid_hot_words_are_refused_with_their_line),
        cmocka_unit_test(test_without_memory_nothing_stays_behind),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
