/* steno-serve: the thread that waits: calls in order, timers by time, descriptors until they are removed. SPDX-License-Identifier: MIT */
#include "loop_help.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N_THREADS = 4, N_CALLS = 5000, N_TIMERS = 500 };

/* Waits until *v is `want`; fails after 10 s. */
static void wait_for(atomic_int *v, int want)
{
    for (int i = 0; i < 10000 && atomic_load(v) != want; i++) nap(1);
    assert_int_equal(atomic_load(v), want);
}

static void count(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------- */

struct caller { pthread_t thread; int next, n_wrong; atomic_int done; struct item { struct caller *c; int i; } item[N_CALLS]; };
static struct caller caller[N_THREADS];

static void item_called(void *user)
{
    struct item *it = user;
    it->c->n_wrong += it->i != it->c->next || !loop_is_own_thread(loop);
    it->c->next++;
    if (it->c->next == N_CALLS) atomic_store(&it->c->done, 1);
}

static void *caller_run(void *user)
{
    struct caller *c = user;
    for (int i = 0; i < N_CALLS; i++) {
        c->item[i] = (struct item){ c, i };
        loop_call(loop, item_called, &c->item[i]);
    }
    return NULL;
}

static void test_calls(void **state)
{
    (void)state;
    assert_false(loop_is_own_thread(loop));
    for (int i = 0; i < N_THREADS; i++) assert_int_equal(pthread_create(&caller[i].thread, NULL, caller_run, &caller[i]), 0);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(caller[i].thread, NULL);
        wait_for(&caller[i].done, 1);
        assert_int_equal(caller[i].n_wrong, 0);
    }
}

struct chain { atomic_int left; };

static void chain_next(void *user)
{
    struct chain *c = user;
    if (atomic_fetch_sub(&c->left, 1) > 1) loop_call(loop, chain_next, c);
}

static void test_close_runs_what_waits(void **state)
{
    (void)state;
    static struct chain c;
    static atomic_int n;
    struct loop *own;
    for (int round = 1; round <= 200; round++) {
        assert_int_equal(loop_open(&own), 0);
        for (int i = 0; i < 100; i++) loop_call(own, count, &n);
        loop_close(own);
        assert_int_equal(atomic_load(&n), 100 * round);
    }
    atomic_store(&c.left, 50);
    loop_call(loop, chain_next, &c); /* calls from calls */
    wait_for(&c.left, 0);
    loop_close(NULL);
}

/* ---- timers ------------------------------------------------------------------------------------------------------------------- */

struct timing { int64_t at_ms, last_ms; atomic_int n; int n_early, n_unordered; };
struct alarm { struct timing *t; int64_t at_ms; struct loop_timer *timer; int cancelled, called; };

static struct timing timing;
static struct alarm alarms[N_TIMERS];

static void alarm_rings(void *user)
{
    struct alarm *a = user;
    a->called++;
    timing.n_early += loop_now_ms() < a->at_ms;
    timing.n_unordered += a->at_ms < timing.last_ms;
    timing.last_ms = a->at_ms;
    atomic_fetch_add(&timing.n, 1);
}

static void cancel_some(void *user)
{
    (void)user;
    for (int i = 0; i < N_TIMERS; i += 3) {
        loop_timer_cancel(alarms[i].timer);
        alarms[i].cancelled = 1;
    }
    atomic_fetch_add(&timing.n, 1);
}

static void test_timers(void **state)
{
    (void)state;
    const int64_t now = loop_now_ms();
    unsigned seed = 7;
    for (int i = 0; i < N_TIMERS; i++) {
        seed = seed * 1103515245u + 12345;
        alarms[i].at_ms = now + 300 + (seed >> 16) % 200;
        alarms[i].timer = loop_at(loop, alarms[i].at_ms, alarm_rings, &alarms[i]);
        assert_non_null(alarms[i].timer);
    }
    loop_call(loop, cancel_some, NULL);
    const int n_cancelled = (N_TIMERS + 2) / 3;
    wait_for(&timing.n, 1 + N_TIMERS - n_cancelled);
    assert_int_equal(timing.n_early, 0);
    assert_int_equal(timing.n_unordered, 0);
    for (int i = 0; i < N_TIMERS; i++) assert_int_equal(alarms[i].called, !alarms[i].cancelled);
    /* one that is due, and one that is far away when the loop ends */
    atomic_int n = 0;
    assert_non_null(loop_at(loop, 0, count, &n));
    assert_non_null(loop_at(loop, INT64_MAX, count, &n));
    wait_for(&n, 1);
}

/* ---- descriptors -------------------------------------------------------------------------------------------------------------- */

struct end { int fd, other, events; struct loop_fd *f; struct end *victim; atomic_int done, n_bytes, n_ready, hangups, removed; };

