/* steno: token times without an alignment. SPDX-License-Identifier: MIT
 *
 * For each chosen token, decoding records the most probable timestamp at that position. A likely timestamp is an anchor. Between anchors,
 * time is divided by the spoken length of the text, about one unit per character. After whisper.cpp v1.8 (token timestamps), with these
 * differences: edges are not moved by the loudness of the sound. A segment's own first timestamp marks its start, and timestamps count from
 * the current window. A last token that is text keeps its share. */
#ifndef STENO_TASK_WORDS_TOKEN_TIMES_H
#define STENO_TASK_WORDS_TOKEN_TIMES_H
#include "engine/result.h"
#include "model/token_roles.h"
#include "plan/run.h"
#include "text/vocab.h"

/* Position of the tokens. */
struct token_span {
    int64_t window_ms; /* start of the window, from which timestamps count */
    int64_t t0, t1;    /* bounds of the segment, ms in the file */
};

/** Finds the times of the tokens of a segment.
 *
 * @param out        [n] receives t0, t1 and vlen; dtw is not changed. Times never decrease and lie inside the segment. If the segment's t1
 *                   is less than its t0, t1 counts as t0
 * @param tok        [n] the segment's tokens, including timestamps
 * @param threshold  a timestamp is an anchor if its share among timestamps (pt) and the probability of all timestamps (ptsum) exceed it.
 *                   1: there are no anchors, only the spoken lengths decide */
void token_times(struct token_time *out, const struct sampled_token *tok, int32_t n, const struct vocab *v, const struct token_roles *t,
                 const struct token_span *span, double threshold);

/* Spoken length of text[n] in units: space 0.01, comma and similar 2, end of a sentence and digits 3, other characters 1. */
float voice_length(const uint8_t *text, size_t n);
#endif
