/* steno: word times of a window: from an alignment to words. SPDX-License-Identifier: MIT */
#include <math.h>
#include "task/words/words.h"
#include "search/dtw.h"

static const double positions_per_s = 50;

double round_cents(double x)
{
    const double p = x * 100;
    if (!(fabs(p) < 0x1p52)) return x;   /* too large to have cents, or not a number */
    const double rest = fma(x, 100, -p); /* p + rest is exact */
    double n = nearbyint(p);
    if (fabs(n - p) == 0.5 && rest != 0) n = rest > 0 ? ceil(p) : floor(p);
    return n / 100;
}

static struct timing *timings_of(const struct words *w)
{
    return (struct timing *)(void *)w->timing.p;
}

/* Words 0 .. n-1 of w->split start and end where the path enters the rows of their first tokens. */
static int timings_make(struct words *w, const struct heard *h, size_t n)
{
    const int32_t zero = 0;
    buf_clear(&w->timing);
    for (int32_t i = 0; i <= h->n; i++) buf_add(&w->jump, &zero, sizeof zero);
    int32_t *jump = (int32_t *)(void *)w->jump.p;
    if (w->jump.err || dtw_path(jump, h->matrix, h->ld, h->n + 1, h->n_ctx)) return STENO_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct split_word *word = split_at(&w->split, i);
        double sum = 0;
        for (int32_t k = word->first; k < word->first + word->n; k++) sum += (double)h->prob[k];
        const struct timing t = { jump[word->first] / positions_per_s, jump[word->first + word->n] / positions_per_s, sum / word->n };
        buf_add(&w->timing, &t, sizeof t);
    }
    return w->timing.err ? STENO_ENOMEM : STENO_OK;
}

int words_find(struct words *w, const struct vocab *v, int32_t eot, const char *language, const struct heard *h, size_t *n)
{
    *n = 0;
    buf_clear(&w->jump);
    if (h->n < 1 || h->n_ctx < 1) return STENO_OK;
    if (split_words(&w->split, v, h->ids, h->n + 1, eot, language_has_spaces(language))) return STENO_ENOMEM;
    *n = split_count(&w->split) - 1;
    return timings_make(w, h, *n);
}

/* Adds word i of w->split. */
static void word_add(struct words *w, size_t i, double offset)
{
    const struct split_word *from = split_at(&w->split, i);
    const struct timing *t = &timings_of(w)[i];
    const struct word word = { round_cents(offset + t->start), round_cents(offset + t->end), t->probability, w->text.len, from->n, 0, 0 };
    buf_add(&w->text, w->split.text.p + from->text, from->len);
    buf_add(&w->text, "", 1);
    buf_add(&w->word, &word, sizeof word);
}

static int32_t count_text(const struct words_window *at, const struct draft *d, int32_t eot)
{
    int32_t n = 0;
    for (int32_t i = d->first; i < d->first + d->n; i++) n += at->ids[i] < eot;
    return n;
}

/* Assigns words to drafts by their number of tokens. */
static void words_deal(struct words *w, int32_t eot, const struct words_window *at, const struct window_drafts *window, size_t n,
                       double median)
{
    const double offset = (double)at->seek / 100;
    struct draft *drafts = window->draft;
    double last_speech = window->last_speech;
    size_t next = 0;
    for (int d = 0; d < window->n; d++) {
        const int32_t tokens = count_text(at, &drafts[d], eot);
        drafts[d].first_word = (int32_t)(w->word.len / sizeof(struct word));
        for (int32_t dealt = 0; next < n && dealt < tokens; next++) {
            const struct split_word *word = split_at(&w->split, next);
            if (word->len) word_add(w, next, offset);
            dealt += word->n;
        }
        if (w->word.err) return;
        drafts[d].n_words = (int32_t)(w->word.len / sizeof(struct word)) - drafts[d].first_word;
        if (!drafts[d].n_words) continue;
        draft_adjust(&drafts[d], (struct word *)(void *)w->word.p + drafts[d].first_word, median, last_speech);
        last_speech = drafts[d].end;
    }
}

int words_place(struct words *w, const struct vocab *v, int32_t eot, const struct words_options *q, const struct words_window *at,
                const struct heard *h, struct window_drafts *d)
{
    size_t n;
    double median;
    buf_clear(&w->word);
    buf_clear(&w->text);
    w->skipped = 0;
    if (words_find(w, v, eot, q->language, h, &n) || timing_trim(timings_of(w), &w->split, n, &median)) return STENO_ENOMEM;
    split_merge(&w->split, n, q->prepend ? q->prepend : WORDS_PREPEND, q->append ? q->append : WORDS_APPEND);
    words_deal(w, eot, at, d, n, median);
    if (w->word.err || w->text.err) return STENO_ENOMEM;
    w->skipped = words_seek(w, q->silence, at, d);
    return STENO_OK;
}
