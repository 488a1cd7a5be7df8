/* steno-serve: calls of tools in the text of a model. SPDX-License-Identifier: MIT */
#include "call_reader.h"
#include "json_text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char opening[] = "<tool_call>", closing[] = "</tool_call>";
enum { N_OPENING = sizeof opening - 1, N_CLOSING = sizeof closing - 1, N_ID = 12, WHITE_MAX = 1024 };

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
}

static int put_text(struct call_reader *r, const char *text, size_t n) { return n ? r->text(r->user, text, n) : 0; }

/* ---- calls ----------------------------------------------------------------------------------------------------------------------- */

/* Of two members with one key the last one counts. @return NULL: it is not JSON, or there was no memory for it (to_held.failed) */
static json_t *read_json(struct call_reader *r, const char *s, size_t n)
{
    json_error_t why;
    json_t *v = json_loadb(s, n, 0, &why);
    if (!v && json_error_code(&why) == json_error_out_of_memory) r->to_held.failed = 1;
    return v;
}

/* {"name": ..., "arguments": {...}}, whose arguments may be a text with that object. @return the arguments, of the caller's, or NULL */
static json_t *read_call(struct call_reader *r, const char *json, size_t n, json_t **call)
{
    *call = read_json(r, json, n);
    const char *name = json_string_value(json_object_get(*call, "name"));
    json_t *arguments = json_object_get(*call, "arguments");
    if (!name || !ask_tools_allow(r->tools, name)) return NULL;
    if (json_is_object(arguments)) return json_incref(arguments);
    json_t *inner = NULL;
    if (json_is_string(arguments)) inner = read_json(r, json_string_value(arguments), json_string_length(arguments));
    else if (!arguments && !(inner = json_object())) r->to_held.failed = 1;
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

/* The mark that is held is none of a call: it is text, and what follows it is read again. */
static int refuse_mark(struct call_reader *r)
{
    const size_t n = r->n_white + N_OPENING;
    const int stops = put_text(r, r->held.p, n);
    drop(r, n);
    r->n_white = 0;
    r->in_call = 0;
    return stops;
}

/* The call that is held, whose mark ends at n. */
static int end_call(struct call_reader *r, size_t n)
{
    const size_t from = r->n_white + N_OPENING;
    json_t *call = NULL, *arguments = read_call(r, r->held.p + from, n - N_CLOSING - from, &call);
    int stops = 1;
    if (arguments) {
        stops = put_call(r, call, arguments);
        drop(r, n);
        r->n_white = 0;
        r->in_call = 0;
    } else if (!r->to_held.failed) stops = refuse_mark(r);
    json_decref(arguments);
    json_decref(call);
    return stops;
}

/* ---- JSON, byte by byte ---------------------------------------------------------------------------------------------------------- */

/* Before, in and behind the object of a call; n_closing: bytes of the mark that have come. */
enum { BEFORE, WITHIN, IN_TEXT, IN_ESCAPE, BEHIND };

static int scan_within(struct call_scan *c, char b)
{
    if (b == '"') c->state = IN_TEXT;
    else if (b == '{' || b == '[') c->depth++;
    else if (b == '}' || b == ']') c->state = --c->depth ? WITHIN : BEHIND;
    else return is_white(b) || (b && strchr("0123456789+-.eE:,aflnrstu", b));
    return 1;
}

/* @return 1: the call may go on; 0: this is none */
static int scan_byte(struct call_scan *c, char b)
{
    switch (c->state) {
    case BEFORE:
        if (b == '{') c->state = WITHIN, c->depth = 1;
        return b == '{' || is_white(b);
    case WITHIN: return scan_within(c, b);
    case IN_TEXT:
        if (b == '"' || b == '\\') c->state = b == '"' ? WITHIN : IN_ESCAPE;
        return (unsigned char)b >= ' ';
    case IN_ESCAPE: c->state = IN_TEXT; return (unsigned char)b >= ' ';
    default:
        if (!c->n_closing && is_white(b)) return 1;
        return b == closing[c->n_closing++];
    }
}

/* ---- the text -------------------------------------------------------------------------------------------------------------------- */

/* @return 1: it went on; 0: more text is needed; -1: the text ends */
static int step_call(struct call_reader *r)
{
    while (r->scan.at < r->held.n) {
        if (!scan_byte(&r->scan, r->held.p[r->scan.at++])) return refuse_mark(r) ? -1 : 1;
        if (r->scan.n_closing == N_CLOSING) return end_call(r, r->scan.at) ? -1 : 1;
    }
    return 0;
}

/* Length of the beginning of the mark that ends s. */
static size_t begun(const char *s, size_t n)
{
    size_t k = n < N_OPENING - 1 ? n : N_OPENING - 1;
    while (k && memcmp(s + n - k, opening, k) != 0) k--;
    return k;
}

/* Gives the text up to n, but keeps white space at its end, which may precede a call. */
static int give_text(struct call_reader *r, size_t n)
{
    size_t end = n;
    while (end > r->n_white && is_white(r->held.p[end - 1])) end--;
    if (end == r->n_white) end = 0; /* it is all white */
    if (n - end > WHITE_MAX) end = n - WHITE_MAX;
    r->n_white = n - end;
    const int stops = put_text(r, r->held.p, end);
    drop(r, end);
    return stops;
}

static int step_text(struct call_reader *r)
{
    const char *s = r->held.p + r->n_white;
    const size_t n = r->held.n - r->n_white;
    const char *mark = n ? memmem(s, n, opening, N_OPENING) : NULL;
    if (give_text(r, mark ? (size_t)(mark - r->held.p) : r->held.n - begun(s, n))) return -1;
    if (!mark) return 0;
    r->in_call = 1;
    r->scan = (struct call_scan){ .at = r->n_white + N_OPENING };
    return 1;
}

/* All that is held, as far as it can be read. @return -1: the text ends */
static int read_held(struct call_reader *r)
{
    int rc = 1;
    while (rc > 0 && r->held.n && !r->to_held.failed) rc = r->in_call ? step_call(r) : step_text(r);
    return r->to_held.failed ? -1 : rc;
}

int call_reader_add(struct call_reader *r, const char *text, size_t n)
{
    if (r->is_over) return 1;
    sink_bytes(&r->to_held, text, n);
    return read_held(r) < 0;
}

int call_reader_end(struct call_reader *r)
{
    int rc = r->to_held.failed ? -1 : 0;
    while (rc >= 0 && r->in_call) rc = refuse_mark(r) ? -1 : read_held(r); /* a call without an end */
    if (rc < 0 || r->is_over) return rc < 0 && !r->is_over;
    const int is_dropped = r->n_calls && r->n_white == r->held.n;
    if (!is_dropped) rc = put_text(r, r->held.p, r->held.n);
    drop(r, r->held.n);
    r->n_white = 0;
    return rc;
}
