/* steno: words and their pieces. SPDX-License-Identifier: MIT */
#include "text/wordpiece.h"
#include <string.h>
#include "text/unicode.h"

/* The current word: a space, then its characters. */
struct piece_word {
    const struct wordpiece *w;
    struct buf *ids;
    struct buf text;
    uint32_t chars;
    int failed; /* 1: out of memory for a word */
};

static int is_han(uint32_t cp)
{
    static const struct { uint32_t from, to; } range[] = { { 0x4e00, 0x9fff },   { 0x3400, 0x4dbf },   { 0x20000, 0x2a6df },
                                                           { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf },
                                                           { 0xf900, 0xfaff },   { 0x2f800, 0x2fa1f } };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (cp >= range[i].from && cp <= range[i].to) return 1;
    return 0;
}

static int is_ascii_mark(uint32_t cp)
{
    return (cp > ' ' && cp < '0') || (cp > '9' && cp < 'A') || (cp > 'Z' && cp < 'a') || (cp > 'z' && cp < 0x7f);
}

/* The longest piece of the word at `from`; a piece inside the word has no space. @return its id, -1: none. *len: its bytes */
static int32_t longest_piece(const struct piece_word *q, size_t from, size_t *len)
{
    const uint8_t *s = (const uint8_t *)q->text.p + from;
    const size_t left = q->text.len - from;
    for (size_t n = left < q->w->most_bytes ? left : q->w->most_bytes; n > (from ? 0 : 1); n--) {
        if (n < left && utf8_is_inside(s[n])) continue;
        const int32_t id = vocab_find(q->w->v, s, n);
        if (id < 0) continue;
        *len = n;
        return id;
    }
    return -1;
}

/* Append the ids of the word, all or none, and begin the next word. */
static void word_end(struct piece_word *q)
{
    const size_t begin = q->ids->len;
    int is_known = q->chars <= q->w->most_chars;
    for (size_t at = 0, len = 0; q->chars && is_known && at < q->text.len; at += len) {
        const int32_t id = longest_piece(q, at, &len);
        is_known = id >= 0;
        if (is_known) buf_add(q->ids, &id, sizeof id);
    }
    if (q->chars && !is_known) {
        q->ids->len = begin;
        buf_add(q->ids, &q->w->unknown, sizeof q->w->unknown);
    }
    q->failed |= q->text.err;
    buf_clear(&q->text);
    q->chars = 0;
}

/* Add a character in the vocabulary's spelling. */
static void word_add(struct piece_word *q, uint32_t cp)
{
    char s[4];
    if (unicode_is_space(cp)) {
        word_end(q);
        return;
    }
    const int alone = is_ascii_mark(cp) || unicode_is_punctuation(cp);
    if (alone) word_end(q);
    if (!q->chars) buf_add(&q->text, " ", 1);
    if (q->chars <= q->w->most_chars) buf_add(&q->text, s, utf8_put(s, cp)); /* the rest of a longer word is not needed */
    q->chars++;
    if (alone) word_end(q);
}

static void add_lower(struct piece_word *q, uint32_t cp)
{
    int32_t to[2];
    const int n = q->w->flags & WORDPIECE_LOWER ? unicode_lower(cp, to) : 0;
    if (!n) word_add(q, cp);
    for (int i = 0; i < n; i++) word_add(q, (uint32_t)to[i]);
}

/* Process a character of the text. */
static void take(struct piece_word *q, uint32_t cp)
{
    int32_t part[UNICODE_PARTS];
    const int is_line = cp == '\t' || cp == '\n' || cp == '\r';
    if (q->w->flags & WORDPIECE_CLEAN && (!cp || cp == 0xfffd || (!is_line && unicode_is_control(cp)))) return;
    const int han = q->w->flags & WORDPIECE_HAN && is_han(cp);
    if (han) word_end(q);
    const int n = q->w->flags & WORDPIECE_STRIP ? unicode_parts(cp, part) : 0;
    if (!n) add_lower(q, cp);
    for (int i = 0; i < n; i++)
        if (!unicode_is_mark((uint32_t)part[i])) add_lower(q, (uint32_t)part[i]);
    if (han) word_end(q);
}

int wordpiece_encode(const struct wordpiece *w, const char *text, size_t n, struct buf *ids, steno_error *e)
{
    struct piece_word q = { .w = w, .ids = ids };
    uint32_t cp;
    for (size_t at = 0; at < n;) {
        const size_t len = utf8_next(text + at, n - at, &cp);
        if (len) take(&q, cp);
        at += len ? len : 1;
    }
    word_end(&q);
    const int bad = q.failed || ids->err;
    buf_free(&q.text);
    return bad ? err_nomem(e, n, "token ids") : STENO_OK;
}
