/* steno: words of passes over the same sound. SPDX-License-Identifier: MIT */
#include "live_words.h"
#include <stdlib.h>
#include <string.h>

int live_words_add(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    if (to->n == to->cap) {
        const size_t cap = to->cap ? 2 * to->cap : 64;
        struct word *w = realloc(to->w, cap * sizeof *w);
        if (!w) return STENO_ENOMEM;
        to->w = w;
        to->cap = cap;
    }
    char *own = strdup(text);
    if (!own) return STENO_ENOMEM;
    to->w[to->n++] = (struct word){ own, t0_ms, t1_ms };
    return STENO_OK;
}

void live_words_clear(struct words *w)
{
    for (size_t i = 0; i < w->n; i++) free(w->w[i].text);
    w->n = 0;
}

void live_words_free(struct words *w)
{
    live_words_clear(w);
    free(w->w);
    *w = (struct words){ 0 };
}

static int is_outer(char c)
{
    return c && (strchr(" \t\r\n", c) || strchr(".,!?;:\"'()[]-", c));
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

int live_word_same(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    while (is_outer(*a)) a++, n--;
    while (is_outer(*b)) b++, m--;
    while (n && is_outer(a[n - 1])) n--;
    while (m && is_outer(b[m - 1])) m--;
    if (n != m) return 0;
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i])) return 0;
    return 1;
}

static size_t behind_time(const struct words *heard, int64_t after_ms)
{
    size_t i = 0;
    while (i < heard->n && heard->w[i].t0_ms < after_ms) i++;
    return i;
}

size_t live_words_behind(const struct words *heard, const struct words *known, int64_t after_ms)
{
    if (!known->n || !heard->n) return known->n ? 0 : behind_time(heard, after_ms);
    size_t *len = calloc(known->n + 1, sizeof *len), best = 0, end = 0; /* of beginnings of known with that of heard at hand */
    if (!len) return behind_time(heard, after_ms);
    for (size_t j = 0; j < heard->n; j++) {
        size_t corner = 0;
        for (size_t i = 1; i <= known->n; i++) {
            const size_t above = len[i];
            size_t now = live_word_same(heard->w[j].text, known->w[i - 1].text) ? corner + 1 : above;
            if (len[i - 1] > now) now = len[i - 1];
            corner = above;
            len[i] = now;
        }
        if (len[known->n] > best) best = len[known->n], end = j + 1;
    }
    free(len);
    return best ? end : behind_time(heard, after_ms);
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
