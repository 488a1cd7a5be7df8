/* steno: log-mel spectrogram. SPDX-License-Identifier: MIT
 *
 * Samples are kept in a sliding block in padded coordinates: padded sample p is audio sample p - 200, so that frame t is simply
 * [160 t, 160 t + 400). The 200 samples in front are the mirror of samples 1..200 and can be written only when those are known; until
 * then no frame is complete. When a block fills up, its frames are shared out to the team in groups; a frame is computed from its own
 * 400 samples by one thread, which is why neither the pieces of a push nor the number of threads can change it. */
#include "audio/mel.h"

#include <kissfft/kiss_fftr.h>
#include <math.h>
#include <string.h>

enum {
    PAD = MEL_FFT / 2,
    GROUP = 16,                          /* frames that one thread takes at a time */
    BLOCK = MEL_HOP * 1024 + MEL_FFT,    /* padded samples held: about 10 s */
    LANE = 16                            /* numbers handled together, so that compilers use vectors also at -O2 */
};
static const float LIMIT = 1e15f; /* the power of a larger sample would overflow */

struct mel_thread {
    kiss_fftr_cfg fft; /* holds scratch: one per thread */
    float frame[MEL_FFT];
    kiss_fft_cpx spec[MEL_BINS];
    float power[MEL_BINS];
    float mel[MEL_MAX];
};

