/* steno: models that hear a stream chunk by chunk. SPDX-License-Identifier: MIT
 *
 * What they say of a chunk they never take back, so that nothing is heard twice and words are final at once. */
#ifndef STENO_LIVE_CHUNKS_H
#define STENO_LIVE_CHUNKS_H
#include "kept.h"
#include "live_words.h"

struct chunks {
    const struct kept *sound;
    steno_batch *batch; /* NULL: the model is another one */
    steno_session *session;
    steno_transcribe_params params;
    int64_t begin;        /* first sample of the turn */
    int64_t given, until; /* samples that it has, and that it may have */
    int is_over;          /* no more come in this turn */
    struct words *to;     /* where words of the chunks at hand go */
    int rc;
};

/* In place: it is not moved. @return a status, with the reason in *e */
int chunks_open(struct chunks *c, const struct kept *sound, const steno_model *m, steno_team *team, const steno_transcribe_params *p,
                steno_error *e);
void chunks_close(struct chunks *c);
int chunks_begin(struct chunks *c, int64_t at); /* another turn, whose first sample that is. @return a status */
/* Hear up to sample `until`, to the end of the turn where it is over. Words go behind those in *to. @return a status */
int chunks_hear(struct chunks *c, int64_t until, int is_over, struct words *to);
#endif
