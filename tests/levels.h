/* steno tests: the processor levels of this machine. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LEVELS_H
#define STENO_TESTS_LEVELS_H
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "harness.h"

enum { LEVELS_MAX = 16 };

/* The default level of tests of whole models. NULL selects the best level. The environment can name another (the emulated levels of
 * tests/emulated). */
static inline const char *level_tested(void) { return getenv("STENO_TEST_LEVEL"); }

/* Names of the usable levels in rising order, ended by NULL. @return their number */
static inline int levels_usable(const char *name[LEVELS_MAX])
{
    int n = 0;
    for (int i = 0; steno_cpu_level_name(i) && n < LEVELS_MAX - 1; i++)
        if (steno_cpu_level_usable(i)) name[n++] = steno_cpu_level_name(i);
    name[n] = NULL;
    return n;
}

/* Those of them at which tests of plans run. */
static inline int levels_for_plans(const char *name[LEVELS_MAX])
{
    const int all = levels_usable(name);
    int n = 0;
    for (int i = 0; i < all; i++)
        if (level_is_checked(i, all - 1)) name[n++] = name[i];
    name[n] = NULL;
    return n;
}

/* Levels for tests that run whole models, which are slow. avx512vnni is left out if a better level is usable: it differs from its
 * neighbours only in integer products, which tests/kernels compares bit by bit with the twin. Under a sanitizer only the best level is
 * used, because tests/kernels checks the memory accesses of each level. */
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
