/* steno: forced alignment of a known text: which words to accept. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task/align/align_text.h"

/* ---- which words ---- */

/* Log of the word's probability over the probability that a word gets by chance. A positive value is evidence that the word is in the
 * audio. */
static double evidence(double p)
{
    const double chance = 0.15, min = 0.01;
    return log((p > 1 ? 1 : p > min ? p
                                    : min) /
               chance); /* NaN counts as the minimum */
}

void spoken_range(const double *probability, int32_t n, double enough, int32_t *from, int32_t *to)
{
    double all = 0, some = 0, best = enough; /* some: the sum from `begin` on; it restarts when it falls to 0 */
    int32_t begin = 0;
    *from = *to = 0;
    for (int32_t i = 0; i < n; i++) {
        const double e = evidence(probability[i]);
        if (some <= 0) some = 0, begin = i;
        all += e;
        some += e;
        if (all >= best) best = all, *from = 0, *to = i + 1;
        if (some - HEARD_SKIPPING >= best) best = some - HEARD_SKIPPING, *from = begin, *to = i + 1;
    }
}

static int is_squeezed(const struct known_word *w)
{
    const double shortest = 0.04;
    return w->end - w->start < shortest;
}

static int is_drawn_out(const struct known_word *w)
{
    const double longest = 2.5;
    return w->end - w->start > longest;
}

int32_t settled_count(struct known_word *w, int32_t n, int32_t all, double limit)
{
    const double longest_first = 1, pause = 0.3;
    int32_t settled = 0;
    if (n > 0 && is_drawn_out(&w[0])) w[0].end = w[0].start + longest_first;
    while (settled < n && w[settled].end <= limit && !is_drawn_out(&w[settled]) &&
           !(is_squeezed(&w[settled]) && settled + 1 < all && is_squeezed(&w[settled + 1])))
        settled++;
    if (settled > 1 && settled < n && w[settled].end <= limit) settled--; /* a word before misaligned words has a wrong end */
    for (int32_t k = settled; k > settled / 2 && settled < all; k--)
        if (w[k].start - w[k - 1].end >= pause) return k;
    return settled;
}

static int by_level(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { LASTING = 10 }; /* frames; a shorter sound is a click */

double sound_level(const double *level, int32_t n, double *scratch)
{
    const double steady = 0.4, above = 0.2;
    memcpy(scratch, level, (size_t)n * sizeof *level);
    qsort(scratch, (size_t)n, sizeof *scratch, by_level);
    const double ground = scratch[n / 10], range = scratch[n > LASTING ? n - LASTING / 2 : n - 1] - ground;
    if (!(range >= steady)) return INFINITY;
    return ground + (range * above > steady ? range * above : steady);
}

void sound_find(int32_t *begin, int32_t *end, const double *level, int32_t n, double *scratch)
{
    *begin = 0;
    *end = n;
    if (n < LASTING) return;
    const double loud = sound_level(level, n, scratch);
    int32_t count = 0, first = -1, last = 0;
    for (int32_t i = 0; i < n; i++) { /* more than half of the last ten frames are loud */
        count += level[i] > loud;
        if (i >= LASTING) count -= level[i - LASTING] > loud;
        if (count <= LASTING / 2) continue;
        if (first < 0) first = i >= LASTING ? i - LASTING + 1 : 0;
        last = i + 1;
    }
    *begin = first < 0 ? n : first;
    *end = first < 0 ? n : last;
}
