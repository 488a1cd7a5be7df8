/* steno: local agreement. SPDX-License-Identifier: MIT */
#include "agreement.h"

enum { MARGIN_MS = 100, OVERLAP = 4 /* words */ };

void agreement_clear(struct agreement *a)
{
    live_words_clear(&a->known);
    live_words_clear(&a->heard);
    a->cut = 0;
}

void agreement_free(struct agreement *a)
{
    live_words_free(&a->known);
    live_words_free(&a->heard);
}

void agreement_forget(struct agreement *a)
{
    live_words_drop(&a->known, a->cut);
    a->cut = 0;
}

/* Number of final words up to the last one with a time. */
static size_t timed(const struct agreement *a)
{
    size_t n = a->known.n;
    while (n > 0 && a->known.w[n - 1].t1_ms < 0) n--;
    return n;
}

int64_t agreement_end_ms(const struct agreement *a)
{
    const size_t n = timed(a);
    return n ? a->known.w[n - 1].t1_ms : -1;
}

int64_t agreement_cut(struct agreement *a, int64_t after_ms)
{
    size_t n = timed(a);
    n = n > OVERLAP ? n - OVERLAP : 0;
    while (n > a->cut && a->known.w[n - 1].t1_ms < 0) n--;
    if (n <= a->cut || a->known.w[n - 1].t1_ms <= after_ms) return -1;
    a->cut = n;
    return a->known.w[n - 1].t1_ms;
}

int agreement_hear(struct agreement *a, const struct words *w, int is_last, size_t *first)
{
    const size_t known = a->known.n - a->cut;
    const struct words here = { known ? a->known.w + a->cut : NULL, known, 0 };
    size_t from, same;
    *first = a->known.n;
    int rc = live_words_behind(&from, w, &here, agreement_end_ms(a) - MARGIN_MS);
    if (rc) return rc;
    if (is_last && from < here.n) a->disagreements += (int64_t)(here.n - from);
    for (same = from; same < w->n; same++)
        if (!is_last && (same - from >= a->heard.n || !live_word_same(&a->heard.w[same - from], &w->w[same]))) break;
    rc = live_words_add_range(&a->known, w, from, same);
    live_words_clear(&a->heard);
    return rc ? rc : live_words_add_range(&a->heard, w, same, w->n);
}
