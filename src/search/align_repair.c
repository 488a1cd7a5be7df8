/* steno: times of an alignment that do not fall. SPDX-License-Identifier: MIT
 *
 * len[i] is the length of the longest sequence that ends with time i. Of the times with one length, later ones are smaller, and the last
 * one of each length is not smaller than that of the length before. So both searches halve their range: n log n steps for n times. */
#include "search/align_repair.h"
#include <string.h>

/* Tables for n times. */
struct repair {
    const int32_t *ms;
    int32_t n;
    int32_t *len;      /* [n] */
    int32_t *last;     /* [n + 1] by length: the smallest time so far */
    int32_t *begin;    /* [n + 2] by length: its first place in `at` */
    int32_t *n_at;     /* [n + 1] by length: places in use */
    int32_t *at;       /* [n] times by length, in order */
    int32_t *parent;   /* [n] the time before it in its sequence; -1: none */
    int32_t longest;
};

/* The longest sequence before a time: the largest length whose last time is at most `ms`; 0: none. */
static int32_t length_before(const struct repair *r, int32_t ms)
{
    int32_t lo = 0, hi = r->longest;
    while (lo < hi) {
        const int32_t mid = (lo + hi + 1) / 2;
        if (r->last[mid] <= ms) lo = mid;
        else hi = mid - 1;
    }
    return lo;
}

static void lengths_find(struct repair *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        const int32_t len = r->len[i] = length_before(r, r->ms[i]) + 1;
        r->last[len] = r->ms[i];
        r->begin[len + 1]++;
        if (len > r->longest) r->longest = len;
    }
    for (int32_t len = 1; len <= r->longest; len++) r->begin[len + 1] += r->begin[len];
}

/* The earliest of the times so far with a length that is at most `ms`; there is one. */
static int32_t earliest(const struct repair *r, int32_t len, int32_t ms)
{
    const int32_t *at = r->at + r->begin[len];
    int32_t lo = 0, hi = r->n_at[len] - 1;
    while (lo < hi) {
        const int32_t mid = (lo + hi) / 2;
        if (r->ms[at[mid]] <= ms) hi = mid;
        else lo = mid + 1;
    }
    return at[lo];
}

static void parents_find(struct repair *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        const int32_t len = r->len[i];
        r->parent[i] = len > 1 ? earliest(r, len - 1, r->ms[i]) : -1;
        r->at[r->begin[len] + r->n_at[len]++] = i;
    }
}

/* Replaces times (left, right), both of which are kept; left -1, right n: there is none. */
static void gap_fill(int32_t *ms, int32_t n, int32_t left, int32_t right)
{
    const int32_t some = right - left - 1;
    const double from = left >= 0 ? ms[left] : 0, to = right < n ? ms[right] : 0;
    for (int32_t k = left + 1; k < right; k++) {
        if (left < 0 || right == n) ms[k] = left < 0 ? ms[right] : ms[left];
        else if (some > 2) ms[k] = (int32_t)(from + (to - from) / (some + 1) * (k - left));
        else ms[k] = k - left <= right - k ? ms[left] : ms[right];
    }
}

int align_repair(int32_t *ms, int32_t n, struct buf *scratch)
{
    static const int32_t zero = 0;
    if (n < 1) return STENO_OK;
    buf_clear(scratch);
    for (size_t i = 0; i < 6 * (size_t)n + 5 && !scratch->err; i++) buf_add(scratch, &zero, sizeof zero);
    if (scratch->err) return STENO_ENOMEM;
    int32_t *t = (int32_t *)(void *)scratch->p;
    struct repair r = { ms, n, t, t + n, t + 2 * n + 1, t + 3 * n + 3, t + 4 * n + 4, t + 5 * n + 4, 0 };
    lengths_find(&r);
    parents_find(&r);
    int32_t right = n, left = r.at[r.begin[r.longest]];
    for (;; right = left, left = r.parent[left]) {
        gap_fill(ms, n, left, right);
        if (left < 0) return STENO_OK;
    }
}
