/* steno: rounds of threads that start together. SPDX-License-Identifier: MIT
 *
 * A measurement with several threads is a round. All threads start at a barrier, and the round lasts from the first start to the last end.
 * One thread is timed by its processor time, several by the clock, because waiting for the second thread is part of the result. Rounds are
 * short and many, so that some of them have both processors to themselves even on a busy machine. */
#ifndef STENO_BENCH_ROUNDS_H
#define STENO_BENCH_ROUNDS_H
#include <stdint.h>
#include "base/os.h"
#include "base/team.h"
#include "peak.h"
#include "cli/report.h"

enum { ROUND_THREADS_MAX = 8, ROUNDS_MAX = 1000 };

struct round {
    steno_team *team;                   /* NULL: the caller alone */
    void (*fn)(void *arg, int thread);
    void *arg;
    double begin[ROUND_THREADS_MAX], end[ROUND_THREADS_MAX];
};

static void round_thread(void *arg, int thread)
{
    struct round *c = arg;
    team_barrier(c->team);
    c->begin[thread] = c->team ? (double)os_now_ns() : now_ns();
    c->fn(c->arg, thread);
    c->end[thread] = c->team ? (double)os_now_ns() : now_ns();
}

static inline double round_round(struct round *c)
{
    const int n = team_threads(c->team);
    team_run(c->team, round_thread, c);
    double begin = c->begin[0], end = c->end[0];
    for (int i = 1; i < n; i++) {
        if (c->begin[i] < begin) begin = c->begin[i];
        if (c->end[i] > end) end = c->end[i];
    }
    return end - begin;
}

/* Up to `rounds` rounds, for at most about `ms` milliseconds; ns of a round. */
static inline struct timed round_measure(steno_team *team, void (*fn)(void *arg, int thread), void *arg, int rounds, double ms)
{
    static double ns[ROUNDS_MAX];
    struct round c = { .team = team, .fn = fn, .arg = arg };
    const int64_t start = os_now_ns();
    int n = 0;
    round_round(&c); /* one round without measurement */
    do ns[n++] = round_round(&c);
    while (n < rounds && n < ROUNDS_MAX && (double)(os_now_ns() - start) < ms * 1e6);
    return timed_of(ns, n);
}

/* A team of n threads; NULL for n = 1. */
static inline steno_team *round_team(int n)
{
    steno_team *t = NULL;
    steno_error e;
    if (n < 2 || team_open(&t, n, &e) == 0) return t;
    fprintf(stderr, "%s\n", e.text);
    exit(5);
}

static inline void *round_memory(size_t n)
{
    void *p = aligned_alloc(64, (n + 127) & ~(size_t)63);
    if (p) return p;
    fprintf(stderr, "no memory for %zu bytes\n", n);
    exit(5);
}

/* ---- peak rates of the machine ---- */

struct peak_job { int level; enum peak of; };

static void peak_thread(void *arg, int thread)
{
    const struct peak_job *j = arg;
    (void)thread;
    peak_loop(j->level, j->of);
}

/* 10^9 operations a second on all threads of the team, from the operations and the time of a round. @return 0: the level has no such
 * instruction */
static inline double round_peak(struct timed *t, steno_team *team, int level, enum peak of)
{
    struct peak_job j = { level, of };
    const double ops = peak_ops(level, of) * team_threads(team);
    if (ops > 0) *t = round_measure(team, peak_thread, &j, 300, 300);
    return ops;
}

struct read_job { const char *memory; size_t size, part, round[ROUND_THREADS_MAX]; int level, repeat, n_threads; };

/* Each thread reads parts of its own share of the memory, a different part in each round. */
static void read_thread(void *arg, int thread)
{
    struct read_job *j = arg;
    const size_t share = j->size / (size_t)j->n_threads, parts = share / j->part;
    const char *p = j->memory + (size_t)thread * share + j->round[thread]++ % parts * j->part;
    for (int i = 0; i < j->repeat; i++) peak_read(j->level, p, j->part);
}

/* Time to read `part` bytes `repeat` times on each thread. From main memory: parts of a large memory, each once. From a cache: one part
 * that fits the cache. part: a multiple of 1 KiB. @return bytes of a round */
static inline double round_read(struct timed *t, steno_team *team, int level, const char *memory, size_t size, size_t part, int repeat)
{
    const int n = team_threads(team);
    struct read_job j = { .memory = memory, .size = size, .part = part, .level = level, .repeat = repeat, .n_threads = n };
    *t = round_measure(team, read_thread, &j, 100, 400);
    return (double)part * repeat * n;
}

/* Bytes of the last-level cache as the system reports it; it may be shared with other cores. */
static inline size_t round_cache(int level)
{
    static const size_t usual[] = { 32 << 10, 1 << 20, 32 << 20 };
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    static const int name[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE };
    const long n = sysconf(name[level - 1]);
    if (n > 0) return (size_t)n;
#endif
    return usual[level - 1];
}
#endif
