/* steno: levels of frames, and whether a sound is steady. SPDX-License-Identifier: MIT */
#include "audio/steady.h"
#include <math.h>

enum { SOUND_FRAMES = 5, STEADY_DB = 4 };
enum { MEAN_FRAMES = 5, LEAST_FRAMES = 190 /* two seconds have 198 */ };
static const double EVEN_DB = 1.4; /* of means over 50 ms: those of noise vary by 1.2 dB at most, those of speech at 0 dB by 1.5 at least */

int level_bin(double b)
{
    const double bin = (b + 10) * LEVELS_PER_B; /* log10 of zero power is stored as -10 */
    return bin < 0 ? 0 : bin < LEVEL_BINS - 1 ? (int)bin : LEVEL_BINS - 1;
}

int level_at(const int32_t *count, int64_t rank)
{
    int bin = 0;
    for (int64_t below = count[0]; below <= rank && bin < LEVEL_BINS - 1;) below += count[++bin];
    return bin;
}

int levels_are_steady(const float *level, int64_t n)
{
    int32_t count[LEVEL_BINS] = { 0 };
    for (int64_t t = 0; t < n; t++) count[level_bin((double)level[t])]++;
    return n <= SOUND_FRAMES || level_at(count, n - SOUND_FRAMES) - level_at(count, n / 10) < STEADY_DB * LEVELS_PER_B / 10;
}

/* Are the means over 50 ms even? */
static int are_even(const float *level, int64_t n)
{
    int32_t count[LEVEL_BINS] = { 0 };
    const int64_t means = n - MEAN_FRAMES + 1;
    for (int64_t t = 0; t < means; t++) {
        double sum = 0;
        for (int i = 0; i < MEAN_FRAMES; i++) sum += (double)level[t + i];
        count[level_bin(sum / MEAN_FRAMES)]++;
    }
    return level_at(count, means - SOUND_FRAMES) - level_at(count, means / 10) < EVEN_DB * LEVELS_PER_B / 10;
}

int levels_lack_speech(const float *level, int64_t n, float quiet)
{
    int64_t silent = 0;
    while (silent < n && level[silent] <= quiet) silent++; /* a stream knows but the first frames of a word */
    return n > 0 && (silent == n || (n >= LEAST_FRAMES && are_even(level, n)));
}

/* ---- levels of frames -------------------------------------------------------------------------------------------------------- */

static const double LN_10 = 2.302585092994046;
static const float GUARD = 0x1p-24f; /* centred banks have ln(power + GUARD) */

/* Logarithm of a power above that of the last bit, without the guard, which hides the changes of quiet speech. */
static float unguarded(float x, float last_bit)
{
    static const float LOUD = -10; /* here the guard changes less than 0.01 dB */
    const float power = x > LOUD ? 1 : expf(x) - GUARD;
    return x > LOUD ? x : power > expf(last_bit) ? logf(power) : last_bit;
}

/* Kaldi's samples count as 16-bit values; log-mel is scaled. */
static double in_bels(const struct fbank_bank *b, double x)
{
    if (b->kind == FBANK_LOG_MEL) return 4 * x - 4;
    return x / LN_10 - (b->kind == FBANK_KALDI ? 2 * log10(32768) : 0);
}

float level_of_frame(const struct fbank_bank *b, const float *x)
{
    double sum = 0;
    if (b->kind == FBANK_CENTRED)
        for (int i = 0; i < b->n_mels; i++) sum += (double)unguarded(x[i], b->last_bit[i]);
    else
        for (int i = 0; i < b->n_mels; i++) sum += (double)fmaxf(x[i], b->last_bit[i]);
    return (float)in_bels(b, sum / b->n_mels);
}

/* Power of pre-emphasis at bin k. */
static double emphasis_at(const struct fbank_bank *b, int k, int fft)
{
    static const double EMPHASIS = 0.97;
    const double turn = 2 * 3.14159265358979323846 * k / fft;
    return b->kind == FBANK_LOG_MEL ? 1 : 1 + EMPHASIS * EMPHASIS - 2 * EMPHASIS * cos(turn);
}

void level_init(struct fbank_bank *b, const struct level_window *w)
{
    static const double VARIANCE = 2.0 / 3 / 32768 / 32768; /* of white noise of the values -1, 0 and 1, in steps of 16 bits */
    static const double ABOVE_B = 0.25;                     /* bands of that noise are above their mean by as much */
    const int bins = w->fft / 2 + 1;
    double energy = 0;
    for (int i = 0; i < w->n; i++) energy += (double)w->window[i] * (double)w->window[i];
    for (int m = 0; m < b->n_mels; m++) {
        double band = 0;
        for (int k = 0; k < bins; k++) band += (double)w->weight[m * bins + k] * emphasis_at(b, k, w->fft);
        const double power = fmax(band * energy * VARIANCE, 1e-10);
        b->last_bit[m] = (float)(b->kind == FBANK_LOG_MEL ? (log10(power) + 4) / 4 : log(power));
    }
    double sum = 0;
    for (int m = 0; m < b->n_mels; m++) sum += (double)b->last_bit[m];
    b->quiet = (float)(in_bels(b, sum / b->n_mels) + ABOVE_B);
}
