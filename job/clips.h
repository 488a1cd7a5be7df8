/* steno: from spans of speech to clips that are transcribed one by one. SPDX-License-Identifier: MIT
 *
 * A clip costs one pass of the encoder however short it is, so neighbours share one as long as it stays within a window. Nothing is cut
 * out and nothing glued: a clip is a stretch of the audio as it is, short pauses included, and its times are those of the audio. */
#ifndef STENO_JOB_CLIPS_H
#define STENO_JOB_CLIPS_H
#include <steno/steno.h>

enum { CLIPS_LONGEST_MS = 30000, CLIPS_PAUSE_MS = 3000 }; /* a window; pauses that may lie within a clip */

struct clip_rules {
    int64_t min_speech_ms; /* shorter spans are dropped */
    int64_t pad_ms;        /* added to both ends of a span, less where the next one is near: pads meet in the middle of a pause */
    int64_t pause_ms;      /* after padding: longer pauses part clips */
    int64_t longest_ms;    /* no clip is longer: longer spans are cut into equal parts; at least 10 */
    int64_t begin_ms, end_ms; /* what lies outside is left out */
};

/* Spans to clips, on a grid of 10 ms.
 *
 * @param clips  receives malloc'd [2n] seconds: start, end, start, end, ...; NULL when there are none
 * @param spans  [n_spans] in rising order; where one begins before the last has ended it loses its beginning
 * @return n, the number of clips, or STENO_ENOMEM */
int64_t clips_make(double **clips, const steno_span *spans, int64_t n_spans, const struct clip_rules *r);
#endif
