/* steno: requests that wait for a batch. SPDX-License-Identifier: MIT
 *
 * Any thread may queue a request, wake the batch or cancel a request. What is new is pushed on a list without a lock; the thread that
 * carries the batch out takes all of it between two steps, and from then on the queue is that thread's alone. Every change that may let
 * somebody go on is counted: by the count the thread at work notices it, and on the count it sleeps. */
#ifndef STENO_TASK_REQUEST_QUEUE_H
#define STENO_TASK_REQUEST_QUEUE_H
#include "base/err.h"
#include "base/os.h"

/* Of a batch. */
struct request_queue {
    _Atomic(steno_session *) incoming; /* what nobody has taken yet, newest first */
    atomic_uint wakes;                 /* changes so far, */
    unsigned seen;                     /* and those that the thread at work knows of */
    struct os_park park;
    _Atomic int stop;                  /* whoever serves requests is to end when none is left */
    uint64_t n_arrived;                /* requests that have been taken */
    int passed;                        /* windows given to others, one after the other, while requests of the last class waited */
};

/* Of a session: its request's place in the queue. */
struct queue_place {
    _Atomic int is_queued; /* from steno_batch_add until the request has ended */
    int priority;         /* enum steno_priority */
    int direct;           /* its caller waits for it: nobody else is told that it has ended, */
    int status;           /* and how */
    int64_t n_windows;    /* that it has had */
    int waits;            /* its source had nothing when it was last asked */
    uint64_t arrival;     /* number of the request, in the order they were taken */
    int64_t submitted_ns, begun_ns, first_ns, ended_ns; /* queued, first looked after, first window, end; 0: not yet */
    int64_t encode_us, decode_us, vad_us; /* the session's timings when it began; when it has ended, its own */
};

void queue_init(struct steno_batch *b);
void queue_destroy(struct steno_batch *b);

/* From any thread; queue_wake also from a signal handler. */
void queue_push(steno_session *s, int priority);
void queue_wake(struct steno_batch *b);

/* By the thread that carries out the batch, or by whoever has the batch for himself. */
int queue_is_woken(const struct steno_batch *b); /* has something changed since queue_look? */
void queue_look(struct steno_batch *b);          /* what has changed is known; sources that had nothing are asked again */
void queue_sleep(struct steno_batch *b);         /* until something changes that queue_look has not seen */
void queue_take(struct steno_batch *b);          /* what is new goes to the end of the queue, b->first */
void queue_remove(steno_session *s);             /* out of the queue */

/* Times of a request: it is looked after from here on, it gets its first window, it has ended. */
void queue_begin(steno_session *s);
void queue_window(steno_session *s);
void queue_end(steno_session *s);

/* Does the request of a get the next free slot before that of b? By class, then by windows had, then by age. */
int queue_class(const steno_session *s);
int queue_is_before(const steno_session *a, const steno_session *b);

/* What requests want, as tasks know. */
typedef int want_fn(const struct steno_batch *b, const steno_session *s);
steno_session *queue_next(const struct steno_batch *b, want_fn *wants); /* whoever is next to get it, NULL: nobody wants it */
/* Would s get something while the last class waits? What it gets counts so then. */
int queue_passes(const struct steno_batch *b, const steno_session *s, want_fn *wants);
void queue_given(struct steno_batch *b, int passes);
#endif
