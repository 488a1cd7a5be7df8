/* steno: JSON. SPDX-License-Identifier: MIT */
#include "load/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/utf8.h"
#include "load/decimal.h"

/* ---- the bounded reader ----------------------------------------------------------------------------------------------------------- */

enum { WANT_VALUE, WANT_FIRST, WANT_KEY, WANT_COMMA, WANT_END }; /* FIRST: key, value or the end of the object or array just opened */

int json_open(struct json_reader *j, const struct file *f, uint64_t off, uint64_t n, struct arena *a, steno_error *e)
{
    *j = (struct json_reader){ .name = f->name, .n = (size_t)n, .base = off, .line = 1, .want = WANT_VALUE };
    j->text = n < SIZE_MAX ? arena_alloc(a, (size_t)n + 1) : NULL;
    if (!j->text) return err_nomem(e, (size_t)n, "the text of a file");
    return file_read(f, off, j->text, (size_t)n, e);
}

int json_fail(const struct json_reader *j, steno_error *e, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(e, STENO_EFORMAT, "%s: line %" PRIu32 ", byte %" PRIu64 ": %s", j->name, j->line,
                   j->base + (j->why ? j->at : j->start), j->why ? j->why : text);
}

static enum json_event fail(struct json_reader *j, const char *why)
{
    j->why = why;
    return JSON_FAILED;
}

/* ---- strings ----------------------------------------------------------------------------------------------------------------- */

static int hex4(const char *s, uint32_t *out)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        const int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (d < 0) return 0;
        v = v << 4 | (uint32_t)d;
    }
    *out = v;
    return 1;
}

