/* steno tests: a clock without waiting. SPDX-License-Identifier: MIT
 *
 * Preloaded into a program, it ends every nap at once. The steady clock returns the processor time of the program's threads plus all naps,
 * so that other load on the machine does not change it. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static _Atomic long long ahead_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int (*real)(clockid_t, struct timespec *);
    void *p = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&real, &p, sizeof real);
    const int rc = real(clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, t);
    if (clock != CLOCK_MONOTONIC || rc) return rc;
    const long long ns = t->tv_nsec + ahead_ns;
    t->tv_sec += (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int nanosleep(const struct timespec *nap, struct timespec *left)
{
    ahead_ns += nap->tv_sec * 1000000000LL + nap->tv_nsec;
    if (left) *left = (struct timespec){ 0 };
    return 0;
}
