/* steno: words from tokens, and words of text. SPDX-License-Identifier: MIT
 *
 * Text in several scripts is cut as FunASR does before it adds punctuation (funasr/models/ct_transformer/utils.py, split_words). FunASR
 * also joins the texts of segments before that. */
#include "text/words.h"
#include <string.h>
#include "base/utf8.h"

static const char marks[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"; /* Python's string.punctuation, in its order */
static const char replacement[] = "\xef\xbf\xbd";

void split_free(struct split *s)
{
    buf_free(&s->word);
    buf_free(&s->text);
    buf_free(&s->joined);
    buf_free(&s->unit);
}

int language_has_spaces(const char *code)
{
    static const char *const without[] = { "zh", "ja", "th", "lo", "my", "yue" };
    for (size_t i = 0; code && i < sizeof without / sizeof *without; i++)
        if (!strcmp(code, without[i])) return 0;
    return 1;
}

/* The first position of what[n_what] in s[n], n: none. */
static size_t bytes_find(const char *s, size_t n, const char *what, size_t n_what)
{
    for (size_t i = 0; n_what <= n && i <= n - n_what; i++)
        if (!memcmp(s + i, what, n_what)) return i;
    return n;
}

int text_within(const char *text, size_t n, const char *set)
{
    const size_t n_set = strlen(set);
    return !n || bytes_find(set, n_set, text, n) < n_set;
}

/* ---- characters ---- */

/* The position of a walk over the text of all tokens: the start of the current unit. */
struct char_walk {
    const char *at, *end;
};

static const char *char_next(const char *p, const char *end)
{
    if (p < end) p++;
    while (p < end && utf8_is_inside((uint8_t)*p)) p++;
    return p;
}

static const char *chars_on(const char *p, const char *end, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!utf8_is_inside((uint8_t)text[i])) p = char_next(p, end);
    return p;
}

/* Whether the current unit, bytes[n] decoded as unit[n_unit], may end here: if it is whole characters, or if its broken part is broken in
 * the whole text as well, or if no further byte can complete it. */
static int unit_ends(const struct char_walk *w, const struct buf *bytes, const struct buf *unit)
{
    const size_t broken = bytes_find(unit->p, unit->len, replacement, 3);
    if (broken == unit->len) return 1;
    const char *same = chars_on(w->at, w->end, unit->p, broken);
    if (w->end - same >= 3 && !memcmp(same, replacement, 3)) return 1;
    const uint8_t *s = (const uint8_t *)bytes->p;
    const size_t valid = utf8_valid(s, bytes->len);
    return valid == bytes->len || valid < utf8_complete(s, bytes->len);
}

static void unit_read(struct buf *unit, const struct buf *bytes)
{
    buf_clear(unit);
    buf_add(unit, "", 0); /* gives it an address */
    utf8_append_string(unit, (const uint8_t *)bytes->p, bytes->len);
}

/* ---- words ---- */

static int begins_word(const char *text, size_t n)
{
    if (n && text[0] == ' ') return 1;
    text_strip(&text, &n);
    return text_within(text, n, marks);
}

/* Tokens [first, first + n), with the text s->unit, become a unit. */
static void unit_add(struct split *s, int32_t first, int32_t n, int special, int spaces)
{
    const struct split_word w = { s->text.len, s->unit.len, first, n };
    struct split_word *last = split_count(s) ? split_at(s, split_count(s) - 1) : NULL;
    buf_add(&s->text, s->unit.p, s->unit.len);
    if (special || !last || !spaces || begins_word(s->unit.p, s->unit.len)) {
        buf_add(&s->word, &w, sizeof w);
        return;
    }
    last->len += w.len;
    last->n += n;
}

static void split_clear(struct split *s)
{
    buf_clear(&s->word);
    buf_clear(&s->text);
    buf_clear(&s->joined);
    buf_clear(&s->unit);
}

