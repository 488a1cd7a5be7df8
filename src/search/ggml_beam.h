/* steno: whisper.cpp's rules: scores, and a beam search that samples. SPDX-License-Identifier: MIT
 *
 * Text after the last timestamp does not count. A text without a final timestamp has failed, unless the audio ends, too. A text that
 * reached the limit in the first half of the window has failed, and so has a long one with low entropy. Reference: whisper.cpp 1.9,
 * whisper_full. */
#ifndef STENO_SEARCH_GGML_BEAM_H
#define STENO_SEARCH_GGML_BEAM_H
#include "plan/run.h"
#include "plan/state.h"

struct ar;

struct sequence_score_rules {
    int32_t on;       /* 0: openai-whisper's rules apply */
    int32_t draws;    /* beams: number of tokens that each beam samples at a step; 0: none */
    int32_t is_last;  /* the window reaches the end of the audio */
    int32_t half;     /* timestamps of half a window */
    int32_t before;   /* the sequence chosen at the last temperature: it is chosen again if all fail */
    double entropy;   /* a long text with lower entropy has failed; NAN: no check */
};

struct sequence_score {
    int32_t n;          /* tokens that count, without end of text */
    int32_t failed;
    double avg_logprob; /* of the tokens that count */
    double rank;        /* the average, or with a length penalty */
};

struct sequence_score sequence_score_of(const struct lane *l, const struct sequence_score_rules *v, double length_penalty);

/* The lanes of a's beams hold their sampled tokens (lane.top). From the best sequence down, each beam that is not done takes the next one;
 * from the second token on, equal sequences count once. A beam that has ended keeps its lane. Ends the search when all beams have ended. */
void ggml_beam_step(struct ar *a, struct run *r, struct kv_state *state);
#endif
