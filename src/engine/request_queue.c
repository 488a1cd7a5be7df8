/* steno: the queue of a batch. SPDX-License-Identifier: MIT */
#include "engine/request_queue.h"
#include "engine/session.h"

void queue_init(struct steno_batch *b)
{
    os_park_init(&b->queue.park);
}

void queue_destroy(struct steno_batch *b)
{
    os_park_destroy(&b->queue.park);
}

void queue_push(steno_session *s, int priority)
{
    struct request_queue *q = &s->batch->queue;
    s->place.priority = priority;
    s->place.n_windows = 0;
    s->place.waits = 0;
    s->place.begun_ns = s->place.first_ns = s->place.ended_ns = 0;
    s->place.submitted_ns = os_now_ns();
    atomic_store(&s->place.is_queued, 1);
    s->next = atomic_load(&q->incoming);
    while (!atomic_compare_exchange_weak(&q->incoming, &s->next, s)) {} /* s->next is the newest request at every try */
    queue_wake(s->batch);
}

void queue_wake(struct steno_batch *b)
{
    atomic_fetch_add(&b->queue.wakes, 1);
    os_park_wake(&b->queue.park, &b->queue.wakes);
}

int queue_is_woken(const struct steno_batch *b)
{
    return atomic_load(&b->queue.wakes) != b->queue.seen;
}

void queue_look(struct steno_batch *b)
{
    b->queue.seen = atomic_load(&b->queue.wakes); /* read first, so that later changes wake the thread again */
    queue_take(b);
    for (steno_session *s = b->first; s; s = s->next) s->place.waits = 0;
}

void queue_sleep(struct steno_batch *b)
{
    os_park_wait(&b->queue.park, &b->queue.wakes, b->queue.seen);
}

void queue_take(struct steno_batch *b)
{
    struct request_queue *q = &b->queue;
    steno_session *s = atomic_exchange(&q->incoming, NULL), *oldest = NULL;
    while (s) { /* reverses the order */
        steno_session *older = s->next;
        s->next = oldest;
        oldest = s;
        s = older;
    }
    for (steno_session *k = oldest; k; k = k->next) k->place.arrival = q->n_arrived++;
    steno_session **last = &b->first;
    while (*last) last = &(*last)->next;
    *last = oldest;
}

void queue_remove(steno_session *s)
{
    steno_session **at = &s->batch->first;
    while (*at && *at != s) at = &(*at)->next;
    if (*at) *at = s->next;
    s->next = NULL;
}

static int64_t encode_us(const steno_session *s) { return s->timings.encode_us + s->timings.cross_us; }
static int64_t decode_us(const steno_session *s) { return s->timings.prompt_us + s->timings.decode_us; }

void queue_begin(steno_session *s)
{
    s->place.begun_ns = os_now_ns();
    s->place.encode_us = encode_us(s);
    s->place.decode_us = decode_us(s);
    s->place.vad_us = s->timings.vad_us;
}

void queue_window(steno_session *s)
{
    if (!s->place.n_windows++) s->place.first_ns = os_now_ns();
}

void queue_end(steno_session *s)
{
    const int begun = s->place.begun_ns != 0;
    s->place.ended_ns = os_now_ns();
    s->place.encode_us = begun ? encode_us(s) - s->place.encode_us : 0;
    s->place.decode_us = begun ? decode_us(s) - s->place.decode_us : 0;
    s->place.vad_us = begun ? s->timings.vad_us - s->place.vad_us : 0;
}

int queue_class(const steno_session *s)
{
    if (s->place.priority != STENO_PRIORITY_AUTO) return s->place.priority;
    return s->place.n_windows ? STENO_PRIORITY_LATER : STENO_PRIORITY_FIRST;
}

int queue_is_before(const steno_session *a, const steno_session *b)
{
    const int class_a = queue_class(a), class_b = queue_class(b);
    if (class_a != class_b) return class_a < class_b;
    if (a->place.n_windows != b->place.n_windows) return a->place.n_windows < b->place.n_windows;
    return a->place.arrival < b->place.arrival;
}

/* The next request in the queue that meets the condition, of one class or (-1) of all; NULL if there is none. */
static steno_session *next_of(const struct steno_batch *b, queue_condition *meets, int of_class)
{
    steno_session *first = NULL;
    for (steno_session *s = b->first; s; s = s->next)
        if ((of_class < 0 || queue_class(s) == of_class) && meets(b, s) && (!first || queue_is_before(s, first))) first = s;
    return first;
}

enum { LATER_EVERY = 4 }; /* windows, one of which goes to the last class while it waits */

steno_session *queue_next(const struct steno_batch *b, queue_condition *meets)
{
    steno_session *later = b->queue.passed + 1 >= LATER_EVERY ? next_of(b, meets, STENO_PRIORITY_LATER) : NULL;
    return later ? later : next_of(b, meets, -1);
}

int queue_passes(const struct steno_batch *b, const steno_session *s, queue_condition *meets)
{
    return queue_class(s) != STENO_PRIORITY_LATER && next_of(b, meets, STENO_PRIORITY_LATER);
}

void queue_given(struct steno_batch *b, int passes)
{
    b->queue.passed = passes ? b->queue.passed + 1 : 0;
}
