/* steno: from a source to windows of log-mel. SPDX-License-Identifier: MIT */
#include "task/mel_stream.h"
#include <string.h>
#include "base/os.h"

enum { SLACK = MEL_STREAM_CHUNK / MEL_HOP + 8, SEE_END = 3 /* frames past the end that still see the last samples */ };

static float const silence = -10; /* log10(1e-10) */

size_t mel_stream_memory(const struct mel_bank *bank, int window, const steno_team *team)
{
    return mel_memory(team) + ((size_t)(window + SLACK) * (size_t)bank->n_mels + MEL_STREAM_CHUNK) * sizeof(float);
}

int mel_stream_init(struct mel_stream *f, struct arena *a, const struct mel_bank *bank, int window, steno_team *team, steno_error *e)
{
    memset(f, 0, sizeof *f);
    f->n_mels = bank->n_mels;
    f->window = window;
    f->cap = window + SLACK;
    const int rc = mel_open(&f->mel, a, bank, team, e);
    if (rc) return rc;
    f->pcm = arena_array(a, MEL_STREAM_CHUNK, sizeof *f->pcm);
    f->frame = arena_array(a, (size_t)f->cap * (size_t)f->n_mels, sizeof *f->frame);
    return f->pcm && f->frame ? STENO_OK : err_nomem(e, (size_t)f->cap * (size_t)f->n_mels * sizeof *f->frame, "log-mel");
}

void mel_stream_close(struct mel_stream *f)
{
    buf_free(&f->levels);
    mel_close(f->mel);
    f->mel = NULL;
}

/* Forget frames before `keep`, and as many of the oldest as `room` more frames need. */
static void make_room(struct mel_stream *f, int64_t keep, int room)
{
    int64_t drop = keep - f->base;
    if (f->n - drop > f->cap - room) drop = f->n - (f->cap - room);
    if (drop > f->n) drop = f->n;
    if (drop <= 0) return;
    const size_t row = (size_t)f->n_mels;
    memmove(f->frame, f->frame + (size_t)drop * row, (size_t)(f->n - drop) * row * sizeof *f->frame);
    f->n -= (int)drop;
    f->base += drop;
}

/* Mean of each frame over its bands. */
static void add_levels(struct mel_stream *f, const float *frame, int64_t n)
{
    for (int64_t t = 0; t < n; t++) {
        double sum = 0;
        for (int i = 0; i < f->n_mels; i++) sum += (double)frame[t * f->n_mels + i];
        const float level = (float)(sum / f->n_mels);
        buf_add(&f->levels, &level, sizeof level);
    }
}

enum { LANES = 16 };

/* The largest of x[n] and `top`. Lanes of their own let the compiler take vectors. */
static float max_of(const float *x, size_t n, float top)
{
    float lane[LANES];
    size_t i = 0;
    for (int l = 0; l < LANES; l++) lane[l] = top;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    for (int l = 0; l < LANES; l++) top = lane[l] > top ? lane[l] : top;
    for (; i < n; i++) top = x[i] > top ? x[i] : top;
    return top;
}

/* One piece of audio, or the end of it, into the ring. Frames before `keep` may be forgotten. */
static int pull(struct mel_stream *f, int64_t keep, steno_error *e)
{
    if (f->should_stop && f->should_stop(f->user)) return err_set(e, STENO_ECANCELED, "canceled while reading audio");
    int64_t t = os_now_ns();
    const int64_t got = f->src->read(f->src->user, f->pcm, MEL_STREAM_CHUNK);
    f->time.source_ns += os_now_ns() - t;
    if (got == STENO_SOURCE_WAIT && f->may_wait) return STREAM_WAITS;
    if (got < 0 || got > MEL_STREAM_CHUNK)
        return err_set(e, STENO_ESOURCE, "the audio source failed after %lld samples", (long long)mel_samples(f->mel));
    t = os_now_ns();
    make_room(f, keep, SLACK);
    float *out = f->frame + (size_t)f->n * (size_t)f->n_mels;
    const int64_t made = got ? mel_push(f->mel, f->pcm, got, out) : mel_end(f->mel, SEE_END, out);
    if (f->listening) f->max = max_of(out, (size_t)made * (size_t)f->n_mels, f->max);
    if (f->listening && f->want_levels) add_levels(f, out, made);
    f->n += (int)made;
    f->ended = !got;
    f->time.features_ns += os_now_ns() - t;
    return STENO_OK;
}

static void pass_begin(struct mel_stream *f)
{
    mel_begin(f->mel);
    f->base = 0;
    f->n = 0;
    f->ended = 0;
}

void mel_stream_listen_begin(struct mel_stream *f, const steno_source *src)
{
    f->src = src;
    f->max = silence;
    f->may_wait = 0;
    pass_begin(f);
    buf_clear(&f->levels);
}

int mel_stream_listen_on(struct mel_stream *f, int64_t max, steno_error *e)
{
    const int64_t from = mel_samples(f->mel);
    int rc = STENO_OK;
    f->listening = 1;
    while (!rc && !f->ended && mel_samples(f->mel) - from < max) rc = pull(f, f->base, e);
    f->listening = 0;
    f->samples = mel_samples(f->mel);
    f->frames = f->samples / MEL_HOP;
    return rc;
}

int mel_stream_listen(struct mel_stream *f, const steno_source *src, steno_error *e)
{
    mel_stream_listen_begin(f, src);
    return mel_stream_listen_on(f, INT64_MAX, e);
}

void mel_stream_listen_given(struct mel_stream *f, const steno_source *src, int64_t samples, float max)
{
    mel_stream_listen_begin(f, src);
    f->samples = samples;
    f->frames = samples / MEL_HOP;
    f->max = max > silence ? max : silence;
}

int mel_stream_window(struct mel_stream *f, int64_t from, int n, int floor, float *out, steno_error *e)
{
    if (from < f->base) {
        if (!f->src->rewind || f->src->rewind(f->src->user) < 0)
            return err_set(e, STENO_ESOURCE, "the audio source cannot go back to its start, which audio of more than %d s needs",
                           f->window / 100);
        pass_begin(f);
    }
    const int64_t want = floor ? from + f->window : from + n;
    while (!f->ended && f->base + f->n < want) {
        const int rc = pull(f, from, e);
        if (rc) return rc;
    }
    const size_t row = (size_t)f->n_mels;
    const int64_t have = f->base + f->n - from;
    const int64_t take = have < 0 ? 0 : have < want - from ? have : want - from;
    if (!floor && take < n) return err_set(e, STENO_ESOURCE, "the audio source gave fewer samples when it was read again");
    memcpy(out, f->frame + (size_t)(take ? from - f->base : 0) * row, (size_t)take * row * sizeof *out);
    for (size_t i = (size_t)take * row; floor && i < (size_t)f->window * row; i++) out[i] = silence;
    const size_t scaled = (size_t)(floor ? f->window : n) * row;
    mel_scale(out, scaled, f->max);
    memset(out + scaled, 0, ((size_t)f->window * row - scaled) * sizeof *out);
    return STENO_OK;
}
