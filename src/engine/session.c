/* steno: what all sessions have in common. SPDX-License-Identifier: MIT */
#include "engine/session.h"
#include "engine/task.h"
#include "search/grammar.h"

int session_ran(steno_session *s, const struct exec *x, int rc)
{
    if (!rc) return STENO_OK;
    if (rc == STENO_ECANCELED) return err_set(&s->error, rc, "canceled");
    return err_set(&s->error, rc, "the model could not be run: %s", *x->error.text ? x->error.text : err_status_text(rc));
}

int session_should_stop(steno_session *s)
{
    if (atomic_load(&s->cancel)) return 1;
    int stop = s->should_abort && s->should_abort(s->abort_user);
    if (!stop) stop = s->params && s->params->should_abort && s->params->should_abort(s->params->user);
    if (stop && !s->stops_parts) atomic_store(&s->cancel, 1); /* later checks give the same answer */
    return stop;
}

void parsed_grammar_free(struct parsed_grammar *g)
{
    matcher_close(g->matcher);
    grammar_close(g->grammar);
    buf_free(&g->text);
    *g = (struct parsed_grammar){ 0 };
}

void generated_clear(steno_session *s)
{
    buf_clear(&s->generated);
    buf_clear(&s->generated_text);
    buf_clear(&s->chosen);
    buf_clear(&s->tops);
    s->finish = STENO_FINISH_NONE;
}

int session_stop(void *session)
{
    return session_should_stop(session);
}

void session_ready(steno_session *s)
{
    struct steno_batch *b = s->batch;
    err_clear(&s->error);
    atomic_store(&s->cancel, 0);
    if (b->at_work && !s->entered) return; /* other sessions of the batch are running */
    b->solo = s;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].sampler.done = 1; /* until lane_rewind enables one */
}

void session_forget(steno_session *s)
{
    err_clear(&s->error);
    atomic_store(&s->cancel, 0);
    result_clear(&s->result);
    result_clear(&s->translation);
    s->selected = &s->result;
}

void session_begin(steno_session *s)
{
    session_forget(s);
    session_ready(s);
    if (s->model->task->batch_forget) s->model->task->batch_forget(s);
}

struct op_time *session_time(const steno_session *s, int plan)
{
    struct op_time *t = s->time;
    if (!s->profiling) return NULL;
    for (int i = 0; i < plan; i++) t += s->model->plan[i].n_ops;
    return t;
}

void session_share_time(const steno_session *s, int plan, int64_t rows, int64_t all)
{
    struct op_time *to = session_time(s, plan);
    const struct op_time *from = s->batch->time;
    for (int k = 0; to && k < s->model->plan[plan].n_ops; k++) {
        to[k].ns += (int64_t)((double)from[k].ns * (double)rows / (double)all);
        to[k].calls += from[k].calls;
    }
}
