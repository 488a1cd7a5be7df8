/* steno: a team of threads that walk one list together. SPDX-License-Identifier: MIT
 *
 * All waiting happens at gates. A gate is a number that only grows; a thread that read number g waits until it differs from g. Waiting
 * first spins, because the next op of a plan is microseconds away, and then parks. The spin time adapts: a wait that ended in parking
 * shortens the next spin, another lengthens it. Barriers therefore stay fast inside a run, while idle teams, and teams larger than the
 * machine, sleep at once.
 *
 * A sleeper increments the count before its last read of the number. The opener changes the number before it reads the count. Both use
 * sequentially consistent operations, so at least one of the two sees the other. */
#include "base/team.h"

#include <pthread.h>

#include "base/cpu.h"
#include "base/os.h"

enum { SPIN_MIN_NS = 2000, SPIN_MAX_NS = 50000 };

struct gate {
    _Alignas(64) atomic_uint number;
    atomic_uint sleepers;
    atomic_int spin_ns;
    struct os_park park;
};

struct team_worker {
    steno_team *team;
    int thread;
    pthread_t id;
};

struct steno_team {
    struct gate start, meet, done;
    _Alignas(64) atomic_uint arrived; /* at the barrier */
    atomic_uint running;              /* workers that have not finished the run */
    pthread_mutex_t turn;             /* held by the current run */
    _Atomic pthread_t owner;          /* the thread that holds `turn`, if `owned` */
    atomic_int owned;
    atomic_int users;                 /* number of holders, including the owner */
    void (*fn)(void *arg, int thread);
    void *arg;
    int n_threads, spin_max_ns, stop;
    struct team_worker worker[]; /* [n_threads], [0] unused */
};

/* ---- gates ------------------------------------------------------------------------------------------------------------------- */

static void gate_init(struct gate *g, int spin_ns)
{
    atomic_init(&g->number, 0);
    atomic_init(&g->sleepers, 0);
    atomic_init(&g->spin_ns, spin_ns);
    os_park_init(&g->park);
}

static void gate_open(struct gate *g)
{
    atomic_fetch_add(&g->number, 1);
    if (atomic_load(&g->sleepers)) os_park_wake(&g->park, &g->number);
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* @return 1: the gate opened in time */
static int gate_spin(struct gate *g, unsigned seen, int64_t ns)
{
    const int64_t begin = os_now_ns();
    do {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(&g->number, memory_order_acquire) != seen) return 1;
            relax();
        }
    } while (os_now_ns() - begin < ns);
    return 0;
}

static void gate_wait(struct gate *g, unsigned seen, int spin_max_ns)
{
    if (atomic_load_explicit(&g->number, memory_order_acquire) != seen) return;
    const int spin = atomic_load_explicit(&g->spin_ns, memory_order_relaxed);
    const int opened = gate_spin(g, seen, spin);
    int next = opened ? spin + spin / 8 : spin - spin / 8; /* several waiters may write; any of their values is acceptable */
    if (next > spin_max_ns) next = spin_max_ns;
    if (next < SPIN_MIN_NS) next = SPIN_MIN_NS;
    if (next != spin) atomic_store_explicit(&g->spin_ns, next, memory_order_relaxed);
    if (opened) return;
    atomic_fetch_add(&g->sleepers, 1);
    os_park_wait(&g->park, &g->number, seen);
    atomic_fetch_sub(&g->sleepers, 1);
}

/* ---- workers ----------------------------------------------------------------------------------------------------------------- */

static void *worker_main(void *arg)
{
    const struct team_worker *w = arg;
    steno_team *t = w->team;
    cpu_fpenv_enter();
    for (unsigned seen = 0;; seen++) {
        gate_wait(&t->start, seen, t->spin_max_ns);
        if (t->stop) return NULL;
        t->fn(t->arg, w->thread);
        if (atomic_fetch_sub(&t->running, 1) == 1) gate_open(&t->done);
    }
}

/* @return the number of threads now, including the caller's */
static int workers_start(steno_team *t)
{
    int n = 1;
    for (; n < t->n_threads; n++) {
        struct team_worker *w = &t->worker[n];
        w->team = t;
        w->thread = n;
        if (os_thread_start(&w->id, worker_main, w) != 0) break;
    }
    return n;
}

int team_default_threads(void)
{
    const int n = os_cores();
    return n < TEAM_MAX ? n : TEAM_MAX;
}

