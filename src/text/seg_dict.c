/* steno: a dictionary of words and their pieces. SPDX-License-Identifier: MIT */
#include "text/seg_dict.h"
#include <string.h>
#include "base/hash.h"

/* White space as defined by Python's str.split. */
static int is_space(uint32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Lower case of Latin, Greek, Cyrillic and full-width letters; other scripts have no case, or do not occur in a speech dictionary. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7)) return c + 32;
    if ((c >= 0x391 && c <= 0x3ab && c != 0x3a2) || (c >= 0x410 && c <= 0x42f) || (c >= 0xff21 && c <= 0xff3a)) return c + 32;
    if (c >= 0x400 && c <= 0x40f) return c + 80;
    if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177)) return c | 1;
    return ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) && c % 2 ? c + 1 : c;
}

/* The next word of s[n], which is well-formed; advances both. @return its length, 0: no more words */
static size_t next_word(const char **s, size_t *n, const char **word)
{
    size_t len = 0;
    while (*n) {
        uint32_t c = 0;
        const size_t k = utf8_next(*s, *n, &c);
        if (is_space(c)) {
            if (len) break;
        } else {
            if (!len) *word = *s;
            len += k;
        }
        *s += k;
        *n -= k;
    }
    return len;
}

const char *seg_dict_line(const struct seg_dict *d, uint32_t i, uint32_t *n)
{
    const char *s = d->text + d->line[i], *end = memchr(s, '\n', d->n - d->line[i]);
    *n = end ? (uint32_t)(end - s) : d->n - d->line[i];
    return s;
}

/* The word of line i. */
static size_t word_of(const struct seg_dict *d, uint32_t i, const char **word)
{
    uint32_t n;
    const char *s = seg_dict_line(d, i, &n);
    size_t left = n;
    return next_word(&s, &left, word);
}

/* The slot of a word, or the free slot for it; lines count from 1 there. */
static uint32_t *place_of(const struct seg_dict *d, const char *s, size_t n)
{
    for (uint32_t h = hash_more(HASH_BEGIN, s, n);; h++) {
        uint32_t *at = &d->hash[h & d->hash_mask];
        const char *word = NULL;
        if (!*at || (word_of(d, *at - 1, &word) == n && !memcmp(word, s, n))) return at;
    }
}

/* Find the lines with a word; line NULL: only count them. */
static uint32_t find_lines(const char *text, size_t n, uint32_t *line)
{
    uint32_t n_lines = 0;
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at), *s = text + at, *word = NULL;
        const size_t len = end ? (size_t)(end - s) : n - at;
        size_t left = len;
        if (next_word(&s, &left, &word)) {
            if (line) line[n_lines] = (uint32_t)at;
            n_lines++;
        }
        at += len + 1;
    }
    return n_lines;
}

int seg_dict_init(struct seg_dict *d, struct arena *a, const char *where, const char *text, size_t n, steno_error *e)
{
    *d = (struct seg_dict){ .text = text, .n = (uint32_t)n };
    if (n > SEG_DICT_MAX_SZ) return err_set(e, STENO_EFORMAT, "%s: longer than %d bytes", where, SEG_DICT_MAX_SZ);
    const size_t good = utf8_valid((const uint8_t *)text, n);
    if (good < n) return err_set(e, STENO_EFORMAT, "%s: not UTF-8 at byte %zu", where, good);
    d->n_lines = find_lines(text, n, NULL);
    size_t cap = 4;
    while (cap < 2 * (size_t)d->n_lines) cap *= 2;
    d->line = arena_array(a, (size_t)d->n_lines + 1, sizeof *d->line);
    d->hash = arena_array(a, cap, sizeof *d->hash);
    if (!d->line || !d->hash) return err_nomem(e, (cap + d->n_lines) * sizeof *d->hash, "a dictionary");
    d->hash_mask = (uint32_t)cap - 1;
    find_lines(text, n, d->line);
    for (uint32_t i = 0; i < d->n_lines; i++) {
        const char *word = NULL;
        const size_t len = word_of(d, i, &word);
        *place_of(d, word, len) = i + 1; /* the last line of a word wins */
    }
    return STENO_OK;
}

static void add_id(struct buf *ids, const struct vocab *v, int32_t unknown, const char *s, size_t n)
{
    const int32_t found = vocab_find(v, (const uint8_t *)s, n), id = found < 0 ? unknown : found;
    buf_add(ids, &id, sizeof id);
}

/* Append the pieces of a word. @return 0: not in the dictionary */
static int add_pieces(const struct seg_dict *d, const struct vocab *v, int32_t unknown, const char *word, size_t n, struct buf *ids)
{
    const uint32_t at = *place_of(d, word, n);
    if (!at) return 0;
    uint32_t len;
    const char *s = seg_dict_line(d, at - 1, &len), *piece = NULL;
    size_t left = len, k;
    (void)next_word(&s, &left, &piece);
    while ((k = next_word(&s, &left, &piece)) > 0) add_id(ids, v, unknown, piece, k);
    return 1;
}

static int is_chinese(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t c = 0;
        at += utf8_next(s + at, n - at, &c);
        if (!((c >= 0x4e00 && c <= 0x9fa5) || (c >= '0' && c <= '9'))) return 0;
    }
    return 1;
}

static void add_word(const struct seg_dict *d, const struct vocab *v, int32_t unknown, const char *word, size_t n, struct buf *ids)
{
    if (add_pieces(d, v, unknown, word, n, ids)) return;
    if (!is_chinese(word, n)) {
        buf_add(ids, &unknown, sizeof unknown);
        return;
    }
    for (size_t at = 0; at < n;) {
        uint32_t c;
        const size_t k = utf8_next(word + at, n - at, &c);
        if (!add_pieces(d, v, unknown, word + at, k, ids)) buf_add(ids, &unknown, sizeof unknown);
        at += k;
    }
}

int seg_dict_ids(const struct seg_dict *d, const struct vocab *v, int32_t unknown, const char *phrase, size_t n, struct buf *ids)
{
    struct buf low = { 0 };
    const char *word = NULL;
    int bad = 0;
    for (size_t len; (len = next_word(&phrase, &n, &word)) > 0;) {
        if (!d) {
            add_id(ids, v, unknown, word, len);
            continue;
        }
        buf_clear(&low);
        for (size_t at = 0; at < len;) {
            char c[4];
            uint32_t cp = 0;
            at += utf8_next(word + at, len - at, &cp);
            buf_add(&low, c, utf8_put(c, lower(cp)));
        }
        bad |= low.err;
        if (!low.err) add_word(d, v, unknown, low.p, low.len, ids);
    }
    buf_free(&low);
    return bad || ids->err ? STENO_ENOMEM : STENO_OK;
}
