/* steno: identifies speakers by the loudness of two channels. SPDX-License-Identifier: MIT */
#include "diarize.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MS = 10, BLOCK = 160, PIECE = 4096 }; /* samples */

static const double MARGIN = 1.1;

void diarize_reset(struct diarize *d)
{
    d->n = 0;
}

void diarize_free(struct diarize *d)
{
    free(d->level);
    memset(d, 0, sizeof *d);
}

/* Stores the sum of block `i`. */
static int put(struct diarize *d, size_t i, int channel, double sum)
{
    if (i >= d->cap) {
        const size_t cap = d->cap ? 2 * d->cap : 6000;
        float(*grown)[2] = realloc(d->level, cap * sizeof *grown);
        if (!grown) return STENO_ENOMEM;
        d->level = grown;
        d->cap = cap;
    }
    for (; d->n <= i; d->n++) d->level[d->n][0] = d->level[d->n][1] = 0;
    d->level[i][channel] = (float)sum;
    return STENO_OK;
}

int diarize_listen(struct diarize *d, int channel, const steno_source *src)
{
    float pcm[PIECE];
    double sum = 0;
    size_t block = 0;
    int filled = 0, rc = STENO_OK;
    int64_t got;
    while (rc == STENO_OK && (got = src->read(src->user, pcm, PIECE)) != 0) {
        if (got < 0) return (int)got;
        for (int64_t i = 0; i < got && rc == STENO_OK; i++) {
            sum += fabs((double)pcm[i]);
            if (++filled < BLOCK) continue;
            rc = put(d, block++, channel, sum);
            sum = filled = 0;
        }
    }
    return rc == STENO_OK && filled ? put(d, block, channel, sum) : rc;
}

int diarize_speaker(const struct diarize *d, int64_t t0_ms, int64_t t1_ms)
{
    if (t0_ms < 0 || t1_ms < t0_ms) return DIARIZE_UNKNOWN;
    const int64_t n = (int64_t)d->n, end = t1_ms / BLOCK_MS + (t1_ms % BLOCK_MS != 0);
    double sum[2] = { 0, 0 };
    for (int64_t i = t0_ms / BLOCK_MS; i < end && i < n; i++) {
        sum[0] += (double)d->level[i][0];
        sum[1] += (double)d->level[i][1];
    }
    return sum[0] > MARGIN * sum[1] ? 0 : sum[1] > MARGIN * sum[0] ? 1 : DIARIZE_UNKNOWN;
}
