/* steno tests: tokenizers of language models. SPDX-License-Identifier: MIT
 *
 * The tables are those of Hugging Face's tokenizers, and of llama.cpp where a GGUF file means something else. Ids both ways, of every text,
 * from every form of a model. What BERT's become has other spaces: Hugging Face leaves out some,
 * as people do before marks. */
#include <unistd.h>
#include "golden.h"
#include "npy.h"
#include <steno/steno.h>

enum { IDS = 1 << 14, TEXT = 1 << 16 };

/* is_bytes: text stays as it is; Hugging Face's files of Qwen compose characters first. */
static const struct { const char *table, *model; int is_gguf, is_bytes; } form[] = {
    { "gpt2", "tok/gpt2-vocab.gguf", 1, 1 },
    { "llama2", "models/llama/gguf/llama-F32.gguf", 1, 0 }, { "llama2", "models/llama/hf", 0, 0 },
    { "llama3", "models/llama3/gguf/llama3-Q4_0.gguf", 1, 1 }, { "llama3", "models/llama3/hf", 0, 1 },
    { "qwen2", "models/qwen3/gguf/qwen3-Q8_0.gguf", 1, 1 }, { "qwen2", "models/qwen3/hf", 0, 0 },
    { "gemma", "models/gemma/gguf/gemma-F16.gguf", 1, 0 }, { "gemma", "models/gemma/hf", 0, 0 },
    { "bert", "models/bert/gguf/bert-F16.gguf", 0, 0 }, { "bert", "models/bert/hf", 0, 0 }, { "bert", "models/bert/hf-plain", 0, 0 },
};
enum { FORMS = sizeof form / sizeof *form, WHOLE_FORMS = FORMS - 3 /* that keep all of a text */ };

static struct golden_path llm_file(const char *tail)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/llm/%s", shared, tail);
    return p;
}

static steno_model *llm_open(const char *tail)
{
    steno_model_params p;
    steno_error e;
    steno_model *m;
    steno_model_params_init(&p);
    p.index_only = 1;
    if (steno_model_open(&m, llm_file(tail).s, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static json_t *table_open(const char *name)
{
    char tail[64];
    snprintf(tail, sizeof tail, "tok/%s.json", name);
    json_error_t e;
    json_t *table = json_load_file(llm_file(tail).s, JSON_ALLOW_NUL, &e);
    if (!table) fail_msg("%s, line %d: %s", tail, e.line, e.text);
    return table;
}

/* A row's list under `key`, or what llama.cpp has there in its stead. */
static const json_t *ids_of(const json_t *row, const char *key, int is_gguf)
{
    char theirs[64];
    snprintf(theirs, sizeof theirs, "llamacpp_%s", key);
    const json_t *other = is_gguf ? json_object_get(row, theirs) : NULL;
    return other ? other : json_object_get(row, key);
}

static int check_ids(const steno_model *m, const json_t *row, const char *key, uint32_t flags, int k)
{
    static int32_t ids[IDS];
    const json_t *text = json_object_get(row, "text"), *want = ids_of(row, key, form[k].is_gguf || form[k].is_bytes);
    const int n = steno_tokenize_text(m, json_string_value(text), json_string_length(text), flags, ids, IDS);
    size_t at = 0;
    while (at < json_array_size(want) && (int)at < n && ids[at] == json_integer_value(json_array_get(want, at))) at++;
    if (n == (int)json_array_size(want) && n == (int)at) return 0;
    print_error("%s, %s of '%s': %d ids, want %zu; the first difference is at %zu\n", form[k].model, key, json_string_value(text), n,
                json_array_size(want), at);
    return 1;
}

static void test_ids_are_those_of_the_tables(void **state)
{
    (void)state;
    int bad = 0, n = 0;
    for (int k = 0; k < FORMS; k++) {
        steno_model *m = llm_open(form[k].model);
        json_t *table = table_open(form[k].table), *rows = json_object_get(table, "rows");
        for (size_t i = 0; i < json_array_size(rows); i++, n++) {
            const json_t *row = json_array_get(rows, i);
            bad += check_ids(m, row, "ids", 0, k);
            bad += check_ids(m, row, "ids_parse", STENO_TOKENIZE_SPECIAL, k);
            bad += check_ids(m, row, "ids_full", STENO_TOKENIZE_SPECIAL | STENO_TOKENIZE_WHOLE, k);
        }
        json_decref(table);
        steno_model_close(m);
    }
    if (bad || n < 100) fail_msg("%d of %d texts have other ids", bad, n);
}

/* Spaces aside. */
static int same_letters(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ') a++;
        while (*b == ' ') b++;
        if (*a != *b || !*a) return *a == *b;
    }
}

/* Ids in their order: no id splits a character, and the pieces are the whole. */
static int check_text(const steno_model *m, const json_t *row, int k)
{
    static int32_t ids[IDS];
    static char got[TEXT];
    const char *text = json_string_value(json_object_get(row, "text"));
    const json_t *want = json_object_get(row, "decode");
    const size_t n_text = json_string_length(json_object_get(row, "text"));
    const int n = steno_tokenize_text(m, text, n_text, STENO_TOKENIZE_SPECIAL, ids, IDS);
    const int64_t len = steno_detokenize(m, ids, n, got, sizeof got);
    /* What llama.cpp has other ids for, it has for the text as it stands. */
    const int own = form[k].is_bytes && json_object_get(row, "llamacpp_ids");
    const char *s = own ? text : json_string_value(want);
    const size_t n_want = own ? n_text : json_string_length(want);
    if (len == (int64_t)n_want && !memcmp(got, s, n_want)) return 0;
    if (k >= WHOLE_FORMS && len >= 0 && same_letters(got, s)) return 0;
    print_error("%s: '%s' becomes '%s', want '%s'\n", form[k].model, text, got, s);
    return 1;
}

static void test_texts_are_those_of_the_tables(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0; k < FORMS; k++) {
        steno_model *m = llm_open(form[k].model);
        json_t *table = table_open(form[k].table), *rows = json_object_get(table, "rows");
        for (size_t i = 0; i < json_array_size(rows); i++) bad += check_text(m, json_array_get(rows, i), k);
        json_decref(table);
        steno_model_close(m);
    }
    if (bad) fail_msg("%d texts differ", bad);
}

/* Bytes that are no characters are kept as they are. */
static void test_bytes_that_are_no_text_come_back(void **state)
{
    (void)state;
    static const char *const bytes[] = { "\xff", "\xc3", "\xc3(", "\xe2\x82", "a\xf4\x90\x80\x80z", "\xed\xa0\x80", "\xf0\x9f\x98" };
    for (int k = 0; k < WHOLE_FORMS; k++) {
        steno_model *m = llm_open(form[k].model);
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            int32_t ids[32];
            char got[64], piece[32];
            size_t len = 0;
            const int n = steno_tokenize_text(m, bytes[i], strlen(bytes[i]), 0, ids, 32);
            assert_in_range(n, 1, 32);
            for (int j = 0; j < n; j++) {
                const int64_t at = steno_token_bytes(m, ids[j], piece, sizeof piece);
                assert_in_range(at, 1, sizeof piece);
                memcpy(got + len, piece, (size_t)at);
                len += (size_t)at;
            }
            const size_t skip = len > strlen(bytes[i]); /* the space before it */
            assert_int_equal(len - skip, strlen(bytes[i]));
            assert_memory_equal(got + skip, bytes[i], len - skip);
        }
        steno_model_close(m);
    }
}

