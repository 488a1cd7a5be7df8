/* steno: sessions: scratch, state and results of one conversation with a model. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "lib/entry.h"
#include "task/decode/draft_model.h"

void steno_session_params_fill(steno_session_params *p, uint32_t size)
{
    const steno_session_params own = { .max_lanes = 1 };
    params_give(p, size, &own, sizeof own);
}

static int params_of(steno_session_params *own, const steno_session_params *p)
{
    enum { FIRST_SIZE = 8 };
    steno_session_params_init(own);
    if (params_take(own, p, sizeof *own, FIRST_SIZE) || own->max_lanes < 1 || own->max_lanes > MAX_LANES) return STENO_EARG;
    return STENO_OK;
}

static uint32_t lanes_of(const steno_model *m, const steno_session_params *p)
{
    return (uint32_t)p->max_lanes < m->task->max_lanes ? (uint32_t)p->max_lanes : m->task->max_lanes;
}

/* For a session with its own batch. */
static uint32_t windows_of(const steno_model *m)
{
    return m->task->own_windows ? m->task->own_windows : 1;
}

int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p)
{
    steno_session_params own;
    if (!m || params_of(&own, p)) return STENO_EARG;
    if (!m->n_plans) return 0; /* such a model has no sessions */
    size_t n = sizeof(steno_session) + (own.batch ? 0 : batch_memory(m, team, windows_of(m), lanes_of(m, &own)));
    if (own.draft_model) {
        if (draft_model_check(m, own.draft_model, NULL)) return STENO_EARG;
        n += batch_draft_memory(own.draft_model, team, windows_of(m));
    }
    return (int64_t)(n + model_ops(m) * sizeof(struct op_time) + m->task->memory(m, team, own.batch != NULL));
}

static int open_parts(steno_session *s, steno_team *team, const steno_session_params *p, steno_error *e)
{
    const steno_model *m = s->model;
    int rc = STENO_OK;
    s->batch = p->batch;
    s->own_batch = !p->batch;
    if (s->own_batch) rc = batch_open(&s->batch, m, team, windows_of(m), lanes_of(m, p), e);
    if (!rc && p->draft_model) rc = batch_open_draft(s->batch, p->draft_model, e);
    if (rc) return rc;
    s->batch->n_sessions++;
    s->timings.load_us = m->load_us;
    s->time = arena_array(&s->arena, model_ops(m), sizeof *s->time);
    if (!s->time) return err_nomem(e, model_ops(m) * sizeof *s->time, "a session");
    return m->task->open(s, e);
}

int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_session_open needs a place for the session and a model");
    *out = NULL;
    steno_session_params own;
    if (params_of(&own, p)) return err_set(e, STENO_EARG, "max_lanes is %d, want 1..%d", (int)own.max_lanes, MAX_LANES);
    if (own.batch && own.batch->model != m) return err_set(e, STENO_EARG, "the batch is one of another model");
    if (m->index_only) return err_set(e, STENO_EARG, "the model was opened with index_only: it has no weights");
    if (own.draft_model && own.batch) return err_set(e, STENO_EARG, "the session is one of a batch, which has the draft model, if any");
    if (own.draft_model && draft_model_check(m, own.draft_model, e)) return STENO_EARG;
    steno_session *s = calloc(1, sizeof *s);
    if (!s) return err_nomem(e, sizeof *s, "a session");
    arena_init(&s->arena);
    s->model = m;
    s->selected = &s->result;
    const int rc = open_parts(s, team, &own, e);
    if (rc) {
        steno_session_close(s);
        return rc;
    }
    *out = s;
    return STENO_OK;
}

/* Removes the session from its batch, which may be freed. */
static void leave_batch(steno_session *s)
{
    struct steno_batch *b = s->batch;
    if (b->solo == s) b->solo = NULL;
    b->n_sessions--;
    if (s->own_batch) b->closed = 1;
}

void steno_session_close(steno_session *s)
{
    if (!s || (s->batch && !session_may_change(s))) return;
    request_drop(s);
    s->model->task->close(s);
    if (s->batch) leave_batch(s);
    batch_release(s->batch);
    result_free(&s->result);
    result_free(&s->translation);
    buf_free(&s->generated);
    buf_free(&s->vectors);
    buf_free(&s->embedded);
    buf_free(&s->chosen);
    buf_free(&s->tops);
    buf_free(&s->generated_text);
    buf_free(&s->held);
    parsed_grammar_free(&s->grammar);
    arena_free(&s->arena);
    free(s);
}

const char *steno_last_error(const steno_session *s)
{
    return s ? s->error.text : "no session";
}

void steno_cancel(steno_session *s)
{
    if (!s) return;
    atomic_store(&s->cancel, 1);
    queue_wake(s->batch);
}

/* ---- information ---- */

int steno_timings_get(const steno_session *s, steno_timings *t)
{
    if (!s || !t || t->size < sizeof(uint32_t)) return STENO_EARG;
    steno_timings now = s->timings;
    const struct front_time *front = s->model->task->front_time(s);
    now.source_us = front->source_ns / 1000;
    now.mel_us = front->features_ns / 1000;
    const uint32_t n = t->size < sizeof now ? t->size : (uint32_t)sizeof now;
    now.size = n;
    memcpy(t, &now, n);
    return STENO_OK;
}

static int64_t us_between(int64_t from_ns, int64_t to_ns)
{
    return to_ns ? (to_ns - from_ns) / 1000 : -1;
}

int steno_request_timings_get(const steno_session *s, steno_request_timings *t)
{
    if (!s || !t || t->size < sizeof(uint32_t) || !s->place.ended_ns) return STENO_EARG;
    const struct queue_place *q = &s->place;
    steno_request_timings own = { .n_windows = (int32_t)q->n_windows, .queued_us = us_between(q->submitted_ns, q->begun_ns),
                                  .first_window_us = us_between(q->submitted_ns, q->first_ns), .encode_us = q->encode_us,
                                  .decode_us = q->decode_us, .total_us = us_between(q->submitted_ns, q->ended_ns), .vad_us = q->vad_us };
    own.size = t->size < sizeof own ? t->size : (uint32_t)sizeof own;
    memcpy(t, &own, own.size);
    return STENO_OK;
}

void steno_timings_reset(steno_session *s)
{
    if (!s || !session_may_change(s)) return;
    s->timings = (steno_timings){ .load_us = s->model->load_us };
    *s->model->task->front_time(s) = (struct front_time){ 0 };
}

void steno_profile_enable(steno_session *s, int on)
{
    if (s && session_may_change(s)) s->profiling = on;
}

int steno_profile_get(const steno_session *s, int i, const char **label, int64_t *ns, int64_t *calls)
{
    if (!s || i < 0) return STENO_EARG;
    int at = i;
    for (int p = 0; p < s->model->n_plans; p++) {
        const struct plan *plan = &s->model->plan[p];
        if (at >= plan->n_ops) {
            at -= plan->n_ops;
            continue;
        }
        if (label) *label = plan->label[at];
        if (ns) *ns = s->time[i].ns;
        if (calls) *calls = s->time[i].calls;
        return STENO_OK;
    }
    return STENO_EARG;
}

/* ---- benchmarks of single phases ---------------------------------------------------------------------------------------------- */

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
