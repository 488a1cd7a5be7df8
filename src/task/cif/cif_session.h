/* steno: what transcriptions by integrate-and-fire keep. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_CIF_SESSION_H
#define STENO_TASK_CIF_CIF_SESSION_H
#include "task/cif/cif_hotwords.h"
#include "task/cif/cif_words.h"
#include "task/clips/clip_session.h"

/* Of a clip with n frames: n + 1 of everything, as one of zeros follows the last; of what times are told by as many for each as the model
 * has rows. */
struct cif_session {
    struct clip_session clips;
    float *peak, *scratch;
    int32_t *ids;              /* ids of the clip that are text */
    double (*span)[2];         /* their times */
    struct cif_words words;
    struct cif_hot_words *hot; /* of the request; NULL: nothing attends to any */
    const struct clip_window *shown; /* whose logits are being told */
};

static inline struct cif_session *cif_of(const steno_session *s) { return s->part; }
#endif
