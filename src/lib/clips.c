/* steno: what is to be decoded. SPDX-License-Identifier: MIT
 *
 * All of the audio, or from an offset for a while, or the clips the caller names (openai-whisper 20250625, transcribe.py, clip_timestamps),
 * or pieces cut where it is quiet. The reference loops forever on a clip that reaches past the end, so clips end with the audio. */
#include <math.h>
#include "lib/job.h"
#include "lib/level.h"

struct clip *call_clips(const steno_session *s)
{
    return (struct clip *)(void *)s->call.clips.p;
}

static void clip_add(steno_session *s, int64_t from, int64_t to)
{
    struct call *c = &s->call;
    const int64_t end = to < s->feed.frames ? to : s->feed.frames;
    if (from >= end) return;
    const struct clip clip = { from, end };
    buf_add(&c->clips, &clip, sizeof clip);
    if (c->clips.err) return;
    if (!c->n_clips++) c->begin = from;
    c->all += end - from;
}

/* Clips that decode beside each other are at most a window long. */
static void clip_add_windows(steno_session *s, int64_t from, int64_t to)
{
    const int64_t window = 2 * (int64_t)(s->call.p.audio_ctx ? s->call.p.audio_ctx : s->model->audio_ctx);
    const int64_t end = to < s->feed.frames ? to : s->feed.frames;
    for (int64_t at = from; at < end; at += window) clip_add(s, at, at + window < end ? at + window : end);
}

static void clip_named(steno_session *s, int64_t from, int64_t to)
{
    (s->call.p.independent_clips || s->call.foreseen ? clip_add_windows : clip_add)(s, from, to);
}

static void clips_named(steno_session *s)
{
    const steno_transcribe_params *p = &s->call.p;
    for (int32_t i = 0; i < p->n_clip_timestamps; i += 2) {
        const int64_t from = (int64_t)nearbyint(p->clip_timestamps[i] * 100);
        const int64_t to = i + 1 < p->n_clip_timestamps ? (int64_t)nearbyint(p->clip_timestamps[i + 1] * 100) : s->feed.frames;
        clip_named(s, from, to);
    }
}

static void clips_quiet(steno_session *s)
{
    const int64_t most = s->call.p.chunk_ms / 10;
    const float *level = (const float *)(const void *)s->feed.levels.p;
    for (int64_t at = 0; at < s->feed.frames;) {
        const int64_t left = s->feed.frames - at, to = at + (left <= most ? left : level_cut(level + at, left, most));
        clip_add(s, at, to);
        at = to;
    }
}

int call_clips_make(steno_session *s)
{
    struct call *c = &s->call;
    const steno_transcribe_params *p = &c->p;
    const int64_t from = p->offset_ms / 10;
    buf_clear(&c->clips);
    c->n_clips = 0;
    c->begin = c->all = c->done = 0;
    if (p->chunk_ms) clips_quiet(s);
    else if (p->n_clip_timestamps) clips_named(s);
    else clip_named(s, from, p->duration_ms ? from + p->duration_ms / 10 : s->feed.frames);
    return c->clips.err ? err_nomem(&s->error, c->clips.len, "clips") : STENO_OK;
}
