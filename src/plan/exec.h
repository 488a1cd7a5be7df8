/* steno: the executor on the CPU. SPDX-License-Identifier: MIT
 *
 * All threads of the team go through the list together. An op is cut into items - tiles of a linear, heads of an attention - that threads
 * take from a counter; a barrier stands after every op. Where heads are too few for the threads, blocks of a head's keys are items too, and
 * whoever makes the last partial of a head merges them. A chain replays the list step after step without returning, each step's token
 * feeding the next. A run that is to end leaves its op before the next item, and all threads leave behind the same op. Nothing is
 * allocated, nothing can fail; a run with more rows than there is room for is refused. */
#ifndef STENO_PLAN_EXEC_H
#define STENO_PLAN_EXEC_H
#include "plan/executor.h"

struct cpu_executor {
    struct executor base;
    const struct kern *kern; /* its owner's */
};

void executor_cpu(struct cpu_executor *x, const struct kern *kern);
#endif
