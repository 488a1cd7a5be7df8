/* steno: spans of speech from probabilities of silence. SPDX-License-Identifier: MIT
 *
 * Some frames are delayed, because two facts are known late: which frame is the last, and whether the last frames of a chunk of audio
 * belong to the next one. The reference's front end keeps frames until the audio to their right arrives. A chunk therefore begins with the
 * first frame that its own audio yields. If the audio ends before that frame, there is no such chunk. Live, the length of a chunk affects
 * its decisions, so the whole chunk is delayed. */
#include "search/vad.h"
#include <math.h>
#include <string.h>

enum { FRAME_WINDOW = 400, FRAME_HOP = 160, SAMPLES_PER_MS = 16 };

/* Milliseconds of uninterrupted speech, up to `upto`, and the silence that then closes a span. */
struct silence_step { int upto, silence; };
static const struct silence_step of_files[] = {
    { 10000, 2000 }, { 20000, 1000 }, { 30000, 800 }, { 40000, 600 }, { 50000, 400 }, { 60000, 200 }, { 0, 0 },
};
static const struct silence_step live[] = { { 5000, 2000 }, { 10000, 1500 }, { 15000, 1000 }, { 30000, 800 }, { 45000, 400 }, { 0, 0 } };
enum { SILENCE_AFTER = 100 };

void vad_params_init(struct vad_params *p)
{
    *p = (struct vad_params){ .schedule = VAD_FILES, .max_end_silence_ms = 800, .max_segment_ms = 60000, .start_pad_ms = 200,
                              .end_pad_ms = 100, .extend = 1, .window_ms = 200, .to_speech_ms = 150, .to_silence_ms = 150,
                              .chunk_ms = 60000, .late_frames = 2, .threshold = NAN, .fixed_threshold = 0.6 };
}

