/* steno: what is made of spans of speech. SPDX-License-Identifier: MIT
 *
 * Short ones are left out, and neighbours are merged. Merging is FunASR's merge_vad: all beginnings and ends are points in a row, and a
 * span goes from the end of the one before as far as it can without becoming longer than merge_ms. So it begins with the audio, and pauses
 * are in it; a stretch between two points that is longer by itself stays whole. One span alone is left as it is. */
#ifndef STENO_SEARCH_VAD_SPANS_H
#define STENO_SEARCH_VAD_SPANS_H
#include "search/vad.h"

struct vad_spans {
    int64_t min_ms, merge_ms; /* 0: none is too short; they are not merged */
    void (*put)(void *user, const struct vad_span *s);
    void *user;
    int64_t n;                /* spans that came */
    struct vad_span first;
    int64_t begin, last;      /* merging: where the next span begins, and the last point */
};

void vad_spans_begin(struct vad_spans *s, int64_t min_ms, int64_t merge_ms, void (*put)(void *user, const struct vad_span *s), void *user);
void vad_spans_add(struct vad_spans *s, const struct vad_span *span); /* the next one, which does not begin before the last has ended */
/* The next one neither begins nor ends before this time. Need not be called. */
void vad_spans_certain(struct vad_spans *s, int64_t t_ms);
void vad_spans_end(struct vad_spans *s); /* there is no more */
/* Nobody waits any longer for whether the first one stays alone: it counts as one of several. */
void vad_spans_hasten(struct vad_spans *s);
/* No span to come begins before this time, where none that is added does before floor_ms. */
int64_t vad_spans_floor_ms(const struct vad_spans *s, int64_t floor_ms);
#endif
