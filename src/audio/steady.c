/* steno: levels of frames, and whether a sound is steady. SPDX-License-Identifier: MIT */
#include "audio/steady.h"
#include <math.h>

enum { SOUND_FRAMES = 5, STEADY_DB = 4 };
enum { MEAN_FRAMES = 5, LEAST_FRAMES = 190 /* two seconds have 198 */ };
static const double EVEN_DB = 1.4; /* of means over 50 ms: those of noise vary by 1.2 dB at most, those of speech at 0 dB by 1.5 at least */
/* Of the loudest bands: those of brown noise vary by 6.2 dB at most, those of speech of 9 steps of 16 bits by 6.7 at least. Of sounds of
 * some steps: 2.3 of white noise, 3.5 of speech. */
static const double EVEN_PEAK_DB = 6.5, EVEN_FAINT_DB = 3, FAINT_B = 1.2;

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

/* Frames per level of the means over 50 ms. */
struct spread { int32_t count[LEVEL_BINS]; int64_t n; };

static void spread_of(struct spread *s, const struct frame_level *level, int64_t n, int is_peak)
{
    *s = (struct spread){ .n = n - MEAN_FRAMES + 1 };
    for (int64_t t = 0; t < s->n; t++) {
        double sum = 0;
        for (int i = 0; i < MEAN_FRAMES; i++) sum += (double)(is_peak ? level[t + i].peak : level[t + i].mean);
        s->count[level_bin(sum / MEAN_FRAMES)]++;
    }
}

static int most_of(const struct spread *s) { return level_at(s->count, s->n - SOUND_FRAMES); }
static int is_even(const struct spread *s, double db) { return most_of(s) - level_at(s->count, s->n / 10) < db * LEVELS_PER_B / 10; }

int levels_lack_sound(const struct frame_level *level, int64_t n)
{
    const int64_t last = n > MEAN_FRAMES ? n - MEAN_FRAMES : 0;
    for (int64_t t = 0; t <= last; t++) {
        double sum = 0;
        for (int64_t i = t; i < n && i < t + MEAN_FRAMES; i++) sum += (double)level[i].peak;
        if (sum > 0) return 0; /* the first frames of a word are enough, a stream knows no more */
    }
    return n > 0;
}

int levels_lack_speech(const struct frame_level *level, int64_t n)
{
    struct spread s;
    if (levels_lack_sound(level, n)) return 1;
    if (n < LEAST_FRAMES) return 0;
    spread_of(&s, level, n, 0);
    if (!is_even(&s, EVEN_DB)) return 0;
    spread_of(&s, level, n, 1);
    return is_even(&s, most_of(&s) < level_bin(FAINT_B) ? EVEN_FAINT_DB : EVEN_PEAK_DB);
}

/* ---- levels of frames -------------------------------------------------------------------------------------------------------- */

static const double LN_10 = 2.302585092994046;
static const float GUARD = 0x1p-24f; /* centred banks have ln(power + GUARD) */
static const double ABOVE_B = 0.6;   /* a group of bands is louder than the last bit by more */
enum { GROUP = 8 };

/* Logarithm of a power above that of the last bit, without the guard, which hides the changes of quiet speech. */
static float unguarded(float x, float last_bit, float power_of_it)
{
    static const float LOUD = -10; /* here the guard changes less than 0.01 dB */
    if (x > LOUD) return x;
    const float power = expf(x) - GUARD;
    return power > power_of_it ? logf(power) : last_bit;
}

/* Kaldi's samples count as 16-bit values; log-mel is scaled. */
static double in_bels(const struct fbank_bank *b, double x)
{
    if (b->kind == FBANK_LOG_MEL) return 4 * x - 4;
    return x / LN_10 - (b->kind == FBANK_KALDI ? 2 * log10(32768) : 0);
}

struct frame_level level_of_frame(const struct fbank_bank *b, const float *x)
{
    const int group = b->n_mels < GROUP ? b->n_mels : GROUP;
    float above[SPECTRUM_BANDS];
    double sum = 0, near = 0, most = 0;
    for (int i = 0; i < b->n_mels; i++) {
        const float y = b->kind == FBANK_CENTRED ? unguarded(x[i], b->last_bit[i], b->last_power[i]) : fmaxf(x[i], b->last_bit[i]);
        sum += (double)y;
        above[i] = y - b->last_bit[i];
        near += (double)above[i] - (i >= group ? (double)above[i - group] : 0);
        if (i >= group - 1 && near > most) most = near;
    }
    most *= b->kind == FBANK_LOG_MEL ? 4 : 1 / LN_10;
    return (struct frame_level){ (float)in_bels(b, sum / b->n_mels), (float)(most / group - ABOVE_B) };
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
    const int bins = w->fft / 2 + 1;
    double energy = 0;
    for (int i = 0; i < w->n; i++) energy += (double)w->window[i] * (double)w->window[i];
    for (int m = 0; m < b->n_mels; m++) {
        double band = 0;
        for (int k = 0; k < bins; k++) band += (double)w->weight[m * bins + k] * emphasis_at(b, k, w->fft);
        const double power = fmax(band * energy * VARIANCE, b->kind == FBANK_CENTRED ? 1e-12 : 1e-10);
        b->last_bit[m] = (float)(b->kind == FBANK_LOG_MEL ? (log10(power) + 4) / 4 : log(power));
        b->last_power[m] = (float)power;
    }
}
