/* steno: times of a text that is longer than a clip. SPDX-License-Identifier: MIT */
#include "search/align_chain.h"

enum {
    AGAIN = 4,       /* words before the pause that are aligned again */
    APART_MS = 500,  /* times of a word that differ by more are of different places */
    QUARTERS = 4     /* of the certain words: tries begin in the last three */
};

/* ---- comparing two clips */

/* Counts the words that both clips have, and those whose beginnings differ. */
static void compare(const struct align_chain *c, struct chain_try *try, const struct chain_times *t)
{
    try->of = try->apart = 0;
    for (size_t i = 0; i < t->n && c->clip.first + i < c->sure; i++) {
        const int64_t by = c->clip.at_ms + t->ms[2 * i] - c->ms[2 * (c->clip.first + i)];
        try->of++;
        try->apart += by > APART_MS || by < -APART_MS;
    }
}

static int is_wrong(const struct chain_try *try) { return 2 * try->apart > try->of; }

/* Does the current try differ less from the clip before it than earlier ones? */
static int is_best(const struct align_chain *c)
{
    const struct chain_try *now = &c->tries[c->at], *best = &c->tries[c->best];
    return !c->at || now->apart * best->of < best->apart * now->of;
}

void chain_kept_free(struct chain_kept *k)
{
    buf_free(&k->ms);
    buf_free(&k->p);
}

/* 0, or -1: out of memory */
static int times_keep(struct chain_kept *k, const struct chain_times *t)
{
    buf_clear(&k->ms);
    buf_clear(&k->p);
    buf_add(&k->ms, t->ms, 2 * t->n * sizeof *t->ms);
    buf_add(&k->p, t->p, 2 * t->n * sizeof *t->p);
    k->times = *t;
    k->times.ms = (const int32_t *)(const void *)k->ms.p;
    k->times.p = (const float *)(const void *)k->p.p;
    return k->ms.err || k->p.err ? -1 : 0;
}

static void set_clip(struct align_chain *c, const struct chain_try *try)
{
    c->clip = try->clip;
    c->keep = try->keep;
}

/* Decides about a clip that was begun in a pause, and about its times *t, which become those of an earlier try if that was better.
 * @return 1: another beginning is to be aligned, 0: these times are taken, -1: out of memory */
static int try_another(struct align_chain *c, const struct chain_times **t)
{
    struct chain_try *now = &c->tries[c->at];
    const int is_end = c->at + 1 == c->n_tries;
    compare(c, now, *t);
    if (!is_wrong(now)) return 0;
    if (is_best(c)) {
        c->best = c->at;
        if (!is_end && times_keep(c->kept, *t)) return -1;
    } else if (is_end) {
        *t = &c->kept->times;
    }
    set_clip(c, &c->tries[is_end ? c->best : ++c->at]);
    return !is_end;
}

/* ---- the next clip */

static int64_t start_of(const struct align_chain *c, size_t word) { return c->ms[2 * word]; }
static int64_t end_of(const struct align_chain *c, size_t word) { return c->ms[2 * word + 1]; }

/* The length of the pause before a word, in which words around it that are probable count for more. */
static double pause_at(const struct align_chain *c, size_t word)
{
    return (double)(start_of(c, word) - end_of(c, word - 1) + 1) * (double)c->p[2 * word] * (double)c->p[2 * word - 1];
}

/* The best pause before words [from, to). */
static size_t pause_find(const struct align_chain *c, size_t from, size_t to)
{
    size_t best = from;
    for (size_t i = from; i < to; i++)
        if (pause_at(c, i) >= pause_at(c, best)) best = i;
    return best;
}

/* Adds a try that begins before word `keep`, if it leaves at least a quarter of the clip behind, or if the clip took no more words. */
static void try_add(struct align_chain *c, size_t keep, const struct chain_times *t)
{
    const int is_full = c->sure == c->clip.first + t->n;
    const size_t first = keep > c->clip.first + AGAIN ? keep - AGAIN : 0;
    if (first <= c->clip.first) return;
    const int64_t at = (end_of(c, first - 1) + start_of(c, first)) / 2;
    if (!is_full && at < c->clip.at_ms + t->len_ms / 4) return;
    c->tries[c->n_tries++] = (struct chain_try){ { at, first }, keep, 0, 0 };
}

static void tries_make(struct align_chain *c, const struct chain_times *t, size_t n_sure)
{
    const size_t from = c->clip.first;
    size_t to = from + n_sure;
    c->n_tries = c->at = 0;
    for (int k = QUARTERS - 1; k > QUARTERS - 1 - CHAIN_TRIES && n_sure > QUARTERS; k--) {
        const size_t begin = from + n_sure * (size_t)k / QUARTERS;
        if (begin > from) try_add(c, pause_find(c, begin, to), t);
        to = begin;
    }
}

/* Goes on behind the certain words, and behind the stretch that has none. */
static void clip_leave(struct align_chain *c, const struct chain_times *t, size_t n_sure)
{
    const int64_t certain = align_chain_certain(t->len_ms), quarter = t->len_ms / 4;
    int64_t by = n_sure == t->n ? t->ms[2 * n_sure - 1] : t->ms[2 * n_sure] < certain ? t->ms[2 * n_sure] : certain;
    if (n_sure < t->n && by < quarter) by = quarter;
    c->clip = (struct chain_clip){ c->clip.at_ms + by, c->sure };
    c->keep = c->sure;
}

/* ---- taking a clip */

static void times_put(struct align_chain *c, const struct chain_times *t)
{
    int64_t least = c->keep ? end_of(c, c->keep - 1) : 0;
    for (size_t i = c->keep - c->clip.first; i < t->n; i++)
        for (size_t k = 2 * i; k < 2 * i + 2; k++) {
            const int64_t ms = c->clip.at_ms + t->ms[k];
            if (ms > least) least = ms < INT32_MAX ? ms : INT32_MAX;
            c->ms[2 * c->clip.first + k] = (int32_t)least;
            c->p[2 * c->clip.first + k] = t->p[k];
        }
}

int align_chain_take(struct align_chain *c, const struct chain_times *t)
{
    size_t n_sure = 0;
    const int rc = c->n_tries ? try_another(c, &t) : 0;
    if (rc) return rc;
    times_put(c, t);
    if (t->is_last) return 0;
    const int64_t certain = align_chain_certain(t->len_ms);
    while (n_sure < t->n && t->ms[2 * n_sure + 1] <= certain) n_sure++;
    if (c->clip.first + n_sure < c->keep) n_sure = c->keep - c->clip.first; /* those before have their times */
    c->sure = c->clip.first + n_sure;
    if (c->sure == c->n) return 0;
    tries_make(c, t, n_sure);
    if (c->n_tries) set_clip(c, &c->tries[0]);
    else clip_leave(c, t, n_sure);
    return 1;
}