/* The character of \uXXXX, or of a surrogate pair; j->at is after the u. 0: invalid. */
static uint32_t unicode_escape(struct json_reader *j)
{
    uint32_t c, low;
    const char *s = j->text + j->at;
    const size_t left = j->n - j->at;
    if (left < 4 || !hex4(s, &c) || (c >= 0xdc00 && c < 0xe000)) return 0;
    j->at += 4;
    if (c < 0xd800 || c >= 0xe000) return c;
    if (left < 10 || s[4] != '\\' || s[5] != 'u' || !hex4(s + 6, &low) || low < 0xdc00 || low >= 0xe000) return 0;
    j->at += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Decode an escape; j->at is after the backslash. @return bytes written to out, 0: invalid */
static size_t escape(struct json_reader *j, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (j->at >= j->n) return 0;
    const char c = j->text[j->at++];
    if (c == 'u') {
        const uint32_t cp = unicode_escape(j);
        return cp ? utf8_put(out, cp) : 0;
    }
    const char *p = c ? strchr(from, c) : NULL;
    if (!p) return 0;
    *out = to[p - from];
    return 1;
}

/* j->at is after the opening quote. */
static int read_string(struct json_reader *j)
{
    char *out = j->s = j->text + j->at;
    for (;;) {
        if (j->at >= j->n) return fail(j, "the text ends inside a string");
        const char c = j->text[j->at];
        uint32_t cp;
        size_t n;
        if (c == '"') break;
        if ((unsigned char)c < 0x20) return fail(j, "a control character in a string");
        if (c == '\\') {
            j->at++;
            n = escape(j, out);
            if (!n) return fail(j, "an escape that is wrong or not allowed");
        } else {
            n = utf8_next(j->text + j->at, j->n - j->at, &cp);
            if (!n) return fail(j, "bytes that are not UTF-8");
            memmove(out, j->text + j->at, n);
            j->at += n;
        }
        out += n;
    }
    j->at++;
    *out = 0; /* at the latest in place of the closing quote */
    j->len = (size_t)(out - j->s);
    return 1;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static void skip_space(struct json_reader *j)
{
    for (; j->at < j->n; j->at++) {
        const char c = j->text[j->at];
        if (c == '\n') j->line++;
        else if (c != ' ' && c != '\t' && c != '\r') return;
    }
}

static int in_object(const struct json_reader *j)
{
    return j->depth && (j->is_object >> (j->depth - 1) & 1);
}

static void value_done(struct json_reader *j)
{
    j->want = j->depth ? WANT_COMMA : WANT_END;
}

static enum json_event open_level(struct json_reader *j, int object)
{
    if (j->depth == JSON_DEPTH) return fail(j, "nested more than 64 deep");
    const uint64_t bit = UINT64_C(1) << j->depth++;
    j->is_object = object ? j->is_object | bit : j->is_object & ~bit;
    j->at++;
    j->want = WANT_FIRST;
    return object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_event read_number(struct json_reader *j)
{
    int whole;
    const char *s = j->text + j->at;
    const size_t n = decimal_scan(s, j->n - j->at, 1, &whole);
    if (!n) return fail(j, "a number that is not well-formed");
    j->at += n;
    j->x = decimal_value(s, n);
    value_done(j);
    return whole && decimal_whole(s, n, &j->i) ? JSON_INT : JSON_NUM;
}

static enum json_event read_word(struct json_reader *j)
{
    static const struct { char text[6]; enum json_event kind; int64_t i; } word[] = {
        { "true", JSON_BOOL, 1 }, { "false", JSON_BOOL, 0 }, { "null", JSON_NULL, 0 },
    };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const size_t n = strlen(word[i].text);
        if (n > j->n - j->at || memcmp(j->text + j->at, word[i].text, n) != 0) continue;
        j->at += n;
        j->i = word[i].i;
        value_done(j);
        return word[i].kind;
    }
    return fail(j, "want a value");
}

static enum json_event read_value(struct json_reader *j, int c)
{
    if (c == '{' || c == '[') return open_level(j, c == '{');
    if (c != '"') return c == '-' || (c >= '0' && c <= '9') ? read_number(j) : read_word(j);
    j->at++;
    if (!read_string(j)) return JSON_FAILED;
    value_done(j);
    return JSON_TEXT;
}

static enum json_event read_key(struct json_reader *j, int c)
{
    if (c != '"') return fail(j, "want a key in quotes");
    j->at++;
    if (!read_string(j)) return JSON_FAILED;
    skip_space(j);
    if (j->at >= j->n || j->text[j->at] != ':') return fail(j, "want a colon behind a key");
    j->at++;
    j->want = WANT_VALUE;
    return JSON_KEY;
}

static int peek(const struct json_reader *j)
{
    return j->at < j->n ? (uint8_t)j->text[j->at] : -1;
}

enum json_event json_next(struct json_reader *j)
{
    if (j->why) return JSON_FAILED;
    skip_space(j);
    j->start = j->at;
    int c = peek(j);
    if (j->want == WANT_END) return c < 0 ? JSON_EOF : fail(j, "text follows the value");
    if (c < 0) return fail(j, "the text ends inside a value");
    const int object = in_object(j);
    if ((j->want == WANT_FIRST || j->want == WANT_COMMA) && c == (object ? '}' : ']')) {
        j->at++;
        j->depth--;
        value_done(j);
        return JSON_CLOSE;
    }
    if (j->want == WANT_COMMA) {
        if (c != ',') return fail(j, object ? "want a comma or the end of the object" : "want a comma or the end of the list");
        j->at++;
        skip_space(j);
        j->start = j->at;
        c = peek(j);
        j->want = object ? WANT_KEY : WANT_VALUE;
    }
    return j->want != WANT_VALUE && object ? read_key(j, c) : read_value(j, c);
}

void json_skip(struct json_reader *j, enum json_event kind)
{
    if (kind != JSON_OBJECT && kind != JSON_ARRAY) return;
    const int outer = j->depth - 1;
    while (j->depth > outer && json_next(j) != JSON_FAILED) continue;
}

/* ---- a tree ----------------------------------------------------------------------------------------------------------------------- */

enum { KEY_MAX = 256 };

/* A node for each opening and each value: a text of n bytes has at most n nodes. */
static uint32_t count_most(const char *text, size_t n)
{
    uint32_t most = 1;
    for (size_t i = 0; i < n; i++) most += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return most;
}

static int has_key(const struct json_tree *t, uint32_t object, uint32_t last, const char *key)
{
    for (uint32_t i = t->node[object].child; i && i < last; i = t->node[i].next)
        if (!strcmp(t->node[i].key, key)) return 1;
    return 0;
}

/* Append a node. */
static void add(struct json_tree *t, struct json_reader *j, uint32_t in, uint32_t last[JSON_DEPTH + 1], int depth, enum json_event kind,
                const char *key)
{
    const uint32_t at = t->n++;
    struct json_node *v = &t->node[at];
    *v = (struct json_node){ .kind = kind, .parent = in, .key = key, .i = j->i, .x = j->x, .from = (uint32_t)j->start,
                             .to = (uint32_t)j->at };
    if (kind == JSON_TEXT) v->s = j->s, v->len = j->len;
    if (at) {
        if (last[depth]) t->node[last[depth]].next = at;
        else t->node[in].child = at;
        last[depth] = at;
        t->node[in].n++;
    }
}

static int read_nodes(struct json_tree *t, struct json_reader *j, uint32_t most, steno_error *e)
{
    uint32_t in = 0, last[JSON_DEPTH + 2] = { 0 };
    int depth = 0;
    const char *key = NULL;
    for (;;) {
        const enum json_event kind = json_next(j);
        if (kind == JSON_FAILED) return json_fail(j, e, "it is no JSON");
        if (kind == JSON_EOF) return STENO_OK;
        if (kind == JSON_KEY) {
            key = j->s;
            if (has_key(t, in, t->n, key)) return json_fail(j, e, "\"%.80s\" comes twice", key);
            continue;
        }
        if (kind == JSON_CLOSE) {
            t->node[in].to = (uint32_t)j->at;
            in = t->node[in].parent;
            depth--;
            continue;
        }
        if (t->n == most) return json_fail(j, e, "it has more values than commas and brackets");
        add(t, j, in, last, depth, kind, key);
        key = NULL;
        if (kind != JSON_OBJECT && kind != JSON_ARRAY) continue;
        in = t->n - 1;
        last[++depth] = 0;
    }
}

int json_tree_read(struct json_tree *t, const char *name, const char *text, size_t n, struct arena *a, steno_error *e)
{
    struct file f;
    struct json_reader j;
    file_from_memory(&f, name, text, n);
    *t = (struct json_tree){ .text = text };
    if (n > UINT32_MAX / 2) return err_set(e, STENO_EFORMAT, "%s: it is longer than a gigabyte", name);
    int rc = json_open(&j, &f, 0, n, a, e);
    if (rc) return rc;
    const uint32_t most = count_most(text, n) + 1;
    t->node = arena_array(a, most, sizeof *t->node);
    if (!t->node) return err_nomem(e, most * sizeof *t->node, "a JSON text");
    return read_nodes(t, &j, most, e);
}

uint32_t json_tree_find(const struct json_tree *t, uint32_t object, const char *key)
{
    if (t->node[object].kind != JSON_OBJECT) return JSON_NONE;
    for (uint32_t i = t->node[object].child; i; i = t->node[i].next)
        if (!strcmp(t->node[i].key, key)) return i;
    return JSON_NONE;
}

static uint32_t place_of(const struct json_tree *t, uint32_t node)
{
    uint32_t k = 0;
    for (uint32_t i = t->node[t->node[node].parent].child; i && i != node; i = t->node[i].next) k++;
    return k;
}

void json_tree_path(const struct json_tree *t, uint32_t node, char *out, size_t n)
{
    uint32_t way[JSON_DEPTH + 1];
    int depth = 0;
    size_t at = 0;
    for (; node && depth <= JSON_DEPTH; node = t->node[node].parent) way[depth++] = node;
    if (n) *out = '\0';
    while (depth-- && at < n) {
        const char *key = t->node[way[depth]].key;
        const int put = key ? snprintf(out + at, n - at, "/%.60s", key) : snprintf(out + at, n - at, "/%u", place_of(t, way[depth]));
        at += put > 0 ? (size_t)put : 0;
    }
}

int64_t json_tree_follow(const struct json_tree *t, const char *p)
{
    uint32_t node = 0;
    while (*p == '/') {
        char key[KEY_MAX];
        size_t n = 0;
        for (p++; *p && *p != '/'; p++) {
            if (n + 1 == sizeof key) return -1;
            const int is_escape = *p == '~' && (p[1] == '0' || p[1] == '1');
            key[n++] = !is_escape ? *p : *++p == '0' ? '~'
                                                     : '/';
        }
        key[n] = '\0';
        uint32_t next = json_tree_find(t, node, key);
        if (t->node[node].kind == JSON_ARRAY && n && strspn(key, "0123456789") == n && n < 9) {
            unsigned k = 0;
            sscanf(key, "%u", &k);
            for (next = t->node[node].child; next && k--;) next = t->node[next].next;
        }
        if (!next) return -1;
        node = next;
    }
    return *p ? -1 : (int64_t)node;
}
