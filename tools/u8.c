/* steno: UTF-8 for writers and messages. SPDX-License-Identifier: MIT
 *
 * Decoding is strict (no overlong forms, no surrogates, nothing above U+10FFFF); what fails is shown as \xNN in messages and becomes
 * U+FFFD in JSON. */
#include "u8.h"
#include <string.h>

int32_t u8_decode(const char *s, size_t n, size_t *used)
{
    static const int32_t lowest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char c = n ? (unsigned char)s[0] : 0;
    *used = 1;
    if (n == 0) return U8_BAD;
    if (c < 0x80) return c;
    const size_t len = c >= 0xC2 && c <= 0xDF ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
    if (len == 0 || len > n) return U8_BAD;
    int32_t v = c & (0x7F >> len);
    for (size_t i = 1; i < len; i++) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return U8_BAD;
        v = v << 6 | ((unsigned char)s[i] & 0x3F);
    }
    if (v < lowest[len] || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return U8_BAD;
    *used = len;
    return v;
}

int64_t u8_invalid_at(const char *s)
{
    const size_t n = strlen(s);
    for (size_t i = 0, used; i < n; i += used)
        if (u8_decode(s + i, n - i, &used) == U8_BAD) return (int64_t)i;
    return -1;
}

static int is_space(int32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

const char *u8_strip(const char *s, size_t *n)
{
    const size_t len = strlen(s);
    size_t from = 0, to, used;
    while (from < len && is_space(u8_decode(s + from, len - from, &used))) from += used;
    to = from;
    for (size_t i = from; i < len; i += used)
        if (!is_space(u8_decode(s + i, len - i, &used))) to = i + used;
    *n = to - from;
    return s + from;
}

size_t u8_length(const char *s, size_t n)
{
    size_t count = 0, used;
    for (size_t i = 0; i < n; i += used, count++) u8_decode(s + i, n - i, &used);
    return count;
}

void u8_printable(char *out, size_t n, const char *s)
{
    const size_t len = strlen(s);
    size_t at = 0, used;
    if (n == 0) return;
    for (size_t i = 0; i < len; i += used) {
        const int32_t c = u8_decode(s + i, len - i, &used);
        char hex[16];
        const char *piece = s + i;
        size_t piece_n = used;
        if (c == U8_BAD || c < 0x20 || c == 0x7F) {
            piece_n = (size_t)snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)s[i]);
            piece = hex;
        } else if ((c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) {
            piece_n = (size_t)snprintf(hex, sizeof hex, "\\u%04x", (unsigned)c);
            piece = hex;
        }
        if (piece_n >= n - at) break;
        memcpy(out + at, piece, piece_n);
        at += piece_n;
    }
    out[at] = '\0';
}

void u8_json(FILE *f, const char *s)
{
    u8_json_part(f, s, strlen(s));
}

void u8_json_part(FILE *f, const char *s, size_t len)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    size_t used;
    fputc('"', f);
    for (size_t i = 0; i < len; i += used) {
        int32_t c = u8_decode(s + i, len - i, &used);
        if (c == U8_BAD) c = 0xFFFD;
        const char *plain = c > 0 && c < 0x80 ? strchr(from, c) : NULL;
        if (plain) fprintf(f, "\\%c", to[plain - from]);
        else if (c >= 0x20 && c < 0x7F) fputc(c, f);
        else if (c < 0x10000) fprintf(f, "\\u%04x", (unsigned)c);
        else fprintf(f, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)), (unsigned)(0xDC00 + (c & 0x3FF)));
    }
    fputc('"', f);
}

enum { WORD_MAX = 48 };

static int least(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

int u8_distance(const char *a, const char *b)
{
    const int na = (int)strnlen(a, WORD_MAX + 1), nb = (int)strnlen(b, WORD_MAX + 1);
    int row[3][WORD_MAX + 1]; /* rows i-2, i-1, i of the table, in turn */
    if (na > WORD_MAX || nb > WORD_MAX) return WORD_MAX;
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *cur = row[i % 3], *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];
        cur[0] = i;
        for (int j = 1; j <= nb; j++) {
            cur[j] = least(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) cur[j] = least(cur[j], prev2[j - 2] + 1, cur[j]);
        }
    }
    return row[na % 3][nb];
}

int u8_near(const char *word, const char *name)
{
    const size_t n = strlen(word);
    if (n >= 2 && strncmp(word, name, n) == 0) return 0;
    const int d = u8_distance(word, name);
    return d <= 1 + (int)(n / 4) && d < (int)strlen(name) ? d : -1;
}
