/* steno tests: prompts of chat models. SPDX-License-Identifier: MIT
 *
 * tests/data/chat_templates.json (tests/golden/make/make_chat_templates.py) holds chat templates of model files, and the prompts that Jinja
 * writes by them. A tokenizer whose tokens are bytes shows the text of a prompt; one of pieces shows where spaces go. */
#include <jansson.h>
#include "api/heap.h"
#include "text/chat.h"

/* ---- texts */

static uint8_t byte[256];
static struct token_def byte_token[258];
static struct tokenizer *bytes_open(struct arena *a)
{
    struct tokenizer *t;
    steno_error e;
    for (int i = 0; i < 256; i++) byte[i] = (uint8_t)i, byte_token[i] = (struct token_def){ &byte[i], 1, 0, TOKEN_TEXT };
    byte_token[256] = (struct token_def){ (const uint8_t *)"<s>", 3, 0, TOKEN_CONTROL };
    byte_token[257] = (struct token_def){ (const uint8_t *)"</s>", 4, 0, TOKEN_CONTROL };
    const struct tokenizer_desc d = { .token = byte_token, .n = 258, .pattern = "gpt2", .bos = 256, .eos = 257 };
    arena_init(a);
    if (tokenizer_open(&t, a, &d, &e)) fail_msg("%s", e.text);
    return t;
}

/* The text of a prompt. @return the status of chat_encode */
static int prompt_of(struct buf *text, const struct tokenizer *t, const struct chat_form *f, const steno_message *m, int n, unsigned flags,
                     steno_error *e)
{
    struct buf ids = { 0 };
    const int rc = chat_encode(t, f, m, n, flags, &ids, e);
    if (!rc) tokenizer_decode(t, (const int32_t *)(const void *)ids.p, (int32_t)(ids.len / sizeof(int32_t)), 1, text);
    buf_free(&ids);
    return rc;
}

static int messages_of(steno_message *m, const json_t *all)
{
    const int n = (int)json_array_size(all);
    for (int i = 0; i < n; i++) {
        const json_t *it = json_array_get(all, (size_t)i);
        m[i] = (steno_message){ json_string_value(json_object_get(it, "role")), json_string_value(json_object_get(it, "content")) };
    }
    return n;
}

static int check_row(const struct tokenizer *t, const char *name, const struct chat_form *f, const json_t *row)
{
    steno_message m[16];
    steno_error e = { 0 };
    struct buf got = { 0 };
    const char *want = json_string_value(json_object_get(row, "text"));
    const int n = messages_of(m, json_object_get(row, "messages")), quiet = json_is_true(json_object_get(row, "quiet"));
    const int rc = prompt_of(&got, t, f, m, n, CHAT_ANSWER | (quiet ? CHAT_NO_THINKING : 0), &e);
    const int bad = want ? rc || !got.p || strcmp(got.p, want) != 0 : rc != STENO_EARG;
    if (bad) print_error("%s, %d messages, status %d (%s):\n%s\nwant:\n%s\n", name, n, rc, e.text, got.p ? got.p : "", want ? want : "");
    buf_free(&got);
    return bad;
}

static void test_prompts_are_those_of_the_templates(void **state)
{
    (void)state;
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    json_error_t je;
    json_t *all = json_load_file("tests/data/chat_templates.json", 0, &je);
    int bad = 0;
    if (!all) fail_msg("%s", je.text);
    assert_true(json_array_size(all) > 25);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *it = json_array_get(all, i), *rows = json_object_get(it, "rows");
        const char *name = json_string_value(json_object_get(it, "name"));
        struct chat_form f;
        steno_error e = { 0 };
        assert_int_equal(chat_recognise(&f, json_string_value(json_object_get(it, "template")), &a, &e), 0);
        const int known = f.format != CHAT_UNKNOWN;
        if (known != (json_array_size(rows) > 0)) {
            print_error("%s: format %d\n", name, (int)f.format);
            bad++;
        } else
            for (size_t k = 0; k < json_array_size(rows); k++) bad += check_row(t, name, &f, json_array_get(rows, k));
    }
    json_decref(all);
    tokenizer_close(t);
    arena_free(&a);
    if (bad) fail_msg("%d prompts differ", bad);
}

