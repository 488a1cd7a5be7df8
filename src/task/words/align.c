/* steno: aligns known tokens with audio frames. SPDX-License-Identifier: MIT */
#include "task/words/align.h"
#include <math.h>

static int run_phase(steno_session *s, struct steno_batch *b, int phase, int32_t n)
{
    const struct plan *p = &b->model->plan[PLAN_ALIGN];
    struct op_time *time = b == s->batch ? session_time(s, PLAN_ALIGN) : NULL;
    struct run_time spent;
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = (uint32_t)n, .run = &b->run };
    const int rc = exec_phases(b->exec, p, &what, time, &spent);
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_wakes++;
    return session_ran(s, b->exec, rc);
}

static int check(steno_session *s, const struct steno_batch *b, uint16_t lane, const int32_t *ids, int32_t n, int32_t n_ctx)
{
    const steno_model *m = s->model;
    if (m->n_plans <= PLAN_ALIGN) return err_set(&s->error, STENO_EARG, "a %s model aligns no words", m->family->name);
    const int32_t max = (int32_t)m->plan[PLAN_ALIGN].max_rows;
    if (lane >= b->run.n_lanes) return err_set(&s->error, STENO_EARG, "lane %u, want less than %u", lane, b->run.n_lanes);
    if (n < 1 || n > max) return err_set(&s->error, STENO_EARG, "%d tokens to align, want 1..%d", (int)n, (int)max);
    if (n_ctx < 1 || n_ctx > m->audio_ctx)
        return err_set(&s->error, STENO_EARG, "%d positions of audio to align with, want 1..%d", (int)n_ctx, (int)m->audio_ctx);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->n_vocab)
            return err_set(&s->error, STENO_EARG, "id %d at place %d is not in a vocabulary of %d", (int)ids[i], (int)i, (int)m->n_vocab);
    return STENO_OK;
}

/* Adds the rows of all ids. The rows from `from` on, at most `room` of them, output logits for the probability of the next id. */
static void rows_of(struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t from, int32_t room)
{
    r->n_rows = 0;
    for (int32_t i = 0; i < n; i++) {
        const int asks = i >= from && i - from < room && i + 1 < n;
        run_add(r, ids[i], i, lane, asks ? ROW_GIVEN : 0);
        if (asks) r->argmax.best[i].id = ids[i + 1];
    }
    run_prepare(r);
}

static int probabilities(steno_session *s, struct steno_batch *b, uint16_t lane, const int32_t *ids, int32_t n, float *prob)
{
    struct run *r = &b->run;
    const int32_t room = (int32_t)b->model->plan[PLAN_ALIGN].max_out;
    r->align.given_end = s->model->tokens.eot;
    prob[0] = 1;
    for (int32_t from = 0; from + 1 < n; from += room) {
        rows_of(r, lane, ids, n, from, room);
        const int rc = run_phase(s, b, PHASE_LM_HEAD, n);
        if (rc) return rc;
    }
    for (int32_t i = 1; i < n; i++) prob[i] = expf(r->argmax.best[i - 1].logprob);
    return STENO_OK;
}

int align_run(steno_session *s, const struct align_place *at, const int32_t *ids, int32_t n, struct alignment *out)
{
    struct steno_batch *b = at->b;
    const uint16_t lane = at->lane;
    int rc = check(s, b, lane, ids, n, at->n_ctx);
    if (rc) return rc;
    const struct plan *p = &b->model->plan[PLAN_ALIGN];
    struct kv_state *self = &b->state[STATE_SELF];
    struct run *r = &b->run;
    state_truncate(self, lane, 0);
    if (state_prepare(self, lane, 0, (uint32_t)n)) return err_set(&s->error, STENO_EARG, "%d tokens to align: too many", (int)n);
    if (!r->lane[lane].kv.enc_len) r->lane[lane].kv.enc_len = s->model->audio_ctx;
    r->lane[lane].kv.len = n;
    r->align.frames = (uint32_t)at->n_ctx;
    rows_of(r, lane, ids, n, 0, 0);
    rc = run_phase(s, b, PHASE_ALIGN, n);
    if (!rc && out->prob) rc = probabilities(s, b, lane, ids, n, out->prob);
    if (rc) return rc;
    out->matrix = exec_output(b->exec, p, p->output, 0, (uint32_t)n, &out->ld);
    return out->matrix ? STENO_OK : session_ran(s, b->exec, STENO_ENOMEM);
}
