/* steno: word segmentation of text without spaces. SPDX-License-Identifier: MIT */
#include "text/jieba.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/utf8.h"

/* ---- words of the dictionary --------------------------------------------------------------------------------------------------- */

/* The slot of a word with this hash, or the free slot for it. */
static const struct jieba_word *place_of(const struct jieba *d, uint32_t h, const char *s, size_t n)
{
    for (;; h++) {
        const struct jieba_word *w = &d->word[h & d->mask];
        if (!w->n || (w->n == n && !memcmp(d->text + w->at, s, n))) return w;
    }
}

static int32_t count_of(const struct jieba *d, const char *s, size_t n, int32_t otherwise)
{
    const struct jieba_word *w = place_of(d, hash_more(HASH_BEGIN, s, n), s, n);
    return w->n ? w->count : otherwise;
}

/* ---- cutting ------------------------------------------------------------------------------------------------------------------- */

/* The best route from a position. */
struct route { double score; uint32_t next; };

static int is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Characters that form words; any other character is a word of its own. */
static int is_han(uint32_t cp)
{
    if (cp < 0x80) return is_alnum((char)cp) || (cp && strchr("+#&._%-", (int)cp));
    return cp >= 0x4e00 && cp <= 0x9fd5;
}

/* Computed from the end: route[i] is known for all later positions. */
static void find_route(const struct jieba *d, const char *s, size_t n, struct route *route)
{
    const double log_total = log((double)d->total);
    route[n] = (struct route){ 0, 0 };
    for (size_t i = n; i-- > 0;) {
        uint32_t h = HASH_BEGIN, cp;
        if (utf8_is_inside((uint8_t)s[i])) continue;
        const size_t one = utf8_next(s + i, n - i, &cp);
        int is_known = 0;
        for (size_t end = i, len = one; end < n;) {
            h = hash_more(h, s + end, len);
            end += len;
            const struct jieba_word *w = place_of(d, h, s + i, end - i);
            if (!w->n) break;
            if (w->count) {
                const double score = log(w->count) - log_total + route[end].score;
                if (!is_known || score >= route[i].score) route[i] = (struct route){ score, (uint32_t)end };
                is_known = 1;
            }
            len = end < n ? utf8_next(s + end, n - end, &cp) : 0;
        }
        if (!is_known) route[i] = (struct route){ -log_total + route[i + one].score, (uint32_t)(i + one) };
    }
}

/* Cut a run of such characters into words. Consecutive single letters and digits form one word. */
static int cut_run(const struct jieba *d, const char *text, size_t at, size_t n, struct buf *routes, struct buf *ends)
{
    struct route *route;
    buf_clear(routes);
    for (size_t i = 0; i <= n && !routes->err; i++) buf_add(routes, &(struct route) { 0, 0 }, sizeof *route);
    if (routes->err) return STENO_ENOMEM;
    route = (struct route *)(void *)routes->p;
    find_route(d, text + at, n, route);
    for (size_t i = 0, end; i < n; i = end) {
        end = route[i].next;
        while (end < n && end == i + 1 && is_alnum(text[at + i]) && is_alnum(text[at + end]) && route[end].next == end + 1) i = end++;
        const uint32_t to = (uint32_t)(at + end);
        buf_add(ends, &to, sizeof to);
    }
    return ends->err ? STENO_ENOMEM : STENO_OK;
}

