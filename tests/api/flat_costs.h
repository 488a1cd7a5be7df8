/* steno tests: costs of a batch with which drafts pay. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FLAT_COSTS_H
#define STENO_TESTS_FLAT_COSTS_H
#include "internal.h"

/* As on a machine where rows beside that of a step cost nothing. */
static inline void costs_flatten(steno_batch *b)
{
    enum { TIMES = 20, NS = 1000 };
    for (int k = 0; k < TIMES; k++)
        for (uint32_t rows = 1; rows <= COSTS_ROWS; rows++) run_costs_learn(&b->costs, rows, NS);
}
#endif
