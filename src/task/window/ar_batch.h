/* steno: state of token-by-token decoding in a batch. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_WINDOW_AR_BATCH_H
#define STENO_TASK_WINDOW_AR_BATCH_H
#include "engine/batch.h"

struct window_decoder;

/* Place of a window that is being decoded: its cross keys and its lanes. */
struct decode_slot {
    struct window_decoder *user; /* NULL if the slot is free */
    const steno_session *audio;  /* session whose window's cross keys are here; NULL if no window can be reused */
    int64_t from;                /* first frame of that window */
    int32_t frames;
    int is_drafted;              /* the draft model's slot holds cross keys of the same window */
};

struct ar_batch {
    struct decode_slot *decode_slot; /* [n_windows] */
    struct window_decoder *decoder;  /* [n_windows] for clips that decode in parallel; NULL in a session's own batch */
    const steno_session *heard;      /* session whose window steno_encode left in the first decode slot; may be NULL */
    uint32_t turn;                   /* window whose prompt goes first in the next replay */
    int64_t chain_rows;              /* rows of the current chain of replays so far */
    int64_t chain_ns;                /* start of the current replay */
    int64_t n_steps;                 /* replays since the encoder ran, */
    int64_t n_steps_heard;           /* and since a slice of audio was read */
    int is_wanted;                   /* a request waits for a free decode slot */
    int is_unheard;                  /* a request has not finished its first pass */
    int goes_on;                     /* the chain ended only for the draft model: another one follows at once */
};

static inline struct ar_batch *ar_batch_of(const struct steno_batch *b) { return b->part; }
#endif
