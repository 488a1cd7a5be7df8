/* steno: frames of samples with margins. SPDX-License-Identifier: MIT
 *
 * For networks that read samples. Frames follow each other without overlap. Each is stored in a row between two margins. The right margin
 * is the mirrored end of the frame (its last sample once). The left margin holds the samples before the frame, zeros before the first
 * sample; with `mirrored` it is the mirrored beginning of the frame. The last frame is filled with zeros. */
#ifndef STENO_AUDIO_FRAMES_H
#define STENO_AUDIO_FRAMES_H
#include <stddef.h>
#include <stdint.h>

enum { FRAME_MAX = 2048 };

struct sample_frames {
    int n, margin;       /* samples of a frame, at most FRAME_MAX; samples of a margin, less than n */
    int mirrored;        /* 1: the left margin is mirrored, too */
    int held;            /* samples already held of the next frame */
    float *x;            /* [margin + n] the samples before the next frame, then its own */
    int64_t samples;     /* pushed */
};

static inline int frames_width(const struct sample_frames *f) { return f->n + 2 * f->margin; }
static inline size_t frames_room(int n, int margin) { return (size_t)n + (size_t)margin; } /* floats of x */
void frames_begin(struct sample_frames *f, int mirrored);
int64_t frames_rows_for(const struct sample_frames *f, int64_t n, int end);
/* Add pcm[n] and write the rows that became complete, ld floats apart; NaN samples count as 0, infinite ones as a very large number.
 * @return rows written: frames_rows_for(f, n, 0) */
int64_t frames_push(struct sample_frames *f, const float *pcm, int64_t n, float *out, size_t ld);
int64_t frames_end(struct sample_frames *f, float *out, size_t ld); /* the last frame, if it has begun */
#endif
