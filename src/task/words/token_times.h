/* steno: times of tokens without an alignment. SPDX-License-Identifier: MIT
 *
 * Beside each token it chose, decoding knows the most probable timestamp at that place. Where that one was likely it is an anchor; between
 * anchors time is dealt out by how long a text takes to say, about a unit for a character. After whisper.cpp v1.8 (token timestamps),
 * with these differences: edges are not moved to where the sound is louder or softer; a segment's own first timestamp, whichever it is, is
 * where the segment starts, and timestamps count from the window at hand; a last token that is text keeps its share. */
#ifndef STENO_TASK_WORDS_TOKEN_TIMES_H
#define STENO_TASK_WORDS_TOKEN_TIMES_H
#include "plan/run.h"
#include "task/result.h"
#include "model/token_roles.h"
#include "text/vocab.h"

/* Where the tokens lie. */
struct token_span {
    int64_t window_ms; /* where the window begins: timestamps count from here */
    int64_t t0, t1;    /* of the segment, ms in the file */
};

/** Times of the tokens of a segment.
 *
 * @param out        [n] receives t0, t1, which never fall, inside those of the segment (its t1 before its t0 counts as that), and vlen;
 *                   dtw is left as it is
 * @param tok        [n] the segment's tokens, timestamps included
 * @param threshold  a timestamp counts when its share among timestamps (pt) and the probability of all of them (ptsum) are above it;
 *                   1: none does, and only lengths of texts decide */
void token_times(struct token_time *out, const struct sampled_token *tok, int32_t n, const struct vocab *v, const struct token_roles *t,
                 const struct token_span *span, double threshold);

/* Units of text[n]: space 0.01, comma and its like 2, end of a sentence and digits 3, other characters 1. */
float voice_length(const uint8_t *text, size_t n);
#endif
