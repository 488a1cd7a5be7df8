/* steno: teams of threads. SPDX-License-Identifier: MIT
 *
 * Plain (not atomic) data passes through runs and barriers here, so that the thread sanitizer proves the ordering they promise. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "harness.h"


#include "base/cpu.h"
#include "base/os.h"
#include "base/team.h"

static const int team_sizes[] = { 1, 2, 3, 7 };
enum { N_SIZES = sizeof team_sizes / sizeof *team_sizes, ROUNDS = 200, MOST = 8 };

static steno_team *team_of(int n)
{
    steno_team *t;
    steno_error e;
    if (team_open(&t, n, &e) != STENO_OK) fail_msg("%s", e.text);
    return t;
}

struct visits { int n[MOST]; };

static void visit(void *arg, int thread)
{
    ((struct visits *)arg)->n[thread]++;
}

static void test_run_calls_every_thread_once(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        steno_team *t = team_of(team_sizes[s]);
        assert_int_equal(team_threads(t), team_sizes[s]);
        struct visits v = {0};
        for (int i = 0; i < ROUNDS; i++) team_run(t, visit, &v);
        for (int i = 0; i < MOST; i++) assert_int_equal(v.n[i], i < team_sizes[s] ? ROUNDS : 0);
        team_close(t);
    }
}

static void test_no_team_is_a_team_of_one(void **state)
{
    (void)state;
    struct visits v = {0};
    assert_int_equal(team_threads(NULL), 1);
    team_run(NULL, visit, &v);
    team_barrier(NULL);
    assert_int_equal(v.n[0], 1);
    team_close(NULL);
}

struct relay {
    steno_team *team;
    int n, wrong;
    int value[2][MOST]; /* written on one side of a barrier, read on the other */
};

static void relay_run(void *arg, int thread)
{
    struct relay *r = arg;
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int *now = r->value[round % 2];
        now[thread] = round * 10 + thread;
        team_barrier(r->team);
        for (int i = 0; i < r->n; i++) wrong += now[i] != round * 10 + i;
    }
    team_barrier(r->team);
    if (thread == 0) r->wrong = 0;
    for (int i = 0; i < r->n; i++) {
        team_barrier(r->team);
        if (i == thread) r->wrong += wrong;
    }
}

static void test_barrier_shows_what_was_written_before_it(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        struct relay r = { .team = team_of(team_sizes[s]), .n = team_sizes[s] };
        for (int i = 0; i < 5; i++) {
            r.wrong = -1;
            team_run(r.team, relay_run, &r);
            assert_int_equal(r.wrong, 0);
        }
        team_close(r.team);
    }
}

struct punctuation {
    unsigned char seen[1000]; /* plain: each index belongs to one thread */
    int thread_bad;
};

static void mark(void *arg, int64_t i, int thread)
{
    struct punctuation *m = arg;
    m->seen[i]++;
    if (thread < 0 || thread >= MOST) m->seen[i] = 99;
}

static void test_for_hands_out_every_index_once(void **state)
{
    (void)state;
    static const int64_t counts[] = { -5, 0, 1, 2, 3, 64, 1000 };
    for (int s = -1; s < N_SIZES; s++) {
        steno_team *t = s < 0 ? NULL : team_of(team_sizes[s]);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct punctuation m = {0};
            team_for(t, counts[c], mark, &m);
            for (int64_t i = 0; i < 1000; i++) assert_int_equal(m.seen[i], i < counts[c]);
        }
        team_close(t);
    }
}

struct caller {
    steno_team *team;
    int *shared; /* plain: runs take turns, so thread 0 of every run may write it */
    struct visits visits;
};

static void caller_run(void *arg, int thread)
{
    struct caller *c = arg;
    c->visits.n[thread]++;
    team_barrier(c->team);
    if (thread == 0) ++*c->shared;
}

static void *caller_main(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) team_run(((struct caller *)arg)->team, caller_run, arg);
    return NULL;
}

static void test_runs_from_several_threads_take_turns(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        int shared = 0;
        struct caller c[2];
        memset(c, 0, sizeof c);
        pthread_t id;
        c[0].team = c[1].team = team_of(team_sizes[s]);
        c[0].shared = c[1].shared = &shared;
        assert_int_equal(pthread_create(&id, NULL, caller_main, &c[0]), 0);
        caller_main(&c[1]);
        pthread_join(id, NULL);
        assert_int_equal(shared, 2 * ROUNDS);
        for (int i = 0; i < team_sizes[s]; i++) assert_int_equal(c[0].visits.n[i] + c[1].visits.n[i], 2 * ROUNDS);
        team_close(c[0].team);
    }
}

static void test_a_team_that_slept_wakes_up(void **state)
{
    (void)state;
    steno_team *t = team_of(3);
    struct visits v = {0};
    for (int i = 0; i < 5; i++) {
        usleep(20000); /* long enough for every worker to park */
        team_run(t, visit, &v);
    }
    for (int i = 0; i < 3; i++) assert_int_equal(v.n[i], 5);
    usleep(20000);
    team_close(t); /* wakes the sleepers, too */
}

