/* steno: positions where two long texts are certainly equal. SPDX-License-Identifier: MIT
 *
 * Hashes of all windows of both texts are sorted. Hashes that occur once in each text form pairs. The longest sequence of pairs that is
 * increasing in both texts is selected (patience sorting). */
#include "verbs/text_anchors.h"
#include <stdlib.h>

struct seen { uint64_t hash; size_t at; };

static int by_hash(const void *x, const void *y)
{
    const struct seen *a = x, *b = y;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static int by_place(const void *x, const void *y)
{
    const struct text_anchor *a = x, *b = y;
    return a->a < b->a ? -1 : a->a > b->a;
}

/* All windows with their rolling hashes. */
static struct seen *windows_of(const uint64_t *v, size_t n, size_t window)
{
    static const uint64_t base = UINT64_C(0x9E3779B97F4A7C15);
    struct seen *s = malloc((n + 1) * sizeof *s);
    uint64_t hash = 0, top = 1;
    for (size_t i = 0; i < window; i++) top *= base;
    for (size_t i = 0; s && i < n; i++) {
        hash = hash * base + v[i] + 1;
        if (i >= window) hash -= top * (v[i - window] + 1);
        if (i + 1 >= window) s[i + 1 - window] = (struct seen){ hash, i + 1 - window };
    }
    if (s && n >= window) qsort(s, n - window + 1, sizeof *s, by_hash);
    return s;
}

static int is_single(const struct seen *s, size_t i, size_t n)
{
    return (!i || s[i - 1].hash != s[i].hash) && (i + 1 == n || s[i + 1].hash != s[i].hash);
}

static size_t pairs_of(struct text_anchor *pair, const struct seen *a, size_t n, const struct seen *b, size_t m)
{
    size_t k = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        if (a[i].hash < b[j].hash) i++;
        else if (a[i].hash > b[j].hash) j++;
        else {
            if (is_single(a, i, n) && is_single(b, j, m)) pair[k++] = (struct text_anchor){ a[i].at, b[j].at };
            i++, j++;
        }
    }
    qsort(pair, k, sizeof *pair, by_place);
    return k;
}

/* Select in place the longest sequence of pairs with increasing b. before[n], end[n]: scratch. */
static size_t forward(struct text_anchor *pair, size_t n, size_t *before, size_t *end)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        size_t lo = 0, hi = length;
        while (lo < hi) {
            const size_t mid = (lo + hi) / 2;
            if (pair[end[mid]].b < pair[i].b) lo = mid + 1;
            else hi = mid;
        }
        before[i] = lo ? end[lo - 1] : i;
        end[lo] = i;
        if (lo == length) length++;
    }
    size_t at = length ? end[length - 1] : 0;
    for (size_t k = length; k-- > 0; at = before[at]) end[k] = at;
    for (size_t k = 0; k < length; k++) pair[k] = pair[end[k]];
    return length;
}

int64_t text_anchors(struct text_anchor **anchors, const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t window)
{
    const size_t most = n < m ? n : m;
    int64_t found = -1;
    *anchors = NULL;
    if (most < window) return 0;
    struct seen *of_a = windows_of(a, n, window), *of_b = windows_of(b, m, window);
    struct text_anchor *pair = malloc((most + 1) * sizeof *pair);
    size_t *room = malloc(2 * (most + 1) * sizeof *room);
    if (of_a && of_b && pair && room) {
        const size_t k = pairs_of(pair, of_a, n - window + 1, of_b, m - window + 1);
        found = (int64_t)forward(pair, k, room, room + most + 1);
        *anchors = pair;
        pair = NULL;
    }
    free(of_a);
    free(of_b);
    free(pair);
    free(room);
    return found;
}
