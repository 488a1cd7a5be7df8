/* steno: from an audio source to windows of log-mel. SPDX-License-Identifier: MIT */
#include "audio/mel_stream.h"
#include <math.h>
#include <string.h>
#include "base/os.h"

enum { GATHER_CHUNKS = 10 };

static float const silence = -10; /* log10(1e-10) */

static int64_t gather_of(const steno_team *team) { return MEL_STREAM_CHUNK * (team_threads(team) > 1 ? GATHER_CHUNKS : 1); }
static int64_t cap_of(int window, int64_t gather) { return window + gather / MEL_HOP + 8; }

size_t mel_stream_memory(const struct mel_bank *bank, int window, const steno_team *team)
{
    const int64_t gather = gather_of(team);
    return mel_memory(team) + (size_t)(cap_of(window, gather) * bank->n_mels + gather) * sizeof(float);
}

int mel_stream_init(struct mel_stream *f, struct arena *a, const struct mel_bank *bank, int window, steno_team *team, steno_error *e)
{
    memset(f, 0, sizeof *f);
    f->n_mels = bank->n_mels;
    f->window = window;
    f->gather = gather_of(team);
    f->cap = cap_of(window, f->gather);
    const int rc = mel_open(&f->mel, a, bank, team, e);
    if (rc) return rc;
    f->pcm = arena_array(a, (size_t)f->gather, sizeof *f->pcm);
    f->frame = arena_array(a, (size_t)f->cap * (size_t)f->n_mels, sizeof *f->frame);
    return f->pcm && f->frame ? STENO_OK : err_nomem(e, (size_t)f->cap * (size_t)f->n_mels * sizeof *f->frame, "log-mel");
}

void mel_stream_close(struct mel_stream *f)
{
    buf_free(&f->levels);
    mel_close(f->mel);
    f->mel = NULL;
}

/* Appends the mean of each frame over its bands. */
static void add_levels(struct mel_stream *f, const float *frame, int64_t n)
{
    for (int64_t t = 0; t < n; t++) {
        double sum = 0;
        for (int i = 0; i < f->n_mels; i++) sum += (double)frame[t * f->n_mels + i];
        const float level = (float)(sum / f->n_mels);
        buf_add(&f->levels, &level, sizeof level);
    }
}

static float *row_of(const struct mel_stream *f, int64_t frame) { return f->frame + (size_t)(frame % f->cap) * (size_t)f->n_mels; }

/* Counts n frames that were written after the others. If the ring is full, the oldest are dropped. */
static void frames_made(struct mel_stream *f, const float *frame, int64_t n)
{
    if (f->listening) f->max = fmaxf(f->max, mel_loudest(f->mel));
    if (f->listening && f->adds_levels) add_levels(f, frame, n);
    f->n += n;
    if (f->n <= f->cap) return;
    f->base += f->n - f->cap;
    f->n = f->cap;
}

/* Turns the samples into frames, in two parts if the end of the ring lies between. */
static void frames_push(struct mel_stream *f)
{
    for (int64_t at = 0; at < f->n_pcm;) {
        const int64_t next = f->base + f->n, room = f->cap - next % f->cap, left = f->n_pcm - at;
        const int64_t n = mel_frames_for(f->mel, left, 0) > room ? mel_samples_for(f->mel, room) : left;
        float *out = row_of(f, next);
        frames_made(f, out, mel_push(f->mel, f->pcm + at, n, out));
        at += n;
    }
    f->n_pcm = 0;
}

static void frames_end(struct mel_stream *f)
{
    float last[MEL_END * MEL_MAX];
    const int64_t n = mel_end(f->mel, MEL_END, last);
    for (int64_t i = 0; i < n; i++) {
        const float *frame = last + i * f->n_mels;
        memcpy(row_of(f, f->base + f->n), frame, (size_t)f->n_mels * sizeof *frame);
        frames_made(f, frame, 1);
    }
}

/* Reads once and appends the samples. */
static int read_piece(struct mel_stream *f, steno_error *e)
{
    if (f->should_stop && f->should_stop(f->user)) return err_set(e, STENO_ECANCELED, "canceled while reading audio");
    const int64_t t = os_now_ns(), room = f->gather - f->n_pcm, n = room < MEL_STREAM_CHUNK ? room : MEL_STREAM_CHUNK;
    const int64_t got = f->src->read(f->src->user, f->pcm + f->n_pcm, n);
    f->time.source_ns += os_now_ns() - t;
    if (got == STENO_SOURCE_WAIT && f->may_wait) return STREAM_WAITS;
    if (got < 0 || got > n)
        return err_set(e, STENO_ESOURCE, "the audio source failed after %lld samples", (long long)(mel_samples(f->mel) + f->n_pcm));
    f->n_pcm += got;
    f->ended = !got;
    return STENO_OK;
}

/* Makes more frames, at least `want` unless the audio ends. Gathers samples for several threads, but no more than those frames need. */
static int pull(struct mel_stream *f, int64_t want, steno_error *e)
{
    do {
        const int rc = read_piece(f, e);
        if (rc) return rc;
    } while (!f->ended && f->n_pcm < f->gather && mel_frames_for(f->mel, f->n_pcm, 0) < want);
    const int64_t t = os_now_ns();
    frames_push(f);
    if (f->ended) frames_end(f);
    f->time.features_ns += os_now_ns() - t;
    return STENO_OK;
}

static void pass_begin(struct mel_stream *f)
{
    mel_begin(f->mel);
    f->base = f->n = f->n_pcm = 0;
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
    while (!rc && !f->ended && mel_samples(f->mel) - from < max) rc = pull(f, f->cap, e);
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

static void frames_copy(const struct mel_stream *f, float *out, int64_t from, int64_t n)
{
    const int64_t room = f->cap - from % f->cap, first = n < room ? n : room;
    const size_t row = (size_t)f->n_mels;
    if (first > 0) memcpy(out, row_of(f, from), (size_t)first * row * sizeof *out);
    if (n > first) memcpy(out + (size_t)first * row, f->frame, (size_t)(n - first) * row * sizeof *out);
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
        const int rc = pull(f, want - f->base - f->n, e);
        if (rc) return rc;
    }
    const size_t row = (size_t)f->n_mels;
    const int64_t have = f->base + f->n - from;
    const int64_t take = have < 0 ? 0 : have < want - from ? have : want - from;
    if (!floor && take < n) return err_set(e, STENO_ESOURCE, "the audio source gave fewer samples when it was read again");
    frames_copy(f, out, from, take);
    for (size_t i = (size_t)take * row; floor && i < (size_t)f->window * row; i++) out[i] = silence;
    const size_t scaled = (size_t)(floor ? f->window : n) * row;
    mel_scale(out, scaled, f->max);
    memset(out + scaled, 0, ((size_t)f->window * row - scaled) * sizeof *out);
    return STENO_OK;
}

const float *mel_stream_frame(const struct mel_stream *f, int64_t i)
{
    return i >= f->base && i < f->base + f->n ? f->frame + i % f->cap * f->n_mels : NULL;
}
