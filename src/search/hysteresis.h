/* steno: from probabilities of speech to spans, by two thresholds. SPDX-License-Identifier: MIT
 *
 * A span begins with a frame at or above one threshold and ends where a silence begins whose frames are below a lower one and that is long
 * enough. Short spans are left out, long ones are cut. Margins are added to both ends; where two would meet,
 * each gets half of what lies between. Two sets of rules are known: those of Silero's get_speech_timestamps (6.2), which cuts long spans
 * at their longest pause, and whisper.cpp's, which cuts them at their last one, and closes gaps of less than 200 ms before short spans are
 * left out.
 *
 * All in samples. A span is told as soon as nothing that follows can change it. */
#ifndef STENO_SEARCH_HYSTERESIS_H
#define STENO_SEARCH_HYSTERESIS_H
#include "search/vad.h"

/* Where a long span is cut; each with the rest of its rules. */
enum hysteresis_rules { HYSTERESIS_LONGEST_PAUSE, HYSTERESIS_LAST_PAUSE };

struct hysteresis_params {
    enum hysteresis_rules rules;
    int frame;                     /* samples of one */
    double threshold, neg_threshold;
    int64_t min_speech, min_silence, max_speech, pad; /* max_speech INT64_MAX: none is too long */
    int streaming;                 /* openings are told, too */
};

struct stretch { int64_t t0, t1; }; /* [t0, t1) */

struct hysteresis_listener {
    void (*put)(void *user, const struct stretch *s); /* a span, in order */
    /* With its margins, before short ones are left out: one opens (t1 -1), or ends; opens: its beginning was not told. NULL: nobody asks */
    void (*tell)(void *user, const struct stretch *s, int opens);
    void *user;
};

struct hysteresis {
    struct hysteresis_params p;
    struct hysteresis_listener to;
    int64_t next;                  /* where the frame to come begins */
    int on, told;                  /* inside a span; which somebody was told of */
    int64_t start;                 /* its first sample */
    int64_t silence;               /* where the pause at hand began, 0: there is none */
    int64_t cut, after_cut;        /* the pause that it would be cut at */
    int64_t pause;                 /* Silero: its length */
    struct stretch merged, padded; /* not yet told, in the order of time: before and after margins */
    int has_merged, has_padded;
    int64_t samples;               /* of the whole audio, INT64_MAX: not known yet */
};

void hysteresis_begin(struct hysteresis *h, const struct hysteresis_params *p, struct hysteresis_listener to);
void hysteresis_step(struct hysteresis *h, float p_speech); /* one frame more; NaN counts as neither */
void hysteresis_end(struct hysteresis *h, int64_t samples); /* no frame follows; the audio had so many */
int64_t hysteresis_floor(const struct hysteresis *h);       /* no span to come begins before this sample */
#endif
