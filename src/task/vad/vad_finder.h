/* steno: speech found in audio that is pushed. SPDX-License-Identifier: MIT
 *
 * For a recogniser that wants segments of its audio: a voice-activity model with an executor of its own, on the recogniser's team. */
#ifndef STENO_TASK_VAD_VAD_FINDER_H
#define STENO_TASK_VAD_VAD_FINDER_H
#include "base/team.h"
#include "task/vad/vad_hearing.h"

struct vad_finder;
int vad_finder_open(struct vad_finder **out, const steno_model *m, steno_team *team, steno_error *e);
void vad_finder_close(struct vad_finder *f); /* NULL is allowed */
const steno_model *vad_finder_model(const struct vad_finder *f);

/* Begin with the first sample; h was taken and begun (vad_hearing.h), and is told of speech. */
void vad_finder_begin(struct vad_finder *f, struct vad_hearing *h);
/* Compute the features of the next n pieces of audio at once, so that threads can share them. pcm has the pieces' samples; a piece has at
 * most FBANK_PUSH. n is at most vad_finder_gathers, and all earlier pieces are searched. */
enum { VAD_FINDER_PIECES = 5 };
int vad_finder_gathers(const struct vad_finder *f); /* 1 to VAD_FINDER_PIECES */
void vad_finder_front(struct vad_finder *f, const float *pcm, const int64_t *piece, int n);
/* Search the next of them. @return STENO_OK, or the executor's status */
int vad_finder_search(struct vad_finder *f, steno_error *e);
int vad_finder_end(struct vad_finder *f, steno_error *e); /* there is no more */
#endif
