/* steno: from probabilities of silence to spans of speech. SPDX-License-Identifier: MIT
 *
 * Two frames are held back, because two things are known late: which frame is the last one, and whether the last frames of a chunk of
 * audio belong to the next one. The reference's front end keeps the frames whose right neighbours it has not heard, so that chunk k begins
 * at frame (k chunk_ms - 40 ms) / 10 ms - unless the audio ends there, and then there is no chunk k. */
#include "search/vad.h"

#include <math.h>
#include <string.h>

enum { LATE = 4, SAMPLES_PER_MS = 16 };

/* Milliseconds spoken on, and the silence that then closes a span. */
static const struct { int upto, silence; } schedule[] = {
    { 10000, 2000 }, { 20000, 1000 }, { 30000, 800 }, { 40000, 600 }, { 50000, 400 }, { 60000, 200 },
};
enum { N_SCHEDULE = sizeof schedule / sizeof *schedule, SILENCE_AFTER = 100 };

void vad_params_init(struct vad_params *p)
{
    *p = (struct vad_params){ .dynamic = 1, .max_end_silence_ms = 800, .max_segment_ms = 60000, .start_pad_ms = 200, .end_pad_ms = 100,
                              .window_ms = 200, .to_speech_ms = 150, .to_silence_ms = 150, .chunk_ms = 60000, .threshold = NAN };
}

static int clamp(int x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void end_silence_set(struct vad *v, int ms)
{
    v->end_silence_ms = ms > v->p.to_silence_ms ? ms - v->p.to_silence_ms : 0;
}

void vad_begin(struct vad *v, const struct vad_params *p)
{
    enum { HOUR_MS = 3600000 };
    *v = (struct vad){ .p = *p };
    struct vad_params *q = &v->p;
    q->window_ms = clamp(p->window_ms, VAD_FRAME_MS, VAD_WINDOW_MAX * VAD_FRAME_MS);
    q->to_speech_ms = clamp(p->to_speech_ms, VAD_FRAME_MS, q->window_ms);
    q->to_silence_ms = clamp(p->to_silence_ms, 0, q->window_ms);
    q->max_end_silence_ms = clamp(p->max_end_silence_ms, 0, HOUR_MS);
    q->max_segment_ms = clamp(p->max_segment_ms, VAD_FRAME_MS, 100 * HOUR_MS);
    q->start_pad_ms = clamp(p->start_pad_ms, 0, HOUR_MS);
    q->end_pad_ms = clamp(p->end_pad_ms, 0, HOUR_MS);
    q->chunk_ms = clamp(p->chunk_ms, 100, HOUR_MS);
    if (isnan(p->threshold)) q->threshold = p->dynamic ? 0.5 : 0.6;
    v->window = q->window_ms / VAD_FRAME_MS;
    end_silence_set(v, q->max_end_silence_ms);
}

/* ---- the span ---------------------------------------------------------------------------------------------------------------- */

/* Frame t is the open span's last one. */
static int span_close(struct vad *v, int64_t t, struct vad_span *out)
{
    *out = (struct vad_span){ v->start * VAD_FRAME_MS, (t + 1) * VAD_FRAME_MS };
    v->floor = t + 1;
    v->closed = 1;
    v->votes = v->at = v->in_speech = v->open = 0;
    v->silent = 0;
    memset(v->ring, 0, sizeof v->ring);
    return 1;
}

static int span_is_long(const struct vad *v, int64_t t)
{
    return t - v->start + 1 > v->p.max_segment_ms / VAD_FRAME_MS;
}

/* First frame of a span that opens in frame t. */
static int64_t start_of(const struct vad *v, int64_t t)
{
    const int64_t early = t - v->window - v->p.start_pad_ms / VAD_FRAME_MS;
    return early > v->floor ? early : v->floor;
}

/* The ring says speech, or did so until frame t. @return 1 when that closed the span */
static int on_speech(struct vad *v, int64_t t, int last, struct vad_span *out)
{
    v->silent = 0;
    if (v->open) return span_is_long(v, t) || last ? span_close(v, t, out) : 0;
    v->start = start_of(v, t);
    v->open = 1;
    return 0;
}

/* Frame t is one of several in a row in which the ring says silence. @return 1 when that closed the span */
static int on_silence(struct vad *v, int64_t t, int last, struct vad_span *out)
{
    v->silent++;
    if (!v->open) {
        v->floor = start_of(v, t);
        return 0;
    }
    if (v->silent * VAD_FRAME_MS >= v->end_silence_ms) {
        const int back = v->end_silence_ms / VAD_FRAME_MS - v->p.end_pad_ms / VAD_FRAME_MS - 1;
        return span_close(v, t - (back > 0 ? back : 0), out);
    }
    return span_is_long(v, t) || last ? span_close(v, t, out) : 0;
}

/* ---- frames ------------------------------------------------------------------------------------------------------------------ */

/* A chunk of audio begins: what counts as a pause now? */
static void chunk_begin(struct vad *v)
{
    if (v->closed) v->spoken_ms = 0;
    if (v->open) v->spoken_ms += v->p.chunk_ms;
    v->closed = 0;
    int i = 0;
    while (i < N_SCHEDULE && v->spoken_ms > schedule[i].upto) i++;
    end_silence_set(v, i < N_SCHEDULE ? schedule[i].silence : SILENCE_AFTER);
    v->chunk++;
}

static int64_t chunk_start(const struct vad *v)
{
    const int64_t t = v->chunk * (v->p.chunk_ms / VAD_FRAME_MS) - LATE;
    return v->chunk ? t : 0;
}

/* @return 1 when the oldest held frame closed a span */
static int frame_decide(struct vad *v, int last, struct vad_span *out)
{
    const int64_t t = v->done++;
    const float p = v->held[t % VAD_HELD];
    const uint8_t vote = 1.0f - p >= p + v->p.threshold;
    v->votes += vote - v->ring[v->at];
    v->ring[v->at] = vote;
    v->at = (v->at + 1) % v->window;

    const int before = v->in_speech;
    if (!before && v->votes >= v->p.to_speech_ms / VAD_FRAME_MS) v->in_speech = 1;
    else if (before && v->votes <= v->p.to_silence_ms / VAD_FRAME_MS) v->in_speech = 0;
    if (before || v->in_speech) return on_speech(v, t, last, out);
    return on_silence(v, t, last, out);
}

int vad_step(struct vad *v, float p_silence, struct vad_span *out)
{
    int n = 0;
    if (v->frames - v->done == VAD_HELD) {
        if (v->p.dynamic && v->done >= chunk_start(v)) chunk_begin(v);
        n = frame_decide(v, 0, out);
    }
    v->held[v->frames++ % VAD_HELD] = p_silence;
    return n;
}

int vad_end(struct vad *v, int64_t samples, struct vad_span out[VAD_HELD])
{
    int n = 0;
    while (v->done < v->frames) {
        const int there = samples >= v->chunk * v->p.chunk_ms * SAMPLES_PER_MS;
        if (v->p.dynamic && there && v->done >= chunk_start(v)) chunk_begin(v);
        n += frame_decide(v, v->done + 1 == v->frames, out + n);
    }
    if (v->open) n += span_close(v, v->done - 1, out + n); /* it opened with the last frame */
    return n;
}

int64_t vad_floor_ms(const struct vad *v)
{
    return (v->open ? v->start : v->floor) * VAD_FRAME_MS;
}
