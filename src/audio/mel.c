/* steno: log-mel spectrogram. SPDX-License-Identifier: MIT
 *
 * Samples are kept in a sliding block in padded coordinates: padded sample p is audio sample p - 200, so that frame t is simply
 * [160 t, 160 t + 400). The 200 samples in front are the mirror of samples 1..200 and can be written only when those are known; until
 * then no frame is complete. */
#include "audio/mel.h"

#include <math.h>
#include <string.h>

enum {
    PAD = MEL_FFT / 2,
    BLOCK = MEL_PUSH + MEL_FFT /* padded samples held: what is pushed at once, and less than a frame of before */
};
static const float LIMIT = 1e15f; /* the power of a larger sample would overflow */
static const struct spectrum_log log10_floored = { 1e-10f, -10.0f, 0.301029996f, 0.434294482f };

struct mel {
    const struct mel_bank *bank;
    steno_team *team;
    char *scratch;     /* kern_spectra_scratch bytes of each of threads_of */
    float *block;      /* [BLOCK] padded samples from block_pos on */
    size_t len;        /* of them valid */
    int mirrored;      /* block[0..PAD) is written */
    int64_t samples;   /* pushed */
    int64_t frames;    /* written */
};

/* ---- filters ----------------------------------------------------------------------------------------------------------------- */

/* Slaney's mel: linear below 1 kHz, logarithmic above. */
static double mel_to_hz(double mel)
{
    const double hz_per_mel = 200.0 / 3.0, knee_mel = 1000.0 / hz_per_mel, log_step = log(6.4) / 27.0;
    return mel < knee_mel ? mel * hz_per_mel : 1000.0 * exp(log_step * (mel - knee_mel));
}

static double hz_to_mel(double hz)
{
    const double hz_per_mel = 200.0 / 3.0, log_step = log(6.4) / 27.0;
    return hz < 1000.0 ? hz / hz_per_mel : 1000.0 / hz_per_mel + log(hz / 1000.0) / log_step;
}

void mel_filters_slaney(float *out, int n_mels)
{
    const double top = hz_to_mel(MEL_RATE / 2.0), step = top / (n_mels + 1);
    for (int m = 0; m < n_mels; m++) {
        const double left = mel_to_hz(m * step), mid = mel_to_hz((m + 1) * step);
        const double right = mel_to_hz(m + 1 == n_mels ? top : (m + 2) * step);
        const double area = 2.0 / (right - left);
        for (int k = 0; k < MEL_BINS; k++) {
            const double hz = k * (double)MEL_RATE / MEL_FFT;
            const double up = (hz - left) / (mid - left), down = (right - hz) / (right - mid);
            const double tri = up < down ? up : down;
            const float rounded = tri > 0 ? (float)tri : 0.0f; /* the reference rounds here as well */
            out[m * MEL_BINS + k] = (float)(rounded * area);
        }
    }
    out[0] = -0.0f; /* what its order of operations leaves there, and every model file holds */
}

void mel_bank_init(struct mel_bank *b, const float *filters, int n_mels, const struct kern *kern)
{
    b->n_mels = n_mels;
    b->kern = kern;
    spectrum_init(&b->spectrum, MEL_FFT, filters, (uint32_t)n_mels, &log10_floored);
    for (int i = 0; i < MEL_FFT; i++) b->spectrum.window[i] = (float)(0.5 * (1.0 - cos(2.0 * 3.14159265358979323846 * i / MEL_FFT)));
}

/* ---- frames ------------------------------------------------------------------------------------------------------------------ */

struct frames_job {
    struct mel *m;
    float *out;
};

static int is_silent(const float *x, size_t n)
{
    return x[0] == 0.0f && memcmp(x, x + 1, (n - 1) * sizeof *x) == 0;
}

static void frames_run(void *arg, int64_t first, int n, int thread)
{
    const struct frames_job *j = arg;
    const struct mel_bank *b = j->m->bank;
    const float *x = j->m->block + first * MEL_HOP;
    float *out = j->out + first * b->n_mels;
    if (is_silent(x, (size_t)(n - 1) * MEL_HOP + MEL_FFT)) { /* what follows would come to the same */
        for (int i = 0; i < n * b->n_mels; i++) out[i] = log10_floored.floor_log;
        return;
    }
    void *scratch = j->m->scratch + (size_t)thread * kern_spectra_scratch(MEL_FFT);
    b->kern->spectra(out, x, MEL_HOP, (size_t)n, &b->spectrum, scratch);
}

