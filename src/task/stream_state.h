/* steno: what streams keep in an executor. SPDX-License-Identifier: MIT
 *
 * The executor of a batch has lanes of shift states: one, or one for each window of a run where streams share those. A stream keeps its
 * lane while others have no need of it; who goes on after his was taken away has his state put into another one first. A session with a
 * batch of its own never copies anything. */
#ifndef STENO_TASK_STREAM_STATE_H
#define STENO_TASK_STREAM_STATE_H
#include "task/engine.h"

/* In a session. */
struct stream_state {
    struct stream_copy {
        uint8_t *at;     /* while another one has the lane; NULL: never yet */
        size_t sz;
        uint32_t newest; /* rows that count; 0: all */
    } copy[MODEL_STATES];
    int is_begun;        /* a lane or the copies hold it */
    uint16_t lane;       /* whose it is, or was last */
};

/* Bytes of the copies as they are taken at opening. */
size_t stream_state_memory(const steno_model *m);
int stream_state_open(struct stream_state *s, struct steno_batch *b, steno_error *e);
void stream_state_close(struct stream_state *s);
/* Another run begins: lanes may change hands. */
void stream_state_run(struct steno_batch *b);
/* The lane s->lane holds s, and nobody else gets it before the next run; a new one is zeros. At most as many streams as there are lanes
 * are taken for a run. STENO_ENOMEM */
int stream_state_take(struct steno_batch *b, struct stream_state *s, steno_error *e);
/* The stream is over. */
void stream_state_end(struct steno_batch *b, struct stream_state *s);
#endif
