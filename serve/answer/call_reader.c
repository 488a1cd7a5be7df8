/* steno-serve: calls of tools in the text of a model. SPDX-License-Identifier: MIT */
#include "call_reader.h"
#include "json_text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char opening[] = "<tool_call>", closing[] = "</tool_call>";
enum { N_OPENING = sizeof opening - 1, N_CLOSING = sizeof closing - 1, N_ID = 12 };

void call_reader_begin(struct call_reader *r)
{
    r->to_held = sink_to_memory(&r->held);
}

void call_reader_free(struct call_reader *r)
{
    free(r->held.p);
    r->held = (struct sink_memory){ 0 };
}

static int is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* Forgets the first n bytes that are held. */
static void drop(struct call_reader *r, size_t n)
{
    if (n) memmove(r->held.p, r->held.p + n, r->held.n - n);
    r->held.n -= n;
    r->searched = 0;
}

static int put_text(struct call_reader *r, const char *text, size_t n) { return n ? r->text(r->user, text, n) : 0; }

/* ---- calls ----------------------------------------------------------------------------------------------------------------------- */

/* {"name": ..., "arguments": {...}}, whose arguments may be a text with that object. @return the arguments, of the caller's, or NULL */
static json_t *read_call(const struct call_reader *r, const char *json, size_t n, json_t **call)
{
    *call = json_loadb(json, n, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(*call, "name"));
    json_t *arguments = json_object_get(*call, "arguments");
    if (!name || !ask_tools_allow(r->tools, name)) return NULL;
    if (!arguments) return json_object();
    if (json_is_object(arguments)) return json_incref(arguments);
    json_t *inner = json_is_string(arguments) ? json_loads(json_string_value(arguments), JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_is_object(inner)) return inner;
    json_decref(inner);
    return NULL;
}

/* The members of a call, with an id of its own. */
static void put_item(struct sink *f, const json_t *call, const json_t *arguments)
{
    unsigned char id[N_ID] = { 0 };
    struct sink_memory memory = { 0 };
    struct sink text = sink_to_memory(&memory);
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id) f->failed = 1;
    put_json_text(&text, arguments);
    json_t *as_text = text.failed ? NULL : json_stringn(memory.p, memory.n);
    sink_text(f, "\"id\": \"call_");
    for (int i = 0; i < N_ID; i++) sink_format(f, "%02x", id[i]);
    sink_text(f, "\", \"type\": \"function\", \"function\": {\"name\": ");
    put_json_text(f, json_object_get(call, "name"));
    sink_text(f, ", \"arguments\": ");
    if (as_text) put_json_text(f, as_text);
    else f->failed = 1;
    sink_text(f, "}}");
    json_decref(as_text);
    free(memory.p);
}

static int put_call(struct call_reader *r, const json_t *call, const json_t *arguments)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    put_item(&f, call, arguments);
    const int stops = f.failed ? (r->to_held.failed = 1) : r->call(r->user, r->n_calls, memory.p, memory.n);
    free(memory.p);
    r->n_calls++;
    r->is_over = r->tools->is_single;
    return stops || r->is_over;
}

/* The call that is held, up to its end at n. */
static int end_call(struct call_reader *r, size_t n)
{
    json_t *call = NULL, *arguments = read_call(r, r->held.p, n, &call);
    int stops;
    if (arguments) stops = put_call(r, call, arguments);
    else stops = put_text(r, opening, N_OPENING) || put_text(r, r->held.p, n + N_CLOSING);
    json_decref(arguments);
    json_decref(call);
    drop(r, n + N_CLOSING);
    r->in_call = 0;
    return stops;
}

/* ---- the text -------------------------------------------------------------------------------------------------------------------- */

static const char *find(const char *s, size_t n, const char *word, size_t n_word)
{
    return n ? memmem(s, n, word, n_word) : NULL;
}

/* Length of the beginning of s that is text in any case: behind it are white space and the beginning of a mark. */
static size_t settled(const char *s, size_t n)
{
    size_t k = n < N_OPENING - 1 ? n : N_OPENING - 1;
    while (k && memcmp(s + n - k, opening, k) != 0) k--;
    n -= k;
    while (n && is_white(s[n - 1])) n--;
    return n;
}

/* @return 1: it went on; 0: more text is needed; -1: the text ends */
static int step(struct call_reader *r)
{
    const char *s = r->held.p;
    if (r->in_call) {
        const size_t from = r->searched > N_CLOSING ? r->searched - N_CLOSING : 0;
        const char *end = find(s + from, r->held.n - from, closing, N_CLOSING);
        r->searched = r->held.n;
        return end ? end_call(r, (size_t)(end - s)) ? -1 : 1 : 0;
    }
    const char *mark = find(s, r->held.n, opening, N_OPENING);
    size_t n = mark ? (size_t)(mark - s) : settled(s, r->held.n);
    while (mark && n && is_white(s[n - 1])) n--;
    if (put_text(r, s, n)) return -1;
    drop(r, mark ? (size_t)(mark - s) + N_OPENING : n);
    r->in_call = mark != NULL;
    return r->in_call;
}

int call_reader_add(struct call_reader *r, const char *text, size_t n)
{
    int rc = 1;
    if (r->is_over) return 1;
    sink_bytes(&r->to_held, text, n);
    while (rc > 0 && r->held.n && !r->to_held.failed) rc = step(r);
    return rc < 0 || r->to_held.failed;
}

int call_reader_end(struct call_reader *r)
{
    size_t n = r->held.n;
    int stops = 0;
    if (r->is_over || r->to_held.failed) return r->to_held.failed;
    if (r->in_call) stops = put_text(r, opening, N_OPENING);
    else while (r->n_calls && n && is_white(r->held.p[n - 1])) n--;
    if (!stops) stops = put_text(r, r->held.p, n);
    drop(r, r->held.n);
    r->in_call = 0;
    return stops;
}
