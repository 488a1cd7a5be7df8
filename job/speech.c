/* steno: clips from voice activity detection. SPDX-License-Identifier: MIT */
#include "speech.h"
#include "clips.h"
#include <stdlib.h>

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
static int choose(double **clips, int64_t *n_clips, const steno_session *s, const struct clip_rules *r)
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
    return choose(clips, n_clips, r->session, &rules);
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
