/* steno: frames of samples with what stands beside them. SPDX-License-Identifier: MIT
 *
 * For networks that hear samples: frames one behind the other, each in a row between two margins. On the right the frame's own end is
 * mirrored (its last sample once). On the left stand the samples before the frame, zeros before the first one; or else its own beginning,
 * mirrored likewise. The last frame is filled up with zeros. */
#ifndef STENO_AUDIO_FRAMES_H
#define STENO_AUDIO_FRAMES_H
#include <stddef.h>
#include <stdint.h>

enum { FRAME_MAX = 2048 };

struct sample_frames {
    int n, margin;       /* samples of a frame, at most FRAME_MAX; of a margin, less than n */
    int mirrored;        /* 1: on the left, too */
    int held;            /* samples of the frame to come */
    float *x;            /* [margin + n] what stands before it, and those */
    int64_t samples;     /* pushed */
};

static inline int frames_width(const struct sample_frames *f) { return f->n + 2 * f->margin; }
static inline size_t frames_room(int n, int margin) { return (size_t)n + (size_t)margin; } /* floats of x */
void frames_begin(struct sample_frames *f, int mirrored);
int64_t frames_rows_for(const struct sample_frames *f, int64_t n, int end);
/* Add pcm[n] and write the rows that became complete, ld floats apart; NaN samples count as 0, infinite ones as a very large number.
 * @return rows written: frames_rows_for(f, n, 0) */
int64_t frames_push(struct sample_frames *f, const float *pcm, int64_t n, float *out, size_t ld);
int64_t frames_end(struct sample_frames *f, float *out, size_t ld); /* the last one, if it has begun */
#endif
