/* steno: the queue of a batch. SPDX-License-Identifier: MIT
 *
 * Any thread may queue a request, wake the batch or cancel a request. New requests are pushed on a lock-free list. The thread that runs the
 * batch takes the whole list between two steps, and the queue belongs to that thread alone. Every change that may let a request continue is
 * counted. The running thread notices it by that count, and sleeps on it. */
#ifndef STENO_ENGINE_REQUEST_QUEUE_H
#define STENO_ENGINE_REQUEST_QUEUE_H
#include "base/err.h"
#include "base/os.h"

/* State in a batch. */
struct request_queue {
    _Atomic(steno_session *) incoming; /* not yet taken, newest first */
    atomic_uint wakes;                 /* number of changes, */
    unsigned seen;                     /* and those that the running thread has seen */
    struct os_park park;
    _Atomic int stop;                  /* the running thread should end when no request is left */
    uint64_t n_arrived;                /* requests taken so far */
    int passed;                        /* consecutive windows given to others while requests of the last class waited */
};

/* State in a session: its request's place in the queue. */
struct queue_place {
    _Atomic int is_queued; /* from steno_batch_add to the end of the request */
    int priority;         /* enum steno_priority */
    int direct;           /* its caller waits for it: on_done is not called, */
    int status;           /* and this is its status */
    int64_t n_windows;    /* windows it has had */
    int waits;            /* its source had nothing when it was last asked */
    uint64_t arrival;     /* number of the request, in order of arrival */
    int64_t submitted_ns, begun_ns, first_ns, ended_ns; /* times of submission, start, first window, end; 0: not yet */
    int64_t encode_us, decode_us, vad_us; /* the session's timings at its start; after its end, those of the request */
};

void queue_init(struct steno_batch *b);
void queue_destroy(struct steno_batch *b);

/* Any thread may call these, and queue_wake also from a signal handler. */
void queue_push(steno_session *s, int priority);
void queue_wake(struct steno_batch *b);

/* For the thread that runs the batch. */
int queue_is_woken(const struct steno_batch *b); /* has anything changed since queue_look? */
void queue_look(struct steno_batch *b);          /* marks all changes as seen; sources that had nothing are asked again */
void queue_sleep(struct steno_batch *b);         /* until there is a change that queue_look has not seen */
void queue_take(struct steno_batch *b);          /* appends new requests to the queue, b->first */
void queue_remove(steno_session *s);             /* out of the queue */

/* Record the times of a request: its start, its first window, its end. */
void queue_begin(steno_session *s);
void queue_window(steno_session *s);
void queue_end(steno_session *s);

/* Does the request of a get the next free slot before that of b? Order: class, then windows had, then age. */
int queue_class(const steno_session *s);
int queue_is_before(const steno_session *a, const steno_session *b);

/* A condition of a request, defined by the task. */
typedef int queue_condition(const struct steno_batch *b, const steno_session *s);
/* The next request that meets the condition; NULL if there is none. */
steno_session *queue_next(const struct steno_batch *b, queue_condition *meets);
/* Would s be served while the last class waits? Such a window counts in `passed`. */
int queue_passes(const struct steno_batch *b, const steno_session *s, queue_condition *meets);
void queue_given(struct steno_batch *b, int passes);
#endif
