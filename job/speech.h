/* steno: clips from voice activity detection. SPDX-License-Identifier: MIT
 *
 * A second model with its own session reads the audio first. The speech that it finds becomes the clips that are transcribed, one by one. A
 * clip costs one run of the encoder, however short it is. So neighbouring spans share a clip while it fits into a window. Nothing is cut
 * out or joined: a clip is a contiguous range of the audio, including short pauses, and its times are those of the audio. */
#ifndef STENO_JOB_SPEECH_H
#define STENO_JOB_SPEECH_H
#include "join.h"
#include <steno/steno.h>

/* ---- spans as clips ---------------------------------------------------------------------------------------------------------- */

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

/* ---- clips of a source ------------------------------------------------------------------------------------------------------- */

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
