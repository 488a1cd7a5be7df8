/* steno tests: the file of the built-in model, in memory. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_SHIPPED_BYTES_H
#define STENO_TESTS_SHIPPED_BYTES_H
#include "shipped.h"

static struct bytes file;

static inline int open_file(void **state)
{
    (void)state;
    file = random_bytes(&small_dims, DT_F16, 3);
    return 0;
}

static inline int close_file(void **state)
{
    (void)state;
    free(file.p);
    return 0;
}

static inline void no_line(void *user, const char *line)
{
    (void)user;
    (void)line;
}
#endif
