/* steno: error rates of characters and words. SPDX-License-Identifier: MIT
 *
 * The smallest number of insertions, deletions and substitutions (Levenshtein 1966), for characters and for words. Long texts are first
 * cut at positions where they are certainly equal. */
#include "verbs/text_errors.h"
#include "fnv.h"
#include "utf8.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions where two long texts are certainly equal ---------------------------------------------------------------------- */

/* Hashes of all windows of both texts are sorted. Hashes that occur once in each text form pairs. The longest sequence of pairs that is
 * increasing in both texts is selected (patience sorting). */

struct text_anchor { size_t a, b; };
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
static struct seen *anchor_windows(const uint64_t *v, size_t n, size_t window)
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

static size_t anchor_pairs(struct text_anchor *pair, const struct seen *a, size_t n, const struct seen *b, size_t m)
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
static size_t anchors_in_order(struct text_anchor *pair, size_t n, size_t *before, size_t *end)
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

/* Find positions in two texts a[n], b[m] of units where `window` units are equal and occur only once in each text. The result is the
 * longest list that is in order in both. *anchors: malloc'd. @return the number of positions, or -1 if out of memory */
static int64_t text_anchors(struct text_anchor **anchors, const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t window)
{
    const size_t most = n < m ? n : m;
    int64_t found = -1;
    *anchors = NULL;
    if (most < window) return 0;
    struct seen *of_a = anchor_windows(a, n, window), *of_b = anchor_windows(b, m, window);
    struct text_anchor *pair = malloc((most + 1) * sizeof *pair);
    size_t *room = malloc(2 * (most + 1) * sizeof *room);
    if (of_a && of_b && pair && room) {
        const size_t k = anchor_pairs(pair, of_a, n - window + 1, of_b, m - window + 1);
        found = (int64_t)anchors_in_order(pair, k, room, room + most + 1);
        *anchors = pair;
        pair = NULL;
    }
    free(of_a);
    free(of_b);
    free(pair);
    free(room);
    return found;
}

/* ---- units of a text --------------------------------------------------------------------------------------------------------- */

static const uint64_t CELLS_MAX = 500000000;      /* maximum size of the table of all pairs of units */
static const int64_t STEPS_MAX = 4000000000;       /* maximum steps of the diagonal search: about a minute */

/* Units of a text as numbers: characters, or hashes of words. */
struct units { uint64_t *v; size_t n; };

/* Scripts whose words have no spaces between them. */
static int stands_alone(uint32_t c)
{
    return (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xf900 && c < 0xfb00) || (c >= 0x20000 && c < 0x40000) || (c >= 0x0e00 && c < 0x0f00);
}

static int is_letter(uint32_t c)
{
    static const struct { uint32_t lo, hi; } other[] = { /* punctuation, symbols and pictographs */
        { 0x80, 0xa9 }, { 0xab, 0xb1 }, { 0xb4, 0xb4 }, { 0xb6, 0xb8 }, { 0xbb, 0xbf }, { 0xd7, 0xd7 }, { 0xf7, 0xf7 }, { 0x2000, 0x206f },
        { 0x2190, 0x2bff }, { 0x2e00, 0x2e7f }, { 0x3000, 0x3004 }, { 0x3008, 0x3020 }, { 0x3030, 0x3030 }, { 0x303d, 0x303f },
        { 0x30fb, 0x30fb }, { 0xfe10, 0xfe6f }, { 0xff01, 0xff0f }, { 0xff1a, 0xff20 }, { 0xff3b, 0xff40 }, { 0xff5b, 0xff65 },
        { 0xfff0, 0xffff }, { 0x1f000, 0x1faff },
    };
    if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (c >= other[i].lo && c <= other[i].hi) return 0;
    return 1;
}

/* Fold case of European scripts, and full width to half width. */
static uint32_t folded(uint32_t c)
{
    if (c >= 0xff01 && c <= 0xff5e) c -= 0xfee0;
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f)) return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

