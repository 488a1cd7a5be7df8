/* steno: words of text in several scripts. SPDX-License-Identifier: MIT
 *
 * As FunASR cuts text before it adds punctuation (funasr/models/ct_transformer/utils.py, split_words). */
#include "text/mixed_words.h"
#include <string.h>
#include "base/utf8.h"

static int is_space(uint32_t cp)
{
    if (cp < 0x80) return (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x20);
    return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000;
}

/* Length of the character at s; bytes that are not UTF-8 count as characters. */
static size_t take(const char *s, size_t n, uint32_t *cp)
{
    const size_t len = utf8_next(s, n, cp);
    if (!len) *cp = 0xfffd;
    return len ? len : 1;
}

/* Length of the tag at s, 0: no tag. */
static size_t tag_len(const char *s, size_t n)
{
    if (n < 4 || s[0] != '<' || s[1] != '|') return 0;
    for (size_t i = 2; i + 1 < n && s[i] != '<'; i++)
        if (s[i] == '|') return s[i + 1] == '>' ? i + 2 : 0;
    return 0;
}

int mixed_word_next(const char *text, size_t n, size_t *at, size_t *end)
{
    size_t i = *end, len = 0;
    uint32_t cp = 0;
    for (; i < n; i += len) {
        len = tag_len(text + i, n - i);
        if (len) continue;
        len = take(text + i, n - i, &cp);
        if (!is_space(cp)) break;
    }
    *at = i;
    if (i >= n) return 0;
    if (cp >= 0x80) {
        *end = i + len;
        return 1;
    }
    while (i < n && (unsigned char)text[i] < 0x80 && !is_space((unsigned char)text[i]) && (i == *at || !tag_len(text + i, n - i))) i++;
    *end = i;
    return 1;
}

int mixed_is_wide(const char *text, size_t n)
{
    uint32_t cp = 0;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x80) return 0;
    return utf8_next(text, n, &cp) < n;
}

static int is_mark(uint32_t cp)
{
    static const uint32_t wide[] = { 0x3001, 0x3002, 0xff01, 0xff0c, 0xff1a, 0xff1b, 0xff1f, 0x2026 };
    if (cp < 0x80) return cp && strchr(",.?!;:", (int)cp) != NULL;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (cp == wide[i]) return 1;
    return 0;
}

int mixed_ends_marked(const char *text, size_t n)
{
    uint32_t cp = 0;
    size_t at = n;
    while (at && utf8_is_inside((uint8_t)text[--at])) {}
    return n && utf8_next(text + at, n - at, &cp) && is_mark(cp);
}

int mixed_begins_marked(const char *text, size_t n)
{
    uint32_t cp = 0;
    return utf8_next(text, n, &cp) && is_mark(cp);
}