#define DATES "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
static void test_forms_that_are_named_and_dated_ones(void **state)
{
    (void)state;
    static const steno_message talk[] = { { "system", " S " }, { "user", " U\n" }, { "assistant", "A" }, { "user", "V" } };
    static const char dated[] = "{{ '<|start_header_id|>system<|end_header_id|>\n\n' }}{{ 'Cutting Knowledge Date: December 2023\n' }}";
    static const struct { enum chat_format format; int first, n; const char *want; } it[] = {
        { CHAT_ML, 0, 2, "<|im_start|>system\n S <|im_end|>\n<|im_start|>user\n U\n<|im_end|>\n<|im_start|>assistant\n" },
        { CHAT_INST, 0, 4, "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A </s><s>[INST] V [/INST]" },
        { CHAT_INST, 1, 1, "<s>[INST] U [/INST]" },
        { CHAT_TURNS_SYSTEM, 0, 2, "<bos><start_of_turn>user\n S \n\nU<end_of_turn>\n<start_of_turn>model\n" },
        { CHAT_HEADERS_DATED, 1, 1, "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n" DATES
          "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" },
        { CHAT_HEADERS_DATED, 0, 1, "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n" DATES
          "S<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" },
    };
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    struct chat_form f;
    steno_error e;
    for (size_t k = 0; k < sizeof it / sizeof *it; k++) {
        struct buf got = { 0 };
        f = chat_usual(it[k].format);
        assert_int_equal(prompt_of(&got, t, &f, talk + it[k].first, it[k].n, CHAT_ANSWER, &e), 0);
        assert_string_equal(got.p, it[k].want);
        buf_free(&got);
    }
    assert_int_equal(chat_recognise(&f, NULL, &a, &e), 0);
    assert_int_equal(f.format, CHAT_NONE);
    assert_int_equal(chat_recognise(&f, dated, &a, &e), 0);
    assert_int_equal(f.format, CHAT_HEADERS_DATED);
    tokenizer_close(t);
    arena_free(&a);
}

/* A text that holds a date is not made up: the caller gives one. */
static void test_a_system_text_with_a_date_is_asked_for(void **state)
{
    (void)state;
    static const steno_message talk[] = { { "system", "S" }, { "user", "U" } };
    static const char program[] =
        "{%- set today = strftime_now('%Y-%m-%d') %}{%- set default_system_message = 'You are Mistral. It is ' + today + '.' %}"
        "{{- bos_token }}{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}{%- else %}"
        "{%- set system_message = default_system_message %}{%- endif %}{{- '[SYSTEM_PROMPT]' + system_message + '[/SYSTEM_PROMPT]' }}"
        "{%- for message in loop_messages %}{%- if message['role'] == 'user' %}{{- '[INST]' + message['content'] + '[/INST]' }}"
        "{%- else %}{{- message['content'] + eos_token }}{%- endif %}{%- endfor %}";
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    struct buf got = { 0 };
    struct chat_form f;
    steno_error e;
    assert_int_equal(chat_recognise(&f, program, &a, &e), 0);
    assert_int_equal(prompt_of(&got, t, &f, talk, 2, CHAT_ANSWER, &e), 0);
    assert_string_equal(got.p, "<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]");
    assert_int_equal(prompt_of(&got, t, &f, talk + 1, 1, CHAT_ANSWER, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "system message"));
    buf_free(&got);
    tokenizer_close(t);
    arena_free(&a);
}

/* The parts of a program with tools. */
static const char tools_system[] =
    "{% if tools %}{{ '<|im_start|>system\n' }}{% if messages[0].role == 'system' %}{{ messages[0].content + '\n\n' }}{% endif %}"
    "{{ 'H<tools>' }}{% for tool in tools %}{{ '\n' }}{{ tool | tojson }}{% endfor %}{{ '\n</tools>T<|im_end|>\n' }}{% else %}"
    "{% if messages[0].role == 'system' %}{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% endif %}{% endif %}";
static const char tools_turns[] = "{% for m in messages %}{% if m.role == 'user' %}{{ '<|im_start|>' + m.role + '\n' + m.content }}"
                                  "{{ '<|im_end|>\n' }}{% elif m.role == 'assistant' %}{{ '<|im_start|>' + m.role + '\n' + content }}";
static const char tools_call[] =
    "{% for c in m.tool_calls %}{% if (loop.first and content) or (not loop.first) %}{{ '\n' }}{% endif %}"
    "{{ '<tool_call>\n{\"name\": \"' + c.name + '\", \"arguments\": ' }}{{ c.arguments | tojson }}{{ '}\n</tool_call>' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}";
static const char tools_result[] =
    "{% elif m.role == 'tool' %}{% if loop.first or (messages[loop.index0 - 1].role != 'tool') %}{{ '<|im_start|>user' }}{% endif %}"
    "{{ '\n<tool_response>\n' + m.content + '\n</tool_response>' }}{% if loop.last or (messages[loop.index0 + 1].role != 'tool') %}"
    "{{ '<|im_end|>\n' }}{% endif %}";
