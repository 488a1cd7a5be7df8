/* steno tests: byte-level byte-pair encoding. SPDX-License-Identifier: MIT
 *
 * Ids were made with openai-whisper's tokenizer rules; the first case is its own. A second encoder, which merges pair after pair by
 * searching the whole piece, stands here as the definition that the heap must agree with. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "real_vocab.h"
#include "text/bpe.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "toy_vocab.h"

static struct real_vocab *real;

static int open_real(void **state)
{
    (void)state;
    real = real_vocab_open();
    return 0;
}

static int close_real(void **state)
{
    (void)state;
    real_vocab_close(real);
    return 0;
}

static void expect_encoding(const char *text, const int32_t *want, size_t n)
{
    struct buf ids = { 0 };
    steno_error e = { 0 };
    if (bpe_encode(real->bpe, text, strlen(text), &ids, &e)) fail_msg("\"%s\": %s", text, e.text);
    expect_ids(text, &ids, want, n);
    buf_free(&ids);
}

#define EXPECT(text, ...) expect_encoding(text, (const int32_t[]) { __VA_ARGS__ }, sizeof((const int32_t[]) { __VA_ARGS__ }) / 4)

static void test_ids_equal_the_reference(void **state)
{
    (void)state;
    if (!real) skip();
    EXPECT(" Hello world, it's 2024! 「テスト」", 2425, 1002, 11, 309, 311, 45237, 0, 21675, 22985, 40498, 3253);
    EXPECT(" ", 220);
    EXPECT("\n", 198);
    EXPECT("  two  spaces \n\n and\ttabs  ", 220, 732, 220, 7673, 220, 198, 198, 293, 197, 83, 17243, 220, 220);
    EXPECT("I'LL we'll they've DON'T don't", 40, 6, 24010, 321, 603, 436, 600, 20403, 6, 51, 500, 380);
    EXPECT("naïve café Ünïcödé", 629, 15487, 303, 25118, 10713, 77, 15487, 66, 29747, 526);
    EXPECT("१२३ ٣٤ ⅷ 12345678901234567890", 8703, 100, 8703, 101, 8703, 102, 1447, 96, 149, 97, 672, 227, 115, 34466, 8465, 22452, 23,
           7771, 4762, 18, 8465, 22452, 23, 7771);
    EXPECT("你好，世界。", 26410, 171, 120, 234, 24486, 1543);
    EXPECT("Donaudampfschifffahrtsgesellschaftskapitän", 7450, 3751, 30157, 6145, 351, 602, 5398, 1373, 2880, 22055, 5161, 569, 270, 4029);
    EXPECT("--- ((( »«", 20075, 15265, 7, 8793, 36784);
}

static void test_spaces_are_unicodes_white_space_without_u180e(void **state)
{
    (void)state;
    if (!real) skip();
    EXPECT("a\u00a0b\u3000c\u180ed\u2028e", 64, 126, 254, 65, 756, 222, 66, 157, 254, 236, 67, 913, 101, 68);
}

static void test_special_tokens_in_text_are_ordinary_text(void **state)
{
    (void)state;
    if (!real) skip();
    EXPECT(" <|endoftext|>", 2627, 91, 3999, 844, 3828, 91, 29);
}

static void test_empty_text_gives_no_ids(void **state)
{
    (void)state;
    if (!real) skip();
    struct buf ids = { 0 };
    steno_error e;
    assert_int_equal(bpe_encode(real->bpe, "", 0, &ids, &e), STENO_OK);
    assert_int_equal(ids.len, 0);
    buf_free(&ids);
}

static void test_ids_are_appended(void **state)
{
    (void)state;
    if (!real) skip();
    struct buf ids = { 0 };
    steno_error e;
    assert_int_equal(bpe_encode(real->bpe, "\n", 1, &ids, &e), STENO_OK);
    assert_int_equal(bpe_encode(real->bpe, " ", 1, &ids, &e), STENO_OK);
    expect_ids("two calls", &ids, (const int32_t[]) { 198, 220 }, 2);
    buf_free(&ids);
}

static void test_ill_formed_bytes_are_encoded_one_by_one_and_come_back(void **state)
{
    (void)state;
    if (!real) skip();
    uint8_t text[2048];
    uint32_t rng = 7;
    for (size_t n = 0; n < sizeof text; n += 13) {
        for (size_t i = 0; i < n; i++) {
            rng = rng * 1664525u + 1013904223u;
            text[i] = (uint8_t)(rng >> (rng >> 30 ? 16 : 25));
        }
        struct buf ids = { 0 }, back = { 0 };
        steno_error e = { 0 };
        if (bpe_encode(real->bpe, (const char *)text, n, &ids, &e)) fail_msg("%zu bytes: %s", n, e.text);
        for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
            int32_t id;
            memcpy(&id, ids.p + i, sizeof id);
            vocab_append(&real->v, id, &back);
        }
        assert_int_equal(back.len, n);
        if (n) assert_memory_equal(back.p, text, n);
        buf_free(&ids);
        buf_free(&back);
    }
    struct buf ids = { 0 };
    steno_error e;
    assert_int_equal(bpe_encode(real->bpe, "\xf0\x9f\x8e", 3, &ids, &e), STENO_OK);
    expect_ids("three bytes of four", &ids, (const int32_t[]) { 172, 253, 236 }, 3);
    buf_free(&ids);
}

static void test_a_million_equal_letters_are_encoded(void **state)
{
    (void)state;
    if (!real) skip();
    enum { N = 1 << 20 };
    char *text = malloc(N);
    assert_non_null(text);
    static const char fill[] = "za1 \n";
    for (size_t k = 0; k < sizeof fill - 1; k++) {
        struct buf ids = { 0 };
        steno_error e;
        size_t total = 0;
        memset(text, fill[k], N);
        assert_int_equal(bpe_encode(real->bpe, text, N, &ids, &e), STENO_OK);
        for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
            int32_t id;
            memcpy(&id, ids.p + i, sizeof id);
            total += real->v.len[id];
        }
        assert_int_equal(total, N);
        buf_free(&ids);
    }
    free(text);
}

/* ---- a small vocabulary ------------------------------------------------------------------------------------------------------ */

