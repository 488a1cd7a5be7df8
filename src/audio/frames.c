/* steno: frames of samples with margins. SPDX-License-Identifier: MIT */
#include "audio/frames.h"

#include <string.h>
#include "audio/stft.h"

static const float LIMIT = 1e10f; /* the power of a larger sample would overflow */

void frames_begin(struct sample_frames *f, int mirrored)
{
    f->mirrored = mirrored;
    f->held = 0;
    f->samples = 0;
    memset(f->x, 0, frames_room(f->n, f->margin) * sizeof *f->x);
}

int64_t frames_rows_for(const struct sample_frames *f, int64_t n, int end)
{
    return (f->held + n + (end ? f->n - 1 : 0)) / f->n;
}

/* Write the current frame as a row, and keep its end as the margin of the next one. */
static void row_write(float *out, struct sample_frames *f)
{
    const int m = f->margin, n = f->n;
    float *frame = out + m;
    memcpy(out, f->x, frames_room(n, m) * sizeof *out);
    for (int i = 1; i <= m; i++) frame[n - 1 + i] = frame[n - 1 - i];
    for (int i = 1; i <= m && f->mirrored; i++) frame[-i] = frame[i];
    memmove(f->x, f->x + n, (size_t)m * sizeof *f->x);
    f->held = 0;
}

int64_t frames_push(struct sample_frames *f, const float *pcm, int64_t n, float *out, size_t ld)
{
    int64_t rows = 0;
    f->samples += n;
    while (n > 0) {
        const int64_t room = f->n - f->held, take = n < room ? n : room;
        stft_samples(f->x + f->margin + f->held, pcm, take, LIMIT);
        f->held += (int)take;
        pcm += take;
        n -= take;
        if (f->held == f->n) row_write(out + (size_t)rows++ * ld, f);
    }
    return rows;
}

int64_t frames_end(struct sample_frames *f, float *out, size_t ld)
{
    (void)ld;
    if (!f->held) return 0;
    memset(f->x + f->margin + f->held, 0, (size_t)(f->n - f->held) * sizeof *f->x);
    row_write(out, f);
    return 1;
}
