/* steno: word times of a window: implausible times, and the start of the next window. SPDX-License-Identifier: MIT
 *
 * Time warping assigns silence to the neighbouring word, so words beside pauses come out too long. Hallucinated words are short, improbable
 * and surrounded by silence. The rules and their constants are those of the reference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task/words/words.h"

/* ---- lengths ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of those of the n lengths that are not 0; 0 if there are none. */
static int median_of(double *median, const struct timing *t, size_t n)
{
    size_t used = 0;
    double *length = malloc((n + 1) * sizeof *length);
    if (!length) return STENO_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        length[used] = t[i].end - t[i].start;
        used += length[used] != 0;
    }
    if (used) qsort(length, used, sizeof *length, by_value);
    *median = !used      ? 0
              : used % 2 ? length[used / 2]
                         : (length[used / 2 - 1] + length[used / 2]) / 2;
    free(length);
    return STENO_OK;
}

static int ends_sentence(const struct split *split, size_t i)
{
    const struct split_word *w = split_at(split, i);
    return text_within(split->text.p + w->text, w->len, ".。!！?？");
}

int timing_trim(struct timing *t, const struct split *split, size_t n, double *median)
{
    const double median_max = 0.7;
    const int rc = median_of(median, t, n);
    if (rc || *median == 0) return rc;
    if (*median > median_max) *median = median_max;
    const double max = *median * 2;
    for (size_t i = 1; i < n; i++) {
        if (t[i].end - t[i].start <= max) continue;
        if (ends_sentence(split, i)) {
            t[i].end = t[i].start + max;
        } else if (ends_sentence(split, i - 1)) {
            t[i].start = t[i].end - max;
        }
    }
    return STENO_OK;
}

static double min_of(double a, double b)
{
    return b < a ? b : a;
}

static double max_of(double a, double b)
{
    return b > a ? b : a;
}

/* Shortens the first word after a pause, which includes a large part of the pause. */
static void start_trim(struct word *w, int32_t n, double median, double last_speech)
{
    const double max = median * 2;
    if (w[0].end - last_speech <= median * 4) return;
    if (w[0].end - w[0].start <= max && (n < 2 || w[1].end - w[0].start <= max * 2)) return;
    if (n > 1 && w[1].end - w[1].start > max) w[0].end = w[1].start = max_of(w[1].end / 2, w[1].end - max);
    w[0].start = max_of(0, w[0].end - max);
}

void draft_adjust(struct draft *d, struct word *w, double median, double last_speech)
{
    const double near = 0.5;
    start_trim(w, d->n_words, median, last_speech);
    if (d->start < w[0].end && d->start - near > w[0].start) {
        w[0].start = max_of(0, min_of(w[0].end - median, d->start));
    } else {
        d->start = w[0].start;
    }
    struct word *last = &w[d->n_words - 1];
    if (d->end > last->start && d->end + near < last->end) {
        last->end = max_of(last->start + median, d->end);
    } else {
        d->end = last->end;
    }
}

/* ---- the next window ---- */

/* Input of the checks on words and drafts. */
struct draft_words {
    const struct words *w;
    const struct draft *draft;
    int n;
};

static const struct word *words_of(const struct draft_words *v, int d)
{
    return (const struct word *)(const void *)v->w->word.p + v->draft[d].first_word;
}

/* End of the last word, or of the last draft if there are no words. @return 0: there are no drafts */
static int last_word_end(const struct draft_words *v, double *end)
{
    for (int d = v->n - 1; d >= 0; d--) {
        if (!v->draft[d].n_words) continue;
        *end = words_of(v, d)[v->draft[d].n_words - 1].end;
        return 1;
    }
    if (v->n) *end = v->draft[v->n - 1].end;
    return v->n > 0;
}

static int next_with_words(const struct draft_words *v, int d)
{
    while (d < v->n && !v->draft[d].n_words) d++;
    return d;
}

static double oddity(const struct word *w)
{
    const double length = w->end - w->start, shortest = 0.133, longest = 2, per_s = 15;
    double score = w->probability < 0.15 ? 1 : 0;
    if (length < shortest) score += (shortest - length) * per_s;
    if (length > longest) score += length - longest;
    return score;
}

/* Is it unlikely that the first words of a draft were spoken? A draft of punctuation only is odd. */
static int is_odd(const struct draft_words *v, int d)
{
    enum { WORDS = 8 };
    static const char marks[] = WORDS_PREPEND WORDS_APPEND; /* regardless of the requested sets */
    double score = 0;
    int n = 0;
    if (d >= v->n || !v->draft[d].n_words) return 0;
    const struct word *w = words_of(v, d);
    for (int32_t i = 0; i < v->draft[d].n_words && n < WORDS; i++) {
        const char *text = v->w->text.p + w[i].text;
        if (text_within(text, strlen(text), marks)) continue;
        score += oddity(&w[i]);
        n++;
    }
    return score >= 3 || score + 0.01 >= n;
}

static int64_t frames_of(double s)
{
    return (int64_t)nearbyint(s * 100);
}

/* Drops the first odd draft between silences, or next to other odd ones, and all drafts after it. */
static void drop_odd(struct draft_words *v, double silence, const struct words_window *at, double last_speech, int64_t *seek)
{
    const double offset = (double)at->seek / 100, window_end = (double)(at->seek + at->full) / 100, near = 2;
    for (int d = 0; d < v->n; d++) {
        const struct draft *x = &v->draft[d];
        if (!x->n_words) continue;
        if (is_odd(v, d)) {
            const int next = next_with_words(v, d + 1);
            const double next_start = next < v->n ? words_of(v, next)->start : offset + (double)at->frames / 100;
            const int before = x->start - last_speech > silence || x->start < silence || x->start - offset < near;
            const int after = next_start - x->end > silence || is_odd(v, next) || window_end - x->end < near;
            if (before && after) {
                *seek = frames_of(max_of(offset + 1, x->start));
                if ((double)at->content_frames / 100 - x->end < silence) *seek = at->content_frames;
                v->n = d;
                return;
            }
        }
        last_speech = x->end;
    }
}

int words_seek(const struct words *w, double silence, const struct words_window *at, struct window_drafts *d)
{
    const double offset = (double)at->seek / 100, window_end = (double)(at->seek + at->full) / 100;
    struct draft_words v = { w, d->draft, d->n };
    double end;
    const int all_read = at->single_end || !last_word_end(&v, &end) || end <= offset;
    if (!all_read) d->seek = isnan(silence) || window_end - end > silence ? frames_of(end) : at->seek + at->frames;
    if (!isnan(silence)) {
        const int first = next_with_words(&v, 0);
        const double gap = first < v.n ? d->draft[first].start - offset : 0;
        if (gap > silence && is_odd(&v, first)) {
            d->seek = at->seek + frames_of(gap);
            d->n = 0;
            return 1;
        }
        drop_odd(&v, silence, at, d->last_speech, &d->seek);
        d->n = v.n;
    }
    if (last_word_end(&v, &end)) d->last_speech = end;
    return 0;
}
