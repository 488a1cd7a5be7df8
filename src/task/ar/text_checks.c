/* steno: was there a sound that moves? SPDX-License-Identifier: MIT
 *
 * Models in want of speech write what they heard most often in training. The level tells from outside: that of speech swings by 7 dB and
 * more even in loud noise; silence, tones, hum and steady noise stay within 3 dB. */
#include "task/ar/text_checks.h"

enum { LEVELS_PER_B = 100, LEVEL_BINS = 2048, SOUND_FRAMES = 5, STEADY_DB = 4 };

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
