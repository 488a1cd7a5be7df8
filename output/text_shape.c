/* steno: display width of text, and places where lines may end. SPDX-License-Identifier: MIT */
#include "text_shape.h"
#include "utf8.h"
#include <string.h>
#include <unilbrk.h>
#include <utf8proc.h>

int text_is_space(int32_t c)
{
    return c <= 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x1680 || (c >= 0x2000 && c <= 0x200A && c != 0x2007) || c == 0x2028 ||
           c == 0x2029 || c == 0x205F || c == 0x3000;
}

/* ---- characters -------------------------------------------------------------------------------------------------------------- */

/* Reads a character of s[n]. Returns its bytes; *first: its first code point, *cells: its width. */
static size_t take_character(const char *s, size_t n, int32_t *first, int *cells)
{
    enum { EMOJI_FORM = 0xFE0F };
    size_t used, at;
    int32_t state = 0, last = *first = utf8_decode(s, n, &used);
    *cells = 1;
    if (last == UTF8_BAD) return used;
    *cells = utf8proc_charwidth(last);
    for (at = used; at < n; at += used) {
        const int32_t c = utf8_decode(s + at, n - at, &used);
        if (c == UTF8_BAD || utf8proc_grapheme_break_stateful(last, c, &state)) break;
        const int width = c == EMOJI_FORM ? 2 : utf8proc_charwidth(c);
        if (width > *cells) *cells = width;
        last = c;
    }
    return at;
}

int64_t text_cells(const char *s, size_t n)
{
    int64_t sum = 0;
    int32_t c;
    int cells;
    for (size_t at = 0; at < n; sum += cells) at += take_character(s + at, n - at, &c, &cells);
    return sum;
}

struct text_size text_measure(const char *s, size_t n)
{
    struct text_size t = { 0 };
    int64_t line = 0;
    int in_word = 0, cells;
    int32_t c;
    if (n) t.lines = 1;
    for (size_t at = 0; at < n;) {
        at += take_character(s + at, n - at, &c, &cells);
        if (c == '\n') {
            t.lines++;
            line = in_word = 0;
            continue;
        }
        t.cells += cells;
        line += cells;
        if (line > t.widest) t.widest = line;
        const int narrow = cells < 2 && !text_is_space(c);
        t.half_words += cells > 1 ? 1 : narrow && !in_word ? 2 : 0;
        in_word = narrow;
    }
    return t;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------------- */

static int is_mark(utf8proc_category_t k)
{
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

/* Is a code point readable text by itself? */
static int is_readable_char(int32_t c)
{
    const utf8proc_category_t k = utf8proc_category(c);
    return c >= 0 && !text_is_space(c) && !is_mark(k) && k != UTF8PROC_CATEGORY_CF && k != UTF8PROC_CATEGORY_ZS &&
           k != UTF8PROC_CATEGORY_MN && k != UTF8PROC_CATEGORY_MC && k != UTF8PROC_CATEGORY_ME;
}

int text_is_readable(const char *s, size_t n)
{
    size_t used;
    for (size_t at = 0; at < n; at += used)
        if (is_readable_char(utf8_decode(s + at, n - at, &used))) return 1;
    return 0;
}

/* Punctuation that begins a word: opening brackets and quotes, and the inverted marks of Spanish. */
static int opens(const char *s, size_t n)
{
    size_t used;
    const int32_t c = utf8_decode(s, n, &used);
    const utf8proc_category_t k = utf8proc_category(c);
    return c == 0xA1 || c == 0xBF || k == UTF8PROC_CATEGORY_PS || k == UTF8PROC_CATEGORY_PI;
}

/* Scripts without spaces in which single characters are not words. */
static int needs_dictionary(int32_t c)
{
    return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) || (c >= 0x1950 && c <= 0x19DF) ||
           (c >= 0x1A20 && c <= 0x1AAF) || (c >= 0xA9E0 && c <= 0xA9FF) || (c >= 0xAA60 && c <= 0xAADF);
}

static int32_t last_code_point(const char *s, size_t n, size_t *from)
{
    size_t used;
    *from = n;
    if (!n) return UTF8_BAD;
    do --*from;
    while (*from && ((unsigned char)s[*from] & 0xC0) == 0x80);
    return utf8_decode(s + *from, n - *from, &used);
}

/* Is there a short word with a capital letter before a full stop at n: "Dr", "J"? */
static int is_abbreviation(const char *s, size_t n)
{
    enum { LONGEST = 3 };
    size_t used;
    const int32_t c = utf8_decode(s, n, &used);
    return n && utf8_length(s, n) <= LONGEST && utf8proc_category(c) == UTF8PROC_CATEGORY_LU;
}

int text_goes_on(const char *s, size_t n)
{
    size_t used;
    for (size_t at = 0; at < n; at += used) {
        const int32_t c = utf8_decode(s + at, n - at, &used);
        if (is_readable_char(c)) return utf8proc_category(c) == UTF8PROC_CATEGORY_LL;
    }
    return 0;
}

static int is_one_of(int32_t c, const int32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == c) return 1;
    return 0;
}