/* The next character of a UTF-8 text; 0 at the end. Tags are replaced by a space. */
static uint32_t next_char(const char **p)
{
    const char *end = strncmp(*p, "<|", 2) == 0 ? strstr(*p, "|>") : NULL;
    size_t n = strnlen(*p, 4);
    if (end) return *p = end + 2, ' ';
    if (!n) return 0;
    const int32_t c = utf8_decode(*p, n, &n);
    *p += n;
    return c < 0 ? ' ' : (uint32_t)c;
}

static struct units characters_of(const char *text, size_t most)
{
    struct units u = { malloc((most + 1) * sizeof *u.v), 0 };
    for (uint32_t c; u.v && (c = next_char(&text)) != 0;)
        if (is_letter(c)) u.v[u.n++] = folded(c);
    return u;
}

static struct units words_of(const char *text, size_t most)
{
    struct units u = { malloc((most + 1) * sizeof *u.v), 0 };
    uint64_t hash = 0;
    for (uint32_t c = 1; u.v && c;) {
        c = next_char(&text);
        const int is_part = c && (is_letter(c) || (c == '\'' && hash)), alone = is_part && stands_alone(c);
        if (hash && (!is_part || alone)) u.v[u.n++] = hash, hash = 0;
        const uint32_t letter = folded(c);
        if (is_part && c != '\'') hash = fnv(hash ? hash : FNV_BASIS, &letter, sizeof letter) | 1; /* never 0 */
        if (alone) u.v[u.n++] = hash, hash = 0;
    }
    return u;
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------ */

/* The best path to a cell: its cost, with insertions and deletions. */
struct cell { uint32_t cost, more, less; };

/* The furthest reach of a path on a diagonal: position `at` in the reference, and the number of its errors that are insertions. */
struct reach { int32_t at; uint32_t more; };

/* The furthest path on a diagonal with one more error, from the diagonals beside it. At equal reach: substitution, then deletion, then
 * insertion. */
static struct reach reach_next(const struct reach *was, struct reach left)
{
    struct reach best = { was[0].at + 1, was[0].more };
    if (was[1].at + 1 > best.at) best = (struct reach){ was[1].at + 1, was[1].more };
    if (left.at > best.at) best = (struct reach){ left.at, left.more + 1 };
    return best;
}

/* For long and similar texts: extend paths with 0, 1, 2, ... errors until one reaches the end (Ukkonen 1985, Myers 1986). Time grows
 * with the square of the errors, not with the lengths. */
static const char *count_long(struct text_errors *sum, const struct units *reference, const struct units *text)
{
    const int64_t n = (int64_t)reference->n, m = (int64_t)text->n;
    if (n > INT32_MAX / 2 || m > INT32_MAX / 2) return "the texts are too long to compare: compare parts of them";
    struct reach *on = malloc(((size_t)(n + m) + 3) * sizeof *on), *mid = on ? on + n + 1 : NULL; /* diagonal 0 */
    if (!on) return "out of memory";
    for (int64_t k = -n - 1; k <= m + 1; k++) mid[k] = (struct reach){ INT32_MIN / 2, 0 };
    mid[0].at = -1;
    int64_t steps = 0, errors = 0;
    for (;; errors++) {
        const int64_t lo = errors < n ? -errors : -n, hi = errors < m ? errors : m;
        struct reach left = { INT32_MIN / 2, 0 };
        for (int64_t k = lo; k <= hi; k++) { /* k: position in `text` minus position in `reference` */
            const struct reach was = mid[k];
            struct reach r = reach_next(&mid[k], left);
            left = was;
            if (r.at > n) r.at = (int32_t)n;
            if (r.at > m - k) r.at = (int32_t)(m - k);
            while (r.at >= 0 && r.at + k >= 0 && r.at < n && r.at + k < m && reference->v[r.at] == text->v[r.at + k]) r.at++;
            mid[k] = r;
        }
        steps += hi - lo + 1;
        if (mid[m - n].at == n || steps > STEPS_MAX) break;
    }
    const int is_found = mid[m - n].at == n;
    const int64_t more = mid[m - n].more, less = more - (m - n);
    free(on);
    if (!is_found) return "the texts are too long and too different to compare: compare parts of them";
    sum->units += n;
    sum->more += more;
    sum->less += less;
    sum->others += errors - more - less;
    return NULL;
}

static const char *count_all(struct text_errors *sum, const struct units *reference, const struct units *text)
{
    struct cell *row = malloc((text->n + 1) * sizeof *row);
    if (!row) return "out of memory";
    for (size_t j = 0; j <= text->n; j++) row[j] = (struct cell){ (uint32_t)j, (uint32_t)j, 0 };
    for (size_t i = 0; i < reference->n; i++) {
        struct cell before = row[0];
        row[0].cost++, row[0].less++;
        for (size_t j = 0; j < text->n; j++) {
            const struct cell up = row[j + 1], left = row[j];
            struct cell best = before;
            best.cost += reference->v[i] != text->v[j];
            if (up.cost + 1 < best.cost) best = (struct cell){ up.cost + 1, up.more, up.less + 1 };
            if (left.cost + 1 < best.cost) best = (struct cell){ left.cost + 1, left.more + 1, left.less };
            before = up;
            row[j + 1] = best;
        }
    }
    const struct cell end = row[text->n];
    sum->units += (long long)reference->n;
    sum->more += end.more;
    sum->less += end.less;
    sum->others += end.cost - end.more - end.less;
    free(row);
    return NULL;
}

static const char *count_part(struct text_errors *sum, const struct units *reference, const struct units *text, uint64_t cells_most)
{
    return reference->n && text->n > cells_most / reference->n ? count_long(sum, reference, text) : count_all(sum, reference, text);
}

/* If the table of all pairs would be too large, the texts are cut inside equal windows that occur once in each text. Except in
 * constructed texts, no better path avoids these windows. */
static const char *count_units(struct text_errors *sum, const struct units *reference, const struct units *text, uint64_t cells_most)
{
    enum { WINDOW = 24, PART = 1000 };
    struct text_anchor *anchor = NULL;
    if (!reference->n || text->n <= cells_most / reference->n) return count_part(sum, reference, text, cells_most);
    const int64_t n = text_anchors(&anchor, reference->v, reference->n, text->v, text->n, WINDOW);
    const char *why = n < 0 ? "out of memory" : NULL;
    size_t a = 0, b = 0;
    for (int64_t i = 0; i <= n && !why; i++) {
        const size_t to_a = i < n ? anchor[i].a + WINDOW / 2 : reference->n, to_b = i < n ? anchor[i].b + WINDOW / 2 : text->n;
        if (i < n && (to_a - a < PART || to_b - b < PART)) continue;
        const struct units x = { reference->v + a, to_a - a }, y = { text->v + b, to_b - b };
        why = count_part(sum, &x, &y, cells_most < PART * PART ? cells_most : PART * PART);
        a = to_a;
        b = to_b;
    }
    free(anchor);
    return why;
}

const char *text_errors_add(struct text_errors sum[TEXT_ERRORS], const char *reference, const char *text)
{
    return text_errors_add_by(sum, reference, text, CELLS_MAX);
}

const char *text_errors_add_by(struct text_errors sum[TEXT_ERRORS], const char *reference, const char *text, uint64_t cells_most)
{
    static struct units (*const units_of[TEXT_ERRORS])(const char *, size_t) = { characters_of, words_of };
    const char *why = NULL;
    for (int k = 0; k < TEXT_ERRORS && !why; k++) {
        const struct units a = units_of[k](reference, strlen(reference)), b = units_of[k](text, strlen(text));
        why = a.v && b.v ? count_units(&sum[k], &a, &b, cells_most) : "out of memory";
        free(a.v);
        free(b.v);
    }
    return why;
}
