/* steno tests: arbitrary chat templates. SPDX-License-Identifier: MIT
 *
 * Whatever a template is, it is known or not, and a prompt is made by what is known. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "text/chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint8_t byte[256];
static struct token_def token[257];
static struct tokenizer *tokenizer_of_bytes(struct arena *a)
{
    struct tokenizer *t = NULL;
    for (int i = 0; i < 256; i++) byte[i] = (uint8_t)i, token[i] = (struct token_def){ &byte[i], 1, 0, TOKEN_TEXT };
    token[256] = (struct token_def){ (const uint8_t *)"<s>", 3, 0, TOKEN_CONTROL };
    const struct tokenizer_desc d = { .token = token, .n = 257, .pattern = "gpt2", .bos = 256, .eos = 256 };
    if (tokenizer_open(&t, a, &d, NULL)) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const steno_message talk[] = { { "system", "S" }, { "user", "U" }, { "assistant", "A" }, { "user", "V" } };
    static const steno_message tools[] = { { "tool_definition", "{}" }, { "user", "U" }, { "assistant", "<think>T</think>A" },
                                           { "tool_call", "{}" }, { "tool", "R" }, { "tool", "<s>" }, { "tool_call", "{}" } };
    static struct arena kept;
    static struct tokenizer *t;
    struct arena a;
    struct chat_form f;
    struct buf ids = { 0 };
    steno_error e = { 0 };
    char *program = malloc(n + 1);
    if (!program) return 0;
    if (!t) t = tokenizer_of_bytes(&kept);
    memcpy(program, data, n);
    program[n] = 0;
    arena_init(&a);
    if (chat_recognise(&f, program, &a, &e)) abort();
    if (f.format == CHAT_NONE) abort();
    for (int from = 0; from < 2 && f.format != CHAT_UNKNOWN; from++) {
        const int rc = chat_encode(t, &f, talk + from, 4 - from, CHAT_ANSWER | CHAT_NO_THINKING, &ids, &e);
        if (rc && (rc != STENO_EARG || !e.text[0])) abort();
    }
    for (int from = 0; from < 7 && f.format != CHAT_UNKNOWN; from++) {
        const int rc = chat_encode(t, &f, tools + from, 7 - from, CHAT_ANSWER, &ids, &e);
        if (rc && (rc != STENO_EARG || !e.text[0])) abort();
    }
    buf_free(&ids);
    arena_free(&a);
    free(program);
    return 0;
}
