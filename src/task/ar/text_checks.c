/* steno: was there a sound that moves? SPDX-License-Identifier: MIT
 *
 * Models in want of speech write what was most frequent in their training. The level tells from outside: that of speech swings by 7 dB and
 * more even in loud noise; silence, tones, hum and steady noise stay within 3 dB. The spectrum tells of music. */
#include "task/ar/text_checks.h"

enum { LEVELS_PER_B = 100, LEVEL_BINS = 2048, SOUND_FRAMES = 5, STEADY_DB = 4 };

/* ---- notes ---- */

enum { MOVE_FRAMES = 6, PHRASE_FRAMES = 50, SPEECH_FRAMES = 25 };
static const double DB = 40, LOUD_DB = 40, STRONG_DB = 30, MOVE_DB = 5, STAND_DB = 3; /* DB of one in scaled log-mel */

/* By how many dB the shapes of two spectra differ, over the bands above `from` in one of them; how loud they are does not count. */
static double shapes_differ(const float *a, const float *b, int n, float from)
{
    double sum = 0, off = 0;
    int bands = 0;
    for (int i = 0; i < n; i++) {
        if (!(fmaxf(a[i], b[i]) > from)) continue;
        sum += (double)b[i] - (double)a[i];
        bands++;
    }
    if (!bands) return 0;
    for (int i = 0; i < n; i++)
        if (fmaxf(a[i], b[i]) > from) off += fabs((double)b[i] - (double)a[i] - sum / bands);
    return DB * off / bands;
}

static float loudest(const float *x, size_t n)
{
    float most = x[0];
    for (size_t i = 1; i < n; i++) most = fmaxf(most, x[i]);
    return most;
}

/* A note stands while it sounds and goes over into the next one at once; what a mouth forms is on the move. Notes, chords and hum stand
 * for more than half of the time (below 3 dB in 60 ms), and there is no half second in which half of the frames move by 5 dB. Noise does
 * not stand (3.5 dB and more), so that speech in noise is not taken for music; speech over music moves, as long as it is no weaker. */
int spectra_stand(const float *mel, int32_t frames, int n_mels)
{
    const size_t row = (size_t)n_mels;
    int32_t loud = 0, stand = 0, moving = 0;
    uint8_t moves[PHRASE_FRAMES] = { 0 };
    if (frames < PHRASE_FRAMES + MOVE_FRAMES) return 0;
    const float least = loudest(mel, (size_t)frames * row) - (float)(LOUD_DB / DB);
    for (int32_t t = 0; t + MOVE_FRAMES < frames; t++) {
        const float *a = mel + (size_t)t * row, *b = a + MOVE_FRAMES * row;
        const float peak = fmaxf(loudest(a, row), loudest(b, row));
        const int is_loud = peak > least;
        const double d = is_loud ? shapes_differ(a, b, n_mels, peak - (float)(STRONG_DB / DB)) : 0;
        uint8_t *at = &moves[t % PHRASE_FRAMES];
        loud += is_loud;
        stand += is_loud && d < STAND_DB;
        moving -= *at;
        *at = is_loud && d > MOVE_DB;
        moving += *at;
        if (moving >= SPEECH_FRAMES) return 0;
    }
    return 2 * stand > loud;
}

/* ---- the level ---- */

/* Mean over the bands of each frame. Scaled log-mel lies at most 80 dB below the file's loudest: digital silence is as steady as a
 * tone. */
void window_levels(struct window_decoder *w, const float *mel)
{
    const int n_mels = mel_bank_of(w->s->model)->n_mels;
    for (int32_t t = 0; t < w->frames; t++) {
        double sum = 0;
        for (int i = 0; i < n_mels; i++) sum += (double)mel[(size_t)t * (size_t)n_mels + (size_t)i];
        w->level[t] = (float)(4 * sum / n_mels - 4);
    }
    w->stands = spectra_stand(mel, w->frames, n_mels);
}

/* Level of the frame of that rank, in bins. */
static int level_at(const int32_t *count, int64_t rank)
{
    int bin = 0;
    for (int64_t below = count[0]; below <= rank && bin < LEVEL_BINS - 1;) below += count[++bin];
    return bin;
}

/* The tenth part is the ground, five frames are the least that a sound fills. */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to)
{
    int32_t count[LEVEL_BINS] = { 0 };
    const int64_t n = to - from;
    for (int64_t t = from - w->seek; t < to - w->seek; t++) {
        const double bin = ((double)w->level[t] + 10) * LEVELS_PER_B; /* log10 of nothing is -10 */
        count[bin < 0 ? 0 : bin < LEVEL_BINS - 1 ? (int)bin : LEVEL_BINS - 1]++;
    }
    return n <= SOUND_FRAMES || level_at(count, n - SOUND_FRAMES) - level_at(count, n / 10) < STEADY_DB * LEVELS_PER_B / 10;
}

enum { NEAR_FRAMES = 50 }; /* times are not that exact: sound so close to a segment is its own */

static int is_mute(const struct window_decoder *w, int64_t t0_ms, int64_t t1_ms)
{
    const int64_t from = t0_ms / 10 - NEAR_FRAMES, to = t1_ms / 10 + NEAR_FRAMES, end = w->seek + w->frames;
    return window_steady(w, from > w->seek ? from : w->seek, to < end ? to : end);
}

/* Faster than speech: the words were not found in the sound. */
static int are_found(const struct draft *d)
{
    static const double LEAST_S = 0.05; /* of a word */
    return d->n_words && d->end - d->start >= LEAST_S * d->n_words;
}

/* By the times of the words, else by those that the model chose: those that lie behind the sound are on silence. */
void drafts_judge(struct window_decoder *w, int n)
{
    if (w->request->p.guards == STENO_GUARDS_OFF) return;
    for (int i = 0; i < n; i++) {
        const struct draft *d = &w->drafts[i];
        w->mute[i] = are_found(d) ? is_mute(w, ms_of(d->start), ms_of(d->end)) : is_mute(w, ms_of(d->said), ms_of(d->silent));
    }
}
