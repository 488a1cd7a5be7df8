/* steno: live text from models that decode a stream chunk by chunk. SPDX-License-Identifier: MIT
 *
 * These models never change the words of a chunk. So no audio is decoded twice, and words are final at once. */
#ifndef STENO_LIVE_CHUNKS_H
#define STENO_LIVE_CHUNKS_H
#include "live_sound.h"
#include "live_words.h"

struct chunks {
    const struct kept *sound;
    steno_batch *batch; /* NULL if the model is of another kind */
    steno_session *session;
    steno_transcribe_params params;
    int64_t begin;        /* first sample of the turn */
    int64_t given, until; /* samples that it has read, and may read */
    int is_over;          /* the turn has no more samples */
    struct words *to;     /* receives the words of the current chunks; NULL: they are dropped */
    int rc;
};

/* Opens it in place: *c must not move. @return a status, with the reason in *e */
int chunks_open(struct chunks *c, const struct kept *sound, const steno_model *m, steno_team *team, const steno_transcribe_params *p,
                steno_error *e);
void chunks_close(struct chunks *c);
int chunks_begin(struct chunks *c, int64_t at); /* begins another turn at sample `at`. @return a status */
int chunks_drop(struct chunks *c); /* ends the turn, and drops the words of its last chunks. @return a status */
/* Decodes up to sample `until`, or to the end of the turn if is_over is set. Words are appended to *to. @return a status */
int chunks_decode(struct chunks *c, int64_t until, int is_over, struct words *to);
#endif
