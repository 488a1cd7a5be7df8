/* steno-hub: monotonic time. SPDX-License-Identifier: MIT */
#include "hub_clock.h"
#include <time.h>

double hub_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