int split_words(struct split *s, const struct vocab *v, const int32_t *ids, int32_t n, int32_t n_text, int spaces)
{
    struct buf bytes = { 0 };
    split_clear(s);
    for (int32_t i = 0; i < n; i++) vocab_append(v, ids[i], &bytes);
    buf_add(&s->joined, "", 0);
    if (!bytes.err) utf8_append_string(&s->joined, (const uint8_t *)bytes.p, bytes.len);
    struct char_walk w = { s->joined.p, s->joined.p + s->joined.len };
    buf_clear(&bytes);
    int err = bytes.err || s->joined.err;
    for (int32_t i = 0, first = 0; i < n && !err; i++) {
        vocab_append(v, ids[i], &bytes);
        unit_read(&s->unit, &bytes);
        err = bytes.err || s->unit.err;
        const int special_next = i + 1 < n && ids[i + 1] >= n_text;
        if (err || (i + 1 < n && !special_next && ids[i] < n_text && !unit_ends(&w, &bytes, &s->unit))) continue;
        unit_add(s, first, i + 1 - first, ids[first] >= n_text, spaces);
        w.at = chars_on(w.at, w.end, s->unit.p, s->unit.len);
        buf_clear(&bytes);
        first = i + 1;
    }
    buf_free(&bytes);
    return err || s->word.err || s->text.err ? STENO_ENOMEM : STENO_OK;
}

/* ---- punctuation ---- */

static const char *text_at(const struct split *s, const struct split_word *w)
{
    return s->text.p + w->text;
}

static void prepend_marks(struct split *s, size_t n, const char *set)
{
    for (size_t i = n - 1, to = i; i-- > 0;) {
        struct split_word *w = split_at(s, i), *next = split_at(s, to);
        const char *text = text_at(s, w);
        size_t len = w->len;
        const int spaced = len && text[0] == ' ';
        text_strip(&text, &len);
        if (!spaced || !text_within(text, len, set)) {
            to = i;
            continue;
        }
        *next = (struct split_word){ w->text, w->len + next->len, w->first, w->n + next->n };
        w->len = 0;
        w->n = 0;
    }
}

static void append_marks(struct split *s, size_t n, const char *set)
{
    for (size_t i = 1, to = 0; i < n; i++) {
        struct split_word *w = split_at(s, i), *before = split_at(s, to);
        const int spaced = before->len && text_at(s, before)[before->len - 1] == ' ';
        if (spaced || !text_within(text_at(s, w), w->len, set)) {
            to = i;
            continue;
        }
        before->len += w->len;
        before->n += w->n;
        w->len = 0;
        w->n = 0;
    }
}

void split_merge(struct split *s, size_t n, const char *prepend, const char *append)
{
    if (n > split_count(s)) n = split_count(s);
    if (n < 2) return;
    prepend_marks(s, n, prepend);
    append_marks(s, n, append);
}

/* ---- words of text in several scripts ---------------------------------------------------------------------------------------- */

static int is_space(uint32_t cp)
{
    if (cp < 0x80) return (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x20);
    return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000;
}

/* Length of the character at s; bytes that are not UTF-8 count as characters. */
static size_t char_len(const char *s, size_t n, uint32_t *cp)
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
        len = char_len(text + i, n - i, &cp);
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

/* ---- concatenation ----------------------------------------------------------------------------------------------------------- */

static int is_chinese(const char *s, size_t n)
{
    uint32_t cp = 0;
    return utf8_next(s, n, &cp) && cp >= 0x3400 && cp <= 0x9fff;
}

void text_join(struct buf *to, const char *text, size_t n)
{
    size_t last = to->len;
    if (!n) return;
    while (last && utf8_is_inside((uint8_t)to->p[--last])) {}
    if (to->len && !(is_chinese(to->p + last, to->len - last) && is_chinese(text, n))) buf_str(to, " ");
    buf_add(to, text, n);
}
