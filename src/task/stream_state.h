/* steno: what streams keep in an executor. SPDX-License-Identifier: MIT
 *
 * The executor of a batch holds the shift states of one stream. Whoever goes on after another has his own put back first, so streams of a
 * batch take turns; a session with a batch of its own never copies anything. */
#ifndef STENO_TASK_STREAM_STATE_H
#define STENO_TASK_STREAM_STATE_H
#include "task/engine.h"

/* In a session. */
struct stream_state {
    struct stream_copy {
        uint8_t *at;     /* while the executor holds another one's; NULL: never yet */
        size_t sz;
        uint32_t newest; /* rows that count; 0: all */
    } copy[MODEL_STATES];
    int is_begun;        /* the executor or the copies hold it */
};

/* Bytes of the copies as they are taken at opening. */
size_t stream_state_memory(const steno_model *m);
int stream_state_open(struct stream_state *s, struct steno_batch *b, steno_error *e);
void stream_state_close(struct stream_state *s);
/* The executor holds s; a new one is zeros. STENO_ENOMEM */
int stream_state_take(struct steno_batch *b, struct stream_state *s, steno_error *e);
/* The stream is over. */
void stream_state_end(struct steno_batch *b, struct stream_state *s);
#endif
