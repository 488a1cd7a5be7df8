/* steno-media: positions of sound on the clock of its file. SPDX-License-Identifier: MIT
 *
 * A file gives a time with each piece of sound. If a piece begins later than the end of the previous one, the gap becomes silence. Sound
 * before the file's zero, and sound that overlaps earlier sound, is dropped. Time differences smaller than rounding and jitter are ignored.
 * A jump beyond the file's length, or back into earlier sound, is damage or a splice: the sound continues after it without a gap. */
#ifndef STENO_MEDIA_MEDIA_CLOCK_H
#define STENO_MEDIA_MEDIA_CLOCK_H
#include <stdint.h>

#define MEDIA_CLOCK_START 0.04    /* seconds: a smaller offset of the first sound is ignored */
#define MEDIA_CLOCK_JITTER 0.1    /* the same for later sound; aresample's min_hard_comp */
#define MEDIA_CLOCK_OVERLAP 1.0   /* a longer overlap is a jump */
#define MEDIA_CLOCK_SPLICE 10.0   /* a longer gap is a jump in formats whose clock may restart (MPEG-TS, Ogg) */
#define MEDIA_CLOCK_UNSAID 600.0  /* a longer gap is a jump in files without a declared length */
#define MEDIA_CLOCK_UNSAID_ALL 3600.0 /* limit for all gaps of such a file */
#define MEDIA_CLOCK_SLACK 1.0     /* seconds by which sound may begin after the declared length */
#define MEDIA_CLOCK_MAX 43200.0  /* limit for all gaps of any file */

/* Corrections that were made. */
struct media_moved {
    int64_t start;            /* samples of silence before the first sound; below 0: samples dropped there */
    int64_t gaps, silence;    /* later gaps, and their silence in samples */
    int64_t dropped;          /* samples that overlapped others */
    int64_t jumps;            /* jumps that were not followed */
};

struct media_clock {
    int is_on;
    int splices;      /* 1: the clock may restart */
    double longest;   /* seconds of the file; < 0: not declared */
    int begun;
    double next;      /* time on the clock at which the sound so far ends */
    double filled;    /* seconds of silence in gaps */
    double shift;     /* seconds by which output is earlier than the clock, from jumps and the offset of the first sound */
    struct media_moved moved;
};

enum media_step { MEDIA_GOES_ON, MEDIA_MOVES };

/* Whether the piece at `t` seconds after the file's zero directly continues the previous sound. A jump that is not followed counts as
 * that. */
enum media_step media_clock_step(const struct media_clock *c, double t);

/* Add the piece at `t`, `lasts` seconds long, after `made` samples at `rate`. @return samples of silence to insert before it; below 0: that
 * number of samples, of this piece and the next ones, must be dropped */
int64_t media_clock_put(struct media_clock *c, double t, double lasts, int64_t made, int rate);

/* Add a piece without a time. */
void media_clock_put_untimed(struct media_clock *c, double lasts);
#endif
