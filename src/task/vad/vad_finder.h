/* steno: from audio and the rows of a VAD network to spans of speech. SPDX-License-Identifier: MIT
 *
 * struct vad_search has the parameters and the state of a search for speech. It serves requests of its own and recognisers that need
 * segments. struct vad_finder detects voice activity on audio that is pushed. A recogniser uses it to find segments of its audio. It is a
 * VAD model with its own executor, on the recogniser's team. */
#ifndef STENO_TASK_VAD_VAD_FINDER_H
#define STENO_TASK_VAD_VAD_FINDER_H
#include "base/team.h"
#include "model/family.h"
#include "search/vad.h"

struct vad_search {
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

void vad_search_take(struct vad_search *h, const steno_model *m, const steno_vad_params *p);
/* put: receives each span, during the calls below. */
void vad_search_begin(struct vad_search *h, void (*put)(void *user, const struct vad_span *s), void *user);
/* the next n rows of the network's output, ld floats apart */
void vad_search_rows(struct vad_search *h, const float *out, size_t ld, int n);
void vad_search_passed(struct vad_search *h, int64_t samples); /* call when all rows of the first `samples` samples have been passed, and
                                                                 * more follow */
void vad_search_end(struct vad_search *h, int64_t samples);   /* call after the last row */
int64_t vad_search_floor_ms(const struct vad_search *h);      /* no future span begins before this time */
int64_t vad_search_longest_ms(const struct vad_search *h);    /* longest span; 0: no limit */
/* Do frames of raw samples begin with a mirrored part (audio/fbank.h)? */
static inline int vad_search_mirrors(const struct vad_search *h) { return h->p.rules == STENO_VAD_RULES_CPP; }

struct vad_finder;
int vad_finder_open(struct vad_finder **out, const steno_model *m, steno_team *team, steno_error *e);
void vad_finder_close(struct vad_finder *f); /* f may be NULL */
const steno_model *vad_finder_model(const struct vad_finder *f);

/* Begins with the first sample. h has been taken and begun, and receives the speech found. */
void vad_finder_begin(struct vad_finder *f, struct vad_search *h);
/* Computes the features of the next n pieces of audio at once, so that threads can share the work. pcm: the samples of all pieces, at most
 * FBANK_PUSH each. n is at most vad_finder_gathers. All earlier pieces must have been searched. */
enum { VAD_FINDER_PIECES = 5 };
int vad_finder_gathers(const struct vad_finder *f); /* 1 to VAD_FINDER_PIECES */
void vad_finder_front(struct vad_finder *f, const float *pcm, const int64_t *piece, int n);
/* Searches the next piece. @return STENO_OK, or the executor's status */
int vad_finder_search(struct vad_finder *f, steno_error *e);
int vad_finder_end(struct vad_finder *f, steno_error *e); /* call at the end of the audio */
#endif
