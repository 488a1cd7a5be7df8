/* steno: from the rows of a VAD network to spans of speech. SPDX-License-Identifier: MIT
 *
 * The parameters and the state of a search for speech. It serves requests of its own and recognisers that need segments. */
#ifndef STENO_TASK_VAD_VAD_HEARING_H
#define STENO_TASK_VAD_VAD_HEARING_H
#include "model/family.h"
#include "search/vad_spans.h"

struct vad_hearing {
    steno_vad_params p;       /* with all fields set */
    int by_thresholds;        /* 1: thresholds find the spans; 0: votes of frames do */
    union {
        struct { struct vad_params rules; struct vad at; } votes; /* rules: those of the model, overridden by p */
        struct { struct hysteresis_params rules; struct hysteresis at; } thresholds;
    } by;
    struct vad_spans spans;   /* turns its spans into the final ones */
    int frame;                /* samples per frame */
    int64_t frames;           /* index of the next frame */
};

void vad_hearing_take(struct vad_hearing *h, const steno_model *m, const steno_vad_params *p);
/* put: receives each span, during the calls below. */
void vad_hearing_begin(struct vad_hearing *h, void (*put)(void *user, const struct vad_span *s), void *user);
/* the next n rows of the network's output, ld floats apart */
void vad_hearing_rows(struct vad_hearing *h, const float *out, size_t ld, int n);
void vad_hearing_heard(struct vad_hearing *h, int64_t samples); /* call when all rows of the first `samples` samples have been passed, and
                                                                 * more follow */
void vad_hearing_end(struct vad_hearing *h, int64_t samples);   /* call after the last row */
int64_t vad_hearing_floor_ms(const struct vad_hearing *h);      /* no future span begins before this time */
int64_t vad_hearing_longest_ms(const struct vad_hearing *h);    /* longest span; 0: no limit */
/* Do frames of raw samples begin with a mirrored part (audio/frames.h)? */
static inline int vad_hearing_mirrors(const struct vad_hearing *h) { return h->p.rules == STENO_VAD_RULES_CPP; }
#endif
