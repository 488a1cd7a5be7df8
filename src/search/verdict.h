/* steno: what a sequence is worth by whisper.cpp's rules. SPDX-License-Identifier: MIT
 *
 * What stands behind the last time does not count, and a text that ends without one has failed, unless the audio ends, too. So has one that
 * came to the limit in the first half of the window, and a long one that says little. Reference: whisper.cpp 1.9, whisper_full. */
#ifndef STENO_SEARCH_VERDICT_H
#define STENO_SEARCH_VERDICT_H
#include "plan/run.h"

struct verdict_rules {
    int32_t on;       /* 0: openai-whisper's are asked for */
    int32_t draws;    /* beams: how many tokens each draws at a step; 0: none does */
    int32_t is_last;  /* the window reaches the end of the audio */
    int32_t half;     /* timestamps of half a window */
    int32_t before;   /* the sequence that was chosen at the last temperature: it is again where all fail */
    double entropy;   /* a long text with less has failed; NAN: none has */
};

struct verdict {
    int32_t n;          /* tokens that count, end of text excluded */
    int32_t failed;
    double avg_logprob; /* of those that count */
    double rank;        /* the same, or with a penalty for length */
};

struct verdict verdict_of(const struct lane *l, const struct verdict_rules *v, double length_penalty);
#endif