/* Write the first n frames of the block and let it slide past them. */
static void block_emit(struct mel *m, float *out, int64_t n)
{
    struct frames_job job = { m, out };
    stft_run(m->team, n, frames_run, &job);
    const size_t used = (size_t)n * MEL_HOP;
    const size_t keep = m->len > used ? m->len - used : 0;
    memmove(m->block, m->block + used, keep * sizeof *m->block);
    m->len = keep;
    m->frames += n;
}

/* ---- the stream -------------------------------------------------------------------------------------------------------------- */

static size_t threads_of(const steno_team *team) { return (size_t)stft_threads(team, (BLOCK - MEL_FFT) / MEL_HOP + 1); }

static void buffers_take(struct mel *m, struct arena_take *t, const steno_team *team)
{
    m->block = arena_take(t, BLOCK, sizeof *m->block);
    m->scratch = arena_take(t, threads_of(team), kern_spectra_scratch(MEL_FFT));
}

size_t mel_memory(const steno_team *team)
{
    struct mel m;
    struct arena_take t = { 0 };
    buffers_take(&m, &t, team);
    return sizeof m + t.sz;
}

int mel_open(struct mel **out, struct arena *a, const struct mel_bank *bank, steno_team *team, steno_error *e)
{
    struct arena_take t = { .a = a };
    *out = NULL;
    struct mel *m = arena_alloc(a, sizeof *m);
    if (!m) return err_nomem(e, sizeof *m, "the log-mel spectrogram");
    m->bank = bank;
    m->team = team;
    buffers_take(m, &t, team);
    if (t.failed) return err_nomem(e, t.sz, "the log-mel spectrogram");
    mel_begin(m);
    *out = m;
    return STENO_OK;
}

void mel_close(struct mel *m)
{
    (void)m; /* everything is in the arena */
}

void mel_begin(struct mel *m)
{
    m->len = PAD;
    m->mirrored = 0;
    m->samples = m->frames = 0;
}

int64_t mel_frames_for(const struct mel *m, int64_t n, int end)
{
    const int64_t total = m->samples + n;
    if (end) return total / MEL_HOP - m->frames;
    return (total > PAD ? (total - PAD) / MEL_HOP + 1 : 0) - m->frames; /* the mirror wants sample 200: 201 samples */
}

static void mirror(struct mel *m)
{
    for (int i = 0; i < PAD; i++) m->block[i] = m->block[2 * PAD - i];
    m->mirrored = 1;
}

/* Frames whose 400 samples are all in the block. */
static int64_t frames_complete(const struct mel *m)
{
    return m->mirrored && m->len >= MEL_FFT ? (int64_t)((m->len - MEL_FFT) / MEL_HOP) + 1 : 0;
}

int64_t mel_push(struct mel *m, const float *pcm, int64_t n, float *out)
{
    const int64_t before = m->frames;
    while (n > 0) {
        const int64_t room = BLOCK - (int64_t)m->len, take = n < room ? n : room;
        stft_samples(m->block + m->len, pcm, take, LIMIT);
        pcm += take;
        n -= take;
        m->len += (size_t)take;
        m->samples += take;
        if (!m->mirrored && m->samples > PAD) mirror(m);
        block_emit(m, out + (m->frames - before) * m->bank->n_mels, frames_complete(m));
    }
    return m->frames - before;
}

int64_t mel_end(struct mel *m, int64_t extra, float *out)
{
    const int64_t seeing = m->samples > 0 ? (m->samples + PAD + MEL_HOP - 1) / MEL_HOP : 0; /* frames that see a sample */
    const int64_t content = m->samples / MEL_HOP;
    const int64_t wanted = extra < seeing - content ? content + (extra > 0 ? extra : 0) : seeing;
    const int64_t n = wanted - m->frames;
    if (n <= 0) return 0;
    /* At most 400 samples are held and 3 frames remain: the block has room for the zeros, one of them for the mirror's sample 200. */
    const size_t need = (size_t)(n - 1) * MEL_HOP + MEL_FFT + 1;
    if (m->len < need) {
        memset(m->block + m->len, 0, (need - m->len) * sizeof *m->block);
        m->len = need;
    }
    if (!m->mirrored) mirror(m);
    block_emit(m, out, n);
    return n;
}

int64_t mel_samples(const struct mel *m)
{
    return m->samples;
}
