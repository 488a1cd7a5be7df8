/* steno: converts spans of speech to clips that are transcribed one by one. SPDX-License-Identifier: MIT
 *
 * A clip costs one run of the encoder, however short it is. So neighbouring spans share a clip while it fits into a window. Nothing is cut
 * out or joined: a clip is a contiguous range of the audio, including short pauses, and its times are those of the audio. */
#ifndef STENO_JOB_CLIPS_H
#define STENO_JOB_CLIPS_H
#include <steno/steno.h>

enum { CLIPS_LONGEST_MS = 30000, CLIPS_PAUSE_MS = 3000 }; /* a window; longest pause within a clip */

struct clip_rules {
    int64_t min_speech_ms; /* shorter spans are dropped */
    int64_t pad_ms;        /* added to both ends of a span; between close spans the padding meets in the middle of the pause */
    int64_t pause_ms;      /* after padding: a longer pause separates clips */
    int64_t longest_ms;    /* maximum of a clip; longer spans are divided into equal parts; at least 10 */
    int64_t begin_ms, end_ms; /* audio outside is left out */
};

/* Makes clips from spans, on a grid of 10 ms.
 *
 * @param clips  receives malloc'd [2n] seconds: start, end, start, end, ...; NULL if there are none
 * @param spans  [n_spans] in ascending order; a span that overlaps the previous one is shortened at its start
 * @return n, the number of clips, or STENO_ENOMEM */
int64_t clips_make(double **clips, const steno_span *spans, int64_t n_spans, const struct clip_rules *r);
#endif
