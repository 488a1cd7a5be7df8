/* steno: benchmarks of single phases: the public call. SPDX-License-Identifier: MIT */
#include "lib/call.h"
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

int64_t steno_bench_text(steno_session *s, const int32_t *prompt, int n_prompt, const int32_t *text, int n_text, int32_t draft_max)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    const struct bench_text t = { prompt, text, n_prompt, n_text, draft_max };
    const struct task *task = s->model->task;
    generated_clear(s);
    const int64_t us = task->bench_text ? task->bench_text(s, &t)
                                        : err_set(&s->error, STENO_EARG, "a %s model does not continue a text", s->model->family->name);
    call_leave(s, 0);
    return us;
}
