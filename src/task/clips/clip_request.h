/* steno: a transcription request, processed clip by clip. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_REQUEST_H
#define STENO_TASK_CLIPS_CLIP_REQUEST_H
#include "task/clips/clip_session.h"

int clip_request_take(steno_session *s, const struct request_given *g);
int clip_request_end(steno_session *s, int status);
/* Reads enough audio for the next clip. *has 0: there are no more clips. May return STREAM_WAITS */
int clip_request_hear(steno_session *s, int *has);
int64_t clip_request_at(const steno_session *s);    /* its first sample in the audio */
uint32_t clip_request_rows(const steno_session *s); /* rows of that clip, including query rows; 0: it is too short to have rows */
/* Writes the clip to the rows x, which are ld floats apart. w->rows has their number. */
void clip_window_fill(steno_session *s, struct clip_window *w, float *x, size_t ld);
/* Makes the window's result the next segment. */
int clip_window_settle(steno_session *s, const struct clip_window *w);

/* Rows [first, first + n) of the network's output for a window, for on_rows. */
struct clip_rows { const char *name; const float *x; int32_t first, n, width; size_t ld; };
void clip_rows_tell(steno_session *s, const struct clip_window *w, const struct clip_rows *r);
/* Passes the rows of a slot to on_rows after the current run. STENO_ENOMEM: there is no memory for them */
int clip_slot_tell(steno_session *s, const struct clip_window *w, const char *name, uint16_t slot);
static inline int clip_rows_wanted(const steno_session *s) { return clips_of(s)->request.p.on_rows != NULL; }

/* The result of a clip. */
struct clip_found {
    const int32_t *ids;
    const struct sampled_token *tokens; /* for the same ids */
    int32_t n;
    double sum_logprob;
    const char *text, *whole;           /* text of the segment; text that it adds to the whole transcript */
    size_t n_text, n_whole;
    const char *before;                 /* separator before it in the whole transcript; NULL selects the usual one */
};

/* The segment of a window, without its text. */
struct segment clip_segment_of(const steno_session *s, const struct clip_window *w);
/* Adds the segment to the results, except its words, which are added before clip_segment_tell. A status */
int clip_segment_add(steno_session *s, struct segment *g, const struct clip_found *f);
int clip_segment_tell(steno_session *s, const struct segment *g);
#endif
