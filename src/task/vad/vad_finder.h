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
/* pcm[n], n at most FBANK_PUSH. STENO_OK, or what the executor says */
int vad_finder_push(struct vad_finder *f, const float *pcm, int64_t n, steno_error *e);
int vad_finder_end(struct vad_finder *f, steno_error *e); /* there is no more */
#endif
