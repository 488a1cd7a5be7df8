/* steno: one transcription, from clip to clip. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_REQUEST_H
#define STENO_TASK_CLIPS_CLIP_REQUEST_H
#include "task/clips/clip_session.h"

int clip_request_take(steno_session *s, const struct request_given *g);
int clip_request_end(steno_session *s, int status);
/* Hear enough for the next clip. *has 0: there is none. STREAM_WAITS */
int clip_request_hear(steno_session *s, int *has);
int64_t clip_request_at(const steno_session *s);    /* sample of the audio that it begins with */
uint32_t clip_request_rows(const steno_session *s); /* of that clip, with those before it; 0: it is too short to have any */
/* The clip, into rows x, ld floats apart, which w->rows says there are. */
void clip_window_fill(steno_session *s, struct clip_window *w, float *x, size_t ld);
/* What the run has found in its rows is the next segment. */
int clip_window_settle(steno_session *s, const struct clip_window *w);

/* Rows [first, first + n) of what its network made of a window, for whoever asked for them. */
struct clip_rows { const char *name; const float *x; int32_t first, n, width; size_t ld; };
void clip_rows_tell(steno_session *s, const struct clip_window *w, const struct clip_rows *r);
/* The same of a slot, as the run at hand has left it. STENO_ENOMEM: it cannot be had */
int clip_slot_tell(steno_session *s, const struct clip_window *w, const char *name, uint16_t slot);
static inline int clip_rows_wanted(const steno_session *s) { return clips_of(s)->request.p.on_rows != NULL; }

/* What was found in a clip. */
struct clip_found {
    const int32_t *ids;
    const struct sampled_token *tokens; /* the same ids */
    int32_t n;
    double sum_logprob;
    const char *text, *whole;           /* of its segment; what it adds to the whole text */
    size_t n_text, n_whole;
    const char *before;                 /* stands before it in the whole text, NULL: whatever stands between texts of clips */
};

/* The segment of a window: what is known without its text. */
struct segment clip_segment_of(const steno_session *s, const struct clip_window *w);
/* Put it behind the others: all but its words, which go into results before clip_segment_tell. A status */
int clip_segment_add(steno_session *s, struct segment *g, const struct clip_found *f);
int clip_segment_tell(steno_session *s, const struct segment *g);
#endif
