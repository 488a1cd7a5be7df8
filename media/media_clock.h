/* steno-media: where sound lies on the clock of its file. SPDX-License-Identifier: MIT
 *
 * A file gives a time with each piece of sound. Pieces that come later than the sound before them ends leave a gap, which is silence; what
 * lies before the file's zero, or under sound that was given, is dropped. Times that differ by less than rounding and jitter move nothing.
 * A jump that the file's length does not allow, or back to where sound was, is damage or a splice: sound goes on behind it at once. */
#ifndef STENO_MEDIA_MEDIA_CLOCK_H
#define STENO_MEDIA_MEDIA_CLOCK_H
#include <stdint.h>

#define MEDIA_CLOCK_START 0.04    /* seconds by which the first sound is later or earlier, at most, and is not moved */
#define MEDIA_CLOCK_JITTER 0.1    /* the same of later sound; aresample's min_hard_comp */
#define MEDIA_CLOCK_OVERLAP 1.0   /* a longer overlap is a jump */
#define MEDIA_CLOCK_SPLICE 10.0   /* a longer gap is a jump where clocks begin anew in the middle (MPEG-TS, Ogg) */
#define MEDIA_CLOCK_UNSAID 600.0  /* a longer gap is a jump where the file does not say how long it is */
#define MEDIA_CLOCK_UNSAID_ALL 3600.0 /* the gaps of such a file, in all */
#define MEDIA_CLOCK_SLACK 1.0     /* by which sound may begin behind the length that the file says */
#define MEDIA_CLOCK_MOST 43200.0  /* the gaps of any file, in all */

/* What was moved. */
struct media_moved {
    int64_t start;            /* samples of silence before the first sound, or dropped there: below 0 */
    int64_t gaps, silence;    /* gaps behind it, and the samples that they took */
    int64_t dropped;          /* samples under others */
    int64_t jumps;            /* that were not followed */
};

struct media_clock {
    int is_on;
    int splices;      /* clocks may begin anew */
    double longest;   /* seconds of the file, < 0: it does not say */
    int begun;
    double next;      /* when the sound so far ends, by the clock */
    double filled;    /* seconds of silence in gaps */
    double shift;     /* by which sound is earlier than the clock says, because of jumps and of what the first sound is off */
    struct media_moved moved;
};

enum media_step { MEDIA_GOES_ON, MEDIA_MOVES };

/* Does the piece at `t` seconds behind the file's zero go on where the sound before it ends? A jump that is not followed does. */
enum media_step media_clock_step(const struct media_clock *c, double t);

/* Put the piece at `t`, `lasts` seconds long, behind `made` samples at `rate`.
 * @return samples of silence that come before it, or below 0: as many of its own, and of what follows, are dropped */
int64_t media_clock_put(struct media_clock *c, double t, double lasts, int64_t made, int rate);

/* The time of the next piece is not known. */
void media_clock_put_untimed(struct media_clock *c, double lasts);
#endif
