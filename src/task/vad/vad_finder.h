/* steno: voice activity detection on audio that is pushed. SPDX-License-Identifier: MIT
 *
 * A recogniser uses it to find segments of its audio. It is a VAD model with its own executor, on the recogniser's team. */
#ifndef STENO_TASK_VAD_VAD_FINDER_H
#define STENO_TASK_VAD_VAD_FINDER_H
#include "base/team.h"
#include "task/vad/vad_hearing.h"

struct vad_finder;
int vad_finder_open(struct vad_finder **out, const steno_model *m, steno_team *team, steno_error *e);
void vad_finder_close(struct vad_finder *f); /* f may be NULL */
const steno_model *vad_finder_model(const struct vad_finder *f);

/* Begins with the first sample. h has been taken and begun (vad_hearing.h), and receives the speech found. */
void vad_finder_begin(struct vad_finder *f, struct vad_hearing *h);
/* Computes the features of the next n pieces of audio at once, so that threads can share the work. pcm: the samples of all pieces, at most
 * FBANK_PUSH each. n is at most vad_finder_gathers. All earlier pieces must have been searched. */
enum { VAD_FINDER_PIECES = 5 };
int vad_finder_gathers(const struct vad_finder *f); /* 1 to VAD_FINDER_PIECES */
void vad_finder_front(struct vad_finder *f, const float *pcm, const int64_t *piece, int n);
/* Searches the next piece. @return STENO_OK, or the executor's status */
int vad_finder_search(struct vad_finder *f, steno_error *e);
int vad_finder_end(struct vad_finder *f, steno_error *e); /* call at the end of the audio */
#endif
