/* steno: one transcription with a CTC head, from clip to clip. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_REQUEST_H
#define STENO_TASK_CTC_CTC_REQUEST_H
#include "task/ctc/ctc_session.h"

int ctc_request_take(steno_session *s, const struct request_given *g);
int ctc_request_end(steno_session *s, int status);
/* Hear enough for the next clip. *has 0: there is none. STREAM_WAITS */
int ctc_request_hear(steno_session *s, int *has);
uint32_t ctc_request_rows(const steno_session *s); /* of that clip, with the query rows; 0: it is too short to have any */
/* The clip, into rows x, ld floats apart, which w->rows says there are. */
void ctc_window_fill(steno_session *s, struct ctc_window *w, float *x, size_t ld);
/* What the run has found in its rows is the next segment. */
int ctc_window_settle(steno_session *s, const struct ctc_window *w);
#endif
