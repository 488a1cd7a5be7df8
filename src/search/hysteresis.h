/* steno: spans from probabilities of speech, by two thresholds. SPDX-License-Identifier: MIT
 *
 * A span begins with a frame at or above the upper threshold. It ends where a silence begins that is long enough and whose frames are below
 * the lower threshold. Short spans are dropped, long ones are cut. Margins are added at both ends; where two margins would meet, each gets
 * half of the gap. There are two sets of rules. Silero's get_speech_timestamps (6.2) cuts long spans at their longest pause. whisper.cpp
 * cuts them at their last pause, and closes gaps of less than 200 ms before short spans are dropped.
 *
 * All positions are in samples. A span is reported as soon as no later frame can change it. */
#ifndef STENO_SEARCH_HYSTERESIS_H
#define STENO_SEARCH_HYSTERESIS_H
#include "search/vad.h"

/* The cut position of a long span; each value selects the whole set of rules. */
enum hysteresis_rules { HYSTERESIS_LONGEST_PAUSE, HYSTERESIS_LAST_PAUSE };

struct hysteresis_params {
    enum hysteresis_rules rules;
    int frame;                     /* samples of a frame */
    double threshold, neg_threshold;
    int64_t min_speech, min_silence, max_speech, pad; /* max_speech INT64_MAX: no limit */
    int streaming;                 /* 1: report openings, too */
};

struct stretch { int64_t t0, t1; }; /* [t0, t1) */

struct hysteresis_listener {
    void (*put)(void *user, const struct stretch *s); /* a span, in order */
    /* With margins, before short ones are dropped: a span opens (t1 -1) or ends. opens: its beginning was not reported before. May be
     * NULL */
    void (*report)(void *user, const struct stretch *s, int opens);
    void *user;
};

struct hysteresis {
    struct hysteresis_params p;
    struct hysteresis_listener to;
    int64_t next;                  /* first sample of the next frame */
    int on, reported;                  /* inside a span; its opening was reported */
    int64_t start;                 /* its first sample */
    int64_t silence;               /* start of the current pause, 0: none */
    int64_t cut, after_cut;        /* the pause for a possible cut */
    int64_t pause;                 /* Silero: the length of that pause */
    struct stretch merged, padded; /* not yet reported, in order of time: before and after margins */
    int has_merged, has_padded;
    int64_t samples;               /* length of the audio, INT64_MAX: not yet known */
};

void hysteresis_begin(struct hysteresis *h, const struct hysteresis_params *p, struct hysteresis_listener to);
void hysteresis_step(struct hysteresis *h, float p_speech); /* adds a frame; NaN is neither speech nor silence */
void hysteresis_end(struct hysteresis *h, int64_t samples); /* no more frames; `samples`: length of the audio */
int64_t hysteresis_floor(const struct hysteresis *h);       /* no later span begins before this sample */
#endif
