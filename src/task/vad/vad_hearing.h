/* steno: from the rows of a voice-activity network to spans. SPDX-License-Identifier: MIT
 *
 * What a search for speech goes by and knows, whoever asks: a request of its own, or a recogniser that wants segments. */
#ifndef STENO_TASK_VAD_VAD_HEARING_H
#define STENO_TASK_VAD_VAD_HEARING_H
#include "model/family.h"
#include "search/vad_spans.h"

struct vad_hearing {
    steno_vad_params p;       /* complete */
    int by_thresholds;        /* spans are found by those, not by votes */
    union {
        struct { struct vad_params rules; struct vad at; } votes; /* rules: the model's own, as far as those do not say others */
        struct { struct hysteresis_params rules; struct hysteresis at; } thresholds;
    } by;
    struct vad_spans spans;   /* what is made of its spans */
    int frame;                /* samples of one */
    int64_t frames;           /* the next one's number */
};

void vad_hearing_take(struct vad_hearing *h, const steno_model *m, const steno_vad_params *p);
/* put: is given each span, in the middle of the calls below. */
void vad_hearing_begin(struct vad_hearing *h, void (*put)(void *user, const struct vad_span *s), void *user);
void vad_hearing_rows(struct vad_hearing *h, const float *out, size_t ld, int n); /* the network's next n rows, ld floats apart */
void vad_hearing_heard(struct vad_hearing *h, int64_t samples); /* all rows came that so many samples give, and there are more */
void vad_hearing_end(struct vad_hearing *h, int64_t samples);   /* the last row has come */
int64_t vad_hearing_floor_ms(const struct vad_hearing *h);      /* no span to come begins before this time */
int64_t vad_hearing_longest_ms(const struct vad_hearing *h);    /* of a span; 0: none is too long */
/* Whether frames of samples begin with a mirror image (audio/frames.h). */
static inline int vad_hearing_mirrors(const struct vad_hearing *h) { return h->p.rules == STENO_VAD_RULES_CPP; }
#endif
