/* steno: filtering and merging of speech spans. SPDX-License-Identifier: MIT
 *
 * Short spans are dropped, and neighbours are merged. Merging is FunASR's merge_vad. All beginnings and ends are points in order. A merged
 * span begins at the end of the previous one, and extends as far as possible without exceeding merge_ms. The first one therefore begins
 * with the audio, and pauses are included. A stretch between two points that is longer by itself stays whole. A single span stays
 * unchanged. */
#ifndef STENO_SEARCH_VAD_SPANS_H
#define STENO_SEARCH_VAD_SPANS_H
#include "search/vad.h"

struct vad_spans {
    int64_t min_ms, merge_ms; /* 0: no minimum; no merging */
    void (*put)(void *user, const struct vad_span *s);
    void *user;
    int64_t n;                /* spans added */
    struct vad_span first;
    int64_t begin, last;      /* merging: start of the next span, and the last point */
};

void vad_spans_begin(struct vad_spans *s, int64_t min_ms, int64_t merge_ms, void (*put)(void *user, const struct vad_span *s), void *user);
void vad_spans_add(struct vad_spans *s, const struct vad_span *span); /* a span must not begin before the previous one has ended */
/* The next span neither begins nor ends before this time. The call is optional. */
void vad_spans_certain(struct vad_spans *s, int64_t t_ms);
void vad_spans_end(struct vad_spans *s); /* no more spans */
/* Do not wait to learn whether the first span stays the only one: treat it as one of several. */
void vad_spans_hasten(struct vad_spans *s);
/* No later span is put that begins before this time, if no later added span begins before floor_ms. */
int64_t vad_spans_floor_ms(const struct vad_spans *s, int64_t floor_ms);
#endif