enum { LETTERS = 3, SMALL = 60 };

/* Letters a, b, c and random joins of earlier tokens. */
static void small_vocab(struct vocab *v, struct arena *a, uint32_t *rng)
{
    steno_error e;
    assert_int_equal(vocab_init(v, a, SMALL, SMALL, &e), STENO_OK);
    for (int32_t i = 0; i < LETTERS; i++) vocab_set(v, i, (const uint8_t *)"abc" + i, 1);
    for (int32_t i = LETTERS; i < SMALL; i++) {
        *rng = *rng * 1664525u + 1013904223u;
        const int32_t x = (int32_t)((*rng >> 8) % (uint32_t)i), y = (int32_t)((*rng >> 16) % (uint32_t)i);
        uint8_t *s = arena_alloc(a, v->len[x] + v->len[y]);
        assert_non_null(s);
        memcpy(s, v->bytes[x], v->len[x]);
        memcpy(s + v->len[x], v->bytes[y], v->len[y]);
        vocab_set(v, i, s, v->len[x] + v->len[y]);
    }
    assert_int_equal(vocab_index(v, a, &e), STENO_OK);
}

/* The definition: join the leftmost pair of lowest rank until no pair is a token. */
static void encode_by_search(const struct vocab *v, const uint8_t *s, size_t n, struct buf *ids)
{
    size_t start[256], parts = n;
    for (size_t i = 0; i <= n; i++) start[i] = i;
    for (;;) {
        int32_t best = -1;
        size_t at = 0;
        for (size_t i = 0; i + 1 < parts; i++) {
            const int32_t rank = vocab_find(v, s + start[i], start[i + 2] - start[i]);
            if (rank >= 0 && (best < 0 || rank < best)) best = rank, at = i;
        }
        if (best < 0) break;
        memmove(start + at + 1, start + at + 2, (parts - at - 1) * sizeof *start);
        parts--;
    }
    const int32_t whole = vocab_find(v, s, n);
    if (whole >= 0) buf_add(ids, &whole, sizeof whole);
    for (size_t i = 0; i < parts && whole < 0; i++) {
        const int32_t id = vocab_find(v, s + start[i], start[i + 1] - start[i]);
        buf_add(ids, &id, sizeof id);
    }
}

