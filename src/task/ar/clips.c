/* steno: the clips of the audio to decode. SPDX-License-Identifier: MIT
 *
 * A request decodes all of the audio, or a range (offset and duration), or clips that the caller lists, or chunks that are cut in quiet
 * places. Reference for listed clips: openai-whisper 20250625, transcribe.py, clip_timestamps. The reference loops forever on a clip that
 * extends past the end, so here clips end with the audio. */
#include <math.h>
#include "task/ar/clips.h"
#include "audio/level.h"

/* Frame at the end of the audio. whisper.cpp's rules leave out the last 200 samples, which usually makes one frame less (n_len_org there).
 * The division rounds towards zero. */
static int64_t audio_end(const steno_session *s)
{
    enum { HALF_A_WINDOW = 200 };
    const struct mel_stream *f = mel_of(s);
    return request_of(s)->p.decoding == STENO_DECODING_GGML ? 1 + (f->samples - HALF_A_WINDOW) / MEL_HOP : f->frames;
}

static void clip_add(steno_session *s, int64_t from, int64_t to)
{
    struct request *c = request_of(s);
    const int64_t end = to < mel_of(s)->frames ? to : mel_of(s)->frames;
    const int loose = request_of(s)->p.decoding == STENO_DECODING_GGML;
    if (from + (loose ? CLIP_LAST_FRAMES : 0) >= end) return;
    const struct clip clip = { from, end };
    buf_add(&c->clips, &clip, sizeof clip);
    if (c->clips.err) return;
    if (!c->n_clips++) c->begin = from;
    c->all += end - from;
}

/* Clips that decode in parallel are at most one window long. */
static void clip_add_windows(steno_session *s, int64_t from, int64_t to)
{
    const int64_t window = 2 * (int64_t)(request_of(s)->p.audio_ctx ? request_of(s)->p.audio_ctx : s->model->audio_ctx);
    const int64_t end = to < mel_of(s)->frames ? to : mel_of(s)->frames;
    for (int64_t at = from; at < end; at += window) clip_add(s, at, at + window < end ? at + window : end);
}

static void clip_named(steno_session *s, int64_t from, int64_t to)
{
    (request_of(s)->p.independent_clips || request_of(s)->foreseen ? clip_add_windows : clip_add)(s, from, to);
}

static void clips_named(steno_session *s)
{
    const steno_transcribe_params *p = &request_of(s)->p;
    for (int32_t i = 0; i < p->n_clip_timestamps; i += 2) {
        const int64_t from = (int64_t)nearbyint(p->clip_timestamps[i] * 100);
        const int64_t to = i + 1 < p->n_clip_timestamps ? (int64_t)nearbyint(p->clip_timestamps[i + 1] * 100) : audio_end(s);
        clip_named(s, from, to);
    }
}

static void clips_quiet(steno_session *s)
{
    const int64_t max = request_of(s)->p.chunk_ms / 10;
    const float *level = (const float *)(const void *)mel_of(s)->levels.p;
    for (int64_t at = 0; at < mel_of(s)->frames;) {
        const int64_t left = mel_of(s)->frames - at, to = at + (left <= max ? left : level_cut(level + at, left, max));
        clip_add(s, at, to);
        at = to;
    }
}

int request_clips_make(steno_session *s)
{
    struct request *c = request_of(s);
    const steno_transcribe_params *p = &c->p;
    const int64_t from = p->offset_ms / 10;
    buf_clear(&c->clips);
    c->n_clips = 0;
    c->begin = c->all = c->done = 0;
    if (p->chunk_ms) clips_quiet(s);
    else if (p->n_clip_timestamps) clips_named(s);
    else clip_named(s, from, p->duration_ms ? from + p->duration_ms / 10 : audio_end(s));
    return c->clips.err ? err_nomem(&s->error, c->clips.len, "clips") : STENO_OK;
}
