/* steno: keeps audio as long as it is needed. SPDX-License-Identifier: MIT */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, HOP = RATE / 100, WIDTH = 10 /* hops */ };

int kept_add(struct kept *k, const float *pcm, int64_t n)
{
    if (k->n + n > k->cap) {
        const int64_t cap = 2 * (k->n + n);
        float *more = realloc(k->pcm, (size_t)cap * sizeof *more);
        if (!more) return STENO_ENOMEM;
        k->pcm = more;
        k->cap = cap;
    }
    memcpy(k->pcm + k->n, pcm, (size_t)n * sizeof *pcm);
    k->n += n;
    return STENO_OK;
}

int64_t kept_end(const struct kept *k)
{
    return k->at + k->n;
}

const float *kept_from(const struct kept *k, int64_t at)
{
    return k->pcm + (at - k->at);
}

void kept_drop(struct kept *k, int64_t before)
{
    if (before - k->at < RATE) return; /* saves moving memory for every piece */
    k->n -= before - k->at;
    memmove(k->pcm, k->pcm + (before - k->at), (size_t)k->n * sizeof *k->pcm);
    k->at = before;
}

static double power(const float *pcm, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)pcm[i] * pcm[i];
    return sum;
}

int64_t kept_quietest(const struct kept *k, int64_t from, int64_t end)
{
    double least = -1;
    int64_t best = end;
    for (int64_t at = end - WIDTH * HOP; at >= from; at -= HOP) {
        const double p = power(kept_from(k, at), WIDTH * HOP);
        if (least >= 0 && p >= least) continue;
        least = p;
        best = at + WIDTH * HOP == end && p == 0 ? end : at + WIDTH * HOP / 2;
    }
    return best;
}

/* Each sample minus most of the one before: this weakens hum and rumble, which have only low frequencies, against speech. */
double kept_loudest(const struct kept *k, int64_t from, int64_t end)
{
    enum { FRAME = 2 * HOP };
    static const double EMPHASIS = 0.97;
    double loudest = 0;
    for (int64_t at = from; at < end; at += FRAME) {
        const int64_t n = end - at < FRAME ? end - at : FRAME;
        const float *pcm = kept_from(k, at);
        double sum = 0;
        for (int64_t i = 1; i < n; i++) sum += (pcm[i] - EMPHASIS * pcm[i - 1]) * (pcm[i] - EMPHASIS * pcm[i - 1]);
        if (sum > loudest) loudest = sum;
    }
    return loudest;
}

void kept_free(struct kept *k)
{
    free(k->pcm);
    *k = (struct kept){ 0 };
}
