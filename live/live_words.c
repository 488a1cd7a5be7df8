/* steno: words of passes over the same audio, and their local agreement. SPDX-License-Identifier: MIT */
#include "live_words.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

/* ---- characters */

enum kind { SPACE, OPENS /* opening bracket or quotation mark */, MARK, LETTER, ALONE /* of a script without spaces between words */ };

static int is_alone(utf8proc_int32_t c)
{
    static const struct { utf8proc_int32_t first, last; } scripts[] = {
        { 0x0e00, 0x0eff },   { 0x1000, 0x109f },   { 0x1780, 0x17ff },   { 0x2e80, 0x2fdf },   /* Thai, Lao; Myanmar; Khmer; radicals */
        { 0x3005, 0x3007 },   { 0x3021, 0x30ff },   { 0x31f0, 0x31ff },   { 0x3400, 0x4dbf },   /* kana; Han */
        { 0x4e00, 0x9fff },   { 0xa9e0, 0xa9ff },   { 0xaa60, 0xaa7f },   { 0xf900, 0xfaff },
        { 0xff66, 0xff9f },   { 0x1b000, 0x1b16f }, { 0x20000, 0x3ffff },
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c >= scripts[i].first && c <= scripts[i].last) return 1;
    return 0;
}

static enum kind kind_of(utf8proc_int32_t c)
{
    const utf8proc_category_t k = utf8proc_category(c);
    if (k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_CC) return SPACE;
    if (k == UTF8PROC_CATEGORY_PS || k == UTF8PROC_CATEGORY_PI) return OPENS;
    if (k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO) return MARK;
    return is_alone(c) ? ALONE : LETTER;
}

/* Reads the character at s; invalid bytes count as letters. @return its bytes, 0 at the end */
static size_t char_at(const char *s, utf8proc_int32_t *c)
{
    if (!*s) return 0;
    const utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, -1, c);
    if (n > 0) return (size_t)n;
    *c = 0xfffd;
    return 1;
}

/* ---- words */

/* The normalised text without surrounding punctuation, or its own bytes if it cannot be normalised. malloc'd */
static char *key_of(const char *text)
{
    utf8proc_uint8_t *folded = NULL;
    const utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text, 0, &folded,
                                            UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
    if (n == UTF8PROC_ERROR_NOMEM) return NULL;
    char *key = n < 0 ? strdup(text) : (char *)folded;
    if (!key) return NULL;
    size_t from = 0, end = 0, k;
    utf8proc_int32_t c;
    for (size_t i = 0; (k = char_at(key + i, &c)) > 0; i += k) {
        const int is_inner = kind_of(c) >= LETTER;
        if (is_inner) end = i + k;
        else if (!end) from = i + k;
    }
    memmove(key, key + from, end > from ? end - from : 0);
    key[end > from ? end - from : 0] = '\0';
    return key;
}

int live_words_add(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    if (to->n == to->cap) {
        const size_t cap = to->cap ? 2 * to->cap : 64;
        struct word *w = realloc(to->w, cap * sizeof *w);
        if (!w) return STENO_ENOMEM;
        to->w = w;
        to->cap = cap;
    }
    char *key = key_of(text);
    const size_t n = strlen(text) + 1, k = key ? strlen(key) + 1 : 0;
    char *own = key ? malloc(n + k) : NULL;
    if (own) {
        memcpy(own, text, n);
        memcpy(own + n, key, k);
        to->w[to->n++] = (struct word){ own, own + n, t0_ms, t1_ms, (double)NAN };
    }
    free(key);
    return own ? STENO_OK : STENO_ENOMEM;
}

/* Length of the first unit of s: up to the next place where a word may begin, with at least one readable character. */
static size_t unit_length(const char *s)
{
    enum kind body = SPACE; /* kind of the last letter */
    utf8proc_int32_t c, before = 0, state = 0;
    size_t at = 0, n;
    for (; (n = char_at(s + at, &c)) > 0; at += n, before = c) {
        const int is_joined = at > 0 && !utf8proc_grapheme_break_stateful(before, c, &state);
        const enum kind k = is_joined ? body : kind_of(c);
        if (body >= LETTER && !is_joined && (k <= OPENS || k == ALONE || (k == LETTER && body == ALONE))) return at;
        if (k >= LETTER) body = k;
    }
    return at;
}

static int has_letters(const char *s, size_t n)
{
    utf8proc_int32_t c;
    size_t k;
    for (size_t i = 0; i < n && (k = char_at(s + i, &c)) > 0; i += k)
        if (kind_of(c) >= LETTER) return 1;
    return 0;
}

int live_words_add_units(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    char *copy = strdup(text), *s = copy;
    int rc = copy ? STENO_OK : STENO_ENOMEM;
    while (!rc && *s) {
        size_t n = unit_length(s);
        if (!has_letters(s + n, strlen(s + n))) n = strlen(s); /* punctuation alone belongs to the unit before it */
        const char kept = s[n];
        s[n] = '\0';
        rc = live_words_add(to, s, s == copy ? t0_ms : -1, kept ? -1 : t1_ms);
        s += n;
        *s = kept;
    }
    free(copy);
    return rc;
}

