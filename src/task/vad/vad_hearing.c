/* steno: from the rows of a voice-activity network to spans. SPDX-License-Identifier: MIT */
#include "task/vad/vad_hearing.h"

enum { CHUNK_OF_FILES = 60000, CHUNK_OF_STREAMS = 200, CHUNK_LIVE = 60 };

void vad_hearing_take(struct vad_hearing *h, const steno_model *m, const steno_vad_params *p)
{
    struct vad_params *q = &h->rules;
    const int is_live = p->schedule == STENO_VAD_SCHEDULE_LIVE;
    h->p = *p;
    *q = *(const struct vad_params *)m->part;
    q->schedule = p->max_end_silence_ms >= 0 ? VAD_FIXED : is_live ? VAD_LIVE : VAD_FILES;
    q->streaming = p->streaming;
    q->chunk_ms = p->chunk_size_ms ? p->chunk_size_ms : is_live ? CHUNK_LIVE : p->streaming ? CHUNK_OF_STREAMS : CHUNK_OF_FILES;
    if (p->max_end_silence_ms >= 0) q->max_end_silence_ms = (int)p->max_end_silence_ms;
    if (p->max_segment_ms > 0) q->max_segment_ms = (int)p->max_segment_ms;
    q->threshold = p->threshold;
}

static void on_event(void *hearing, const struct vad_event *e)
{
    struct vad_hearing *h = hearing;
    if (h->p.on_event && !e->is_cut)
        h->p.on_event(h->p.user, &(steno_span){ sizeof(steno_span), 0, e->opens ? e->span.t0_ms : -1, e->span.t1_ms });
    if (e->span.t1_ms >= 0) vad_spans_add(&h->spans, &e->span);
}

void vad_hearing_begin(struct vad_hearing *h, void (*put)(void *user, const struct vad_span *s), void *user)
{
    h->frame = 0;
    vad_begin(&h->vad, &h->rules, (struct vad_listener){ on_event, h });
    vad_spans_begin(&h->spans, h->p.min_speech_ms, h->p.merge_ms, put, user);
}

void vad_hearing_rows(struct vad_hearing *h, const float *out, size_t ld, int n)
{
    for (int i = 0; i < n; i++, h->frame++) {
        const float p_silence = out[(size_t)i * ld];
        if (h->p.on_frame) h->p.on_frame(h->p.user, h->frame * VAD_FRAME_MS, 1 - p_silence);
        vad_step(&h->vad, p_silence);
    }
}

void vad_hearing_heard(struct vad_hearing *h, int64_t samples)
{
    vad_heard(&h->vad, samples);
    vad_spans_certain(&h->spans, vad_floor_ms(&h->vad));
}

void vad_hearing_end(struct vad_hearing *h, int64_t samples)
{
    vad_end(&h->vad, samples);
    vad_spans_end(&h->spans);
}
