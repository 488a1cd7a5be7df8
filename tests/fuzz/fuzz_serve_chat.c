/* steno: fuzzing of JSON bodies for language models. SPDX-License-Identifier: MIT
 *
 * The input is a body of both routes. What is read is complete, and an error has a reason. */
#include "ask_chat.h"
#include "ask_embed.h"
#include "call_reader.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_error(const struct api_error *e)
{
    if ((e->code != API_OK) != (e->message[0] != '\0') || (unsigned)e->code >= API_N_CODES) abort();
}

static int add_text(void *user, const char *text, size_t n)
{
    (void)text;
    *(size_t *)user += n;
    return 0;
}

static int add_call(void *user, int index, const char *item, size_t n)
{
    (void)user;
    (void)index;
    if (!n || item[n - 1] != '}') abort();
    return 0;
}

/* The body as an answer: what is no call stays text. */
static void check_calls(const struct ask_tools *t, const char *text, size_t n)
{
    size_t n_text = 0;
    struct call_reader r = { .tools = t, .text = add_text, .call = add_call, .user = &n_text };
    int stops = 0;
    call_reader_begin(&r);
    for (size_t at = 0, k = 1; at < n && !stops; at += k, k = k % 17 + 1) stops = call_reader_add(&r, text + at, n - at < k ? n - at : k);
    call_reader_end(&r);
    if (n_text > n) abort();
    call_reader_free(&r);
}

static void check_chat(const char *body, size_t n, int is_strict)
{
    struct ask_chat c;
    struct api_error e = { 0 };
    steno_generate_params p;
    if (ask_chat_read(&c, body, n, is_strict, &e) == API_OK) {
        if (c.messages.n < 1) abort();
        for (int i = 0; i < c.messages.n; i++)
            if (!c.messages.all[i].role || !c.messages.all[i].content) abort();
        if (c.tools.mode != TOOLS_OFF) check_calls(&c.tools, body, n);
        steno_generate_params_init(&p);
        if (ask_chat_fill(&c, &p, NULL, &e) == API_OK) abort(); /* there is no model */
        if (p.n_stop < 0 || p.n_stop > CHAT_STOPS_MAX) abort();
    }
    check_error(&e);
    if (memchr(c.ignored, '\0', sizeof c.ignored) == NULL || strpbrk(c.ignored, "\r\n")) abort();
    ask_chat_free(&c);
}

static void check_embed(const char *body, size_t n)
{
    struct ask_embed a;
    struct api_error e = { 0 };
    if (ask_embed_read(&a, body, n, 0, &e) == API_OK) {
        if (a.n_texts < 1 || a.n_texts > EMBED_TEXTS_MAX) abort();
        for (int i = 0; i < a.n_texts; i++)
            if (!a.texts[i] || !*a.texts[i]) abort();
    }
    check_error(&e);
    ask_embed_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *body = malloc(n + 1); /* sanitizers see its end */
    if (!body) return 0;
    memcpy(body, data, n);
    check_chat(body, n, 0);
    check_chat(body, n, 1);
    check_embed(body, n);
    free(body);
    return 0;
}
