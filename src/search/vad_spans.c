/* steno: filtering and merging of speech spans. SPDX-License-Identifier: MIT */
#include "search/vad_spans.h"

void vad_spans_begin(struct vad_spans *s, int64_t min_ms, int64_t merge_ms, void (*put)(void *user, const struct vad_span *s), void *user)
{
    *s = (struct vad_spans){ .min_ms = min_ms, .merge_ms = merge_ms, .put = put, .user = user };
}

static void put(struct vad_spans *s, int64_t t0_ms, int64_t t1_ms)
{
    s->put(s->user, &(struct vad_span){ t0_ms, t1_ms });
}

void vad_spans_certain(struct vad_spans *s, int64_t t_ms)
{
    if (!s->merge_ms || s->n < 2 || t_ms - s->begin < s->merge_ms || s->last <= s->begin) return;
    put(s, s->begin, s->last);
    s->begin = s->last;
}

static void points_add(struct vad_spans *s, const struct vad_span *span)
{
    vad_spans_certain(s, span->t0_ms);
    s->last = span->t0_ms;
    vad_spans_certain(s, span->t1_ms);
    s->last = span->t1_ms;
}

void vad_spans_hasten(struct vad_spans *s)
{
    if (!s->merge_ms || s->n != 1) return;
    s->n++;
    points_add(s, &s->first);
}

void vad_spans_add(struct vad_spans *s, const struct vad_span *span)
{
    if (span->t1_ms - span->t0_ms < s->min_ms) return;
    if (!s->merge_ms) {
        put(s, span->t0_ms, span->t1_ms);
        return;
    }
    vad_spans_hasten(s);
    s->n++;
    if (s->n > 1) points_add(s, span);
    else s->first = *span;
}

void vad_spans_end(struct vad_spans *s)
{
    if (s->merge_ms && s->n == 1) put(s, s->first.t0_ms, s->first.t1_ms);
    else if (s->last > s->begin) put(s, s->begin, s->last);
}

int64_t vad_spans_floor_ms(const struct vad_spans *s, int64_t floor_ms)
{
    return s->merge_ms ? s->begin : floor_ms;
}
