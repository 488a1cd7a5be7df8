/* steno: the task of text generation. SPDX-License-Identifier: MIT
 *
 * Prompt ids are read into keys and values, and new ids are sampled after them. There is no audio.
 *
 * Embeddings: a row attends to the rows before it, so the last row has seen all of its text. Nothing is sampled: the layers run over the
 * texts, and the rows that count are normalised as before the head. As many texts run together as there are lanes and rows for, each in its
 * own lane; other texts do not change any bit of a row. A text with more rows than a run is read alone, piece by piece. */
#include <stdlib.h>
#include "engine/batch.h"
#include "engine/task.h"
#include "model/parts.h"
#include "task/decode/generation.h"
#include "task/decode/prompt_lookup.h"
#include "task/embed/embedding.h"
#include "task/lm/lm_bench.h"
#include "task/lm/lm_lanes.h"
#include "task/lm/lm_step.h"

/* ---- embeddings --------------------------------------------------------------------------------------------------------------- */

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
static int texts_fill(steno_session *s, int plan, struct together *g, const struct embed_call *c)
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
    const struct bind *norm = &p->bind[s->model->lm.rows_norm];
    size_t ld;
    const float *x = exec_output(s->batch->exec, p, p->output, row, (uint32_t)n, &ld);
    if (!x) return session_ran(s, s->batch->exec, STENO_ENOMEM);
    for (int32_t i = 0; i < n; i++) {
        if (pool_counts(l, l->at)) s->model->kern.norm_rms(y, x + (size_t)i * ld, norm->norm_weight, norm->eps, (size_t)l->width);
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

/* Appends a vector for each text of the call. Overwrites the first lanes, one per text. */
static int lm_embed(steno_session *s, int plan, const struct embed_call *c)
{
    struct together g = { .first = 0 };
    struct pool l;
    int rc = pool_open(&l, s, c);
    float *y = rc ? NULL : calloc((size_t)l.width, sizeof *y);
    if (!rc && !y) rc = err_nomem(&s->error, (size_t)l.width * sizeof *y, "a row");
    while (g.first < c->n_texts && !rc) {
        if (session_should_stop(s)) rc = err_set(&s->error, STENO_ECANCELED, "canceled");
        if (!rc) rc = texts_fill(s, plan, &g, c);
        if (!rc) rc = run_layers(s, plan, &g);
        if (!rc) rc = take_texts(s, plan, &l, y, &g, c);
    }
    free(y);
    pool_close(&l);
    return rc;
}

/* ---- the task ----------------------------------------------------------------------------------------------------------------- */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_LM;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    return (struct batch_shape){ PLAN_TEXT, prompt_lookup_rows_most(n_windows * n_lanes), (size_t)m->text_ctx };
}

static size_t lm_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)m, (void)n_lanes;
    return sizeof(struct lm_batch) + n_windows * sizeof(struct lm_lane);
}

static int lm_batch_open(struct steno_batch *b, steno_error *e)
{
    struct lm_batch *l = b->part = arena_array(&b->arena, 1, sizeof *l);
    if (l) l->lane = arena_array(&b->arena, b->n_windows, sizeof *l->lane);
    return l && l->lane ? STENO_OK : err_nomem(e, lm_batch_memory(b->model, b->n_windows, 1), "a batch");
}

static void lm_batch_close(struct steno_batch *b)
{
    const struct lm_batch *l = lm_batch_of(b);
    for (uint32_t i = 0; l && l->lane && i < b->n_windows; i++) buf_free(&l->lane[i].ids);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)m, (void)team, (void)shared;
    return sizeof(struct lm_session);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct lm_session *l = s->part = arena_alloc(&s->arena, sizeof *l);
    if (!l) return err_nomem(e, sizeof *l, "a session");
    *l = (struct lm_session){ .generation = generation_of(PLAN_TEXT) };
    l->generation.uses_draft = 1;
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    (void)s; /* its lane stays free for the next request */
}

static struct front_time *front_time(const steno_session *s)
{
    return &lm_of(s)->time;
}

/* Is there no text to continue? True if the session has read nothing yet, or lost its text to embeddings. */
static int is_beginning(const steno_session *s)
{
    return !lm_lane_is_own(s) && (s->own_batch || !lm_of(s)->turn);
}

