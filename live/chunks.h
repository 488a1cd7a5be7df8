/* steno: live text from models that decode a stream chunk by chunk. SPDX-License-Identifier: MIT
 *
 * These models never change the words of a chunk. So no audio is decoded twice, and words are final at once. Streams of a caller's batch
 * share its runs. Then the audio is read, and words come, on the thread of that batch. */
#ifndef STENO_LIVE_CHUNKS_H
#define STENO_LIVE_CHUNKS_H
#include "live.h"
#include "live_sound.h"
#include "live_words.h"
#include <pthread.h>
#include <stdatomic.h>

struct chunks {
    const struct kept *sound;
    struct live_streams streams;
    steno_batch *batch; /* its own; NULL: that of the caller, or the model is of another kind */
    steno_session *session;
    steno_transcribe_params params;
    int64_t begin;        /* first sample of the turn */
    _Atomic int64_t given, until; /* samples that it has read, and may read */
    _Atomic int is_over;  /* the turn has no more samples */
    int is_open;          /* a turn has begun and is not over */
    int has_lock;
    pthread_mutex_t lock; /* of what follows */
    struct words news;    /* words of the chunks since the last call */
    _Atomic int rc;
};

/* Opens it in place: *c must not move. @return a status, with the reason in *e */
int chunks_open(struct chunks *c, const struct kept *sound, const struct live_params *p, steno_error *e);
void chunks_close(struct chunks *c);
int chunks_begin(struct chunks *c, int64_t at); /* begins another turn at sample `at`. @return a status */
int chunks_drop(struct chunks *c); /* ends the turn, and drops the words of its last chunks. @return a status */
/* Decodes up to sample `until`, or to the end of the turn if is_over is set. Words are appended to *to, which may be NULL. @return a
 * status */
int chunks_decode(struct chunks *c, int64_t until, int is_over, struct words *to);
#endif