int live_words_add_text(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    utf8proc_int32_t c = ' ', before = ' ';
    const char *last = to->n ? to->w[to->n - 1].text : "";
    char_at(text, &c);
    for (size_t k; (k = char_at(last, &before)) > 0;) last += k;
    if (kind_of(before) == SPACE || kind_of(before) == ALONE || kind_of(c) == SPACE || kind_of(c) == ALONE)
        return live_words_add_units(to, text, t0_ms, t1_ms);
    const size_t n = strlen(text) + 1;
    char *spaced = malloc(n + 1);
    if (!spaced) return STENO_ENOMEM;
    *spaced = ' ';
    memcpy(spaced + 1, text, n);
    const int rc = live_words_add_units(to, spaced, t0_ms, t1_ms);
    free(spaced);
    return rc;
}

int live_words_add_range(struct words *to, const struct words *w, size_t from, size_t end)
{
    int rc = STENO_OK;
    for (size_t i = from; i < end && !rc; i++) {
        rc = live_words_add(to, w->w[i].text, w->w[i].t0_ms, w->w[i].t1_ms);
        if (!rc) live_words_rate(to, to->n - 1, w->w[i].probability);
    }
    return rc;
}

void live_words_rate(struct words *w, size_t from, double probability)
{
    for (size_t i = from; i < w->n; i++) w->w[i].probability = probability;
}

/* Drops the first n words. */
static void live_words_drop(struct words *w, size_t n)
{
    for (size_t i = 0; i < n; i++) free(w->w[i].text);
    w->n -= n;
    if (n && w->n) memmove(w->w, w->w + n, w->n * sizeof *w->w);
}

void live_words_clear(struct words *w)
{
    live_words_drop(w, w->n);
}

void live_words_free(struct words *w)
{
    live_words_clear(w);
    free(w->w);
    *w = (struct words){ 0 };
}

int live_word_same(const struct word *a, const struct word *b)
{
    return strcmp(a->key, b->key) == 0;
}

/* ---- passes */

static size_t behind_time(const struct words *recent, int64_t after_ms)
{
    size_t i = 0;
    while (i < recent->n && recent->w[i].t0_ms < after_ms) i++;
    return i;
}

int live_words_behind(size_t *at, const struct words *recent, const struct words *known, int64_t after_ms)
{
    *at = known->n ? 0 : behind_time(recent, after_ms);
    if (!known->n || !recent->n) return STENO_OK;
    size_t *len = calloc(known->n + 1, sizeof *len), best = 0; /* longest common subsequences of each prefix of known with the current
                                                                * prefix of recent */
    if (!len) return STENO_ENOMEM;
    for (size_t j = 0; j < recent->n; j++) {
        size_t corner = 0;
        for (size_t i = 1; i <= known->n; i++) {
            const size_t above = len[i];
            size_t now = live_word_same(&recent->w[j], &known->w[i - 1]) ? corner + 1 : above;
            if (len[i - 1] > now) now = len[i - 1];
            corner = above;
            len[i] = now;
        }
        if (len[known->n] > best) best = len[known->n], *at = j + 1;
    }
    free(len);
    if (!best) *at = behind_time(recent, after_ms);
    return STENO_OK;
}

char *live_words_text(const struct words *w, size_t from, size_t end)
{
    size_t n = 1;
    for (size_t i = from; i < end; i++) n += strlen(w->w[i].text);
    char *text = malloc(n), *p = text;
    if (!text) return NULL;
    for (size_t i = from; i < end; i++) {
        const char *s = w->w[i].text;
        while (p == text && *s == ' ') s++;
        const size_t k = strlen(s);
        memcpy(p, s, k);
        p += k;
    }
    while (p > text && p[-1] == ' ') p--;
    *p = '\0';
    return text;
}

char *live_words_tail(const struct words *w, size_t end, size_t most)
{
    char *text = live_words_text(w, 0, end);
    const size_t n = text ? strlen(text) : 0;
    if (n <= most) return text;
    const char *from = text + n - most;
    while ((*from & 0xc0) == 0x80) from++; /* inside a character */
    if (strchr(from, ' ')) from = strchr(from, ' ');
    memmove(text, from, strlen(from) + 1);
    return text;
}

/* The text of the first n ids, or of fewer, so that no character is cut. @return a status */
static int whole_text(char *to, size_t room, const steno_model *m, const int32_t *ids, int n)
{
    static const char cut[] = "\xef\xbf\xbd"; /* U+FFFD */
    const size_t n_cut = sizeof cut - 1;
    for (*to = '\0'; n > 0; n--) {
        const int64_t len = steno_detokenize(m, ids, n, to, room);
        if (len < 0) return (int)len;
        if (len < (int64_t)n_cut || strcmp(to + len - n_cut, cut) != 0) return STENO_OK;
        *to = '\0';
    }
    return STENO_OK;
}

