/* steno: text requests: queueing, start and end. SPDX-License-Identifier: MIT */
#include "task/lm/lm_request.h"
#include "engine/batch_loop.h"
#include "task/lm/lm_lanes.h"

int lm_request_take(steno_session *s, const struct request_given *g)
{
    struct lm_request *r = &lm_of(s)->request;
    *r = (struct lm_request){ .p = *g->generate, .ids = g->ids, .n = g->n_ids };
    generated_clear(s);
    s->should_abort = r->p.should_abort;
    s->abort_user = r->p.user;
    int rc = params_check(s, STENO_CALL_GENERATE, &r->p);
    if (!rc) rc = generation_check(s, r->ids, r->n);
    if (!rc) rc = chooser_open(&r->chooser, s, PLAN_TEXT, &r->p);
    if (rc) chooser_close(&r->chooser);
    return rc;
}

void lm_request_begin(steno_session *s)
{
    struct lm_request *r = &lm_of(s)->request;
    queue_begin(s);
    queue_window(s);
    s->request_state = REQUEST_LIVE;
    lm_lane_begin(s);
    r->has_lane = r->waits = 1;
}

int lm_request_start(steno_session *s)
{
    struct lm_request *r = &lm_of(s)->request;
    struct generation *g = &lm_of(s)->generation;
    int32_t known;
    if (lm_lane_share(s, r->ids, r->n)) return STENO_OK;
    r->waits = 0;
    const int rc = generation_begin(s, g, r->ids, r->n, &known);
    if (!rc) chooser_start(&r->chooser, &s->batch->run.lane[g->lane], s->model->text_ctx + 1 - r->n, 1);
    return rc;
}

int lm_request_end(steno_session *s, int status)
{
    struct lm_request *r = &lm_of(s)->request;
    const int rc = chooser_end(&r->chooser, status), n = rc ? 0 : r->chooser.lane->sampler.n;
    if (r->has_lane && !r->waits) generation_end(s, &lm_of(s)->generation, &r->chooser, rc);
    if (r->has_lane) lm_lane_leave(s);
    chooser_close(&r->chooser);
    r->has_lane = r->waits = 0;
    return rc ? rc : n;
}