struct mel {
    const struct mel_bank *bank;
    steno_team *team;
    struct mel_thread *threads;
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

void mel_bank_init(struct mel_bank *b, const float *filters, int n_mels)
{
    b->n_mels = n_mels;
    b->filters = filters;
    for (int i = 0; i < MEL_FFT; i++) b->window[i] = (float)(0.5 * (1.0 - cos(2.0 * 3.14159265358979323846 * i / MEL_FFT)));
    for (int m = 0; m < n_mels; m++) {
        const float *row = filters + (size_t)m * MEL_BINS;
        int first = 0, last = MEL_BINS;
        while (first < last && row[first] == 0.0f) first++;
        while (last > first && row[last - 1] == 0.0f) last--;
        b->first[m] = (uint16_t)first;
        b->last[m] = (uint16_t)last;
    }
}

/* ---- one frame --------------------------------------------------------------------------------------------------------------- */

/* out[LANE] = log10(max(x, 1e-10)); |error| < 1e-6. With x = m 2^e and m near 1, ln m = 2 artanh((m - 1) / (m + 1)). */
static void log10_lane(float *out, const float *x)
{
    for (int i = 0; i < LANE; i++) {
        const float v = x[i] > 1e-10f ? x[i] : 1e-10f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        const uint32_t shifted = bits - 0x3f3504f3u; /* sqrt(1/2): m is in [0.707, 1.414) */
        const int32_t e = (int32_t)shifted >> 23;
        const uint32_t m_bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
        float m;
        memcpy(&m, &m_bits, sizeof m);
        const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
        const float ln = 2.0f * s * (1.0f + z * (0.33333333f + z * (0.2f + z * (0.14285714f + z * 0.11111111f))));
        out[i] = (float)e * 0.301029996f + ln * 0.434294482f;
    }
}

static int is_silent(const float *x)
{
    for (int i = 0; i < MEL_FFT; i++)
        if (x[i] != 0.0f) return 0;
    return 1;
}

/* out[n_mels] of the frame x[MEL_FFT] */
static void frame_log_mel(float *out, const float *x, const struct mel_bank *b, struct mel_thread *t)
{
    if (is_silent(x)) {
        for (int m = 0; m < b->n_mels; m++) out[m] = -10.0f;
        return;
    }
    for (int i = 0; i < MEL_FFT; i++) t->frame[i] = x[i] * b->window[i];
    kiss_fftr(t->fft, t->frame, t->spec);
    for (int k = 0; k < MEL_BINS - 1; k++) t->power[k] = t->spec[k].r * t->spec[k].r + t->spec[k].i * t->spec[k].i;
    t->power[MEL_BINS - 1] = t->spec[MEL_BINS - 1].r * t->spec[MEL_BINS - 1].r; /* the last one has no imaginary part */
    for (int m = 0; m < b->n_mels; m++) {
        const float *w = b->filters + (size_t)m * MEL_BINS;
        float even = 0, odd = 0; /* two chains of sums: additions wait for each other */
        int k = b->first[m];
        for (; k + 1 < b->last[m]; k += 2) {
            even += w[k] * t->power[k];
            odd += w[k + 1] * t->power[k + 1];
        }
        if (k < b->last[m]) even += w[k] * t->power[k];
        t->mel[m] = even + odd;
    }
    for (int m = 0; m < b->n_mels; m += LANE) {
        float lane[LANE];
        log10_lane(lane, t->mel + m);
        const int n = b->n_mels - m < LANE ? b->n_mels - m : LANE;
        for (int i = 0; i < n; i++) out[m + i] = t->mel[m + i] > 1e-10f ? lane[i] : -10.0f;
    }
}

struct frames_job {
    struct mel *m;
    float *out;
    int64_t n; /* frames from the start of the block */
};

static void frames_group(void *arg, int64_t group, int thread)
{
    const struct frames_job *j = arg;
    const struct mel_bank *b = j->m->bank;
    const int64_t end = (group + 1) * GROUP < j->n ? (group + 1) * GROUP : j->n;
    for (int64_t t = group * GROUP; t < end; t++)
        frame_log_mel(j->out + t * b->n_mels, j->m->block + t * MEL_HOP, b, &j->m->threads[thread]);
}

/* Write the first n frames of the block and let it slide past them. */
static void block_emit(struct mel *m, float *out, int64_t n)
{
    struct frames_job job = { m, out, n };
    if (n <= GROUP && n > 0) frames_group(&job, 0, 0); /* a stream's small step: not worth waking anybody */
    else if (n > 0) team_for(m->team, (n + GROUP - 1) / GROUP, frames_group, &job);
    const size_t used = (size_t)n * MEL_HOP;
    const size_t keep = m->len > used ? m->len - used : 0;
    memmove(m->block, m->block + used, keep * sizeof *m->block);
    m->len = keep;
    m->frames += n;
}

/* ---- the stream -------------------------------------------------------------------------------------------------------------- */

static size_t align64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t fft_size(void)
{
    size_t n = 0;
    kiss_fftr_alloc(MEL_FFT, 0, NULL, &n);
    return n;
}

size_t mel_memory(const steno_team *team)
{
    const size_t n = (size_t)team_threads(team);
    return align64(sizeof(struct mel)) + align64(n * sizeof(struct mel_thread)) + n * align64(fft_size()) + align64(BLOCK * sizeof(float));
}

int mel_open(struct mel **out, struct arena *a, const struct mel_bank *bank, steno_team *team, steno_error *e)
{
    *out = NULL;
    const int n_threads = team_threads(team);
    struct mel *m = arena_alloc(a, sizeof *m);
    if (!m) return err_nomem(e, sizeof *m, "the log-mel spectrogram");
    m->bank = bank;
    m->team = team;
    m->block = arena_array(a, BLOCK, sizeof *m->block);
    m->threads = arena_array(a, (size_t)n_threads, sizeof *m->threads);
    if (!m->block || !m->threads) return err_nomem(e, mel_memory(team), "the log-mel spectrogram");
    for (int i = 0; i < n_threads; i++) {
        size_t n = fft_size();
        void *mem = arena_alloc(a, n);
        if (mem) m->threads[i].fft = kiss_fftr_alloc(MEL_FFT, 0, mem, &n);
        if (!m->threads[i].fft) return err_nomem(e, n, "the Fourier transform's tables");
    }
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

/* dst[n] = x[n] without NaN, infinite and absurd samples. */
static void copy_samples(float *dst, const float *x, int64_t n)
{
    memcpy(dst, x, (size_t)n * sizeof *dst);
    uint32_t limit;
    memcpy(&limit, &LIMIT, sizeof limit); /* as integers, NaN compares above everything */
    for (int64_t i = 0; i < n; i += LANE) {
        uint32_t bits[LANE] = { 0 }, wild = 0;
        const int k = n - i < LANE ? (int)(n - i) : LANE;
        memcpy(bits, dst + i, k == LANE ? sizeof bits : (size_t)k * sizeof *bits);
        for (int l = 0; l < LANE; l++) wild |= (bits[l] & 0x7fffffffu) > limit;
        if (!wild) continue;
        for (int l = 0; l < k; l++) dst[i + l] = isnan(dst[i + l]) ? 0.0f : fmaxf(-LIMIT, fminf(LIMIT, dst[i + l]));
    }
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
        copy_samples(m->block + m->len, pcm, take);
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
