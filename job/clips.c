/* steno: converts spans of speech to clips that are transcribed one by one. SPDX-License-Identifier: MIT */
#include "clips.h"
#include <stdlib.h>

enum { GRID_MS = 10 };

struct stretch { int64_t t0, t1; }; /* ms, multiples of the grid */

static int64_t down(int64_t ms)
{
    return ms - ms % GRID_MS;
}

static int64_t up(int64_t ms)
{
    return down(ms + GRID_MS - 1);
}

/* Selects the spans within the limits. @return their number */
static int64_t take(struct stretch *out, const steno_span *spans, int64_t n, const struct clip_rules *r)
{
    const int64_t begin = up(r->begin_ms), end = down(r->end_ms);
    int64_t k = 0, last = begin;
    for (int64_t i = 0; i < n; i++) {
        int64_t t0 = spans[i].t0_ms, t1 = spans[i].t1_ms;
        if (t0 < 0 || t1 <= t0 || t1 - t0 < r->min_speech_ms || t0 >= end) continue;
        t0 = down(t0) > last ? down(t0) : last;
        t1 = t1 < end ? up(t1) : end;
        if (t1 <= t0) continue;
        out[k++] = (struct stretch){ t0, last = t1 };
    }
    return k;
}

static void pad(struct stretch *s, int64_t n, const struct clip_rules *r)
{
    const int64_t begin = up(r->begin_ms), end = down(r->end_ms), most = up(r->pad_ms);
    if (n == 0) return;
    s[0].t0 = s[0].t0 - begin < most ? begin : s[0].t0 - most;
    for (int64_t i = 1; i < n; i++) {
        const int64_t pause = s[i].t0 - s[i - 1].t1;
        if (pause < 2 * most) s[i].t0 = s[i - 1].t1 += down(pause / 2);
        else {
            s[i - 1].t1 += most;
            s[i].t0 -= most;
        }
    }
    s[n - 1].t1 = end - s[n - 1].t1 < most ? end : s[n - 1].t1 + most;
}

static void put(double *clips, int64_t at, int64_t t0, int64_t t1)
{
    if (!clips) return;
    clips[2 * at] = (double)t0 / 1000.0;
    clips[2 * at + 1] = (double)t1 / 1000.0;
}

/* Writes the clips, or only counts them if clips is NULL. */
static int64_t gather(double *clips, const struct stretch *s, int64_t n, const struct clip_rules *r)
{
    const int64_t longest = down(r->longest_ms);
    int64_t k = 0;
    for (int64_t i = 0; i < n;) {
        int64_t t0 = s[i].t0, t1 = s[i].t1;
        const int64_t parts = (t1 - t0 + longest - 1) / longest, cells = (t1 - t0) / GRID_MS;
        for (int64_t p = 0; p + 1 < parts; p++) put(clips, k++, t0 + cells * p / parts * GRID_MS, t0 + cells * (p + 1) / parts * GRID_MS);
        t0 += cells * (parts - 1) / parts * GRID_MS;
        for (i++; i < n && s[i].t0 - t1 <= r->pause_ms && s[i].t1 - t0 <= longest; i++) t1 = s[i].t1;
        put(clips, k++, t0, t1);
    }
    return k;
}

int64_t clips_make(double **clips, const steno_span *spans, int64_t n_spans, const struct clip_rules *r)
{
    *clips = NULL;
    struct stretch *s = calloc((size_t)n_spans + 1, sizeof *s);
    if (!s) return STENO_ENOMEM;
    const int64_t n = take(s, spans, n_spans, r);
    pad(s, n, r);
    const int64_t k = gather(NULL, s, n, r);
    if (k > 0) *clips = malloc((size_t)k * 2 * sizeof **clips);
    if (*clips) gather(*clips, s, n, r);
    free(s);
    return k == 0 || *clips ? k : STENO_ENOMEM;
}
