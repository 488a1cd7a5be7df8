/* steno: what decoding token by token keeps in a batch. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_BATCH_H
#define STENO_TASK_AR_BATCH_H
#include "task/engine.h"

struct window_decoder;

/* Room for a window that is being decoded: its cross keys and its lanes. */
struct decode_slot {
    struct window_decoder *user; /* NULL: free */
    const steno_session *audio;  /* whose window's cross keys are here, NULL: none that could serve again */
    int64_t from;                /* first frame of it */
    int32_t frames;
    int is_drafted;              /* cross keys of the same window are in the draft model's slot, too */
};

struct ar_batch {
    struct decode_slot *decode_slot; /* [n_windows] */
    struct window_decoder *decoder;  /* [n_windows] for clips that decode beside each other; NULL in a session's own batch */
    const steno_session *heard;      /* whose window steno_encode has left in the first decode slot, NULL: nobody's */
    uint32_t turn;                   /* window whose prompt goes first in the next replay */
    int64_t chain_rows;              /* rows of the chain of replays at hand so far */
    int64_t chain_ns;                /* when the replay at hand began */
    int64_t n_steps;                 /* replays since the encoder ran, */
    int64_t n_steps_heard;           /* since a slice of audio was listened to */
    int is_wanted;                   /* somebody waits for a free decode slot */
    int is_unheard;                  /* somebody has not listened to all of his audio */
    int goes_on;                     /* the chain ended for the draft model alone: another one follows at once */
};

static inline struct ar_batch *ar_batch_of(const struct steno_batch *b) { return b->part; }
#endif