int team_open(steno_team **out, int n_threads, steno_error *e)
{
    *out = NULL;
    if (n_threads < 0 || n_threads > TEAM_MAX)
        return err_set(e, STENO_EARG, "number of threads is %d, must be 1..%d, or 0 for the default", n_threads, TEAM_MAX);
    const int n = n_threads ? n_threads : team_default_threads();
    const size_t sz = (sizeof(steno_team) + (size_t)n * sizeof(struct team_worker) + 63) & ~(size_t)63;
    steno_team *t = os_aligned_alloc(64, sz);
    if (!t) return err_nomem(e, sz, "a team of threads");
    t->n_threads = n;
    t->stop = 0;
    t->spin_max_ns = n <= os_cpus() ? SPIN_MAX_NS : SPIN_MIN_NS;
    gate_init(&t->start, t->spin_max_ns);
    gate_init(&t->meet, t->spin_max_ns);
    gate_init(&t->done, t->spin_max_ns);
    atomic_init(&t->arrived, 0);
    atomic_init(&t->running, 0);
    pthread_mutex_init(&t->turn, NULL);
    atomic_init(&t->owned, 0);
    atomic_init(&t->users, 1);

    const int started = workers_start(t);
    if (started < n) {
        t->n_threads = started;
        team_close(t);
        return err_set(e, STENO_ENOMEM, "cannot start thread %d of %d: the system refused; ask for fewer threads", started + 1, n);
    }
    *out = t;
    return STENO_OK;
}

void team_hold(steno_team *t)
{
    if (t) atomic_fetch_add(&t->users, 1);
}

void team_close(steno_team *t)
{
    if (!t || atomic_fetch_sub(&t->users, 1) > 1) return;
    t->stop = 1;
    gate_open(&t->start);
    for (int i = 1; i < t->n_threads; i++) pthread_join(t->worker[i].id, NULL);
    os_park_destroy(&t->start.park);
    os_park_destroy(&t->meet.park);
    os_park_destroy(&t->done.park);
    pthread_mutex_destroy(&t->turn);
    os_aligned_free(t);
}

int team_threads(const steno_team *t)
{
    return t ? t->n_threads : 1;
}

/* ---- runs -------------------------------------------------------------------------------------------------------------------- */

steno_team *team_here(steno_team *t)
{
    return t && atomic_load(&t->owned) && pthread_equal(atomic_load(&t->owner), pthread_self()) ? NULL : t;
}

void team_run(steno_team *t, void (*fn)(void *arg, int thread), void *arg)
{
    if (!t) {
        fn(arg, 0);
        return;
    }
    pthread_mutex_lock(&t->turn);
    atomic_store(&t->owner, pthread_self());
    atomic_store(&t->owned, 1);
    t->fn = fn;
    t->arg = arg;
    atomic_store(&t->running, (unsigned)t->n_threads - 1);
    const unsigned seen = atomic_load(&t->done.number);
    if (t->n_threads > 1) gate_open(&t->start);
    fn(arg, 0);
    if (t->n_threads > 1) gate_wait(&t->done, seen, t->spin_max_ns);
    atomic_store(&t->owned, 0);
    pthread_mutex_unlock(&t->turn);
}

void team_barrier(steno_team *t)
{
    if (!t || t->n_threads == 1) return;
    const unsigned seen = atomic_load(&t->meet.number); /* cannot grow before this thread has arrived */
    if (atomic_fetch_add(&t->arrived, 1) + 1 < (unsigned)t->n_threads) {
        gate_wait(&t->meet, seen, t->spin_max_ns);
        return;
    }
    atomic_store(&t->arrived, 0);
    gate_open(&t->meet);
}

struct loop {
    int64_t n;
    _Atomic int64_t next;
    void (*fn)(void *arg, int64_t i, int thread);
    void *arg;
};

static void loop_run(void *arg, int thread)
{
    struct loop *l = arg;
    for (int64_t i; (i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->n;) l->fn(l->arg, i, thread);
}

void team_for(steno_team *t, int64_t n, void (*fn)(void *arg, int64_t i, int thread), void *arg)
{
    if (n <= 0) return;
    struct loop l = { .n = n, .fn = fn, .arg = arg };
    atomic_init(&l.next, 0);
    team_run(n > 1 ? team_here(t) : NULL, loop_run, &l);
}
