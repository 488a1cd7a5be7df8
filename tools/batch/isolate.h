/* steno: a batch in processes of its own. SPDX-License-Identifier: MIT
 *
 * The controller has the open model and no threads. It forks workers, which share the weights' memory. A worker that dies is replaced, and
 * only its inputs are affected. The controller alone writes the journal. */
#ifndef STENO_TOOLS_BATCH_ISOLATE_H
#define STENO_TOOLS_BATCH_ISOLATE_H
#include "batch/control.h"
#include "batch/pipes.h"

struct batch_isolate {
    struct batch_control *control;
    int n_workers, n_slots;  /* n_slots: inputs that a worker processes at a time */
    double timeout_s;        /* 0: none. A worker that ignores its own limit is killed */
    int (*worker)(void *user, struct pipe_worker *p); /* runs in a new process. @return its exit code */
    void *user;
};

/* Run until there is no more input. @return an exit code, after a message */
int batch_isolate(const struct batch_isolate *b);
#endif