static int text_prefix(char **out, const steno_model *m, const char *text)
{
    enum { UNSURE = 5, MOST = 256 /* more tokens than 30 s of speech have */, ROOM = 32 /* for characters that are cut */ };
    const int all = steno_tokenize(m, text, NULL, 0);
    const size_t room = strlen(text) + ROOM;
    if (all < 0) return all;
    if (all <= UNSURE || all > MOST) return STENO_OK;
    int32_t *ids = malloc((size_t)all * sizeof *ids);
    char *to = malloc(room);
    int rc = ids && to ? STENO_OK : STENO_ENOMEM;
    if (!rc) rc = steno_tokenize(m, text, ids, all) == all ? whole_text(to, room, m, ids, all - UNSURE) : STENO_ENOMEM;
    free(ids);
    if (!rc && *to) *out = to;
    else free(to);
    return rc;
}

int live_words_prefix(char **out, char language[LIVE_LANGUAGE], const struct live_prefixing *of)
{
    steno_segment g = { .size = sizeof g };
    *out = NULL;
    if (steno_segment_count(of->s) != 1) return STENO_OK;
    steno_segment_get(of->s, 0, &g);
    const char *used = steno_language_id(of->m, of->language) >= 0 ? of->language : g.language;
    if (g.flags & STENO_FLAG_REPETITION || steno_language_id(of->m, used) < 0) return STENO_OK;
    snprintf(language, LIVE_LANGUAGE, "%s", used);
    return text_prefix(out, of->m, g.text);
}

int live_words_gap(const struct words *a, size_t from, size_t end, const struct words *b, size_t at)
{
    size_t before = 0, behind = 0, rest = 0; /* rest: bytes of the word after its spaces, or before them */
    while (end > from && !rest) {
        const char *s = a->w[--end].text;
        const size_t all = rest = strlen(s);
        while (rest && s[rest - 1] == ' ') rest--;
        before += all - rest;
    }
    if (!rest) return 0;
    for (rest = 0; at < b->n && !rest; at++) {
        const size_t n = strspn(b->w[at].text, " ");
        rest = strlen(b->w[at].text) - n;
        behind += n;
    }
    return rest ? (int)(before + behind) : 0;
}

/* ---- agreement --------------------------------------------------------------------------------------------------------------- */

enum { MARGIN_MS = 100, OVERLAP = 4 /* words */ };

void agreement_clear(struct agreement *a)
{
    live_words_clear(&a->known);
    live_words_clear(&a->recent);
    a->cut = 0;
}

void agreement_free(struct agreement *a)
{
    live_words_free(&a->known);
    live_words_free(&a->recent);
}

void agreement_forget(struct agreement *a)
{
    live_words_drop(&a->known, a->cut);
    a->cut = 0;
}

/* Number of final words up to the last one with a time. */
static size_t timed_word(const struct agreement *a)
{
    size_t n = a->known.n;
    while (n > 0 && a->known.w[n - 1].t1_ms < 0) n--;
    return n;
}

int64_t agreement_end_ms(const struct agreement *a)
{
    const size_t n = timed_word(a);
    return n ? a->known.w[n - 1].t1_ms : -1;
}

int64_t agreement_cut(struct agreement *a, int64_t after_ms)
{
    size_t n = timed_word(a);
    n = n > OVERLAP ? n - OVERLAP : 0;
    while (n > a->cut && a->known.w[n - 1].t1_ms < 0) n--;
    if (n <= a->cut || a->known.w[n - 1].t1_ms <= after_ms) return -1;
    a->cut = n;
    return a->known.w[n - 1].t1_ms;
}

int agreement_add(struct agreement *a, const struct words *w, int is_last, size_t *first)
{
    const size_t known = a->known.n - a->cut;
    const struct words here = { known ? a->known.w + a->cut : NULL, known, 0 };
    size_t from, same;
    *first = a->known.n;
    int rc = live_words_behind(&from, w, &here, agreement_end_ms(a) - MARGIN_MS);
    if (rc) return rc;
    if (is_last && from < here.n) a->disagreements += (int64_t)(here.n - from);
    for (same = from; same < w->n; same++)
        if (!is_last && (same - from >= a->recent.n || !live_word_same(&a->recent.w[same - from], &w->w[same]))) break;
    rc = live_words_add_range(&a->known, w, from, same);
    live_words_clear(&a->recent);
    return rc ? rc : live_words_add_range(&a->recent, w, same, w->n);
}

int agreement_end(struct agreement *a, size_t *first)
{
    *first = a->known.n;
    const int rc = live_words_add_range(&a->known, &a->recent, 0, a->recent.n);
    live_words_clear(&a->recent);
    return rc;
}
