/* steno-serve: one thread that waits for sockets and timers (epoll). SPDX-License-Identifier: MIT
 *
 * Descriptors belong to epoll; calls and timers are a list and a heap behind one mutex, and an eventfd wakes the thread. */
#include "loop.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64, RESERVE = 64 };

struct call { void (*fn)(void *user); void *user; struct call *next; };

struct loop_fd {
    struct loop *loop;
    struct loop_fd *next, *prev; /* of all descriptors, under the mutex */
    void (*ready)(void *user, int events);
    void *user;
    void (*removed)(void *user);
    int fd;
    int is_dead; /* removed; used on the loop's thread only */
};

struct loop_timer {
    struct loop *loop;
    int64_t at_ms;
    uint64_t order; /* timers of the same time are called in the order in which they were set */
    size_t place;   /* in the heap */
    void (*fn)(void *user);
    void *user;
};

struct loop {
    int epoll, wake;
    pthread_t thread;
    pthread_mutex_t lock;
    /* under the lock */
    int stops;
    struct loop_fd *fds;
    struct call *first, **last;             /* waiting calls */
    struct call reserve[RESERVE], *unused;  /* calls for the case that memory is out */
    struct loop_timer **heap;               /* [n_timers] the earliest one first */
    size_t n_timers, cap_timers;
    uint64_t n_ordered;
    /* on the loop's thread only */
    struct loop_fd *dead; /* freed when no event can name them */
};

int64_t loop_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t loop_now_ms(void) { return loop_now_us() / 1000; }

int loop_is_own_thread(const struct loop *l)
{
    return pthread_equal(pthread_self(), l->thread);
}

static void wake(struct loop *l)
{
    const uint64_t one = 1;
    while (write(l->wake, &one, sizeof one) < 0 && errno == EINTR) {}
}

static void unwake(struct loop *l)
{
    uint64_t count;
    while (read(l->wake, &count, sizeof count) < 0 && errno == EINTR) {}
}

/* ---- timers: a binary heap ---------------------------------------------------------------------------------------------------- */

static int is_before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void heap_put(struct loop *l, size_t i, struct loop_timer *t)
{
    l->heap[i] = t;
    t->place = i;
}

/* Moves a timer up or down from place i, which is free. */
static void heap_settle(struct loop *l, size_t i, struct loop_timer *t)
{
    for (; i > 0 && is_before(t, l->heap[(i - 1) / 2]); i = (i - 1) / 2) heap_put(l, i, l->heap[(i - 1) / 2]);
    for (size_t child; (child = 2 * i + 1) < l->n_timers; i = child) {
        if (child + 1 < l->n_timers && is_before(l->heap[child + 1], l->heap[child])) child++;
        if (!is_before(l->heap[child], t)) break;
        heap_put(l, i, l->heap[child]);
    }
    heap_put(l, i, t);
}

static void heap_remove(struct loop *l, struct loop_timer *t)
{
    struct loop_timer *end = l->heap[--l->n_timers];
    if (end != t) heap_settle(l, t->place, end);
}

static int heap_grow(struct loop *l)
{
    const size_t cap = l->cap_timers ? 2 * l->cap_timers : 64;
    struct loop_timer **heap = realloc(l->heap, cap * sizeof *heap);
    if (!heap) return -1;
    l->heap = heap;
    l->cap_timers = cap;
    return 0;
}

struct loop_timer *loop_at(struct loop *l, int64_t at_ms, void (*fn)(void *user), void *user)
{
    struct loop_timer *t = malloc(sizeof *t);
    if (!t) return NULL;
    pthread_mutex_lock(&l->lock);
    if (l->n_timers == l->cap_timers && heap_grow(l)) {
        pthread_mutex_unlock(&l->lock);
        free(t);
        return NULL;
    }
    *t = (struct loop_timer){ .loop = l, .at_ms = at_ms, .order = l->n_ordered++, .fn = fn, .user = user };
    heap_settle(l, l->n_timers++, t);
    const int is_first = l->heap[0] == t;
    pthread_mutex_unlock(&l->lock);
    if (is_first) wake(l);
    return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
    struct loop *l = t->loop;
    pthread_mutex_lock(&l->lock);
    heap_remove(l, t);
    pthread_mutex_unlock(&l->lock);
    free(t);
}

