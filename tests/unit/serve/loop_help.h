/* steno: a loop for each test. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LOOP_HELP_H
#define STENO_TESTS_LOOP_HELP_H
#include "harness.h"
#include "loop.h"
#include <time.h>

static struct loop *loop;

static inline int setup(void **state)
{
    (void)state;
    return loop_open(&loop);
}

static inline int teardown(void **state)
{
    (void)state;
    loop_close(loop);
    return 0;
}

static inline void nap(int ms)
{
    nanosleep(&(struct timespec){ 0, ms * 1000000L }, NULL);
}
#endif
