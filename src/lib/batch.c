/* steno: batches: windows of several sessions that decode together. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include "engine/batch_loop.h"
#include "lib/entry.h"
#include "task/decode/draft_model.h"

void steno_batch_params_fill(steno_batch_params *p, uint32_t size)
{
    const steno_batch_params own = { .max_windows = 8, .max_lanes = 1, .steps_between_encodes = 8 };
    params_give(p, size, &own, sizeof own);
}

static int params_of(steno_batch_params *own, const steno_model *m, const steno_batch_params *p, steno_error *e)
{
    steno_batch_params_init(own);
    if (params_take(own, p, sizeof *own, offsetof(steno_batch_params, steps_between_encodes)))
        return err_set(e, STENO_EARG, "steno_batch_params was not filled by its init function");
    if (own->max_windows < 1 || own->max_windows > MAX_WINDOWS)
        return err_set(e, STENO_EARG, "max_windows is %d, want 1..%d", (int)own->max_windows, MAX_WINDOWS);
    if (own->max_lanes < 1 || own->max_lanes > MAX_LANES)
        return err_set(e, STENO_EARG, "max_lanes is %d, want 1..%d", (int)own->max_lanes, MAX_LANES);
    if ((uint32_t)own->max_lanes > m->task->max_lanes) own->max_lanes = (int32_t)m->task->max_lanes;
    if (own->max_windows * own->max_lanes > RUN_LANES)
        return err_set(e, STENO_EARG, "%d windows of %d sequences are %d sequences; at most %d decode together, so at most %d windows",
                       (int)own->max_windows, (int)own->max_lanes, (int)(own->max_windows * own->max_lanes), RUN_LANES,
                       RUN_LANES / (int)own->max_lanes);
    if (own->steps_between_encodes < 0)
        return err_set(e, STENO_EARG, "steps_between_encodes is %d, want 0 or more", (int)own->steps_between_encodes);
    if (m->index_only) return err_set(e, STENO_EARG, "the model was opened with index_only: it has no weights");
    return own->draft_model ? draft_model_check(m, own->draft_model, e) : STENO_OK;
}

int64_t steno_batch_memory(const steno_model *m, const steno_team *team, const steno_batch_params *p)
{
    steno_batch_params own;
    if (!m || params_of(&own, m, p, NULL)) return STENO_EARG;
    const size_t n = batch_memory(m, team, (uint32_t)own.max_windows, (uint32_t)own.max_lanes);
    return (int64_t)(own.draft_model ? n + batch_draft_memory(own.draft_model, team, (uint32_t)own.max_windows) : n);
}

int steno_batch_open(steno_batch **out, const steno_model *m, steno_team *team, const steno_batch_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_batch_open needs a place for the batch and a model");
    *out = NULL;
    steno_batch_params own;
    int rc = params_of(&own, m, p, e);
    if (!rc) rc = batch_open(out, m, team, (uint32_t)own.max_windows, (uint32_t)own.max_lanes, e);
    if (rc) return rc;
    (*out)->params = own;
    if (own.draft_model) rc = batch_open_draft(*out, own.draft_model, e);
    if (!rc) return STENO_OK;
    steno_batch_close(*out);
    *out = NULL;
    return rc;
}

void steno_batch_close(steno_batch *b)
{
    if (!b || !batch_may_close(b)) return;
    b->closed = 1;
    batch_release(b);
}

void steno_request_params_fill(steno_request_params *p, uint32_t size)
{
    const steno_request_params own = { .priority = STENO_PRIORITY_AUTO };
    params_give(p, size, &own, sizeof own);
}

/* Fills a request that continues a text. */
static int text_fill(steno_session *s, struct request_given *g, union request_params *own, const steno_source *src,
                     const steno_request_params *r)
{
    if (r->transcribe) return request_refuse(s, "does not transcribe");
    if (r->find_speech) return request_refuse(s, "does not find speech: use a voice-activity model");
    if (src || r->heard) return request_refuse(s, "takes no audio: it continues ids");
    *g = (struct request_given){ .generate = &own->generate, .ids = r->ids, .n_ids = r->n_ids };
    return generate_params_take(s, &own->generate, r->generate);
}

static int submit(steno_session *s, const steno_source *src, const steno_request_params *theirs)
{
    steno_request_params r;
    struct request_given g;
    union request_params own;
    steno_request_params_init(&r);
    if (params_take(&r, theirs, sizeof r, offsetof(steno_request_params, transcribe) + sizeof r.transcribe))
        return err_set(&s->error, STENO_EARG, "steno_request_params was not filled by steno_request_params_init");
    if (r.priority < STENO_PRIORITY_AUTO || r.priority > STENO_PRIORITY_LATER)
        return err_set(&s->error, STENO_EARG, "priority is %d, want 0..%d, or -1 for that of its windows", (int)r.priority,
                       STENO_PRIORITY_LATER);
    if (s->model->task->call == STENO_CALL_GENERATE) {
        const int rc = text_fill(s, &g, &own, src, &r);
        return rc ? rc : request_submit(s, &g, r.priority);
    }
    if (r.ids || r.generate) return request_refuse(s, "takes audio: ids and generate are not for it");
    if (r.heard && !s->model->task->listen) return request_refuse(s, "reads its audio once: steno_request_params.heard is not for it");
    const int rc = request_fill(s, &g, &own, src, r.transcribe, r.find_speech);
    g.first_pass = r.heard;
    return rc ? rc : request_submit(s, &g, r.priority);
}

int steno_batch_submit(steno_batch *b, steno_session *s, const steno_source *src, const steno_request_params *r)
{
    if (!b || !s) return STENO_EARG;
    if (s->batch != b) return err_set(&s->error, STENO_EARG, "the session was not opened with this batch");
    const int rc = queue_may_take(s);
    if (rc) return rc;
    session_forget(s);
    return submit(s, src, r);
}

int steno_batch_add(steno_batch *b, steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    steno_request_params r;
    steno_request_params_init(&r);
    r.transcribe = p;
    return steno_batch_submit(b, s, src, &r);
}

int steno_batch_run_as(steno_batch *b, enum steno_run_mode mode)
{
    if ((int)mode < STENO_RUN_DRAIN || (int)mode > STENO_RUN_POLL) return STENO_EARG;
    const int rc = batch_enter(b);
    if (rc) return rc;
    batch_carry_out(b, mode);
    int left = 0;
    for (const steno_session *s = b->first; s; s = s->next) left++;
    batch_leave(b);
    return left;
}

int steno_batch_run(steno_batch *b)
{
    return steno_batch_run_as(b, STENO_RUN_DRAIN);
}

void steno_batch_wake(steno_batch *b)
{
    if (b) queue_wake(b);
}

void steno_batch_stop(steno_batch *b)
{
    if (!b) return;
    atomic_store(&b->queue.stop, 1);
    queue_wake(b);
}

int steno_listen(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e)
{
    err_clear(e);
    if (!m || !src || !src->read || !out) return err_set(e, STENO_EARG, "steno_listen needs a model, a source and a place for the result");
    if (out->size < sizeof *out) return err_set(e, STENO_EARG, "steno_heard has %u bytes, want %zu", (unsigned)out->size, sizeof *out);
    if (!m->task->listen) return err_set(e, STENO_EARG, "a %s model reads its audio once", m->family->name);
    return m->task->listen(m, src, out, e);
}
