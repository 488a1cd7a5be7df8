/* steno: log-mel rows of a whole clip. SPDX-License-Identifier: MIT */
#include "audio/mel_clip.h"
#include <math.h>
#include <string.h>
#include "audio/mel.h"
#include "base/os.h"

enum { PAD = MEL_FFT / 2, GROUP = (STFT_GROUP - 1) * MEL_HOP + MEL_FFT };
static const float LIMIT = 1e15f; /* the power of a larger sample would overflow */

/* Memory of a thread. */
struct mel_clip_thread { float samples[GROUP], frames[STFT_GROUP * SPECTRUM_BANDS]; void *scratch; };

void mel_clip_take(struct mel_clip *c, struct arena_take *t, const struct fbank_bank *bank, const steno_team *team)
{
    const size_t n = (size_t)stft_threads(team, INT64_MAX);
    *c = (struct mel_clip){ bank, arena_take(t, n, sizeof *c->threads) };
    if (c->threads) os_pages_touch(c->threads, n * sizeof *c->threads);
    for (size_t i = 0; i < n; i++) {
        void *scratch = arena_take(t, 1, kern_spectra_scratch(MEL_FFT));
        if (c->threads) c->threads[i].scratch = scratch;
        if (scratch) os_pages_touch(scratch, kern_spectra_scratch(MEL_FFT));
    }
}

static int64_t frames_of(int64_t n)
{
    return (n < MEL_CLIP_LEAST ? MEL_CLIP_LEAST : n) / MEL_HOP;
}

int64_t mel_clip_count(const struct fbank_bank *b, int64_t n)
{
    return n > 0 ? fbank_rows_of_frames(b, frames_of(n)) : 0;
}

/* ---- samples */

struct clip_job {
    const struct mel_clip *c;
    const float *pcm;
    int64_t n, all;  /* samples; with the zeros after them */
    float peak;      /* 1: as they are */
    float *out;
    size_t ld;
};

static float peak_of(const float *pcm, int64_t n)
{
    float peak[STFT_LANE] = { 0 }, most = 1;
    int64_t i = 0;
    for (; i + STFT_LANE <= n; i += STFT_LANE)
        for (int l = 0; l < STFT_LANE; l++) peak[l] = fabsf(pcm[i + l]) > peak[l] ? fabsf(pcm[i + l]) : peak[l];
    for (; i < n; i++) peak[0] = fabsf(pcm[i]) > peak[0] ? fabsf(pcm[i]) : peak[0];
    for (int l = 0; l < STFT_LANE; l++) most = peak[l] > most ? peak[l] : most;
    return most < LIMIT ? most : LIMIT;
}

/* x[len] = samples from `first` on; sample 0 and the last one are mirrors. */
static void samples_gather(float *x, const struct clip_job *j, int64_t first, int64_t len)
{
    if (first >= 0 && first + len <= j->n) stft_samples(x, j->pcm + first, len, LIMIT);
    else
        for (int64_t i = 0; i < len; i++) {
            int64_t at = first + i < 0 ? -(first + i) : first + i;
            if (at >= j->all) at = 2 * (j->all - 1) - at;
            x[i] = 0;
            if (at < j->n) stft_samples(x + i, j->pcm + at, 1, LIMIT);
        }
    for (int64_t i = 0; j->peak > 1 && i < len; i++) x[i] /= j->peak;
}

/* ---- rows */

size_t mel_clip_at(const struct fbank_bank *b, int64_t t, size_t ld)
{
    const int64_t chunk = b->chunk ? b->chunk : b->lfr_n, per = (chunk + b->lfr_n - 1) / b->lfr_n, in = t % chunk;
    return (size_t)(t / chunk * per + in / b->lfr_n) * ld + (size_t)(in % b->lfr_n * b->n_mels);
}

/* Frame t in its row. */
static float *frame_at(const struct clip_job *j, int64_t t)
{
    return j->out + mel_clip_at(j->c->bank, t, j->ld);
}

static void frames_run(void *arg, int64_t first, int n, int slot)
{
    const struct clip_job *j = arg;
    const struct fbank_bank *b = j->c->bank;
    struct mel_clip_thread *t = &j->c->threads[slot];
    samples_gather(t->samples, j, first * MEL_HOP - PAD, (int64_t)(n - 1) * MEL_HOP + MEL_FFT);
    b->kern->spectra(t->frames, t->samples, MEL_HOP, (size_t)n, &b->spectrum, t->scratch);
    for (int i = 0; i < n; i++) memcpy(frame_at(j, first + i), t->frames + i * b->n_mels, (size_t)b->n_mels * sizeof *t->frames);
}

static float loudest_of(const struct clip_job *j, int64_t frames)
{
    float loudest[STFT_LANE], most = -INFINITY;
    for (int l = 0; l < STFT_LANE; l++) loudest[l] = -INFINITY;
    for (int64_t t = 0; t < frames; t++) {
        const float *x = frame_at(j, t);
        for (int i = 0; i < j->c->bank->n_mels; i++) loudest[i % STFT_LANE] = fmaxf(loudest[i % STFT_LANE], x[i]);
    }
    for (int l = 0; l < STFT_LANE; l++) most = fmaxf(most, loudest[l]);
    return most;
}

int64_t mel_clip_rows(const struct mel_clip *c, steno_team *team, const float *pcm, int64_t n, float *out, size_t ld)
{
    const int64_t frames = frames_of(n), rows = mel_clip_count(c->bank, n);
    struct clip_job j = { c, pcm, n, n < MEL_CLIP_LEAST ? MEL_CLIP_LEAST : n, peak_of(pcm, n), out, ld };
    for (int64_t r = 0; r < rows; r++) memset(out + (size_t)r * ld, 0, (size_t)fbank_width(c->bank) * sizeof *out);
    stft_run(team, frames, frames_run, &j);
    const float loudest = loudest_of(&j, frames);
    for (int64_t t = 0; t < frames; t++) mel_scale(frame_at(&j, t), (size_t)c->bank->n_mels, loudest);
    return rows;
}
