/* steno tests: the processor levels of this machine. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LEVELS_H
#define STENO_TESTS_LEVELS_H
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "harness.h"

enum { LEVELS_MAX = 16 };

/* The level that tests of whole models are to run at, where they do not name one: the best, or what the environment names (the emulated
 * levels of tests/emulated). NULL: the best. */
static inline const char *level_tested(void) { return getenv("STENO_TEST_LEVEL"); }

/* Names of the levels in rising order, ended by NULL. @return their number */
static inline int levels_usable(const char *name[LEVELS_MAX])
{
    int n = 0;
    for (int i = 0; steno_cpu_level_name(i) && n < LEVELS_MAX - 1; i++)
        if (steno_cpu_level_usable(i)) name[n++] = steno_cpu_level_name(i);
    name[n] = NULL;
    return n;
}

/* The same for tests that run whole models, which take their time. avx512vnni is left out where there is a better one: all that it does not
 * share with its neighbours are products of integers, whose bits tests/kernels finds equal to the twin's. Under a sanitizer the best level
 * alone: what each level reads and writes is checked there by tests/kernels, and with models small enough by the tests of plans. */
static inline int levels_for_models(const char *name[LEVELS_MAX])
{
    const int all = levels_usable(name);
    int n = 0;
    if (level_tested()) return name[0] = level_tested(), name[1] = NULL, 1;
    for (int i = 0; i < all; i++)
        if (i == all - 1 || (!SANITIZED && strcmp(name[i], "avx512vnni"))) name[n++] = name[i];
    name[n] = NULL;
    return n;
}
#endif