static const char tools_end[] = "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/* Templates without tools, or with a form of them that is not known, refuse their roles, and so does an order that no template has. */
static void test_tools_need_a_template_that_has_them(void **state)
{
    (void)state;
    static const char plain[] = "{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n<|im_start|>assistant\n' }}";
    static const steno_message talk[] = { { "user", "U" }, { "tool_definition", "{}" }, { "tool_call", "{}" }, { "tool", "R" }, {
        "function", "R" } };
    const struct { const char *part[5]; int first, n, rc; } it[] = {
        { { plain }, 0, 1, 0 }, { { plain }, 1, 1, STENO_EARG }, { { plain }, 2, 1, STENO_EARG }, { { plain }, 3, 1, STENO_EARG },
        { { tools_system, tools_turns, tools_call, tools_result, tools_end }, 1, 3, 0 },
        { { tools_system, tools_turns, tools_call, tools_result, tools_end }, 0, 2, STENO_EARG },
        { { tools_system, tools_turns, tools_call, tools_result, tools_end }, 4, 1, STENO_EARG },
        { { tools_system, tools_turns, tools_call, tools_end }, 1, 1, STENO_EARG },
        { { tools_turns, tools_call, tools_result, tools_end }, 1, 1, STENO_EARG },
        { { tools_system, tools_turns, tools_call, tools_result }, 1, 1, STENO_EARG },
        { { tools_system, plain, tools_call, tools_result, tools_end }, 1, 1, STENO_EARG },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct arena a;
        struct tokenizer *t = bytes_open(&a);
        struct buf program = { 0 }, got = { 0 };
        struct chat_form f;
        steno_error e = { 0 };
        for (int k = 0; k < 5 && it[i].part[k]; k++) buf_str(&program, it[i].part[k]);
        assert_int_equal(chat_recognise(&f, program.p, &a, &e), 0);
        const int rc = prompt_of(&got, t, &f, talk + it[i].first, it[i].n, CHAT_ANSWER, &e);
        if (rc != it[i].rc) fail_msg("%zu: status %d (%s), want %d", i, rc, e.text, it[i].rc);
        if (rc && it[i].first == 1) assert_non_null(strstr(e.text, "tools"));
        buf_free(&program);
        buf_free(&got);
        tokenizer_close(t);
        arena_free(&a);
    }
}

/* ---- spaces */

enum { PIECE_A = 33, PIECE_B, PIECE_SPACE, PIECE_LINE, PIECE_CONTROL, PIECE_USER, N_PIECES };
static struct tokenizer *pieces_open(struct arena *a, int space_first)
{
    static struct token_def token[N_PIECES];
    struct tokenizer *t;
    steno_error e;
    for (int i = 0; i < 33; i++) byte[i] = (uint8_t)(128 + i), token[i] = (struct token_def){ &byte[i], 1, 0, TOKEN_BYTE };
    token[PIECE_A] = (struct token_def){ (const uint8_t *)"a", 1, 0, TOKEN_TEXT };
    token[PIECE_B] = (struct token_def){ (const uint8_t *)"b", 1, 0, TOKEN_TEXT };
    token[PIECE_SPACE] = (struct token_def){ (const uint8_t *)" ", 1, 0, TOKEN_TEXT };
    token[PIECE_LINE] = (struct token_def){ (const uint8_t *)"\n", 1, 0, TOKEN_TEXT };
    token[PIECE_CONTROL] = (struct token_def){ (const uint8_t *)"<c>", 3, 0, TOKEN_CONTROL };
    token[PIECE_USER] = (struct token_def){ (const uint8_t *)"a\na", 3, 0, TOKEN_USER };
    const struct tokenizer_desc d = { .token = token, .n = N_PIECES, .by_chars = 1, .space_first = space_first, .bos = PIECE_B,
                                      .adds_bos = 1, .eos = -1 };
    arena_init(a);
    if (tokenizer_open(&t, a, &d, &e)) fail_msg("%s", e.text);
    return t;
}

/* "+text" is the program's, "-text" a user's. ids as letters: C control, U of a user, _ space, / line end. */
static void check_parts(int space_first, unsigned flags, const char *const *part, const char *want)
{
    static const char letters[] = "ab_/CU";
    struct token_part span[8];
    struct arena a;
    struct tokenizer *t = pieces_open(&a, space_first);
    struct buf ids = { 0 }, text = { 0 };
    char got[64];
    size_t n = 0;
    for (; part[n]; n++) {
        buf_str(&text, part[n] + 1);
        span[n] = (struct token_part){ text.len, part[n][0] == '+' };
    }
    assert_int_equal(tokenizer_encode_parts(t, text.p, span, n, flags, &ids, NULL), 0);
    const size_t n_ids = ids.len / sizeof(int32_t);
    assert_true(n_ids < sizeof got);
    for (size_t i = 0; i < n_ids; i++) got[i] = letters[((const int32_t *)(const void *)ids.p)[i] - PIECE_A];
    got[n_ids] = '\0';
    assert_string_equal(got, want);
    buf_free(&ids);
    buf_free(&text);
    tokenizer_close(t);
    arena_free(&a);
}

