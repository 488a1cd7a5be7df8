/* steno tests: the processor levels of this machine. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LEVELS_H
#define STENO_TESTS_LEVELS_H
#include <steno/steno.h>
#include "harness.h"

enum { LEVELS_MAX = 16 };

/* Names of the levels in rising order, ended by NULL. @return their number */
static inline int levels_usable(const char *name[LEVELS_MAX])
{
    int n = 0;
    for (int i = 0; steno_cpu_level_name(i) && n < LEVELS_MAX - 1; i++)
        if (steno_cpu_level_usable(i)) name[n++] = steno_cpu_level_name(i);
    name[n] = NULL;
    return n;
}

/* The same for tests that run whole models: under a sanitizer the best level alone. What each level reads and writes is checked there by
 * tests/kernels, and with models small enough by the tests of plans. */
static inline int levels_for_models(const char *name[LEVELS_MAX])
{
    const int n = levels_usable(name);
    if (!SANITIZED) return n;
    name[0] = name[n - 1];
    name[1] = NULL;
    return 1;
}
#endif
