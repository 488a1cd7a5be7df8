/* steno tests: tokenizers of language models. SPDX-License-Identifier: MIT
 *
 * A tokenizer.json is read, opened and used: whatever allocation fails, and whatever is wrong with it. Ids become text one by one without a
 * split character. */
#include "api/heap.h"
#include "folder.h"
#include "load/tokenizer.h"
#include "text/tokenizer.h"

#define ADDED "\"added_tokens\":[{\"id\":5,\"content\":\"<s>\",\"special\":true},{\"id\":6,\"content\":\"<t>\",\"special\":false}],"
static const char good[] = "{" ADDED "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"vocab\":"
                           "{\"a\":0,\"b\":1,\"\xc4\xa0\":2,\"ab\":3,\"\xc4\xa0" "ab\":4},\"merges\":[\"a b\",[\"\xc4\xa0\",\"ab\"]]}}";

static struct tokenizer_cut const cuts[] = { { "gpt-2", NULL, "gpt2", 0, 0, NULL, 0 },
                                             { "smollm", TOKENIZER_DIGITS, "gpt2-digits-1", 0, 0, NULL, 0 },
                                             { "x", "x", "digits-1", 0, 0, "XTokenizer", 1 }, { 0 } };
static struct tokenizer_names const names = { "gpt2", "pieces", "words", cuts, "gpt-2" };

static int read_text(struct tokenizer_file *t, struct weights *w, const char *text, steno_error *e)
{
    struct file f;
    memset(w, 0, sizeof *w);
    arena_init(&w->arena);
    meta_init(&w->meta, &w->arena);
    w->name = "made.up";
    *t = (struct tokenizer_file){ .names = &names, .bos = -1, .eos = -1, .eot = -1, .eom = -1 };
    file_from_memory(&f, "tokenizer.json", text, strlen(text));
    return tokenizer_read_json(t, &f, w, e);
}

/* Of a description whose tokens are normal ones, or special by their brackets. */
static int open_file(struct tokenizer **out, struct arena *a, const struct tokenizer_file *f, steno_error *e)
{
    struct token_def *token = arena_array(a, f->n, sizeof *token);
    struct token_pair *pair = arena_array(a, f->n_pairs + 1, sizeof *pair);
    *out = NULL;
    if (!token || !pair) return err_nomem(e, 1, "a test");
    for (uint32_t i = 0; i < f->n; i++)
        token[i] = (struct token_def){ f->entry[i].s, f->entry[i].n, 0,
                                       f->entry[i].type == VOCAB_CONTROL        ? TOKEN_CONTROL
                                       : f->entry[i].type == VOCAB_USER_DEFINED ? TOKEN_USER
                                                                                : TOKEN_TEXT };
    for (uint32_t i = 0; i < f->n_pairs; i++) pair[i] = (struct token_pair){ f->pair[i].s, f->pair[i].left, f->pair[i].right };
    const struct tokenizer_desc d = { .token = token, .n = (int32_t)f->n, .pattern = f->pattern, .pair = pair,
                                      .n_pairs = (int32_t)f->n_pairs, .bos = f->bos, .eos = f->eos };
    return tokenizer_open(out, a, &d, e);
}

/* Read, open, encode: 0, or the status it ended with. */
static int all_of_it(int32_t ids[16], int *n)
{
    struct tokenizer_file f;
    struct tokenizer *t = NULL;
    struct weights w;
    struct buf b = { 0 };
    steno_error e = { 0 };
    int rc = read_text(&f, &w, good, &e);
    if (!rc) rc = open_file(&t, &w.arena, &f, &e);
    if (!rc) rc = tokenizer_encode(t, "ab ab<s><t>b", 12, TOKENIZE_SPECIAL, &b, &e);
    *n = rc ? 0 : (int)(b.len / sizeof *ids);
    if (*n && *n <= 16) memcpy(ids, b.p, b.len);
    if (rc && !e.text[0]) rc = -100;
    buf_free(&b);
    if (t) tokenizer_close(t);
    arena_free(&w.arena);
    return rc;
}

