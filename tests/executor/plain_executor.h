/* steno tests: a second executor. SPDX-License-Identifier: MIT
 *
 * It stands behind the same seam as the CPU's and has nothing in common with it but the C twins of the kernels: one thread, one op after
 * the other, one row after the other, and memory that nobody else can see. Weights are copies of what it was given; slots have rows of
 * other lengths; blocks of states lie in another order; logits have one stage. So whatever a session gets from it went through the seam. */
#ifndef STENO_TESTS_PLAIN_EXECUTOR_H
#define STENO_TESTS_PLAIN_EXECUTOR_H
#include "plan/executor.h"

enum { PLAIN_SPANS = 256 };

struct plain_span { const uint8_t *name; uint8_t *own; size_t n; };

struct plain_executor {
    struct executor base;
    struct kern kern;
    struct plain_span span[PLAIN_SPANS];
    int n_spans;
    int n_runs, fails_at; /* test: so many runs so far; number of the run that fails, 0: none */
};

void plain_executor_open(struct plain_executor *x);
void plain_executor_close(struct plain_executor *x);

/* Nothing that the host holds of the weights is of use from now on. */
void plain_forget_host(struct plain_executor *x);
#endif
