/* steno: joins spans of speech to one audio. SPDX-License-Identifier: MIT
 *
 * This is whisper.cpp's use of voice activity detection. The spans are concatenated. Each but the last is followed by a little of the audio
 * after it and a tenth of a second of silence. The result is transcribed as one audio, and times are mapped back afterwards. All times are
 * in centiseconds, with whisper.cpp's rounding. The text loses the true pauses, so clips at their own positions (speech.h) are better. */
#ifndef STENO_JOB_JOIN_H
#define STENO_JOB_JOIN_H
#include "transcript.h"

struct join_point { int64_t joined, own; }; /* centiseconds in the joined audio, and in the original audio */
struct join_span { int64_t t0, t1, joined_t0, joined_t1; }; /* in the same units */

struct join {
    struct join_span *span;   /* [n] */
    struct join_point *point; /* [n_points] ascending */
    int64_t n, n_points;
    /* The joined audio as a source. */
    steno_source from;
    int64_t *edge;            /* [2 * n] first sample of each span, and the one after its last, including the overlap */
    int64_t at, next;         /* samples read from the source; next sample of the span */
    int64_t k, zeros;         /* index of the span; remaining samples of silence after it */
    float *held;              /* [overlap] the last samples read */
    int64_t overlap;
    int64_t end_ms;           /* length of the audio, at which all times end. 0: short segments may exceed it by a tenth of a second, as in
                               * whisper.cpp */
};

enum { JOIN_OVERLAP_MS = 100 };

/* Spans to join, in ascending order, of an audio of `samples` samples. overlap_ms: audio after each span that is included. */
struct join_spans { const steno_span *span; int64_t n, samples, overlap_ms; };
/* from must be at its beginning, and stays in use. @return STENO_OK, STENO_ENOMEM */
int join_begin(struct join *j, const struct join_spans *spans, const steno_source *from);
steno_source join_source(struct join *j);
void join_free(struct join *j); /* {0} is allowed */

int64_t join_time(const struct join *j, int64_t cs);      /* for the ends of a segment */
int64_t join_word_time(const struct join *j, int64_t cs); /* for words; a time in a pause moves to the nearer end of speech */
void join_segment(const struct join *j, steno_segment *s); /* maps its times to the original audio */
void join_transcript(const struct join *j, struct transcript *t, struct transcript_store *store); /* maps the times of segments and words */
#endif