static void test_special_tokens_are_cut_out_and_the_rest_is_joined(void **state)
{
    (void)state;
    static const int32_t want[] = { 3, 4, 5, 6, 1 };
    int32_t ids[16];
    int n;
    assert_int_equal(all_of_it(ids, &n), 0);
    assert_int_equal(n, 5);
    assert_memory_equal(ids, want, sizeof want);
}

static void test_any_allocation_may_fail(void **state)
{
    (void)state;
    need_counting();
    int32_t ids[16];
    int n, rc = STENO_ENOMEM;
    for (int64_t at = 0; rc; at++) {
        assert_true(at < 500);
        count_begin(at);
        rc = all_of_it(ids, &n);
        const struct heap h = count_end();
        assert_int_equal(h.bytes, 0);
        if (rc && rc != STENO_ENOMEM) fail_msg("allocation %d: status %d", (int)at, rc);
        if (h.calls <= at) assert_int_equal(rc, 0);
    }
    assert_int_equal(n, 5);
}

#define CUT_BY(parts) "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" parts \
                      "]},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}"

static void test_text_cutting_patterns_are_recognised_by_their_parts(void **state)
{
    (void)state;
    static const struct { const char *text, *pattern; } it[] = {
        { CUT_BY("{\"type\":\"ByteLevel\"}"), "gpt2" }, /* which has its pattern without a setting for it */
        { CUT_BY("{\"type\":\"ByteLevel\",\"use_regex\":true}"), "gpt2" },
        { CUT_BY("{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"ByteLevel\"}"), "gpt2-digits-1" },
        { CUT_BY("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"}},"
                 "{\"type\":\"ByteLevel\",\"use_regex\":false}"), "digits-1" },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct tokenizer_file f;
        struct weights w;
        steno_error e = { 0 };
        if (read_text(&f, &w, it[i].text, &e)) fail_msg("%s: %s", it[i].text, e.text);
        assert_string_equal(f.pattern, it[i].pattern);
        arena_free(&w.arena);
    }
}

static void test_files_that_are_wrong_are_refused_in_words(void **state)
{
    (void)state;
#define MODEL(vocab, merges) "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"vocab\":" vocab \
                             ",\"merges\":" merges "}}"
    static const struct { const char *text, *says; } bad[] = {
        { "[]", "object" },
        { "{}", "no model" },
        { "{\"model\":{\"type\":\"Unigram\"}}", "another kind" },
        { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}", "another kind" },
        { MODEL("{\"a\":0}", "[\"ab\"]"), "pair" },
        { MODEL("{\"a\":0}", "[[\"a\"]]"), "pair" },
        { MODEL("{\"a\":0}", "[[\"a\",\"b\",\"c\"]]"), "pair" },
        { MODEL("{\"a\":\"0\"}", "[]"), "id" },
        { MODEL("{\"a\":-1}", "[]"), "want 0.." },
        { MODEL("{\"a\":1}", "[]"), "no string has the id 0" },
        { MODEL("{\"a\":0,\"b\":0}", "[]"), "twice" },
        { MODEL("{\"a b\":0}", "[]"), "alphabet" },
        { MODEL("{}", "[]"), "without strings" },
        { CUT_BY("{\"type\":\"ByteLevel\",\"use_regex\":false}"), "pattern" },
        { CUT_BY("{\"type\":\"Digits\",\"individual_digits\":false},{\"type\":\"ByteLevel\"}"), "split by 'Digits, several together'" },
        { CUT_BY("{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"ByteLevel\",\"use_regex\":false}"), "pattern" },
        { CUT_BY("{\"type\":\"Punctuation\"},{\"type\":\"ByteLevel\"}"), "text is split by 'Punctuation'" },
        { CUT_BY("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"}},{\"type\":\"Digits\",\"individual_digits\":true},"
                 "{\"type\":\"ByteLevel\"}"), "pattern" },
        { CUT_BY("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"}},{\"type\":\"Split\",\"pattern\":{\"Regex\":\"y\"}},"
                 "{\"type\":\"ByteLevel\",\"use_regex\":false}"), "pattern" },
        { "{\"pre_tokenizer\":[{\"type\":\"ByteLevel\"}],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}", "another kind" },
        { "{\"added_tokens\":[{\"id\":0}],\"model\":{}}", "content" },
        { "{\"added_tokens\":[0],\"model\":{}}", "object" },
        { "{\"model\":{},\"model\":{}}", "twice" },
        { "{\"model\":{}} x", "tokenizer.json" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tokenizer_file f;
        struct weights w;
        steno_error e = { 0 };
        const int rc = read_text(&f, &w, bad[i].text, &e);
        if (rc != STENO_EFORMAT && rc != STENO_EUNSUPPORTED) fail_msg("%s: status %d", bad[i].text, rc);
        if (!strstr(e.text, bad[i].says)) fail_msg("%s: '%s' does not say '%s'", bad[i].text, e.text, bad[i].says);
        arena_free(&w.arena);
    }
}

