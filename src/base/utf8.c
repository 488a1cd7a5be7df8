/* steno: UTF-8. SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include <string.h>

/* Examine the character that begins at s[0], n > 0. *need: the length that its first byte announces, 0 for a byte that begins no character.
 * *cp: its code point, as far as the bytes are present. @return the number of present bytes that fit a well-formed character; equal to
 * *need: the character is complete */
static size_t scan(const uint8_t *s, size_t n, size_t *need, uint32_t *cp)
{
    uint32_t left = 0;
    size_t i = 0;
    *need = utf8_len(s[0]);
    while (i < *need && i < n && utf8_take(cp, &left, s[i])) i++;
    return i;
}

size_t utf8_next(const char *text, size_t n, uint32_t *cp)
{
    const uint8_t *s = (const uint8_t *)text;
    uint32_t c = 0;
    size_t need;
    if (!n || scan(s, n, &need, &c) < need || !need) return 0;
    *cp = c;
    return need;
}

size_t utf8_put(char *s, uint32_t cp)
{
    if (cp < 0x80) {
        s[0] = (char)cp;
        return 1;
    }
    const size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, cp >>= 6) s[i] = (char)(0x80 | (cp & 0x3f));
    s[0] = (char)((0xf00u >> n & 0xf0u) | cp);
    return n;
}

size_t utf8_valid(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint32_t cp = 0;
        const size_t len = utf8_next((const char *)s + i, n - i, &cp);
        if (!len) break;
        i += len;
    }
    return i;
}

void utf8_append(struct buf *out, const uint8_t *s, size_t n)
{
    while (n) {
        const size_t good = utf8_valid(s, n);
        if (good) buf_add(out, s, good);
        s += good;
        n -= good;
        if (!n) break;
        uint32_t cp = 0;
        size_t need, bad = scan(s, n, &need, &cp);
        if (!bad) bad = 1;
        buf_add(out, "\xef\xbf\xbd", 3);
        s += bad;
        n -= bad;
    }
}

void utf8_append_string(struct buf *out, const uint8_t *s, size_t n)
{
    const uint8_t *zero;
    while (n && (zero = memchr(s, 0, n))) {
        const size_t before = (size_t)(zero - s);
        utf8_append(out, s, before);
        utf8_append(out, (const uint8_t *)"\xff", 1);
        s += before + 1;
        n -= before + 1;
    }
    utf8_append(out, s, n);
}

size_t utf8_complete(const uint8_t *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const uint8_t *p = s + n - back;
        if (utf8_is_inside(*p)) continue;
        size_t need;
        uint32_t cp = 0;
        return scan(p, back, &need, &cp) == back && need > back ? n - back : n;
    }
    return n;
}

/* Length of the white-space character at the start of s[n], as Python's str.isspace defines it; 0: none. */
static size_t space_at(const uint8_t *s, size_t n)
{
    if (!n) return 0;
    if (s[0] == ' ' || (s[0] >= 9 && s[0] <= 13) || (s[0] >= 0x1c && s[0] <= 0x1f)) return 1;
    if (n >= 2 && s[0] == 0xc2 && (s[1] == 0x85 || s[1] == 0xa0)) return 2;
    if (n < 3) return 0;
    const uint32_t c = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];
    const int wide = c == 0xe19a80 || (c >= 0xe28080 && c <= 0xe2808a) || c == 0xe280a8 || c == 0xe280a9 || c == 0xe280af ||
                     c == 0xe2819f || c == 0xe38080;
    return wide ? 3 : 0;
}

void text_strip(const char **text, size_t *n)
{
    const uint8_t *s = (const uint8_t *)*text;
    size_t len = *n, from = 0, k;
    while ((k = space_at(s + from, len - from)) > 0) from += k;
    for (int again = 1; again && len > from;) {
        again = 0;
        for (k = 1; k <= 3 && k <= len - from && !again; k++)
            if (space_at(s + len - k, k) == k) len -= k, again = 1;
    }
    *text += from;
    *n = len - from;
}

int text_next_line(const char **at, const char *end, const char **line, size_t *n)
{
    while (*at < end) {
        const char *stop = memchr(*at, '\n', (size_t)(end - *at));
        *line = *at;
        *n = (size_t)((stop ? stop : end) - *at);
        *at += *n + (stop != NULL);
        text_strip(line, n);
        if (*n) return 1;
    }
    return 0;
}

int text_ends(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}