int jieba_cut(const struct jieba *d, const char *text, size_t n, struct buf *ends)
{
    struct buf routes = { 0 };
    int rc = STENO_OK;
    for (size_t at = 0, end, len = 0; at < n && !rc; at = end) {
        uint32_t cp;
        for (end = at; end < n; end += len) {
            len = utf8_next(text + end, n - end, &cp);
            if (!is_han(cp)) break;
        }
        if (end > at) {
            rc = cut_run(d, text, at, end - at, &routes, ends);
            continue;
        }
        end = at + len;
        const uint32_t to = (uint32_t)end;
        buf_add(ends, &to, sizeof to);
    }
    buf_free(&routes);
    return rc || ends->err ? STENO_ENOMEM : STENO_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------- */

/* A dictionary under construction. */
struct jieba_reader { struct jieba d; struct buf text, ends; struct jieba_word *word; uint32_t n_words; steno_error *e; };

static int grow(struct jieba_reader *r)
{
    const uint32_t n = r->word ? r->d.mask + 1 : 0, cap = n ? 2 * n : 1u << 10;
    struct jieba_word *old = r->word, *word = calloc(cap, sizeof *word);
    if (!word) return STENO_ENOMEM;
    r->d.word = r->word = word;
    r->d.mask = cap - 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *s = r->d.text + old[i].at;
        if (old[i].n) word[place_of(&r->d, hash_more(HASH_BEGIN, s, old[i].n), s, old[i].n) - word] = old[i];
    }
    free(old);
    return STENO_OK;
}

/* Add a word at `at` of the text, and all its prefixes. */
static int put_word(struct jieba_reader *r, uint32_t at, uint32_t n, int32_t count)
{
    const char *s = r->d.text + at;
    uint32_t h = HASH_BEGIN, cp;
    for (uint32_t k = 0, len; k < n; k += len) {
        len = (uint32_t)utf8_next(s + k, n - k, &cp);
        h = hash_more(h, s + k, len);
        if (2 * (uint64_t)r->n_words >= r->d.mask && grow(r)) return STENO_ENOMEM;
        struct jieba_word *w = &r->word[place_of(&r->d, h, s, k + len) - r->word];
        r->n_words += !w->n;
        if (!w->n) *w = (struct jieba_word){ at, k + len, 0 };
        if (k + len == n) w->count = count;
    }
    return STENO_OK;
}

struct jieba_line { const char *s; size_t n; uint32_t number; };

static int is_blank(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

static int next_line(struct jieba_line *l, const struct jieba_lines *from, size_t *at)
{
    if (*at >= from->n) return 0;
    const char *s = from->text + *at, *end = memchr(s, '\n', from->n - *at);
    size_t n = end ? (size_t)(end - s) : from->n - *at;
    *at += n + 1;
    l->number++;
    while (n && is_blank(s[n - 1])) n--;
    while (n && is_blank(*s)) s++, n--;
    l->s = s;
    l->n = n;
    return 1;
}

/* The number s[n], digits only. @return -1: not a number, or too large */
static int32_t number_of(const char *s, size_t n)
{
    int64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return -1;
        v = 10 * v + (s[i] - '0');
        if (v > INT32_MAX) return -1;
    }
    return n ? (int32_t)v : -1;
}

static int bad_line(const struct jieba_lines *from, const struct jieba_line *l, const char *what, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: line %u: %s", from->where, (unsigned)l->number, what);
}

static int take_word(struct jieba_reader *r, const struct jieba_lines *from, const struct jieba_line *l, size_t n, int32_t count)
{
    const uint32_t at = (uint32_t)r->text.len;
    if (n > JIEBA_WORD_SZ) return bad_line(from, l, "a word of more than 255 bytes", r->e);
    buf_add(&r->text, l->s, n);
    r->d.text = r->text.p;
    if (r->text.err || put_word(r, at, (uint32_t)n, count)) return err_nomem(r->e, r->text.len, "a dictionary");
    r->d.total += count;
    return STENO_OK;
}

/* A count that keeps the word whole: at least the combined frequency of the words that it would be cut into. */
static int32_t suggest_count(const struct jieba *d, const char *s, size_t n, struct buf *ends)
{
    double share = 1;
    const int32_t own = count_of(d, s, n, 1);
    buf_clear(ends);
    if (jieba_cut(d, s, n, ends)) return -1;
    const uint32_t *end = (const uint32_t *)(const void *)ends->p;
    for (size_t i = 0, from = 0; i < ends->len / sizeof *end; from = end[i++])
        share *= count_of(d, s + from, end[i] - from, 1) / (double)d->total;
    const double least = share * (double)d->total + 1;
    return least >= INT32_MAX ? INT32_MAX : (int32_t)least > own ? (int32_t)least : own;
}

