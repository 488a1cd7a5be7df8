/* steno: state of streams in an executor. SPDX-License-Identifier: MIT
 *
 * The executor of a batch has lanes of shift states: one, or one per window of a run if streams share runs. A stream keeps its lane until
 * another one needs it. When a stream continues after it lost its lane, its state is first copied to another one. A session with its own
 * batch never copies. */
#ifndef STENO_ENGINE_STREAM_STATE_H
#define STENO_ENGINE_STREAM_STATE_H
#include "engine/batch.h"

/* State in a session. */
struct stream_state {
    struct stream_copy {
        uint8_t *at;     /* copy of the state while another stream has the lane; NULL before the first copy */
        size_t sz;
        uint32_t newest; /* rows that count; 0: all */
    } copy[MODEL_STATES];
    int is_begun;        /* the state is in a lane or in the copies */
    uint16_t lane;       /* its current or last lane */
};

/* Bytes of the copies, allocated at opening. */
size_t stream_state_memory(const steno_model *m);
int stream_state_open(struct stream_state *s, struct steno_batch *b, steno_error *e);
void stream_state_close(struct stream_state *s);
/* Begins another run: lanes may be reassigned. */
void stream_state_run(struct steno_batch *b);
/* Puts the state of s in lane s->lane, which stays assigned until the next run. The state of a new stream is zero. A run takes at most as
 * many streams as there are lanes. STENO_ENOMEM */
int stream_state_take(struct steno_batch *b, struct stream_state *s, steno_error *e);
/* Ends the stream. */
void stream_state_end(struct steno_batch *b, struct stream_state *s);
#endif