static void test_heap_merges_like_a_search_for_the_lowest_rank(void **state)
{
    (void)state;
    uint32_t rng = 1;
    for (int round = 0; round < 400; round++) {
        struct arena a;
        struct vocab v;
        struct bpe *b;
        steno_error e;
        arena_init(&a);
        small_vocab(&v, &a, &rng);
        assert_int_equal(bpe_open(&b, &v, &e), STENO_OK);
        for (size_t n = 1; n < 200; n += 1 + n / 4) {
            char text[256];
            for (size_t i = 0; i < n; i++) {
                rng = rng * 1664525u + 1013904223u;
                text[i] = "abc"[(rng >> 16) % (round % 2 ? 3 : 2)];
            }
            text[n] = 0;
            struct buf got = { 0 }, want = { 0 };
            assert_int_equal(bpe_encode(b, text, n, &got, &e), STENO_OK);
            encode_by_search(&v, (const uint8_t *)text, n, &want);
            expect_ids(text, &got, (const int32_t *)(const void *)want.p, want.len / sizeof(int32_t));
            buf_free(&got);
            buf_free(&want);
        }
        bpe_close(b);
        arena_free(&a);
    }
}

static void test_byte_outside_the_vocabulary_is_named(void **state)
{
    (void)state;
    struct arena a;
    struct vocab v;
    struct bpe *b;
    struct buf ids = { 0 };
    steno_error e;
    uint32_t rng = 1;
    arena_init(&a);
    small_vocab(&v, &a, &rng);
    assert_int_equal(bpe_open(&b, &v, &e), STENO_OK);
    assert_int_equal(bpe_encode(b, "abd", 3, &ids, &e), STENO_EARG);
    assert_string_equal(e.text, "byte 0x64 of the text is not in the vocabulary");
    assert_int_equal(bpe_encode(b, "ab\xff", 3, &ids, &e), STENO_EARG);
    assert_string_equal(e.text, "byte 0xff of the text is not in the vocabulary");
    buf_free(&ids);
    bpe_close(b);
    bpe_close(NULL);
    arena_free(&a);
}

static void expect_toy(const struct vocab *v, const char *text, const int32_t *want, size_t n)
{
    struct bpe *b;
    struct buf ids = { 0 };
    steno_error e;
    if (bpe_open(&b, v, &e) || bpe_encode(b, text, strlen(text), &ids, &e)) fail_msg("%s", e.text);
    expect_ids(text, &ids, want, n);
    buf_free(&ids);
    bpe_close(b);
}

#define TOY_IDS(v, text, ...) expect_toy(v, text, (const int32_t[]) { __VA_ARGS__ }, sizeof((const int32_t[]) { __VA_ARGS__ }) / 4)

static void test_merges_of_the_vocabulary_are_ranks_instead_of_ids(void **state)
{
    (void)state;
    static const int32_t merge[][2] = { { 'b', 'c' }, { 'a', 'b' } }, wrong[][2] = { { 'a', 900 } };
    struct toy t = TOY("ab", "bc", "abc", "xy");
    struct bpe *b;
    steno_error e;
    TOY_IDS(&t.v, "abcd", 258, 'd');
    t.v.merge = merge;
    t.v.n_merges = 2;
    TOY_IDS(&t.v, "abcd", 'a', 257, 'd'); /* b and c first, and nothing joins a with them */
    TOY_IDS(&t.v, "abab", 256, 256);
    TOY_IDS(&t.v, "xy", 'x', 'y'); /* no merge leads to it */
    t.v.whole_first = 1;
    TOY_IDS(&t.v, "xy", 259);
    t.v.merge = wrong;
    t.v.n_merges = 1;
    assert_int_equal(bpe_open(&b, &t.v, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "merge 0 joins the ids 97 and 900"));
    toy_free(&t);
}

static void test_the_vocabularys_pattern_cuts_its_text(void **state)
{
    (void)state;
    struct toy t = TOY("12", "'L", "(a");
    assert_null(pretokenizer_pattern("unheard-of"));
    TOY_IDS(&t.v, "12(a", 256, '(', 'a');
    t.v.pattern = pretokenizer_pattern("digits-1"); /* digits stand alone, a mark goes with the letters behind it */
    TOY_IDS(&t.v, "12(a", '1', '2', 258);
    t.v.pattern = pretokenizer_pattern("digits-3");
    TOY_IDS(&t.v, "12(a", 256, 258);
    toy_free(&t);
}

