/* steno tests: a second executor. SPDX-License-Identifier: MIT
 *
 * It implements the same interface as the CPU's executor and shares only the C twins of the kernels with it. It uses one thread, runs
 * one op and one row at a time, and has private memory. It copies weights; its slots have other row lengths; blocks of states are stored
 * in another order; logits have one stage. So everything that a session receives from it came through the interface. */
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
    int n_runs, fails_at; /* for tests: number of runs so far; number of the run that fails, 0: none */
};

void plain_executor_open(struct plain_executor *x);
void plain_executor_close(struct plain_executor *x);

/* From here on the host's copy of the weights cannot be used. */
void plain_forget_host(struct plain_executor *x);
#endif