static void end_open(struct end *e, int events)
{
    int fd[2];
    *e = (struct end){ .events = events };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    e->fd = fd[0], e->other = fd[1];
}

static void end_removed(void *user)
{
    atomic_fetch_add(&((struct end *)user)->removed, 1);
}

static void end_ready(void *user, int events)
{
    struct end *e = user;
    char b[16];
    atomic_fetch_add(&e->n_ready, 1);
    if (events & LOOP_READ) {
        const ssize_t n = read(e->fd, b, sizeof b);
        if (n > 0) atomic_fetch_add(&e->n_bytes, (int)n);
    }
    if (events & LOOP_HANGUP) {
        atomic_fetch_add(&e->hangups, 1);
        loop_remove(e->f, end_removed);
    }
}

/* Removes the other one, whose event may be in the same batch. */
static void end_kills(void *user, int events)
{
    struct end *e = user;
    (void)events;
    loop_remove(e->victim->f, end_removed);
    loop_remove(e->f, end_removed);
}

static void add_here(void *user)
{
    struct end *e = user;
    e->f = loop_add(loop, e->fd, e->events, e->victim ? end_kills : end_ready, e);
    atomic_store(&e->done, e->f ? 1 : 2);
}

static void change_here(void *user)
{
    struct end *e = user;
    loop_change(e->f, e->events);
    atomic_store(&e->done, 1);
}

/* On the loop's thread, so that `f` has one owner. */
static void end_do(struct end *e, void (*fn)(void *user), int events)
{
    atomic_store(&e->done, 0);
    e->events = events;
    loop_call(loop, fn, e);
    wait_for(&e->done, 1);
}

static void end_close(struct end *e)
{
    close(e->fd);
    if (e->other >= 0) close(e->other);
}

static void test_reads_and_hangs_up(void **state)
{
    (void)state;
    struct end e;
    end_open(&e, 0);
    end_do(&e, add_here, LOOP_READ | LOOP_HANGUP);
    for (int i = 0; i < 100; i++) assert_int_equal(write(e.other, "12345", 5), 5);
    wait_for(&e.n_bytes, 500);
    end_do(&e, change_here, 0); /* not read any more */
    const int n = atomic_load(&e.n_ready);
    assert_int_equal(write(e.other, "12345", 5), 5);
    nap(30);
    assert_int_equal(atomic_load(&e.n_ready), n);
    end_do(&e, change_here, LOOP_READ);
    wait_for(&e.n_bytes, 505);
    end_do(&e, change_here, 0);
    close(e.other), e.other = -1; /* reported although nothing was asked for */
    wait_for(&e.removed, 1);
    assert_int_equal(atomic_load(&e.hangups), 1);
    end_close(&e);
}

static void test_half_closed(void **state)
{
    (void)state;
    struct end e;
    end_open(&e, 0);
    end_do(&e, add_here, LOOP_HANGUP);
    assert_int_equal(write(e.other, "x", 1), 1);
    nap(20);
    assert_int_equal(atomic_load(&e.n_ready), 0);
    shutdown(e.other, SHUT_WR);
    wait_for(&e.removed, 1);
    end_close(&e);
}

static void kills_each_other(void *user)
{
    struct end *a = user, *b = a->victim;
    add_here(a), add_here(b); /* both become ready before either is served */
    if (write(a->other, "x", 1) != 1 || write(b->other, "x", 1) != 1) abort();
}

static void test_removed_within_a_batch(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct end a, b;
        end_open(&a, LOOP_READ), end_open(&b, LOOP_READ);
        a.victim = &b, b.victim = &a;
        loop_call(loop, kills_each_other, &a);
        wait_for(&a.removed, 1);
        wait_for(&b.removed, 1);
        end_close(&a), end_close(&b);
    }
}

static void test_removed_by_another_thread(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct end e;
        end_open(&e, 0);
        end_do(&e, add_here, LOOP_WRITE); /* is always ready */
        loop_remove(e.f, end_removed);
        wait_for(&e.removed, 1);
        const int n = atomic_load(&e.n_ready);
        if (round < 5) nap(5);
        assert_int_equal(atomic_load(&e.n_ready), n);
        end_close(&e);
    }
}

static void test_refuses_a_closed_descriptor(void **state)
{
    (void)state;
    assert_null(loop_add(loop, -1, LOOP_READ, end_ready, NULL));
    FILE *f = tmpfile(); /* a file has no events */
    assert_non_null(f);
    assert_null(loop_add(loop, fileno(f), LOOP_READ, end_ready, NULL));
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_close_runs_what_waits),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_reads_and_hangs_up),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_removed_within_a_batch),
        cmocka_unit_test(test_removed_by_another_thread),
        cmocka_unit_test(test_refuses_a_closed_descriptor),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