static int read_all(struct jieba_reader *r, const struct jieba_lines *from)
{
    struct jieba_line l = { .number = 0 };
    for (size_t at = 0; next_line(&l, from, &at);) {
        const char *space = memchr(l.s, ' ', l.n), *count = space ? space + 1 : NULL;
        const size_t left = count ? l.n - (size_t)(count - l.s) : 0;
        const char *end = count ? memchr(count, ' ', left) : NULL;
        const int32_t n = count ? number_of(count, end ? (size_t)(end - count) : left) : -1;
        if (n < 0 || space == l.s) return bad_line(from, &l, "want a word, a space and how often it was met", r->e);
        const int rc = take_word(r, from, &l, (size_t)(space - l.s), n);
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Cut " x" from the end of s[n], where x consists of characters from..to and is not at the beginning. @return start of x, 0: none */
static size_t last_field(const char *s, size_t n, char from, char to)
{
    size_t i = n;
    while (i && s[i - 1] >= from && s[i - 1] <= to) i--;
    return i < n && i > 1 && s[i - 1] == ' ' ? i : 0;
}

static int read_own(struct jieba_reader *r, const struct jieba_lines *from)
{
    struct jieba_line l = { .number = 0 };
    for (size_t at = 0; next_line(&l, from, &at);) {
        if (l.n >= 3 && !memcmp(l.s, "\xef\xbb\xbf", 3)) l.s += 3, l.n -= 3;
        const size_t kind = last_field(l.s, l.n, 'a', 'z'), before = kind ? kind - 1 : l.n;
        const size_t count = last_field(l.s, before, '0', '9'), n = count ? count - 1 : before;
        if (!n) continue;
        if (n > JIEBA_WORD_SZ) return bad_line(from, &l, "a word of more than 255 bytes", r->e);
        const int32_t times = count ? number_of(l.s + count, before - count) : suggest_count(&r->d, l.s, n, &r->ends);
        if (times < 0 && count) return bad_line(from, &l, "the count is too large", r->e);
        const int rc = times < 0 ? err_nomem(r->e, n, "a dictionary") : take_word(r, from, &l, n, times);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int check_text(const struct jieba_lines *l, steno_error *e)
{
    if (l->n > JIEBA_MAX_SZ) return err_set(e, STENO_EFORMAT, "%s: longer than %d bytes", l->where, JIEBA_MAX_SZ);
    const size_t good = utf8_valid((const uint8_t *)l->text, l->n);
    return good < l->n ? err_set(e, STENO_EFORMAT, "%s: not UTF-8 at byte %zu", l->where, good) : STENO_OK;
}

/* Store the dictionary in its final place. */
static int settle(struct jieba *d, struct arena *a, const struct jieba_reader *r)
{
    const size_t n = (size_t)r->d.mask + 1;
    struct jieba_word *word = arena_array(a, n, sizeof *word);
    char *text = arena_strdup(a, r->text.p, r->text.len);
    if (!word || !text) return err_nomem(r->e, n * sizeof *word, "a dictionary");
    memcpy(word, r->word, n * sizeof *word);
    *d = r->d;
    d->word = word;
    d->text = text;
    return STENO_OK;
}

int jieba_init(struct jieba *d, struct arena *a, const struct jieba_lines *all, const struct jieba_lines *own, steno_error *e)
{
    struct jieba_reader r = { .e = e };
    int rc = check_text(all, e);
    if (!rc) rc = check_text(own, e);
    if (!rc && grow(&r)) rc = err_nomem(e, sizeof *r.word << 10, "a dictionary");
    if (!rc) rc = read_all(&r, all);
    if (!rc && !r.d.total) rc = err_set(e, STENO_EFORMAT, "%s: no word in it", all->where);
    if (!rc) rc = read_own(&r, own);
    if (!rc) rc = settle(d, a, &r);
    buf_free(&r.text);
    buf_free(&r.ends);
    free(r.word);
    return rc;
}
