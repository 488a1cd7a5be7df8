/* steno: parts of the speech path one at a time, for measuring. SPDX-License-Identifier: MIT */
#include "lib/entry.h"

int64_t steno_bench_phase(steno_session *s, const char *phase, int n)
{
    if (!phase || n < 1) return STENO_EARG;
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    const struct task *task = s->model->task;
    const int64_t us = task->bench ? task->bench(s, phase, n)
                                   : err_set(&s->error, STENO_EARG, "the phases of a %s model are not measured apart",
                                             s->model->family->name);
    call_leave(s, 0);
    return us;
}
