/* steno: state of transcription by integrate-and-fire. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CIF_CIF_SESSION_H
#define STENO_TASK_CIF_CIF_SESSION_H
#include "task/cif/cif_hotwords.h"
#include "task/cif/cif_words.h"
#include "task/clips/clip_session.h"

/* Buffers for a clip of n frames: n + 1 entries each, because a zero frame follows the last. Buffers for finer times have the model's
 * number of rows per frame. */
struct cif_session {
    struct clip_session clips;
    float *peak, *scratch;
    int32_t *ids;              /* text ids of the clip */
    double (*span)[2];         /* their times */
    struct cif_words words;
    struct cif_hot_words *hot; /* of the request; NULL without hot words */
    const struct clip_window *shown; /* window whose logits are passed to on_rows */
};

static inline struct cif_session *cif_of(const steno_session *s) { return s->part; }
#endif