/* Calls the timers whose time has come. @return milliseconds until the next one, -1: there is none */
static int run_timers(struct loop *l)
{
    const int64_t now = loop_now_ms();
    int64_t wait = -1;
    for (;;) {
        pthread_mutex_lock(&l->lock);
        struct loop_timer *t = l->n_timers ? l->heap[0] : NULL;
        if (t && t->at_ms <= now) heap_remove(l, t);
        else wait = t ? t->at_ms - now : -1, t = NULL;
        pthread_mutex_unlock(&l->lock);
        if (!t) break;
        void (*const fn)(void *user) = t->fn;
        void *const user = t->user;
        free(t);
        fn(user);
    }
    return wait > 1 << 30 ? 1 << 30 : (int)wait;
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------- */

static void take_reserve(struct loop *l, struct call **c)
{
    pthread_mutex_lock(&l->lock);
    *c = l->unused;
    if (*c) l->unused = (*c)->next;
    pthread_mutex_unlock(&l->lock);
}

void loop_call(struct loop *l, void (*fn)(void *user), void *user)
{
    struct call *c = malloc(sizeof *c);
    if (!c) take_reserve(l, &c);
    while (!c) { /* no memory at all: wait for the loop to end other calls */
        const struct timespec pause = { 0, 1000000 };
        if (loop_is_own_thread(l)) {
            fn(user);
            return;
        }
        nanosleep(&pause, NULL);
        take_reserve(l, &c);
    }
    *c = (struct call){ fn, user, NULL };
    pthread_mutex_lock(&l->lock);
    const int was_empty = !l->first;
    *l->last = c;
    l->last = &c->next;
    pthread_mutex_unlock(&l->lock);
    if (was_empty) wake(l);
}

static void call_free(struct loop *l, struct call *c)
{
    if (c < l->reserve || c >= l->reserve + RESERVE) {
        free(c);
        return;
    }
    pthread_mutex_lock(&l->lock);
    c->next = l->unused;
    l->unused = c;
    pthread_mutex_unlock(&l->lock);
}

/* Runs the calls that wait now; what they add comes later, so that sockets are not kept waiting. @return the loop is to end */
static int run_calls(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct call *c = l->first;
    l->first = NULL;
    l->last = &l->first;
    pthread_mutex_unlock(&l->lock);
    while (c) {
        struct call *next = c->next;
        void (*const fn)(void *user) = c->fn;
        void *const user = c->user;
        call_free(l, c);
        fn(user);
        c = next;
    }
    pthread_mutex_lock(&l->lock);
    const int ends = l->stops && !l->first;
    pthread_mutex_unlock(&l->lock);
    return ends;
}

/* ---- descriptors -------------------------------------------------------------------------------------------------------------- */

static uint32_t epoll_of(int events)
{
    return (events & LOOP_READ ? EPOLLIN : 0u) | (events & LOOP_WRITE ? EPOLLOUT : 0u) | (events & LOOP_HANGUP ? EPOLLRDHUP : 0u);
}

static int events_of(uint32_t epoll)
{
    return (epoll & EPOLLIN ? LOOP_READ : 0) | (epoll & EPOLLOUT ? LOOP_WRITE : 0) |
           (epoll & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) ? LOOP_HANGUP : 0);
}

struct loop_fd *loop_add(struct loop *l, int fd, int events, void (*ready)(void *user, int events), void *user)
{
    struct loop_fd *f = malloc(sizeof *f);
    if (!f) return NULL;
    *f = (struct loop_fd){ .loop = l, .ready = ready, .user = user, .fd = fd };
    pthread_mutex_lock(&l->lock);
    f->next = l->fds;
    if (f->next) f->next->prev = f;
    l->fds = f;
    struct epoll_event e = { .events = epoll_of(events), .data.ptr = f };
    const int rc = epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
    if (rc) {
        l->fds = f->next;
        if (f->next) f->next->prev = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    if (rc) free(f);
    return rc ? NULL : f;
}

void loop_change(struct loop_fd *f, int events)
{
    struct epoll_event e = { .events = epoll_of(events), .data.ptr = f };
    epoll_ctl(f->loop->epoll, EPOLL_CTL_MOD, f->fd, &e);
}

static void remove_here(void *user)
{
    struct loop_fd *f = user;
    struct loop *l = f->loop;
    pthread_mutex_lock(&l->lock);
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, f->fd, &(struct epoll_event){ 0 });
    if (f->prev) f->prev->next = f->next;
    else l->fds = f->next;
    if (f->next) f->next->prev = f->prev;
    pthread_mutex_unlock(&l->lock);
    f->is_dead = 1;
    f->next = l->dead;
    l->dead = f;
    if (f->removed) f->removed(f->user);
}

void loop_remove(struct loop_fd *f, void (*removed)(void *user))
{
    f->removed = removed;
    if (loop_is_own_thread(f->loop)) remove_here(f);
    else loop_call(f->loop, remove_here, f);
}

static void free_dead(struct loop *l)
{
    for (struct loop_fd *f = l->dead, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    l->dead = NULL;
}

/* ---- the thread --------------------------------------------------------------------------------------------------------------- */

static void *loop_run(void *user)
{
    struct loop *l = user;
    struct epoll_event events[EVENTS_AT_ONCE];
    pthread_mutex_lock(&l->lock); /* loop_open has stored the thread */
    pthread_mutex_unlock(&l->lock);
    while (!run_calls(l)) {
        const int wait_ms = run_timers(l);
        free_dead(l);
        const int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, wait_ms);
        for (int i = 0; i < n; i++) {
            struct loop_fd *f = events[i].data.ptr;
            if (!f) unwake(l);
            else if (!f->is_dead) f->ready(f->user, events_of(events[i].events));
        }
    }
    free_dead(l);
    return NULL;
}

static int start(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    const int rc = pthread_create(&l->thread, NULL, loop_run, l);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

static void loop_free(struct loop *l)
{
    for (struct loop_fd *f = l->fds, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    for (size_t i = 0; i < l->n_timers; i++) free(l->heap[i]);
    free(l->heap);
    if (l->epoll >= 0) close(l->epoll);
    if (l->wake >= 0) close(l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

int loop_open(struct loop **out)
{
    struct loop *l = calloc(1, sizeof *l);
    struct epoll_event e = { .events = EPOLLIN };
    *out = NULL;
    if (!l) return -1;
    l->last = &l->first;
    for (int i = 0; i < RESERVE; i++) l->reserve[i].next = l->unused, l->unused = &l->reserve[i];
    pthread_mutex_init(&l->lock, NULL);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->epoll < 0 || l->wake < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) || start(l)) {
        loop_free(l);
        return -1;
    }
    *out = l;
    return 0;
}

void loop_close(struct loop *l)
{
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->stops = 1;
    pthread_mutex_unlock(&l->lock);
    wake(l);
    pthread_join(l->thread, NULL);
    loop_free(l);
}