/* The same letter a million times takes no longer than other text, whatever the form. */
static void test_one_letter_a_million_times(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    static const char letter[] = { 'a', ' ', '<', '\n', '\xe2' };
    char *text = malloc(N);
    assert_non_null(text);
    for (int k = 0; k < FORMS; k += 2)
        for (size_t i = 0; i < sizeof letter; i++) {
            steno_model *m = llm_open(form[k].model);
            memset(text, letter[i], N);
            assert_true(steno_tokenize_text(m, text, N, STENO_TOKENIZE_SPECIAL, NULL, 0) >= (k < WHOLE_FORMS));
            steno_model_close(m);
        }
    free(text);
}

static void test_markers_in_what_a_user_writes_are_text(void **state)
{
    (void)state;
    static const char text[] = "<|im_start|>system<|im_end|>";
    steno_model *m = llm_open("models/qwen3/hf");
    int32_t ids[64], special[64];
    const int n = steno_tokenize(m, text, ids, 64);
    const int n_special = steno_tokenize_text(m, text, sizeof text - 1, STENO_TOKENIZE_SPECIAL, special, 64);
    assert_true(n > n_special && n_special > 2);
    assert_false(steno_token_ends(m, special[0]));
    assert_true(steno_token_ends(m, special[n_special - 1]));
    for (int i = 0; i < n; i++) assert_true(ids[i] != special[0] && !steno_token_ends(m, ids[i]));
    assert_int_equal(steno_tokenize_text(m, text, sizeof text - 1, 8, ids, 64), STENO_EARG);
    steno_model_close(m);
}

/* ---- conversations */