static void test_team_sizes_out_of_range_are_refused(void **state)
{
    (void)state;
    steno_team *t;
    steno_error e;
    assert_int_equal(team_open(&t, -1, &e), STENO_EARG);
    assert_null(t);
    assert_int_equal(team_open(&t, TEAM_MAX + 1, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "257"));
    assert_in_range(team_default_threads(), 1, TEAM_MAX);
    assert_int_equal(team_open(&t, 0, &e), STENO_OK);
    assert_int_equal(team_threads(t), team_default_threads());
    team_close(t);
}

struct world {
    int signals_blocked[MOST], tiny_kept[MOST];
};

static void look_around(void *arg, int thread)
{
    struct world *w = arg;
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    w->signals_blocked[thread] = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) && !sigismember(&set, SIGSEGV);
    volatile float tiny = 1e-39f;
    w->tiny_kept[thread] = tiny * 0.5f > 0;
}

static void test_workers_leave_signals_to_the_application_and_keep_subnormals(void **state)
{
    (void)state;
    struct world w = {0};
    const cpu_fpenv saved = cpu_fpenv_enter();
#if defined(__x86_64__)
    cpu_fpenv_leave(0x9fc0); /* the opener flushes to zero; its workers must not */
#endif
    steno_team *t = team_of(4);
    cpu_fpenv_leave(saved);
    team_run(t, look_around, &w);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(w.signals_blocked[i], 1);
        assert_int_equal(w.tiny_kept[i], 1);
    }
    assert_int_equal(w.signals_blocked[0], 0); /* the caller's mask is as it was */
    team_close(t);
}

#if defined(__linux__)

/* ---- fewer processors than threads ---- */

struct serial {
    steno_team *team;
    double sum;          /* keeps the work alive */
    cpu_set_t set[MOST]; /* where each thread may run */
};

/* Thread 0 works while the others wait, again and again. */
static void serial_run(void *arg, int thread)
{
    enum { TIMES = 40, STEPS = 100000 };
    struct serial *s = arg;
    sched_getaffinity(0, sizeof s->set[thread], &s->set[thread]);
    for (int i = 0; i < TIMES; i++) {
        if (thread == 0)
            for (int k = 0; k < STEPS; k++) s->sum = s->sum * 0.5 + k;
        team_barrier(s->team);
    }
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor time that a team needs for the same work, the least of a few runs; every thread within `allowed`. */
static double serial_cost(int threads, const cpu_set_t *allowed)
{
    struct serial s = { .team = team_of(threads) };
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        const double begin = processor_s();
        team_run(s.team, serial_run, &s);
        const double cost = processor_s() - begin;
        if (cost < best) best = cost;
    }
    for (int i = 0; i < threads; i++) assert_true(CPU_EQUAL(&s.set[i], allowed));
    team_close(s.team);
    return best;
}

/* Allow the first n processors of those there are. @return how many that is */
static int allow(const cpu_set_t *all, cpu_set_t *some, int n)
{
    int taken = 0;
    CPU_ZERO(some);
    for (int i = 0; i < CPU_SETSIZE && taken < n; i++)
        if (CPU_ISSET(i, all)) CPU_SET(i, some), taken++;
    assert_int_equal(sched_setaffinity(0, sizeof *some, some), 0);
    return taken;
}

/* Spinning would cost a waiting thread's time for each thread that works: 2 and 4 times the work. Processor time is no clock: other
 * work on the machine hardly changes it. */
static void test_a_team_stays_within_its_mask_and_waits_gently_where_it_is_larger(void **state)
{
    (void)state;
    cpu_set_t all, some;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(allow(&all, &some, 1), 1);
    assert_int_equal(os_cores(), 1);
    assert_int_equal(os_cpus(), 1);
    assert_int_equal(team_default_threads(), 1);
    const double alone = serial_cost(1, &some), two = serial_cost(2, &some);
    const int n = allow(&all, &some, 2);
    assert_in_range(os_cpus(), 1, n);
    const double pair = serial_cost(2, &some), eight = serial_cost(8, &some);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    if (two > 1.6 * alone) fail_msg("two threads on one processor cost %.2f times one", two / alone);
    if (eight > 2 * pair) fail_msg("eight threads on %d processors cost %.2f times two", n, eight / pair);
    print_message("two on one: %.3f, eight on %d: %.3f\n", two / alone, n, eight / pair);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_calls_every_thread_once),
        cmocka_unit_test(test_no_team_is_a_team_of_one),
        cmocka_unit_test(test_barrier_shows_what_was_written_before_it),
        cmocka_unit_test(test_for_hands_out_every_index_once),
        cmocka_unit_test(test_runs_from_several_threads_take_turns),
        cmocka_unit_test(test_a_team_that_slept_wakes_up),
        cmocka_unit_test(test_team_sizes_out_of_range_are_refused),
        cmocka_unit_test(test_workers_leave_signals_to_the_application_and_keep_subnormals),
#if defined(__linux__)
        cmocka_unit_test(test_a_team_stays_within_its_mask_and_waits_gently_where_it_is_larger),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
