/* steno: log-mel spectrogram. SPDX-License-Identifier: MIT
 *
 * Samples are counted in padded coordinates: padded sample p is audio sample p - 200, so frame t is [160 t, 160 t + 400). The 200 samples
 * in front are the mirror of samples 1..200 and can be written only when those are known; until then no frame is complete. Frames are
 * computed from the pushed samples in place. The samples that begin the next frame are kept. */
#include "audio/mel.h"

#include <math.h>
#include <string.h>
#include "base/os.h"

enum {
    PAD = MEL_FFT / 2,
    HELD = 2 * MEL_HOP + MEL_FFT + 1,                 /* padded samples: less than a frame, and zeros for the last ones */
    GROUP = (STFT_GROUP - 1) * MEL_HOP + MEL_FFT      /* padded samples that a thread processes at a time */
};
static const float LIMIT = 1e15f; /* the power of a larger sample would overflow */
static const struct spectrum_log log10_floored = { 1e-10f, -10.0f, 0.301029996f, 0.434294482f, 0 };

/* Memory of a thread. */
struct mel_thread {
    float samples[GROUP];
    float loudest[STFT_LANE]; /* the largest values of the frames it made */
    void *scratch;
};

struct mel {
    const struct mel_bank *bank;
    steno_team *team;
    struct mel_thread *threads;
    float *held;       /* [HELD] padded samples from the next frame's first on */
    int64_t len;       /* valid samples in held */
    int mirrored;      /* held[0..PAD) is written */
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

void mel_filters_slaney(float *out, int n_mels, int n_fft)
{
    const int bins = n_fft / 2 + 1;
    const double top = hz_to_mel(MEL_RATE / 2.0), step = top / (n_mels + 1);
    for (int m = 0; m < n_mels; m++) {
        const double left = mel_to_hz(m * step), mid = mel_to_hz((m + 1) * step);
        const double right = mel_to_hz(m + 1 == n_mels ? top : (m + 2) * step);
        const double area = 2.0 / (right - left);
        for (int k = 0; k < bins; k++) {
            const double hz = k * (double)MEL_RATE / n_fft;
            const double up = (hz - left) / (mid - left), down = (right - hz) / (right - mid);
            const double tri = up < down ? up : down;
            const float rounded = tri > 0 ? (float)tri : 0.0f; /* the reference rounds here as well */
            out[m * bins + k] = (float)(rounded * area);
        }
    }
    out[0] = -0.0f; /* the reference's order of operations yields -0.0 here, and every model file stores it */
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
    const struct mel *m;
    struct stft_span span;
    float *out;
};

static int is_silent(const float *x, size_t n)
{
    return x[0] == 0.0f && memcmp(x, x + 1, (n - 1) * sizeof *x) == 0;
}

/* Separate lanes let the compiler use vectors. */
static void loudest_take(float *loudest, const float *x, size_t n)
{
    size_t i = 0;
    for (; i + STFT_LANE <= n; i += STFT_LANE)
        for (int l = 0; l < STFT_LANE; l++) loudest[l] = x[i + l] > loudest[l] ? x[i + l] : loudest[l];
    for (; i < n; i++) loudest[0] = x[i] > loudest[0] ? x[i] : loudest[0];
}

static void frames_run(void *arg, int64_t first, int n, int slot)
{
    const struct frames_job *j = arg;
    const struct mel_bank *b = j->m->bank;
    struct mel_thread *t = &j->m->threads[slot];
    const int64_t len = (int64_t)(n - 1) * MEL_HOP + MEL_FFT;
    float *out = j->out + first * b->n_mels;
    stft_copy(t->samples, &j->span, first * MEL_HOP, len);
    if (is_silent(t->samples, (size_t)len)) { /* the full computation would give the same values */
        for (int i = 0; i < n * b->n_mels; i++) out[i] = log10_floored.floor_log;
        return;
    }
    b->kern->spectra(out, t->samples, MEL_HOP, (size_t)n, &b->spectrum, t->scratch);
    loudest_take(t->loudest, out, (size_t)n * (size_t)b->n_mels);
}

/* Write n frames of the held samples followed by pcm[n_pcm]. The rest is kept. */
static void frames_emit(struct mel *m, float *out, int64_t n, const float *pcm, int64_t n_pcm)
{
    struct frames_job job = { m, { m->held, pcm, m->len, n_pcm, LIMIT }, out };
    const int64_t all = m->len + n_pcm, used = n * MEL_HOP;
    stft_run(m->team, n, frames_run, &job);
    m->len = all > used ? all - used : 0;
    stft_copy(m->held, &job.span, used, m->len);
    m->frames += n;
}

/* ---- the stream -------------------------------------------------------------------------------------------------------------- */

static void buffers_take(struct mel *m, struct arena_take *t, const steno_team *team)
{
    const size_t n = (size_t)stft_threads(team, INT64_MAX);
    m->held = arena_take(t, HELD, sizeof *m->held);
    m->threads = arena_take(t, n, sizeof *m->threads);
    if (m->threads) os_pages_touch(m->threads, n * sizeof *m->threads);
    for (size_t i = 0; i < n; i++) {
        void *scratch = arena_take(t, 1, kern_spectra_scratch(MEL_FFT));
        if (m->threads) m->threads[i].scratch = scratch;
        if (scratch) os_pages_touch(scratch, kern_spectra_scratch(MEL_FFT));
    }
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
    (void)m; /* all memory belongs to the arena */
}

void mel_begin(struct mel *m)
{
    m->len = PAD;
    m->mirrored = 0;
    m->samples = m->frames = 0;
    for (int i = 0; i < stft_threads(m->team, INT64_MAX); i++)
        for (int l = 0; l < STFT_LANE; l++) m->threads[i].loudest[l] = log10_floored.floor_log;
}

float mel_loudest(const struct mel *m)
{
    float top = log10_floored.floor_log;
    for (int i = 0; i < stft_threads(m->team, INT64_MAX); i++)
        for (int l = 0; l < STFT_LANE; l++) top = fmaxf(top, m->threads[i].loudest[l]);
    return top;
}

int64_t mel_frames_for(const struct mel *m, int64_t n, int end)
{
    const int64_t total = m->samples + n;
    if (end) return total / MEL_HOP - m->frames;
    return (total > PAD ? (total - PAD) / MEL_HOP + 1 : 0) - m->frames; /* the mirror needs sample 200: 201 samples */
}

int64_t mel_samples_for(const struct mel *m, int64_t frames)
{
    const int64_t all = m->frames + frames, total = all > 1 ? (all - 1) * MEL_HOP + PAD : PAD + 1;
    return frames > 0 && total > m->samples ? total - m->samples : 0;
}

static void mirror(struct mel *m)
{
    for (int i = 0; i < PAD; i++) m->held[i] = m->held[2 * PAD - i];
    m->mirrored = 1;
}

/* Keep the samples that the mirror needs. @return how many of the n samples */
static int64_t begin_mirror(struct mel *m, const float *pcm, int64_t n)
{
    const int64_t want = PAD + 1 - m->samples, take = n < want ? n : want;
    if (m->mirrored) return 0;
    stft_samples(m->held + m->len, pcm, take, LIMIT);
    m->len += take;
    m->samples += take;
    if (m->samples > PAD) mirror(m);
    return take;
}

int64_t mel_push(struct mel *m, const float *pcm, int64_t n, float *out)
{
    const int64_t begun = begin_mirror(m, pcm, n), left = n - begun, all = m->len + left;
    if (!m->mirrored) return 0;
    const int64_t frames = all < MEL_FFT ? 0 : (all - MEL_FFT) / MEL_HOP + 1;
    m->samples += left;
    frames_emit(m, out, frames, pcm + begun, left);
    return frames;
}

int64_t mel_end(struct mel *m, int64_t extra, float *out)
{
    const int64_t seeing = m->samples > 0 ? (m->samples + PAD + MEL_HOP - 1) / MEL_HOP : 0; /* frames that cover a sample */
    const int64_t content = m->samples / MEL_HOP;
    const int64_t total = extra < seeing - content ? content + (extra > 0 ? extra : 0) : seeing;
    const int64_t n = total - m->frames;
    if (n <= 0) return 0;
    /* At most 400 samples are held and MEL_END frames remain. There is room for the zeros; one of them serves as sample 200 of the
     * mirror. */
    const int64_t need = (n - 1) * MEL_HOP + MEL_FFT + 1;
    if (m->len < need) {
        memset(m->held + m->len, 0, (size_t)(need - m->len) * sizeof *m->held);
        m->len = need;
    }
    if (!m->mirrored) mirror(m);
    frames_emit(m, out, n, NULL, 0);
    return n;
}

int64_t mel_samples(const struct mel *m)
{
    return m->samples;
}
