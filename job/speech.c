/* steno: clips from voice activity detection. SPDX-License-Identifier: MIT */
#include "speech.h"
#include <stdlib.h>

/* ---- spans as clips ---------------------------------------------------------------------------------------------------------- */

enum { GRID_MS = 10 };

struct stretch { int64_t t0, t1; }; /* ms, multiples of the grid */

static int64_t grid_down(int64_t ms)
{
    return ms - ms % GRID_MS;
}

static int64_t grid_up(int64_t ms)
{
    return grid_down(ms + GRID_MS - 1);
}

/* Selects the spans within the limits. @return their number */
static int64_t take_spans(struct stretch *out, const steno_span *spans, int64_t n, const struct clip_rules *r)
{
    const int64_t begin = grid_up(r->begin_ms), end = grid_down(r->end_ms);
    int64_t k = 0, last = begin;
    for (int64_t i = 0; i < n; i++) {
        int64_t t0 = spans[i].t0_ms, t1 = spans[i].t1_ms;
        if (t0 < 0 || t1 <= t0 || t1 - t0 < r->min_speech_ms || t0 >= end) continue;
        t0 = grid_down(t0) > last ? grid_down(t0) : last;
        t1 = t1 < end ? grid_up(t1) : end;
        if (t1 <= t0) continue;
        out[k++] = (struct stretch){ t0, last = t1 };
    }
    return k;
}

static void pad_spans(struct stretch *s, int64_t n, const struct clip_rules *r)
{
    const int64_t begin = grid_up(r->begin_ms), end = grid_down(r->end_ms), most = grid_up(r->pad_ms);
    if (n == 0) return;
    s[0].t0 = s[0].t0 - begin < most ? begin : s[0].t0 - most;
    for (int64_t i = 1; i < n; i++) {
        const int64_t pause = s[i].t0 - s[i - 1].t1;
        if (pause < 2 * most) s[i].t0 = s[i - 1].t1 += grid_down(pause / 2);
        else {
            s[i - 1].t1 += most;
            s[i].t0 -= most;
        }
    }
    s[n - 1].t1 = end - s[n - 1].t1 < most ? end : s[n - 1].t1 + most;
}

static void put_clip(double *clips, int64_t at, int64_t t0, int64_t t1)
{
    if (!clips) return;
    clips[2 * at] = (double)t0 / 1000.0;
    clips[2 * at + 1] = (double)t1 / 1000.0;
}

/* Writes the clips, or only counts them if clips is NULL. */
static int64_t gather_clips(double *clips, const struct stretch *s, int64_t n, const struct clip_rules *r)
{
    const int64_t longest = grid_down(r->longest_ms);
    int64_t k = 0;
    for (int64_t i = 0; i < n;) {
        int64_t t0 = s[i].t0, t1 = s[i].t1;
        const int64_t parts = (t1 - t0 + longest - 1) / longest, cells = (t1 - t0) / GRID_MS;
        for (int64_t p = 0; p + 1 < parts; p++)
            put_clip(clips, k++, t0 + cells * p / parts * GRID_MS, t0 + cells * (p + 1) / parts * GRID_MS);
        t0 += cells * (parts - 1) / parts * GRID_MS;
        for (i++; i < n && s[i].t0 - t1 <= r->pause_ms && s[i].t1 - t0 <= longest; i++) t1 = s[i].t1;
        put_clip(clips, k++, t0, t1);
    }
    return k;
}

int64_t clips_make(double **clips, const steno_span *spans, int64_t n_spans, const struct clip_rules *r)
{
    *clips = NULL;
    struct stretch *s = calloc((size_t)n_spans + 1, sizeof *s);
    if (!s) return STENO_ENOMEM;
    const int64_t n = take_spans(s, spans, n_spans, r);
    pad_spans(s, n, r);
    const int64_t k = gather_clips(NULL, s, n, r);
    if (k > 0) *clips = malloc((size_t)k * 2 * sizeof **clips);
    if (*clips) gather_clips(*clips, s, n, r);
    free(s);
    return k == 0 || *clips ? k : STENO_ENOMEM;
}

/* ---- clips of a source ------------------------------------------------------------------------------------------------------- */

/* The spans that the session found, malloc'd; NULL: no memory. */
static steno_span *spans_of(const steno_session *s)
{
    const int n = steno_span_count(s);
    steno_span *spans = calloc((size_t)n + 1, sizeof *spans);
    for (int i = 0; spans && i < n; i++) {
        spans[i].size = sizeof spans[i];
        steno_span_get(s, i, &spans[i]);
    }
    return spans;
}

/* Converts them to clips. */
static int make_clips(double **clips, int64_t *n_clips, const steno_session *s, const struct clip_rules *r)
{
    const int n = steno_span_count(s);
    steno_span *spans = spans_of(s);
    if (!spans) return STENO_ENOMEM;
    const int64_t made = clips_make(clips, spans, n, r);
    free(spans);
    *n_clips = made > 0 ? made : 0;
    return made < 0 ? (int)made : STENO_OK;
}

int speech_clips(double **clips, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int64_t window_ms,
                 int (*should_abort)(void *user), void *user)
{
    steno_vad_params p = r->params;
    p.should_abort = should_abort;
    p.user = user;
    *clips = NULL;
    *n_clips = 0;
    const int rc = steno_find_speech(r->session, src, &p);
    if (rc != STENO_OK) return rc;
    const int64_t all_ms = steno_duration_ms(r->session);
    const struct clip_rules rules = {
        .min_speech_ms = r->min_speech_ms,
        .pad_ms = r->pad_ms,
        .pause_ms = CLIPS_PAUSE_MS,
        .longest_ms = window_ms,
        .begin_ms = r->begin_ms,
        .end_ms = r->duration_ms > 0 && r->begin_ms + r->duration_ms < all_ms ? r->begin_ms + r->duration_ms : all_ms,
    };
    return make_clips(clips, n_clips, r->session, &rules);
}

int speech_join(struct join *j, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int (*should_abort)(void *user),
                void *user)
{
    steno_vad_params p = r->params;
    p.should_abort = should_abort;
    p.user = user;
    *n_clips = 0;
    const int rc = steno_find_speech(r->session, src, &p);
    if (rc != STENO_OK) return rc;
    steno_span *spans = spans_of(r->session);
    *n_clips = steno_span_count(r->session);
    const struct join_spans s = { spans, *n_clips, 16 * steno_duration_ms(r->session), r->overlap_ms };
    const int joined = spans ? join_begin(j, &s, src) : STENO_ENOMEM;
    free(spans);
    return joined;
}

void speech_time_add(steno_timings *all, const struct speech_rules *r)
{
    steno_timings t = { .size = sizeof t };
    if (!r->session || steno_timings_get(r->session, &t)) return;
    all->source_us += t.source_us;
    all->n_vad += t.n_encodes;
    all->vad_us += t.mel_us + t.encode_us;
}
