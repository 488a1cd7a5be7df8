/* steno: bounded JSON reader. SPDX-License-Identifier: MIT */
#include "load/json_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/utf8.h"
#include "load/decimal.h"

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