static int clamp(int x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void end_silence_set(struct vad *v, int ms)
{
    v->end_silence_ms = ms > v->p.to_silence_ms ? ms - v->p.to_silence_ms : 0;
}

void vad_begin(struct vad *v, const struct vad_params *p, struct vad_listener l)
{
    enum { HOUR_MS = 3600000, LATE_MAX = VAD_HELD_MAX - VAD_LIVE_CHUNK_MAX / VAD_FRAME_MS - 2 };
    *v = (struct vad){ .p = *p, .listener = l, .samples = INT64_MAX };
    struct vad_params *q = &v->p;
    q->window_ms = clamp(p->window_ms, VAD_FRAME_MS, VAD_WINDOW_MAX * VAD_FRAME_MS);
    q->to_speech_ms = clamp(p->to_speech_ms, VAD_FRAME_MS, q->window_ms);
    q->to_silence_ms = clamp(p->to_silence_ms, 0, q->window_ms);
    q->max_end_silence_ms = clamp(p->max_end_silence_ms, 0, HOUR_MS);
    q->max_segment_ms = clamp(p->max_segment_ms, VAD_FRAME_MS, 100 * HOUR_MS);
    q->start_pad_ms = p->extend ? clamp(p->start_pad_ms, 0, HOUR_MS) : 0;
    q->end_pad_ms = clamp(p->end_pad_ms, 0, HOUR_MS);
    q->chunk_ms = clamp(p->chunk_ms, VAD_FRAME_MS, p->schedule == VAD_LIVE ? VAD_LIVE_CHUNK_MAX : HOUR_MS);
    q->late_frames = clamp(p->late_frames, 0, LATE_MAX);
    if (isnan(p->threshold)) q->threshold = p->schedule == VAD_FIXED ? p->fixed_threshold : 0.5;
    v->hold = q->schedule == VAD_LIVE ? q->chunk_ms / VAD_FRAME_MS + q->late_frames + 2 : q->late_frames > 0 ? q->late_frames : 1;
    v->window = q->window_ms / VAD_FRAME_MS;
    end_silence_set(v, q->max_end_silence_ms);
}

/* ---- the span ---------------------------------------------------------------------------------------------------------------- */

static void span_report(struct vad *v, int64_t t1_ms, int is_cut)
{
    const struct vad_event e = { { v->start * VAD_FRAME_MS, t1_ms }, !v->reported, is_cut };
    v->reported = v->paused = 1;
    if (v->listener.report) v->listener.report(v->listener.user, &e);
}

/* At the end of a chunk. */
static void opening_report(struct vad *v)
{
    if (v->open && !v->reported && v->p.streaming) span_report(v, -1, 0);
}

/* Frame t is the last of the open span. */
static void span_close(struct vad *v, int64_t t, int is_cut)
{
    span_report(v, (t + 1) * VAD_FRAME_MS, is_cut);
    v->floor = t + 1;
    v->votes = v->at = v->in_speech = v->open = 0;
    v->silent = 0;
    memset(v->ring, 0, sizeof v->ring);
}

static int span_is_long(const struct vad *v, int64_t t)
{
    return t - v->start + 1 > v->p.max_segment_ms / VAD_FRAME_MS;
}

/* The first frame of a span that opens in frame t. */
static int64_t start_of(const struct vad *v, int64_t t)
{
    const int64_t early = t - v->window - v->p.start_pad_ms / VAD_FRAME_MS;
    return early > v->floor ? early : v->floor;
}

/* Frames from the last frame of a span to the one that closes it. */
static int frames_back(const struct vad *v)
{
    const int back = v->end_silence_ms / VAD_FRAME_MS - (v->p.extend ? v->p.end_pad_ms / VAD_FRAME_MS + 1 : 0);
    return back > 0 ? back : 0;
}

/* The window votes speech, or did until frame t. */
static void on_speech(struct vad *v, int64_t t, int last)
{
    v->silent = 0;
    if (v->open && (span_is_long(v, t) || last)) {
        span_close(v, t, 0);
    } else if (!v->open) {
        v->start = start_of(v, t);
        v->open = 1;
        v->reported = 0;
    }
}

/* Frame t is one of consecutive frames in which the window votes silence. */
static void on_silence(struct vad *v, int64_t t, int last)
{
    v->silent++;
    if (!v->open) v->floor = start_of(v, t);
    else if (v->silent * VAD_FRAME_MS >= v->end_silence_ms) span_close(v, t - frames_back(v), 0);
    else if (span_is_long(v, t) || last) span_close(v, t, 0);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------------------ */

/* Frames that the first n chunks yield before later audio arrives. */
static int64_t frames_of(const struct vad *v, int64_t samples)
{
    const int64_t n = samples < FRAME_WINDOW ? 0 : 1 + (samples - FRAME_WINDOW) / FRAME_HOP - v->p.late_frames;
    return n > 0 ? n : 0;
}

static int64_t chunks_end(const struct vad *v, int64_t n)
{
    return n * v->p.chunk_ms * SAMPLES_PER_MS;
}

/* The speech duration for the schedule at the beginning of chunk v->chunk. */
static int64_t spoken_ms(const struct vad *v)
{
    const int64_t end = chunks_end(v, v->chunk + 1);
    if (!v->open) return v->p.schedule == VAD_LIVE || v->paused ? 0 : v->spoken_ms;
    if (v->p.schedule == VAD_LIVE) return (end < v->samples ? end : v->samples) / SAMPLES_PER_MS - v->start * VAD_FRAME_MS;
    return (v->paused ? 0 : v->spoken_ms) + v->p.chunk_ms;
}

/* At the beginning of a chunk, set the silence that closes a span. */
static void chunk_begin(struct vad *v)
{
    const struct silence_step *r = v->p.schedule == VAD_LIVE ? live : of_files;
    opening_report(v);
    v->spoken_ms = spoken_ms(v);
    v->paused = 0;
    v->chunk++;
    if (v->p.schedule == VAD_FIXED) return;
    while (r->upto && v->spoken_ms > r->upto) r++;
    end_silence_set(v, r->upto ? r->silence : SILENCE_AFTER);
}

/* Begin the chunks whose first frame is the next one to decide. */
static void chunks_begin(struct vad *v)
{
    while (v->samples >= chunks_end(v, v->chunk) && v->done >= frames_of(v, chunks_end(v, v->chunk))) chunk_begin(v);
}

/* ---- frames ------------------------------------------------------------------------------------------------------------------ */

static void frame_decide(struct vad *v, int last)
{
    chunks_begin(v);
    const int64_t t = v->done++;
    const float p = v->held[t % v->hold];
    const uint8_t vote = 1.0f - p >= p + v->p.threshold;
    v->votes += vote - v->ring[v->at];
    v->ring[v->at] = vote;
    v->at = (v->at + 1) % v->window;

    const int before = v->in_speech;
    if (!before && v->votes >= v->p.to_speech_ms / VAD_FRAME_MS) v->in_speech = 1;
    else if (before && v->votes <= v->p.to_silence_ms / VAD_FRAME_MS) v->in_speech = 0;
    if (before || v->in_speech) on_speech(v, t, last);
    else on_silence(v, t, last);
}

void vad_step(struct vad *v, float p_silence)
{
    if (v->frames - v->done == v->hold) frame_decide(v, 0);
    v->held[v->frames++ % v->hold] = p_silence;
}

void vad_advance(struct vad *v, int64_t samples)
{
    const int64_t n = v->p.schedule == VAD_LIVE ? samples - samples % chunks_end(v, 1) : samples;
    const int64_t there = frames_of(v, n);
    while (v->done < v->frames && v->done < there) frame_decide(v, 0);
    if (v->chunk && samples >= chunks_end(v, v->chunk)) opening_report(v);
}

void vad_end(struct vad *v, int64_t samples)
{
    v->samples = samples;
    while (v->done < v->frames) frame_decide(v, v->done + 1 == v->frames);
    opening_report(v);
    if (v->open) span_close(v, v->done - 1, 1);
}

int64_t vad_floor_ms(const struct vad *v)
{
    return (v->open ? v->start : v->floor) * VAD_FRAME_MS;
}

/* ---- filtering and merging of spans ------------------------------------------------------------------------------------------ */

void vad_spans_begin(struct vad_spans *s, int64_t min_ms, int64_t merge_ms, void (*put)(void *user, const struct vad_span *s), void *user)
{
    *s = (struct vad_spans){ .min_ms = min_ms, .merge_ms = merge_ms, .put = put, .user = user };
}

static void span_put(struct vad_spans *s, int64_t t0_ms, int64_t t1_ms)
{
    s->put(s->user, &(struct vad_span){ t0_ms, t1_ms });
}

void vad_spans_certain(struct vad_spans *s, int64_t t_ms)
{
    if (!s->merge_ms || s->n < 2 || t_ms - s->begin < s->merge_ms || s->last <= s->begin) return;
    span_put(s, s->begin, s->last);
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
        span_put(s, span->t0_ms, span->t1_ms);
        return;
    }
    vad_spans_hasten(s);
    s->n++;
    if (s->n > 1) points_add(s, span);
    else s->first = *span;
}

void vad_spans_end(struct vad_spans *s)
{
    if (s->merge_ms && s->n == 1) span_put(s, s->first.t0_ms, s->first.t1_ms);
    else if (s->last > s->begin) span_put(s, s->begin, s->last);
}

int64_t vad_spans_floor_ms(const struct vad_spans *s, int64_t floor_ms)
{
    return s->merge_ms ? s->begin : floor_ms;
}
