/* steno: error rates of characters and words. SPDX-License-Identifier: MIT
 *
 * The smallest number of insertions, deletions and substitutions (Levenshtein 1966), for characters and for words. */
#include "verbs/text_errors.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "verbs/text_anchors.h"
#include "utf8.h"

static const uint64_t CELLS_MOST = 500000000;      /* maximum size of the table of all pairs of units */
static const int64_t STEPS_MOST = 4000000000;       /* maximum steps of the diagonal search: about a minute */

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
        if (is_part && c != '\'') hash = ((hash ? hash : UINT64_C(14695981039346656037)) ^ folded(c)) * UINT64_C(1099511628211) | 1;
        if (alone) u.v[u.n++] = hash, hash = 0;
    }
    return u;
}

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
static const char *count_long(struct text_errors *sum, const struct units *said, const struct units *heard)
{
    const int64_t n = (int64_t)said->n, m = (int64_t)heard->n;
    if (n > INT32_MAX / 2 || m > INT32_MAX / 2) return "the texts are too long to compare: compare parts of them";
    struct reach *on = malloc(((size_t)(n + m) + 3) * sizeof *on), *mid = on ? on + n + 1 : NULL; /* diagonal 0 */
    if (!on) return "out of memory";
    for (int64_t k = -n - 1; k <= m + 1; k++) mid[k] = (struct reach){ INT32_MIN / 2, 0 };
    mid[0].at = -1;
    int64_t steps = 0, errors = 0;
    for (;; errors++) {
        const int64_t lo = errors < n ? -errors : -n, hi = errors < m ? errors : m;
        struct reach left = { INT32_MIN / 2, 0 };
        for (int64_t k = lo; k <= hi; k++) { /* k: position in `heard` minus position in `said` */
            const struct reach was = mid[k];
            struct reach r = reach_next(&mid[k], left);
            left = was;
            if (r.at > n) r.at = (int32_t)n;
            if (r.at > m - k) r.at = (int32_t)(m - k);
            while (r.at >= 0 && r.at + k >= 0 && r.at < n && r.at + k < m && said->v[r.at] == heard->v[r.at + k]) r.at++;
            mid[k] = r;
        }
        steps += hi - lo + 1;
        if (mid[m - n].at == n || steps > STEPS_MOST) break;
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

static const char *count_all(struct text_errors *sum, const struct units *said, const struct units *heard)
{
    struct cell *row = malloc((heard->n + 1) * sizeof *row);
    if (!row) return "out of memory";
    for (size_t j = 0; j <= heard->n; j++) row[j] = (struct cell){ (uint32_t)j, (uint32_t)j, 0 };
    for (size_t i = 0; i < said->n; i++) {
        struct cell before = row[0];
        row[0].cost++, row[0].less++;
        for (size_t j = 0; j < heard->n; j++) {
            const struct cell up = row[j + 1], left = row[j];
            struct cell best = before;
            best.cost += said->v[i] != heard->v[j];
            if (up.cost + 1 < best.cost) best = (struct cell){ up.cost + 1, up.more, up.less + 1 };
            if (left.cost + 1 < best.cost) best = (struct cell){ left.cost + 1, left.more + 1, left.less };
            before = up;
            row[j + 1] = best;
        }
    }
    const struct cell end = row[heard->n];
    sum->units += (long long)said->n;
    sum->more += end.more;
    sum->less += end.less;
    sum->others += end.cost - end.more - end.less;
    free(row);
    return NULL;
}

static const char *count_part(struct text_errors *sum, const struct units *said, const struct units *heard, uint64_t cells_most)
{
    return said->n && heard->n > cells_most / said->n ? count_long(sum, said, heard) : count_all(sum, said, heard);
}

/* If the table of all pairs would be too large, the texts are cut inside equal windows that occur once in each text. Except in
 * constructed texts, no better path avoids these windows. */
static const char *count(struct text_errors *sum, const struct units *said, const struct units *heard, uint64_t cells_most)
{
    enum { WINDOW = 24, PART = 1000 };
    struct text_anchor *anchor = NULL;
    if (!said->n || heard->n <= cells_most / said->n) return count_part(sum, said, heard, cells_most);
    const int64_t n = text_anchors(&anchor, said->v, said->n, heard->v, heard->n, WINDOW);
    const char *why = n < 0 ? "out of memory" : NULL;
    size_t a = 0, b = 0;
    for (int64_t i = 0; i <= n && !why; i++) {
        const size_t to_a = i < n ? anchor[i].a + WINDOW / 2 : said->n, to_b = i < n ? anchor[i].b + WINDOW / 2 : heard->n;
        if (i < n && (to_a - a < PART || to_b - b < PART)) continue;
        const struct units x = { said->v + a, to_a - a }, y = { heard->v + b, to_b - b };
        why = count_part(sum, &x, &y, cells_most < PART * PART ? cells_most : PART * PART);
        a = to_a;
        b = to_b;
    }
    free(anchor);
    return why;
}

const char *text_errors_add(struct text_errors sum[TEXT_ERRORS], const char *said, const char *heard)
{
    return text_errors_add_by(sum, said, heard, CELLS_MOST);
}

const char *text_errors_add_by(struct text_errors sum[TEXT_ERRORS], const char *said, const char *heard, uint64_t cells_most)
{
    static struct units (*const units_of[TEXT_ERRORS])(const char *, size_t) = { characters_of, words_of };
    const char *why = NULL;
    for (int k = 0; k < TEXT_ERRORS && !why; k++) {
        const struct units a = units_of[k](said, strlen(said)), b = units_of[k](heard, strlen(heard));
        why = a.v && b.v ? count(&sum[k], &a, &b, cells_most) : "out of memory";
        free(a.v);
        free(b.v);
    }
    return why;
}