static void test_a_text_between_special_tokens_is_one(void **state)
{
    (void)state;
    check_parts(1, 0, (const char *const[]){ "+<c>a", "+\n", "-b a", "+<c>\n", NULL }, "C_a/b_aC_/");
    check_parts(0, 0, (const char *const[]){ "+<c>a", "+\n", "-b a", "+<c>\n", NULL }, "Ca/b_aC/");
    check_parts(1, 0, (const char *const[]){ "+a", "-", "-b", "+", "+a", NULL }, "_aba");
    check_parts(1, TOKENIZE_WHOLE, (const char *const[]){ "+<c>", "-a", NULL }, "bC_a");
    check_parts(1, 0, (const char *const[]){ NULL }, "");
    /* a user's text has no control tokens, nor does it complete one; tokens of any text are found across parts */
    check_parts(1, 0, (const char *const[]){ "+a", "-a\n", "-a", NULL }, "_aU");
    check_parts(1, 0, (const char *const[]){ "+b", "-a\nab", NULL }, "_bU_b");
}

/* The bytes of "<" and so on are no tokens here: what is left of a marker that a user wrote has none, and is left out. */
static void test_markers_of_users_are_text(void **state)
{
    (void)state;
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    static const struct { const char *text; size_t cut; int first, second, want; } it[] = {
        { "<s>", 3, 1, 0, 1 }, { "<s>", 3, 0, 1, 3 }, { "<s>", 1, 1, 0, 3 }, { "<s>", 1, 0, 1, 3 }, { "<s>", 2, 1, 0, 3 },
        { "<s>", 1, 1, 1, 3 }, { "<s><s>", 3, 1, 0, 4 }, { "<s><s>", 3, 0, 1, 4 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        const struct token_part part[] = { { it[i].cut, it[i].first }, { strlen(it[i].text), it[i].second } };
        struct buf ids = { 0 };
        assert_int_equal(tokenizer_encode_parts(t, it[i].text, part, 2, 0, &ids, NULL), 0);
        assert_int_equal(ids.len / sizeof(int32_t), it[i].want);
        buf_free(&ids);
    }
    tokenizer_close(t);
    arena_free(&a);
}

/* A template is read and a prompt made of it: 0, or the status it ended with. */
static int all_of_it(const struct tokenizer *t)
{
    static const steno_message talk = { "user", "U" };
    static const char program[] = "{% set system_message = 'S' %}{{ '<|im_start|>system\n' + system_message + '<|im_end|>\n' }}"
                                  "{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n<|im_start|>assistant\n' }}";
    struct arena a;
    struct buf got = { 0 }, with_tools = { 0 };
    struct chat_form f, tools = { 0 };
    steno_error e = { 0 };
    arena_init(&a);
    const char *const parts[] = { tools_system, tools_turns, tools_call, tools_result, "{% set c = c.split('</think>')[-1] %}", tools_end };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) buf_str(&with_tools, parts[k]);
    int rc = with_tools.err ? STENO_ENOMEM : chat_recognise(&tools, with_tools.p, &a, &e);
    if (!rc) assert_string_equal(tools.tools.head, "H<tools>");
    buf_free(&with_tools);
    if (!rc) rc = chat_recognise(&f, program, &a, &e);
    if (!rc) rc = prompt_of(&got, t, &f, &talk, 1, CHAT_ANSWER, &e);
    if (!rc && got.err) rc = STENO_ENOMEM;
    if (!rc) assert_string_equal(got.p, "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n");
    buf_free(&got);
    arena_free(&a);
    return rc;
}

static void test_any_allocation_may_fail(void **state)
{
    (void)state;
    need_counting();
    struct arena a;
    struct tokenizer *t = bytes_open(&a);
    for (int64_t at = 0, rc = STENO_ENOMEM; rc; at++) {
        assert_true(at < 200);
        count_begin(at);
        rc = all_of_it(t);
        const struct heap h = count_end();
        assert_int_equal(h.bytes, 0);
        if (rc) assert_int_equal(rc, STENO_ENOMEM);
        if (h.calls <= at) assert_int_equal(rc, 0);
    }
    tokenizer_close(t);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prompts_are_those_of_the_templates),
        cmocka_unit_test(test_forms_that_are_named_and_dated_ones),
        cmocka_unit_test(test_a_system_text_with_a_date_is_asked_for),
        cmocka_unit_test(test_tools_need_a_template_that_has_them),
        cmocka_unit_test(test_a_text_between_special_tokens_is_one),
        cmocka_unit_test(test_markers_of_users_are_text),
        cmocka_unit_test(test_any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
