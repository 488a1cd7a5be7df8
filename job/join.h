/* steno: stretches of speech joined to one sound. SPDX-License-Identifier: MIT
 *
 * What whisper.cpp does with voice activity: the spans follow each other, each but the last with a little of what follows it and then a
 * tenth of a second of silence, and the whole is transcribed as one sound; times are put back afterwards. All times in centiseconds, and
 * all rounding, are its own. Text then knows nothing of true pauses: clips at their own places are the better way (clips.h). */
#ifndef STENO_JOB_JOIN_H
#define STENO_JOB_JOIN_H
#include "transcript.h"

struct join_point { int64_t joined, own; }; /* centiseconds in the joined sound, and in the sound itself */
struct join_span { int64_t t0, t1, joined_t0, joined_t1; }; /* likewise */

struct join {
    struct join_span *span;   /* [n] */
    struct join_point *point; /* [n_points] rising */
    int64_t n, n_points;
    /* The joined sound as a source. */
    steno_source from;
    int64_t *edge;            /* [2 * n] first sample of each, and the one behind the last, with what follows */
    int64_t at, next;         /* samples taken from the source; the span's next one */
    int64_t k, zeros;         /* which span; silence behind it that is still to come */
    float *held;              /* [overlap] the last ones taken */
    int64_t overlap;
    int64_t end_ms;           /* of the sound: nothing ends behind it. 0: short segments may, by a tenth of a second, as whisper.cpp's */
};

enum { JOIN_OVERLAP_MS = 100 };

/* What is to be joined: spans in rising order of a sound of so many samples; overlap_ms of what follows each go along. */
struct join_spans { const steno_span *span; int64_t n, samples, overlap_ms; };
/* from: is at its beginning, and stays in use. @return STENO_OK, STENO_ENOMEM */
int join_begin(struct join *j, const struct join_spans *spans, const steno_source *from);
steno_source join_source(struct join *j);
void join_free(struct join *j); /* {0} is allowed */

int64_t join_time(const struct join *j, int64_t cs);      /* of a segment's ends */
int64_t join_word_time(const struct join *j, int64_t cs); /* of words: those in a pause go to the nearer end of speech */
void join_segment(const struct join *j, steno_segment *s); /* its times become the sound's own */
void join_transcript(const struct join *j, struct transcript *t, struct transcript_store *store); /* of segments and words */
#endif
