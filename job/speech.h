/* steno: clips chosen by voice activity. SPDX-License-Identifier: MIT
 *
 * A second model with a session of its own hears the audio first; what it takes for speech becomes the clips that are transcribed. */
#ifndef STENO_JOB_SPEECH_H
#define STENO_JOB_SPEECH_H
#include "join.h"

struct speech_rules {
    steno_session *session;  /* of the model that finds speech */
    steno_vad_params params; /* should_abort is set */
    int64_t min_speech_ms, pad_ms; /* as in struct clip_rules */
    int64_t begin_ms, duration_ms; /* what lies before is left out, and what lies so much later; duration 0: nothing */
    int join;                /* 1: speech becomes one sound (join.h), not clips; the three lines above do not count */
    int64_t overlap_ms;      /* that goes along then */
};

/* Hear a source to its end and choose the clips, none of which is longer than a window. The source is left at its end.
 *
 * @param clips      receives malloc'd [2 * *n_clips] seconds: start, end, ...; NULL when there are none
 * @param window_ms  length of a window
 * @return a status; the reason is that of the source or of r->session */
int speech_clips(double **clips, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int64_t window_ms,
                 int (*should_abort)(void *user), void *user);
/* The same, joined to one sound: *n_clips is the number of spans. src stays in use. */
int speech_join(struct join *j, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int (*should_abort)(void *user),
                void *user);
/* What that took so far, to that of the recogniser. */
void speech_time_add(steno_timings *all, const struct speech_rules *r);
#endif
