/* steno-serve: texts and vectors of language models as objects of OpenAI's API. SPDX-License-Identifier: MIT */
#include "answer_chat.h"
#include "answer_tokens.h"
#include "base64.h"
#include "sink.h"
#include "utf8.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- chat -------------------------------------------------------------------------------------------------------------------- */

static void put_head(struct sink *f, const struct chat_reply *r, const char *object)
{
    sink_text(f, "{\"id\": \"chatcmpl-");
    for (const char *c = r->id; *c; c++) /* an identifier has no other characters */
        if (strchr("-_.", *c) || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')) sink_char(f, *c);
    sink_format(f, "\", \"object\": \"%s\", \"created\": %" PRId64 ", \"model\": ", object, r->created);
    utf8_json(f, r->model);
    sink_text(f, ", \"choices\": [");
}

static void put_finish(struct sink *f, const struct chat_choice *c, int finish)
{
    if (c->logprobs) {
        sink_text(f, ", \"logprobs\": {\"content\": [");
        sink_bytes(f, c->logprobs, c->n_logprobs);
        sink_text(f, "], \"refusal\": null}");
    } else {
        sink_text(f, ", \"logprobs\": null");
    }
    sink_text(f, ", \"finish_reason\": ");
    if (finish == STENO_FINISH_NONE) sink_text(f, "null}");
    else sink_text(f, finish == STENO_FINISH_LENGTH ? "\"length\"}" : c->calls ? "\"tool_calls\"}" : "\"stop\"}");
}

static void put_calls(struct sink *f, const struct chat_choice *c)
{
    sink_text(f, ", \"tool_calls\": [");
    sink_bytes(f, c->calls, c->n_calls);
    sink_char(f, ']');
}

static void put_usage(struct sink *f, const struct chat_reply *r)
{
    sink_format(f, ", \"usage\": {\"prompt_tokens\": %" PRId64 ", \"completion_tokens\": %" PRId64 ", \"total_tokens\": %" PRId64
                   ", \"prompt_tokens_details\": {\"cached_tokens\": %" PRId64 "}}",
                r->prompt_tokens, r->text_tokens, r->prompt_tokens + r->text_tokens, r->cached_tokens);
}

char *chat_body(const struct chat_reply *r, const struct chat_choice *choices, int n_choices, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    put_head(&f, r, "chat.completion");
    for (const struct chat_choice *c = choices; c < choices + n_choices; c++) {
        sink_format(&f, "%s{\"index\": %d, \"message\": {\"role\": \"assistant\", \"content\": ", c > choices ? ", " : "", c->index);
        if (c->calls && !c->n_text) sink_text(&f, "null");
        else utf8_json_part(&f, c->text, c->n_text);
        sink_text(&f, ", \"refusal\": null");
        if (c->calls) put_calls(&f, c);
        sink_char(&f, '}');
        put_finish(&f, c, c->finish == STENO_FINISH_NONE ? STENO_FINISH_END : c->finish);
    }
    sink_char(&f, ']');
    put_usage(&f, r);
    sink_char(&f, '}');
    return body_taken(&f, &m, n);
}

/* An event with one choice, whose delta is `before` and maybe its text. */
static char *event(const struct chat_reply *r, const struct chat_choice *c, const char *before, int has_text, int finish, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    sink_text(&f, "data: ");
    put_head(&f, r, "chat.completion.chunk");
    sink_format(&f, "{\"index\": %d, \"delta\": {%s", c->index, before);
    if (has_text) utf8_json_part(&f, c->text, c->n_text);
    sink_char(&f, '}');
    put_finish(&f, c, finish);
    sink_text(&f, "]}\n\n");
    return body_taken(&f, &m, n);
}

char *chat_event_role(const struct chat_reply *r, int index, size_t *n)
{
    const struct chat_choice c = { .index = index, .text = "" };
    return event(r, &c, "\"role\": \"assistant\", \"content\": ", 1, STENO_FINISH_NONE, n);
}

char *chat_event_text(const struct chat_reply *r, const struct chat_choice *c, size_t *n)
{
    return event(r, c, "\"content\": ", 1, STENO_FINISH_NONE, n);
}

char *chat_event_calls(const struct chat_reply *r, const struct chat_choice *c, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    sink_text(&f, "\"tool_calls\": [");
    sink_bytes(&f, c->calls, c->n_calls);
    sink_char(&f, ']');
    char *delta = f.failed ? NULL : m.p, *text = delta ? event(r, c, delta, 0, STENO_FINISH_NONE, n) : NULL;
    free(m.p);
    return text;
}

char *chat_event_end(const struct chat_reply *r, const struct chat_choice *c, size_t *n)
{
    const struct chat_choice end = { .index = c->index, .calls = c->calls };
    return event(r, &end, "", 0, c->finish == STENO_FINISH_NONE ? STENO_FINISH_END : c->finish, n);
}

char *chat_event_usage(const struct chat_reply *r, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    sink_text(&f, "data: ");
    put_head(&f, r, "chat.completion.chunk");
    sink_char(&f, ']');
    put_usage(&f, r);
    sink_text(&f, "}\n\n");
    return body_taken(&f, &m, n);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------------------- */

static void put_list(struct sink *f, const float *x, int n)
{
    sink_char(f, '[');
    for (int i = 0; i < n; i++) {
        if (i) sink_text(f, ", ");
        if (isfinite(x[i])) sink_format(f, "%.9g", (double)x[i]);
        else sink_text(f, "null");
    }
    sink_char(f, ']');
}

static void put_base64(struct sink *f, const float *x, int n)
{
    unsigned char *bytes = malloc(4 * (size_t)n + 1);
    char *text = malloc(BASE64_ENCODED(4 * (size_t)n) + 1);
    if (!bytes || !text) f->failed = 1;
    for (int i = 0; i < n && !f->failed; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int k = 0; k < 4; k++) bytes[4 * i + k] = (unsigned char)(bits >> 8 * k);
    }
    if (!f->failed) {
        base64_encode(bytes, 4 * (size_t)n, text);
        sink_char(f, '"');
        sink_text(f, text);
        sink_char(f, '"');
    }
    free(bytes);
    free(text);
}

char *embed_body(const struct embed_reply *r, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    sink_text(&f, "{\"object\": \"list\", \"data\": [");
    for (int i = 0; i < r->count; i++) {
        const float *row = r->rows + (size_t)i * (size_t)r->width;
        sink_format(&f, "%s{\"object\": \"embedding\", \"index\": %d, \"embedding\": ", i ? ", " : "", i);
        if (r->is_base64) put_base64(&f, row, r->width);
        else put_list(&f, row, r->width);
        sink_char(&f, '}');
    }
    sink_text(&f, "], \"model\": ");
    utf8_json(&f, r->model);
    sink_format(&f, ", \"usage\": {\"prompt_tokens\": %" PRId64 ", \"total_tokens\": %" PRId64 "}}", r->prompt_tokens, r->prompt_tokens);
    return body_taken(&f, &m, n);
}