enum text_end text_end(const char *s, size_t n)
{
    /* ! ? ... and those of Armenian, Arabic, Devanagari, Tibetan, Ethiopic, Khmer, CJK and half-width forms */
    static const int32_t sentence[] = { '.', '!', '?', 0x2026, 0x203C, 0x2047, 0x2048, 0x2049, 0x0589, 0x061F, 0x06D4, 0x0964, 0x0965,
                                        0x0F0D, 0x1362, 0x17D4, 0x3002, 0xFE52, 0xFF01, 0xFF0E, 0xFF1F, 0xFF61 };
    static const int32_t phrase[] = { ',', ';', ':', 0x2013, 0x2014, 0x055D, 0x060C, 0x061B, 0x1361, 0x1363, 0x3001, 0xFF0C, 0xFF1A, 0xFF1B,
                                      0xFF64 };
    for (size_t from; n; n = from) {
        const int32_t c = last_code_point(s, n, &from);
        const utf8proc_category_t k = utf8proc_category(c);
        if (c == '.' && is_abbreviation(s, from)) return TEXT_ENDS_WORD;
        if (is_one_of(c, sentence, sizeof sentence / sizeof *sentence)) return TEXT_ENDS_SENTENCE;
        if (is_one_of(c, phrase, sizeof phrase / sizeof *phrase) || (k == UTF8PROC_CATEGORY_PD && s[n - 1] != '-')) return TEXT_ENDS_PHRASE;
        if (k != UTF8PROC_CATEGORY_PE && k != UTF8PROC_CATEGORY_PF && c != '"' && c != '\'') return TEXT_ENDS_WORD;
    }
    return TEXT_ENDS_WORD;
}

/* ---- where lines may end ----------------------------------------------------------------------------------------------------- */

int text_piece_next(struct text_piece *p, const char *s, size_t n, const char *may, size_t *at)
{
    size_t used, i = *at;
    *p = (struct text_piece){ .space = 0 };
    while (i < n && text_is_space(utf8_decode(s + i, n - i, &used))) i += used;
    if (i >= n) {
        *at = n;
        return 0;
    }
    p->from = p->to = i;
    p->space = i && text_is_space(last_code_point(s, i, &used));
    for (int end = 0; i < n && !end; i += used) {
        const int32_t c = utf8_decode(s + i, n - i, &used);
        end = may[i + used - 1];
        p->rough = end > 1;
        if (!text_is_space(c)) p->to = i + used;
    }
    *at = i;
    return 1;
}

/* Keeps characters whole. In scripts that need a dictionary, a line may end after each character. */
static void keep_characters(char *may, const char *s, size_t n)
{
    int cells;
    int32_t c, next;
    size_t used;
    for (size_t at = 0, len; at < n; at += len) {
        len = take_character(s + at, n - at, &c, &cells);
        for (size_t i = at; i + 1 < at + len; i++) may[i] = 0;
        if (at + len >= n || may[at + len - 1]) continue;
        next = utf8_decode(s + at + len, n - at - len, &used);
        if (needs_dictionary(c) && needs_dictionary(next) && is_readable_char(next)) may[at + len - 1] = 2;
    }
}

/* Punctuation that stands alone belongs to the word before it. It belongs to the word after it if it is opening or begins the text. */
static void keep_marks(char *may, const char *s, size_t n)
{
    struct text_piece last = { 0 }, p, before = { 0 };
    int has_text = 0;
    for (size_t at = 0; text_piece_next(&p, s, n, may, &at);) {
        const int is_readable = text_is_readable(s + p.from, p.to - p.from);
        const int joined = last.to && (!has_text || (!is_readable && !opens(s + p.from, p.to - p.from)));
        if (joined) {
            memset(may + last.to - 1, 0, p.from - last.to + 1);
            p.from = last.from;
        } else {
            before = last;
        }
        has_text = is_readable || (joined && has_text);
        last = p;
    }
    if (!has_text && before.to) memset(may + before.to - 1, 0, last.from - before.to + 1);
}

void text_breaks(char *may, const char *s, size_t n)
{
    if (!n) return;
    u8_possible_linebreaks((const uint8_t *)s, n, "UTF-8", may); /* sets places before bytes */
    for (size_t i = 0; i + 1 < n; i++) may[i] = may[i + 1] == UC_BREAK_POSSIBLE || may[i] == UC_BREAK_MANDATORY;
    may[n - 1] = 0;
    keep_characters(may, s, n);
    keep_marks(may, s, n);
}
