/* steno: text of subtitles without mark-up. SPDX-License-Identifier: MIT */
#include "sub_read.h"
#include "utf8.h"
#include <string.h>
#include <strings.h>

void sub_text_put(struct sub_file *f, const char *s, size_t n)
{
    size_t used;
    for (size_t i = 0; i < n; i += used) {
        if (utf8_decode(s + i, n - i, &used) == UTF8_BAD) f->text[f->text_n++] = '?';
        else {
            memcpy(f->text + f->text_n, s + i, used);
            f->text_n += used;
        }
    }
}

/* Length of a time in a tag, "<00:12.00>", or 0. */
static size_t word_time_length(const char *s, size_t n)
{
    size_t at = 1, colons = 0;
    if (n < 3 || s[0] != '<') return 0;
    for (; at < n && ((s[at] >= '0' && s[at] <= '9') || strchr(":.,", s[at])) && s[at]; at++) colons += s[at] == ':';
    return colons && at < n && s[at] == '>' ? at + 1 : 0;
}

/* Length of the HTML tag at s, or 0. */
static size_t tag_length(const char *s, size_t n, int any)
{
    static const char *const known[] = { "b", "i", "u", "s", "font", "c", "v", "ruby", "rt", "lang" };
    if (n < 3 || s[0] != '<') return 0;
    const size_t from = s[1] == '/' ? 2 : 1;
    for (size_t i = 0; i < sizeof known / sizeof *known && !any; i++) {
        const size_t word = strlen(known[i]);
        any = from + word < n && !strncasecmp(s + from, known[i], word) && strchr(" >\t", s[from + word]);
    }
    const char *end = any ? memchr(s, '>', n) : NULL;
    return end ? (size_t)(end - s) + 1 : word_time_length(s, n);
}

enum { RUBY_TEXT = 1, RUBY_BASE };

/* Does ruby text end at s, with its own tag or with that of its word? 0: no */
static int ruby_end(const char *s, size_t n)
{
    if (n < 5 || s[0] != '<' || s[1] != '/') return 0;
    if (!strncasecmp(s, "</rt>", 5)) return RUBY_TEXT;
    return n >= 6 && !strncasecmp(s, "</ruby", 6) ? RUBY_BASE : 0;
}

/* Length of ruby text at s, the reading above a word: "<rt>reading</rt>". It is not part of the line, with whose end it may end. */
static size_t ruby_length(const char *s, size_t n)
{
    if (n < 4 || strncasecmp(s, "<rt", 3) != 0 || !s[3] || !strchr(" .>\t", s[3])) return 0;
    for (size_t i = 4; i < n; i++) {
        const int end = ruby_end(s + i, n - i);
        if (end) return end == RUBY_BASE ? i : i + 5;
    }
    return n;
}

/* "&#39;" or "&#x27;" of a visible character. */
static size_t number_length(const char *s, size_t n, char text[5])
{
    enum { MOST = 12 };
    int32_t c = 0;
    const int hex = n > 2 && (s[2] == 'x' || s[2] == 'X');
    size_t i = hex ? 3 : 2;
    for (; i < n && i < MOST && c <= 0x10FFFF && s[i] != ';'; i++) {
        const char *digit = s[i] ? strchr("0123456789abcdef", s[i] | 0x20) : NULL;
        const int v = digit ? (int)(digit - "0123456789abcdef") : 16;
        if (v >= (hex ? 16 : 10)) return 0;
        c = c * (hex ? 16 : 10) + v;
    }
    if (i >= n || s[i] != ';' || c < 0x20 || (c >= 0x7F && c < 0xA0) || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0;
    const int len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (int k = len - 1; k > 0; k--, c >>= 6) text[k] = (char)(0x80 | (c & 0x3F));
    text[0] = (char)(len == 1 ? (unsigned)c : lead[len] | (unsigned)c);
    text[len] = '\0';
    return i + 1 >= (size_t)len ? i + 1 : 0;
}

static size_t entity_length(const char *s, size_t n, const char **text, char number[5])
{
    static const char *const known[][2] = { { "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" }, { "&nbsp;", "\xc2\xa0" },
                                            { "&lrm;", "" }, { "&rlm;", "" }, { "&quot;", "\"" }, { "&apos;", "'" } };
    if (n < 4 || s[0] != '&') return 0;
    if (s[1] == '#') {
        *text = number;
        return number_length(s, n, number);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t len = strlen(known[i][0]);
        if (n < len || memcmp(s, known[i][0], len) != 0) continue;
        *text = known[i][1];
        return len;
    }
    return 0;
}

/* Length of the override at s, or 0. any: any content is accepted. */
static size_t override_length(const char *s, size_t n, int any)
{
    const char *end = s[0] == '{' && (any || (n > 1 && s[1] == '\\')) ? memchr(s, '}', n) : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

/* Length of the escape at s, or 0. */
static size_t escape_length(const char *s, size_t n, const char **text)
{
    if (s[0] != '\\' || n < 2) return 0;
    *text = s[1] == 'N' || s[1] == 'n' ? "\n" : s[1] == 'h' ? "\xc2\xa0" : s[1] == '{' ? "{" : s[1] == '}' ? "}" : NULL;
    return *text ? 2 : 0;
}

/* Number of bytes up to the last `c`, so that a missing character is searched only once. */
static size_t up_to_last(const char *s, size_t n, char c)
{
    while (n && s[n - 1] != c) n--;
    return n;
}

/* Number of bytes before which ruby text may begin: the whole line in WebVTT, whose tags are all mark-up, else up to the last end, so that
 * a missing end is searched only once. */
static size_t up_to_ruby(const struct sub_file *f, const char *s, size_t n)
{
    size_t i = f->form == SUB_ASS ? 0 : n;
    while (f->form != SUB_VTT && i && !ruby_end(s + i, n - i)) i--;
    return i;
}

void sub_text_line(struct sub_file *f, const char *s, size_t n)
{
    const size_t tags = up_to_last(s, n, '>'), braces = up_to_last(s, n, '}'), rubies = up_to_ruby(f, s, n);
    for (size_t i = 0, len; i < n; i += len) {
        char number[5];
        const char *text = "";
        size_t used;
        len = i < rubies && i < tags ? ruby_length(s + i, n - i) : 0;
        if (!len && f->form != SUB_ASS && i < tags) len = tag_length(s + i, tags - i, f->form == SUB_VTT);
        if (!len && (f->form == SUB_VTT || f->form == SUB_SRT)) len = entity_length(s + i, n - i, &text, number);
        if (!len && f->form != SUB_VTT && i < braces) len = override_length(s + i, braces - i, f->form == SUB_ASS);
        if (!len && f->form == SUB_ASS) len = escape_length(s + i, n - i, &text);
        if (len) sub_text_put(f, text, strlen(text));
        else {
            utf8_decode(s + i, n - i, &used);
            len = used;
            sub_text_put(f, s + i, len);
        }
    }
}
