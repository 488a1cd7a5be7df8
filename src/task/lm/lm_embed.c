/* steno: vectors of texts by language models. SPDX-License-Identifier: MIT
 *
 * A row sees those before it, so the last one has seen all of its text. Nothing is chosen: the layers run over a text, piece by piece, and
 * the rows that count are normalised as before the head. Texts come one after the other in lane 0. */
#include "task/lm/lm_embed.h"
#include <stdlib.h>
#include "task/generation.h"

/* Rows [at, at + n) of a text through the layers. */
static int run_layers(steno_session *s, int plan, const int32_t *ids, int32_t at, int32_t n)
{
    struct steno_batch *b = s->batch;
    struct run *r = &b->run;
    struct run_time spent = { 0 };
    r->n_rows = 0;
    for (int32_t i = 0; i < n; i++) run_add(r, ids[at + i], at + i, 0, 0);
    if (state_prepare(&b->state[STATE_SELF], 0, (uint32_t)at, (uint32_t)(at + n)))
        return err_set(&s->error, STENO_EARG, "%d tokens are too many", (int)(at + n));
    r->lane[0].kv.len = at + n;
    run_prepare(r);
    const struct phases what = { .first = PHASE_LAYERS, .end = PHASE_LAYERS + 1, .n_rows = (uint32_t)n, .run = r };
    const int rc = exec_phases(b->exec, &s->model->plan[plan], &what, session_time(s, plan), &spent);
    s->timings.prompt_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_prompt_tokens += n;
    s->timings.n_wakes++;
    return session_ran(s, b->exec, rc);
}

/* Of n rows that have run those that count, normalised. */
static int take_rows(steno_session *s, int plan, struct pool *l, float *y, int32_t n)
{
    const struct plan *p = &s->model->plan[plan];
    const struct bind *norm = &p->bind[s->model->rows_norm];
    size_t ld;
    const float *x = exec_output(s->batch->exec, p, p->output, 0, (uint32_t)n, &ld);
    if (!x) return session_ran(s, s->batch->exec, STENO_ENOMEM);
    for (int32_t i = 0; i < n; i++) {
        if (pool_wants(l, l->at)) s->model->kern.norm_rms(y, x + (size_t)i * ld, norm->norm_weight, norm->eps, (size_t)l->width);
        pool_add(l, y, 0, 1);
    }
    return STENO_OK;
}

static int read_text(steno_session *s, int plan, struct pool *l, float *y, const struct embed_call *c)
{
    const int32_t most = (int32_t)s->model->plan[plan].max_rows, *ids = embed_ids(c, l->t);
    int rc = STENO_OK;
    lane_rewind(s->batch, 0, 0);
    s->timings.n_prompts++;
    for (int32_t at = 0, n; at < l->t->n && !rc; at += n) {
        n = l->t->n - at < most ? l->t->n - at : most;
        rc = run_layers(s, plan, ids, at, n);
        if (!rc) rc = take_rows(s, plan, l, y, n);
    }
    return rc;
}

int lm_embed(steno_session *s, int plan, const struct embed_call *c)
{
    struct pool l;
    int rc = pool_open(&l, s, c);
    float *y = rc ? NULL : calloc((size_t)l.width, sizeof *y);
    if (!rc && !y) rc = err_nomem(&s->error, (size_t)l.width * sizeof *y, "a row");
    for (int i = 0; i < c->n_texts && !rc; i++) {
        pool_begin(&l, embed_text(c, i));
        rc = session_should_stop(s) ? err_set(&s->error, STENO_ECANCELED, "canceled") : read_text(s, plan, &l, y, c);
        if (!rc) pool_end(&l, s, c);
    }
    free(y);
    pool_close(&l);
    return rc;
}
