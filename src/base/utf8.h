/* steno: UTF-8. SPDX-License-Identifier: MIT
 *
 * All reading, writing and checking of characters (Unicode 15, section 3.9, table 3-7: no overlong forms, no surrogates, nothing past
 * U+10FFFF). */
#ifndef STENO_BASE_UTF8_H
#define STENO_BASE_UTF8_H
#include <stdint.h>
#include "base/buf.h"

/* Whether c is a byte inside a character, not its first. */
static inline int utf8_is_inside(uint8_t c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of a character whose first byte is c; 0: c is not a first byte. */
static inline uint32_t utf8_len(uint8_t c)
{
    return c < 0x80 ? 1 : c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Add a byte to a character with *left missing bytes (0: a character begins). *bits: its code point so far. @return 0: the byte is
 * ill-formed there, and nothing has changed */
static inline int utf8_take(uint32_t *bits, uint32_t *left, uint8_t c)
{
    if (!*left) {
        const uint32_t n = utf8_len(c);
        if (!n) return 0;
        *left = n - 1;
        *bits = n > 1 ? c & (0x7fu >> n) : c;
        return 1;
    }
    if (!utf8_is_inside(c)) return 0;
    if (*left == 2 && ((*bits == 0 && c < 0xa0) || (*bits == 0xd && c > 0x9f))) return 0;
    if (*left == 3 && ((*bits == 0 && c < 0x90) || (*bits == 4 && c > 0x8f))) return 0;
    *bits = *bits << 6 | (c & 0x3f);
    --*left;
    return 1;
}

/* Length of the well-formed character at s, 0 if there is none. *cp: its code point. */
size_t utf8_next(const char *s, size_t n, uint32_t *cp);
/* Write a character. @return its length, at most 4 */
size_t utf8_put(char *s, uint32_t cp);
/* Length of the longest well-formed prefix. */
size_t utf8_valid(const uint8_t *s, size_t n);
/* Length of the longest prefix that does not end inside a well-formed but incomplete character. */
size_t utf8_complete(const uint8_t *s, size_t n);
/* Append s with each maximal ill-formed subsequence replaced by U+FFFD, like Python's errors="replace". */
void utf8_append(struct buf *out, const uint8_t *s, size_t n);
/* The same for text that is given out as a C string: U+0000, which would end it, becomes U+FFFD, too. */
void utf8_append_string(struct buf *out, const uint8_t *s, size_t n);
/* Narrow text[n] to the result of Python's str.strip(); text is UTF-8. */
void text_strip(const char **text, size_t *n);
/* The next line of [*at, end) that is not blank, without white space around it; *at: the place behind it. @return 0: there is none */
int text_next_line(const char **at, const char *end, const char **line, size_t *n);
int text_ends(const char *text, const char *end); /* 1: the last characters of text are `end` */
#endif