/* Where pieces end, in bytes, as Hugging Face's tokenizers have them for Digits (individual_digits) before ByteLevel. */
static void test_digits_are_pieces_and_the_rest_is_cut_as_gpt2_does_between_them(void **state)
{
    (void)state;
    static const struct { const char *text; uint8_t end[16]; } cut[] = {
        { "", { 0 } },
        { "a", { 1, 0 } },
        { " 1", { 1, 2, 0 } },
        { "a 12b", { 1, 2, 3, 4, 5, 0 } },
        { "x  34", { 1, 3, 4, 5, 0 } },
        { "x\011\0115", { 1, 3, 4, 0 } },
        { "  7", { 2, 3, 0 } },
        { "don't 3's", { 3, 5, 6, 7, 9, 0 } },
        { "3's", { 1, 3, 0 } },
        { "12's", { 1, 2, 4, 0 } },
        { "I'm 9'm", { 1, 3, 4, 5, 7, 0 } },
        { "..9..", { 2, 3, 5, 0 } },
        { "a\012\0121\012\012b", { 1, 3, 4, 5, 6, 7, 0 } },
        { "\331\243\331\244 \302\275\342\205\247", { 2, 4, 5, 7, 10, 0 } },
        { "9 9  9   9", { 1, 2, 3, 5, 6, 9, 10, 0 } },
        { "a 1 ", { 1, 2, 3, 4, 0 } },
        { "1 ", { 1, 2, 0 } },
        { "1  ", { 1, 3, 0 } },
        { "\344\270\255\346\226\20712 \344\270\255\346\226\207", { 6, 7, 8, 15, 0 } },
        { "\302\2401", { 2, 3, 0 } },
        { "\343\200\200\343\200\2002", { 6, 7, 0 } },
        { "x \342\200\250 3", { 1, 6, 7, 0 } },
        { "v1.0.3-rc2", { 1, 2, 3, 4, 5, 6, 7, 9, 10, 0 } },
        { "$3,000.00 ok", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 0 } },
        { "  lead", { 1, 6, 0 } },
        { " \303\2511\303\251", { 3, 4, 6, 0 } },
        { "a\0111", { 1, 2, 3, 0 } },
        { "'1", { 1, 2, 0 } },
        { "' 1", { 1, 2, 3, 0 } },
    };
    int code;
    PCRE2_SIZE at;
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)pretokenizer_pattern("gpt2-digits-1"), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &code,
                                   &at, NULL);
    assert_non_null(re);
    pcre2_match_data *m = pcre2_match_data_create_from_pattern(re, NULL);
    assert_non_null(m);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        size_t from = 0, k = 0;
        const size_t n = strlen(cut[i].text);
        for (; from < n; k++) {
            assert_true(pcre2_match(re, (PCRE2_SPTR)cut[i].text, n, from, 0, m, NULL) > 0);
            assert_int_equal(pcre2_get_ovector_pointer(m)[0], from);
            from = pcre2_get_ovector_pointer(m)[1];
            if (from != cut[i].end[k]) fail_msg("'%s': piece %zu ends at %zu, want %u", cut[i].text, k, from, cut[i].end[k]);
        }
        assert_int_equal(cut[i].end[k], 0);
    }
    pcre2_match_data_free(m);
    pcre2_code_free(re);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits_are_pieces_and_the_rest_is_cut_as_gpt2_does_between_them),
        cmocka_unit_test(test_ids_equal_the_reference),
        cmocka_unit_test(test_spaces_are_unicodes_white_space_without_u180e),
        cmocka_unit_test(test_special_tokens_in_text_are_ordinary_text),
        cmocka_unit_test(test_empty_text_gives_no_ids),
        cmocka_unit_test(test_ids_are_appended),
        cmocka_unit_test(test_ill_formed_bytes_are_encoded_one_by_one_and_come_back),
        cmocka_unit_test(test_a_million_equal_letters_are_encoded),
        cmocka_unit_test(test_heap_merges_like_a_search_for_the_lowest_rank),
        cmocka_unit_test(test_byte_outside_the_vocabulary_is_named),
        cmocka_unit_test(test_merges_of_the_vocabulary_are_ranks_instead_of_ids),
        cmocka_unit_test(test_the_vocabularys_pattern_cuts_its_text),
    };
    return cmocka_run_group_tests(tests, open_real, close_real);
}
