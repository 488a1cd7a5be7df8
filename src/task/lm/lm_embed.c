/* steno: text embeddings by language models. SPDX-License-Identifier: MIT
 *
 * A row attends to the rows before it, so the last row has seen all of its text. Nothing is sampled: the layers run over the texts, and the
 * rows that count are normalised as before the head. As many texts run together as there are lanes and rows for, each in its own lane;
 * other texts do not change any bit of a row. A text with more rows than a run is read alone, piece by piece. */
#include "task/lm/lm_embed.h"
#include <stdlib.h>
#include "task/decode/generation.h"
#include "engine/lanes.h"

/* Texts [first, first + n) of a call, in one run. For a single text that does not fit: n_rows rows from token `at` on. */
struct together { int first, n; int32_t at, n_rows; };

/* Adds tokens [at, at + n) of a text as the lane's next rows. */
static int add_rows(steno_session *s, uint16_t lane, const int32_t *ids, int32_t at, int32_t n)
{
    struct steno_batch *b = s->batch;
    lane_rewind(b, lane, at);
    if (lane_prepare(b, lane, at, at + n))
        return err_set(&s->error, STENO_EARG, "%d tokens are too many", (int)(at + n));
    b->run.lane[lane].kv.len = at + n;
    for (int32_t i = 0; i < n; i++) run_add(&b->run, ids[at + i], at + i, lane, 0);
    return STENO_OK;
}

/* Adds the next piece of a text that has begun, or the next texts, as many as fit. */
static int fill(steno_session *s, int plan, struct together *g, const struct embed_call *c)
{
    struct run *r = &s->batch->run;
    const int32_t most = (int32_t)s->model->plan[plan].max_rows;
    int rc = STENO_OK;
    r->n_rows = 0;
    g->n_rows = 0;
    for (g->n = 0; g->n < (int)r->n_lanes && g->first + g->n < c->n_texts && !rc; g->n++) {
        const struct embed_text *t = embed_text(c, g->first + g->n);
        const int32_t rest = t->n - g->at, n = rest < most ? rest : most;
        if (n > most - g->n_rows || (g->n && g->at)) break;
        rc = add_rows(s, (uint16_t)g->n, embed_ids(c, t), g->at, n);
        g->n_rows += n;
    }
    run_prepare(r);
    return rc;
}

static int run_layers(steno_session *s, int plan, const struct together *g)
{
    struct steno_batch *b = s->batch;
    struct run_time spent = { 0 };
    const struct phases what = { .first = PHASE_LAYERS, .end = PHASE_LAYERS + 1, .n_rows = b->run.n_rows, .run = &b->run };
    const int rc = exec_phases(b->exec, &s->model->plan[plan], &what, session_time(s, plan), &spent);
    s->timings.prompt_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_prompt_tokens += g->n_rows;
    if (!g->at) s->timings.n_prompts += g->n;
    s->timings.n_wakes++;
    return session_ran(s, b->exec, rc);
}

/* Adds those of the n rows from `row` on that count, normalised, to the pool. */
static int take_rows(steno_session *s, int plan, struct pool *l, float *y, uint32_t row, int32_t n)
{
    const struct plan *p = &s->model->plan[plan];
    const struct bind *norm = &p->bind[s->model->rows_norm];
    size_t ld;
    const float *x = exec_output(s->batch->exec, p, p->output, row, (uint32_t)n, &ld);
    if (!x) return session_ran(s, s->batch->exec, STENO_ENOMEM);
    for (int32_t i = 0; i < n; i++) {
        if (pool_wants(l, l->at)) s->model->kern.norm_rms(y, x + (size_t)i * ld, norm->norm_weight, norm->eps, (size_t)l->width);
        pool_add(l, y, 0, 1);
    }
    return STENO_OK;
}

/* Pools the rows of the run into vectors, then moves on to the next texts, or to the rest of an incomplete one. */
static int take_texts(steno_session *s, int plan, struct pool *l, float *y, struct together *g, const struct embed_call *c)
{
    uint32_t row = 0;
    for (int i = 0; i < g->n; i++) {
        const struct embed_text *t = embed_text(c, g->first + i);
        const int32_t n = t->n - g->at < g->n_rows ? t->n - g->at : g->n_rows;
        if (!g->at) pool_begin(l, t);
        const int rc = take_rows(s, plan, l, y, row, n);
        if (rc) return rc;
        row += (uint32_t)n;
        if (g->at + n < t->n) {
            g->at += n;
            return STENO_OK;
        }
        pool_end(l, s, c);
    }
    g->first += g->n;
    g->at = 0;
    return STENO_OK;
}

int lm_embed(steno_session *s, int plan, const struct embed_call *c)
{
    struct together g = { .first = 0 };
    struct pool l;
    int rc = pool_open(&l, s, c);
    float *y = rc ? NULL : calloc((size_t)l.width, sizeof *y);
    if (!rc && !y) rc = err_nomem(&s->error, (size_t)l.width * sizeof *y, "a row");
    while (g.first < c->n_texts && !rc) {
        if (session_should_stop(s)) rc = err_set(&s->error, STENO_ECANCELED, "canceled");
        if (!rc) rc = fill(s, plan, &g, c);
        if (!rc) rc = run_layers(s, plan, &g);
        if (!rc) rc = take_texts(s, plan, &l, y, &g, c);
    }
    free(y);
    pool_close(&l);
    return rc;
}
