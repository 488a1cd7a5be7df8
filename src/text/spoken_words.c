/* steno: the words of a text that are spoken, and the parts of the text that show them. SPDX-License-Identifier: MIT */
#include "text/spoken_words.h"
#include <string.h>
#include "base/utf8.h"
#include "text/unicode.h"

void spoken_words_free(struct spoken_words *w)
{
    buf_free(&w->kept);
    buf_free(&w->word);
}

/* ---- characters */

static int is_between(uint32_t cp, const uint32_t (*range)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= range[i][0] && cp <= range[i][1]) return 1;
    return 0;
}

static int is_ideograph(uint32_t cp)
{
    static const uint32_t range[][2] = { { 0x4e00, 0x9fff }, { 0x3400, 0x4dbf }, { 0x20000, 0x2a6df }, { 0x2a700, 0x2b73f },
                                         { 0x2b740, 0x2b81f }, { 0x2b820, 0x2ceaf }, { 0xf900, 0xfaff } };
    return is_between(cp, range, sizeof range / sizeof *range);
}

static int is_kana(uint32_t cp)
{
    static const uint32_t range[][2] = { { 0x3041, 0x309f }, { 0x30a1, 0x30fa }, { 0x30fc, 0x30ff }, { 0x31f0, 0x31ff },
                                         { 0xff66, 0xff9f } };
    return is_between(cp, range, sizeof range / sizeof *range);
}

/* Kana that are spoken with the one before: small vowels and ya, yu, yo, wa, the length mark, and voicing marks of half width. */
static int is_joined_kana(uint32_t cp)
{
    static const uint16_t small[] = { 0x3041, 0x3043, 0x3045, 0x3047, 0x3049, 0x3083, 0x3085, 0x3087, 0x308e };
    static const uint32_t range[][2] = { { 0x30fc, 0x30fc }, { 0xff67, 0xff6e }, { 0xff70, 0xff70 }, { 0xff9e, 0xff9f } };
    const uint32_t hiragana = cp >= 0x30a1 && cp <= 0x30f6 ? cp - 0x60 : cp;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (hiragana == small[i]) return 1;
    return is_between(cp, range, sizeof range / sizeof *range);
}

enum kind { OTHER, SPACE, OPENING, LETTER, MARK, ALONE /* a word by itself */, ALONE_JOINED };

static enum kind kind_of(uint32_t cp)
{
    if (unicode_is_space(cp)) return SPACE;
    if (is_kana(cp)) return is_joined_kana(cp) ? ALONE_JOINED : ALONE;
    if (is_ideograph(cp)) return ALONE;
    if (cp == '\'' || unicode_is_word(cp)) return LETTER;
    if (unicode_is_mark(cp)) return MARK;
    return unicode_is_opening(cp) ? OPENING : OTHER;
}

/* Bytes of the tag that text[n] begins with; 0: none. */
static size_t tag_len(const char *text, size_t n)
{
    if (n < 4 || text[0] != '<' || text[1] != '|') return 0;
    for (size_t i = 2; i + 1 < n && text[i] != '\n'; i++)
        if (text[i] == '|' && text[i + 1] == '>') return i + 2;
    return 0;
}

/* ---- words */

struct finder {
    struct spoken_words *w;
    struct spoken_word now; /* the current word */
    enum kind last;         /* of the last character; that of a mark is its letter's */
    size_t begin;           /* with has_gap: the last white space or the opening bracket before the next word */
    int is_open;            /* the current word can go on */
    int has_gap;            /* there is white space or an opening bracket behind the last word */
    int was_kept, was_space; /* the last character */
};

static void word_close(struct finder *f, size_t to)
{
    f->now.to = to;
    if (f->now.n_kept) buf_add(&f->w->word, &f->now, sizeof f->now);
    f->now = (struct spoken_word){ 0 };
    f->is_open = 0;
}

/* A character at `at` that is spoken. */
static void keep(struct finder *f, enum kind kind, const char *s, size_t at, size_t n)
{
    const int goes_on = kind == MARK ? f->was_kept : kind == LETTER ? f->last == LETTER : kind == ALONE_JOINED && f->last == ALONE;
    const int joins = f->is_open && goes_on;
    if (kind == MARK && !joins) {
        f->was_kept = f->was_space = 0;
        return;
    }
    if (!joins) {
        const size_t begin = !f->now.n_kept ? 0 : f->has_gap ? f->begin : at;
        if (f->now.n_kept) word_close(f, begin);
        f->now = (struct spoken_word){ .kept = f->w->kept.len, .from = begin };
    }
    buf_add(&f->w->kept, s, n);
    f->now.n_kept += n;
    f->is_open = f->was_kept = 1;
    f->has_gap = f->was_space = 0;
    if (kind != MARK) f->last = kind == ALONE_JOINED ? ALONE : kind;
}

int spoken_words_find(struct spoken_words *w, const char *text, size_t n)
{
    struct finder f = { .w = w };
    buf_clear(&w->kept);
    buf_clear(&w->word);
    for (size_t at = 0, len; at < n; at += len) {
        uint32_t cp = 0;
        const size_t tag = tag_len(text + at, n - at);
        len = tag ? tag : utf8_next(text + at, n - at, &cp);
        const enum kind kind = tag || !len ? OTHER : kind_of(cp);
        if (!len) len = 1;
        if (kind >= LETTER) {
            keep(&f, kind, text + at, at, len);
            continue;
        }
        if (kind == SPACE ? !f.was_space : kind == OPENING && !f.has_gap) f.begin = at;
        if (kind == SPACE) f.is_open = 0;
        if (kind != OTHER) f.has_gap = 1;
        f.was_kept = 0;
        f.was_space = kind == SPACE;
    }
    if (f.now.n_kept) word_close(&f, n);
    return w->kept.err || w->word.err ? STENO_ENOMEM : STENO_OK;
}