static int check_chat(const steno_model *m, const char *model, const json_t *row)
{
    static int32_t ids[IDS];
    steno_message message[8];
    steno_error e;
    const json_t *all = json_object_get(row, "messages"), *want = json_object_get(row, "ids_fragments");
    const size_t n = json_array_size(all);
    assert_in_range(n, 1, 8);
    for (size_t i = 0; i < n; i++) {
        const json_t *it = json_array_get(all, i);
        message[i] = (steno_message){ json_string_value(json_object_get(it, "role")), json_string_value(json_object_get(it, "content")) };
    }
    uint32_t flags = json_is_true(json_object_get(row, "add_generation_prompt")) ? STENO_CHAT_ANSWER : 0;
    if (json_is_false(json_object_get(row, "enable_thinking"))) flags |= STENO_CHAT_NO_THINKING;
    const int got = steno_chat_tokenize(m, message, (int)n, flags, ids, IDS, &e);
    if (json_object_get(row, "error")) return got != STENO_EARG || !strstr(e.text, "system");
    size_t at = 0;
    while (at < json_array_size(want) && (int)at < got && ids[at] == json_integer_value(json_array_get(want, at))) at++;
    if (got == (int)json_array_size(want) && got == (int)at) return 0;
    print_error("%s: %d ids of '%s', want %zu; the first difference is at %zu\n", model, got,
                json_string_value(json_object_get(row, "text")), json_array_size(want), at);
    return 1;
}

static void test_conversations_are_those_of_the_templates(void **state)
{
    (void)state;
    static const struct { const char *table, *model; } chat[] = {
        { "qwen3", "models/qwen3/hf" }, { "qwen3", "models/qwen3/gguf/qwen3-Q8_0.gguf" },
        { "llama3", "models/llama3/hf" }, { "llama3", "models/llama3/gguf/llama3-Q4_0.gguf" },
        { "gemma", "models/gemma/hf" }, { "gemma", "models/gemma/gguf/gemma-F16.gguf" }, { "gemma3", "models/gemma3/hf" },
    };
    int bad = 0;
    for (size_t k = 0; k < sizeof chat / sizeof *chat; k++) {
        char tail[64];
        snprintf(tail, sizeof tail, "chat/%s.json", chat[k].table);
        steno_model *m = llm_open(chat[k].model);
        json_t *table = json_open(llm_file(tail).s), *rows = json_object_get(table, "rows");
        assert_true(json_array_size(rows) > 5);
        for (size_t i = 0; i < json_array_size(rows); i++) bad += check_chat(m, chat[k].model, json_array_get(rows, i));
        json_decref(table);
        steno_model_close(m);
    }
    if (bad) fail_msg("%d conversations differ", bad);
}

static void test_conversations_that_have_no_format_are_refused(void **state)
{
    (void)state;
    steno_error e;
    int32_t ids[64];
    const steno_message good = { "user", "Hello" }, bad = { "narrator", "Hello" }, none = { "user", NULL };
    steno_model *m = llm_open("models/llama/hf");
    assert_int_equal(steno_chat_tokenize(m, &good, 1, 0, ids, 64, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "no chat template"));
    steno_model_close(m);
    m = llm_open("models/qwen3/hf");
    assert_int_equal(steno_chat_tokenize(m, &bad, 1, 0, ids, 64, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "narrator"));
    assert_int_equal(steno_chat_tokenize(m, &none, 1, 0, ids, 64, &e), STENO_EARG);
    assert_int_equal(steno_chat_tokenize(m, &good, 1, 4, ids, 64, &e), STENO_EARG);
    steno_model_close(m);
}

/* A file that has a vocabulary and nothing else can be described, and has no sessions. */
static void test_a_vocabulary_by_itself_opens_for_its_text(void **state)
{
    (void)state;
    steno_model *m;
    steno_session *s;
    steno_error e;
    steno_model_info i = { .size = sizeof i };
    assert_int_not_equal(steno_model_open(&m, llm_file("tok/gpt2-vocab.gguf").s, NULL, &e), 0);
    m = llm_open("tok/gpt2-vocab.gguf");
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, &e), STENO_EARG);
    assert_int_equal(steno_model_info_get(m, &i), 0);
    assert_int_equal(i.session_bytes, 0);
    assert_int_equal(i.n_vocab, 561);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_those_of_the_tables),
        cmocka_unit_test(test_texts_are_those_of_the_tables),
        cmocka_unit_test(test_bytes_that_are_no_text_come_back),
        cmocka_unit_test(test_one_letter_a_million_times),
        cmocka_unit_test(test_markers_in_what_a_user_writes_are_text),
        cmocka_unit_test(test_conversations_are_those_of_the_templates),
        cmocka_unit_test(test_conversations_that_have_no_format_are_refused),
        cmocka_unit_test(test_a_vocabulary_by_itself_opens_for_its_text),
    };
    if (access(llm_file("tok/gpt2.json").s, R_OK)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the collection of language models\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
