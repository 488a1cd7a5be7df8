/* steno: finds quiet places to cut audio. SPDX-License-Identifier: MIT
 *
 * Audio that is longer than a model's input is cut between words if possible. The quietness of a frame is the mean level over a fifth of a
 * second around it, so a stop consonant does not count as a pause. */
#include "audio/level.h"

#include <math.h>
#include "audio/stft.h"

enum { NEAR = 10, FRAME = 160 };

int64_t level_quietest(const float *level, int64_t n, int64_t from, int64_t to)
{
    int64_t best = to;
    double min = INFINITY;
    for (int64_t t = from; t < to; t++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t k = t - NEAR; k <= t + NEAR; k++)
            if (k >= 0 && k < n) sum += (double)level[k], count++;
        if (sum / (double)count < min) min = sum / (double)count, best = t;
    }
    return best;
}

int64_t level_cut(const float *level, int64_t n, int64_t max)
{
    return level_quietest(level, n, max - max / 3, max);
}

struct levels {
    float *level;
    const float *pcm;
};

static void levels_run(void *arg, int64_t first, int n, int slot)
{
    const struct levels *l = arg;
    (void)slot;
    for (int64_t t = first; t < first + n; t++) {
        const float *x = l->pcm + t * FRAME;
        double sum = 0;
        for (int i = 0; i < FRAME; i++) sum += (double)x[i] * (double)x[i];
        l->level[t] = sum < 1e30 ? (float)log10(sum / FRAME + 1e-10) : 30; /* NAN gives 30, too */
    }
}

void level_measure(float *level, const float *pcm, int64_t n, steno_team *team)
{
    struct levels l = { level, pcm };
    stft_run(team, n, levels_run, &l);
}
