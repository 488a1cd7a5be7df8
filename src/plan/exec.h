/* steno: the executor on the CPU. SPDX-License-Identifier: MIT
 *
 * All threads of the team walk through the list together. An op is cut into items (tiles of a linear, heads of an attention). Threads take
 * items from a counter, and a barrier follows every op. If there are fewer heads than the threads need, blocks of a head's keys become
 * items, too. The thread that finishes the last partial of a head merges its partials. A chain replays the list step by step without
 * returning; the token of each step is the input of the next. A run that must end stops before the next item, and all threads leave after
 * the same op. Nothing is allocated and nothing can fail. A run with more rows than the allocated room is refused. */
#ifndef STENO_PLAN_EXEC_H
#define STENO_PLAN_EXEC_H
#include "plan/executor.h"

struct cpu_executor {
    struct executor base;
    const struct kern *kern; /* owned by the caller of executor_cpu */
};

void executor_cpu(struct cpu_executor *x, const struct kern *kern);
#endif
