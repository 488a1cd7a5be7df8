/* steno: UTF-8 for writers and messages. SPDX-License-Identifier: MIT
 *
 * Decoding is strict (no overlong forms, no surrogates, nothing above U+10FFFF). Invalid bytes are shown as \xNN in messages and become
 * U+FFFD in JSON. */
#include "utf8.h"
#include <stdio.h>
#include <string.h>

int32_t utf8_decode(const char *s, size_t n, size_t *used)
{
    static const int32_t lowest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char c = n ? (unsigned char)s[0] : 0;
    *used = 1;
    if (n == 0) return UTF8_BAD;
    if (c < 0x80) return c;
    const size_t len = c >= 0xC2 && c <= 0xDF ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
    if (len == 0 || len > n) return UTF8_BAD;
    int32_t v = c & (0x7F >> len);
    for (size_t i = 1; i < len; i++) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return UTF8_BAD;
        v = v << 6 | ((unsigned char)s[i] & 0x3F);
    }
    if (v < lowest[len] || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return UTF8_BAD;
    *used = len;
    return v;
}

int64_t utf8_invalid_at(const char *s)
{
    const size_t n = strlen(s);
    for (size_t i = 0, used; i < n; i += used)
        if (utf8_decode(s + i, n - i, &used) == UTF8_BAD) return (int64_t)i;
    return -1;
}

static int is_space(int32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

const char *utf8_strip(const char *s, size_t *n)
{
    const size_t len = strlen(s);
    size_t from = 0, to, used;
    while (from < len && is_space(utf8_decode(s + from, len - from, &used))) from += used;
    to = from;
    for (size_t i = from; i < len; i += used)
        if (!is_space(utf8_decode(s + i, len - i, &used))) to = i + used;
    *n = to - from;
    return s + from;
}

size_t utf8_length(const char *s, size_t n)
{
    size_t count = 0, used;
    for (size_t i = 0; i < n; i += used, count++) utf8_decode(s + i, n - i, &used);
    return count;
}

/* Characters that control a terminal, change the direction of text, or have no width: a name that contains them looks like another name. */
static int is_unseen(int32_t c)
{
    return (c >= 0x80 && c < 0xA0) || c == 0x61C || (c >= 0x200B && c <= 0x200F && c != 0x200C && c != 0x200D) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

void utf8_printable(char *out, size_t n, const char *s)
{
    const size_t len = strlen(s);
    size_t at = 0, used;
    if (n == 0) return;
    for (size_t i = 0; i < len; i += used) {
        const int32_t c = utf8_decode(s + i, len - i, &used);
        char hex[16];
        const char *piece = s + i;
        size_t piece_n = used;
        if (c == UTF8_BAD || c < 0x20 || c == 0x7F) {
            piece_n = (size_t)snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)s[i]);
            piece = hex;
        } else if (is_unseen(c)) {
            piece_n = (size_t)snprintf(hex, sizeof hex, "\\u%04x", (unsigned)c);
            piece = hex;
        }
        if (piece_n >= n - at) break;
        memcpy(out + at, piece, piece_n);
        at += piece_n;
    }
    out[at] = '\0';
}

void utf8_json(struct sink *f, const char *s)
{
    utf8_json_part(f, s, strlen(s));
}

void utf8_json_part(struct sink *f, const char *s, size_t len)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    size_t used;
    sink_char(f, '"');
    for (size_t i = 0; i < len; i += used) {
        int32_t c = utf8_decode(s + i, len - i, &used);
        if (c == UTF8_BAD) c = 0xFFFD;
        const char *plain = c > 0 && c < 0x80 ? strchr(from, c) : NULL;
        if (plain) sink_format(f, "\\%c", to[plain - from]);
        else if (c >= 0x20 && c < 0x7F) sink_char(f, c);
        else if (c < 0x10000) sink_format(f, "\\u%04x", (unsigned)c);
        else sink_format(f, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)), (unsigned)(0xDC00 + (c & 0x3FF)));
    }
    sink_char(f, '"');
}