/* Takes a lane for the session. It continues its text, or begins another one in a lane that may hold a prefix of it. */
static int lane_take(steno_session *s, const int32_t *ids, int n, int again)
{
    const int rc = again ? STENO_OK : generation_check(s, ids, n);
    if (rc) return rc;
    if (again && !lm_lane_is_own(s))
        return err_set(&s->error, STENO_EARG, "there is no text to continue: another session of the batch has read one since");
    if (again) lm_lane_enter(s);
    else lm_lane_begin(s);
    if (!again) (void)lm_lane_share(s, ids, n); /* no other request is running */
    lm_batch_of(s->batch)->logits_of = 0;
    return STENO_OK;
}

static int read_ids(steno_session *s, const int32_t *ids, int n, int again)
{
    again = again && !is_beginning(s);
    int rc = lane_take(s, ids, n, again);
    if (rc) return rc;
    rc = generation_read(s, &lm_of(s)->generation, ids, n, again);
    if (!rc) lm_batch_of(s->batch)->logits_of = lm_of(s)->turn;
    lm_lane_leave(s);
    return rc;
}

static int generate_ids(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    again = again && !is_beginning(s);
    int rc = lane_take(s, ids, n, again);
    if (rc) return rc;
    rc = generation_run(s, &lm_of(s)->generation, ids, n, p, again);
    lm_lane_leave(s);
    return rc;
}

static const float *logits(const steno_session *s)
{
    const struct lm_batch *b = lm_batch_of(s->batch);
    if (!b->logits_of || b->logits_of != lm_of(s)->turn) return NULL;
    return exec_logits(s->batch->exec, &s->model->plan[PLAN_TEXT], 0);
}

static int embed(steno_session *s, const struct embed_call *c)
{
    const uint32_t n = c->n_texts > 0 ? (uint32_t)c->n_texts : 1;
    lm_lanes_forget(s->batch, 0, n < s->batch->n_windows ? n : s->batch->n_windows);
    return lm_embed(s, PLAN_TEXT, c);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    lm_lanes_forget(s->batch, 0, s->batch->n_windows);
    return lm_bench(s, PLAN_TEXT, phase, n);
}

static int64_t bench_text(steno_session *s, const struct bench_text *t)
{
    steno_generate_params p = { .size = sizeof p };
    struct generation *g = &lm_of(s)->generation;
    params_default(STENO_CALL_GENERATE, &p);
    p.max_tokens = t->n_text;
    p.draft_max = t->draft_max;
    lm_lanes_forget(s->batch, 0, s->batch->n_windows);
    int rc = params_check(s, STENO_CALL_GENERATE, &p);
    if (!rc) rc = generation_check(s, t->text, t->n_text);
    if (!rc) rc = lane_take(s, t->prompt, t->n_prompt, 0);
    if (rc) return rc;
    const int64_t before = s->timings.decode_us + s->timings.draft_us;
    g->given = t->text;
    rc = generation_run(s, g, t->prompt, t->n_prompt, &p, 0);
    g->given = NULL;
    lm_lane_leave(s);
    if (rc >= 0 && rc < t->n_text)
        rc = err_set(&s->error, STENO_EARG, "a prompt of %d and a text of %d ids have no room in a context of %d", t->n_prompt, t->n_text,
                     (int)s->model->text_ctx);
    return rc < 0 ? rc : s->timings.decode_us + s->timings.draft_us - before;
}

const struct task lm_task = {
    .name = "lm",
    .serves = serves,
    .max_lanes = 1,
    .drafts = STENO_DRAFTS_OF_MODEL | STENO_DRAFTS_OF_TEXT,
    .shape = shape,
    .batch_memory = lm_batch_memory,
    .batch_open = lm_batch_open,
    .batch_close = lm_batch_close,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_GENERATE,
    .request_take = lm_request_take,
    .request_end = lm_request_end,
    .batch_step = lm_step,
    .read = read_ids,
    .logits = logits,
    .generate = generate_ids,
    .embed = embed,
    .bench = bench,
    .bench_text = bench_text,
};
