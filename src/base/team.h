/* steno: a team of threads that walk one list together. SPDX-License-Identifier: MIT
 *
 * team_run wakes every worker once. All threads, including the caller's as number 0, run `fn` and meet at barriers inside it. Waiting
 * spins for a bounded time and then parks on a number (on a condition variable where the system is neither Linux nor Windows), so an idle
 * or over-subscribed team costs nothing. */
#ifndef STENO_BASE_TEAM_H
#define STENO_BASE_TEAM_H
#include <stdatomic.h>
#include <stdint.h>
#include "base/err.h"

enum { TEAM_MAX = 256 };

int team_default_threads(void);                                /* physical cores within affinity and cgroup quota, at least 1 */
int team_open(steno_team **out, int n_threads, steno_error *e); /* n_threads 0: the default */
/* A user of a team holds it. The team is freed when the last holder, including its owner (team_open), has released it. t may be NULL. */
void team_hold(steno_team *t);
void team_close(steno_team *t);
int team_threads(const steno_team *t);                         /* NULL counts as a team of one */

/* t, or NULL if the calling thread is number 0 of a current run of t: it would wait for itself, so it computes alone. */
steno_team *team_here(steno_team *t);

/* Run fn(arg, thread) on every thread and return when all have finished. t NULL: only the caller. Calls from several threads take turns;
 * calls inside a run: see team_here. */
void team_run(steno_team *t, void (*fn)(void *arg, int thread), void *arg);

/* Wait until every thread of the running team_run has arrived. Earlier writes are visible afterwards. */
void team_barrier(steno_team *t);

/* for i in [0, n): fn(arg, i, thread), with i assigned dynamically; inside a run, on the calling thread only. */
void team_for(steno_team *t, int64_t n, void (*fn)(void *arg, int64_t i, int thread), void *arg);
#endif
