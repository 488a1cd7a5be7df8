/* steno: what speaks against a text. SPDX-License-Identifier: MIT
 *
 * Models in want of speech write what they heard most often in training, or the same words over and over. These measures see it from
 * outside: how often tokens come back, and whether there was a sound that moves. The level of speech swings by 7 dB and more even
 * in loud noise; silence, tones, hum and steady noise stay within 3 dB. */
#include <math.h>
#include "task/ar/text_checks.h"

enum { ENTROPY_TOKENS = 32, LOOP_NGRAM = 8, LOOP_TIMES = 4, LOOP_TOKENS = 8 };
enum { LEVELS_PER_B = 100, LEVEL_BINS = 2048, SOUND_FRAMES = 5, STEADY_DB = 4 };

double token_entropy(const int32_t *ids, int32_t n)
{
    const int32_t from = n > ENTROPY_TOKENS ? n - ENTROPY_TOKENS : 0, seen = n - from;
    double sum = 0;
    for (int32_t i = from; i < n; i++) { /* each token adds its share of its id's term */
        int count = 0;
        for (int32_t k = from; k < n; k++) count += ids[k] == ids[i];
        sum -= log((double)count / seen) / seen;
    }
    return sum;
}

int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end)
{
    int32_t last[LOOP_NGRAM] = { 0 }; /* the latest text tokens, a ring */
    int32_t same[LOOP_NGRAM + 1] = { 0 }; /* how many in a row equal the one n places before */
    int32_t text = 0;
    for (int32_t i = 0; i < n; i++) {
        if (ids[i] >= text_end) continue; /* times differ where words do not */
        for (int32_t k = 1; k <= LOOP_NGRAM; k++) {
            same[k] = text >= k && last[(text - k) % LOOP_NGRAM] == ids[i] ? same[k] + 1 : 0;
            const int32_t stretch = same[k] + k;
            if (same[k] && stretch >= LOOP_TIMES * k && stretch >= LOOP_TOKENS) return 1;
        }
        last[text++ % LOOP_NGRAM] = ids[i];
    }
    return 0;
}

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
