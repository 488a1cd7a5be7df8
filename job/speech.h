/* steno: clips from voice activity detection. SPDX-License-Identifier: MIT
 *
 * A second model with its own session reads the audio first. The speech that it finds becomes the clips that are transcribed. */
#ifndef STENO_JOB_SPEECH_H
#define STENO_JOB_SPEECH_H
#include "join.h"

struct speech_rules {
    steno_session *session;  /* of the VAD model */
    steno_vad_params params; /* should_abort is overwritten */
    int64_t min_speech_ms, pad_ms; /* as in struct clip_rules */
    int64_t begin_ms, duration_ms; /* audio before begin_ms, and after that duration, is left out; duration 0: no limit */
    int join;                /* 1: speech is joined to one audio (join.h), without clips; the three lines above are ignored */
    int64_t overlap_ms;      /* overlap of the joined spans */
};

/* Reads a source to its end and makes the clips, none of which is longer than a window. The source stays at its end.
 *
 * @param clips      receives malloc'd [2 * *n_clips] seconds: start, end, ...; NULL if there are none
 * @param window_ms  length of a window
 * @return a status; the reason is that of the source or of r->session */
int speech_clips(double **clips, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int64_t window_ms,
                 int (*should_abort)(void *user), void *user);
/* The same, joined to one audio: *n_clips is the number of spans. src stays in use. */
int speech_join(struct join *j, int64_t *n_clips, const struct speech_rules *r, const steno_source *src, int (*should_abort)(void *user),
                void *user);
/* Adds its time so far to the recogniser's timings. */
void speech_time_add(steno_timings *all, const struct speech_rules *r);
#endif