/* A tokenizer whose tokens are bytes: ids are texts. */
static uint8_t byte[256];
static struct token_def byte_token[256];
static struct tokenizer *bytes_open(struct arena *a)
{
    struct tokenizer *t;
    steno_error e;
    for (int i = 0; i < 256; i++) byte[i] = (uint8_t)i, byte_token[i] = (struct token_def){ &byte[i], 1, 0, TOKEN_TEXT };
    const struct tokenizer_desc d = { .token = byte_token, .n = 256, .pattern = "gpt2", .bos = -1, .eos = -1 };
    arena_init(a);
    if (tokenizer_open(&t, a, &d, &e)) fail_msg("%s", e.text);
    return t;
}

/* Every byte is a token: characters come whole, one after the other, and what is none becomes U+FFFD. */
static void test_streams_never_split_a_character(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80\xff\xe4\xb8z\xe4\xb8";
    static const char want[] = "a\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd";
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    struct buf got = { 0 };
    struct token_stream s;
    token_stream_begin(&s, t, 0);
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        token_stream_push(&s, (uint8_t)text[i], &got);
        assert_int_equal(utf8_valid((const uint8_t *)got.p, got.len), got.len);
    }
    token_stream_end(&s, &got);
    assert_int_equal(got.len, sizeof want - 1);
    assert_memory_equal(got.p, want, got.len);
    buf_free(&got);
    tokenizer_close(t);
    arena_free(&a);
}

static void test_links_that_lead_nowhere_are_passed_over_before_others(void **state)
{
    (void)state;
    static const char *const name[] = { "chat_template.jinja", "chat_template.json", "tokenizer.json", "merges.txt" };
    static const char *const words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n";
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        folder_link_nowhere(&d, name[i]);
    for (int there = 0; there < 2; there++) {
        struct tokenizer_file t;
        struct weights w = { .name = "made.up" };
        steno_error e = { 0 };
        if (there) folder_text(&d, "vocab.txt", words);
        arena_init(&w.arena);
        meta_init(&w.meta, &w.arena);
        assert_int_equal(model_source_open(&w.source, d.path, NULL, NULL), STENO_OK);
        assert_int_equal(tokenizer_is_there(&w, &e), there ? 1 : STENO_EIO);
        if (!there) assert_non_null(strstr(e.text, "tokenizer.json': it is a link"));
        const int rc = tokenizer_read(&t, &w, &names, &e);
        if (there && rc) fail_msg("%d: %s", rc, e.text);
        assert_true(there || rc == STENO_EIO);
        model_source_close(&w.source);
        arena_free(&w.arena);
    }
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_tokens_are_cut_out_and_the_rest_is_joined),
        cmocka_unit_test(test_any_allocation_may_fail),
        cmocka_unit_test(test_text_cutting_patterns_are_recognised_by_their_parts),
        cmocka_unit_test(test_files_that_are_wrong_are_refused_in_words),
        cmocka_unit_test(test_streams_never_split_a_character),
        cmocka_unit_test(test_links_that_lead_nowhere_are_passed_over_before_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
