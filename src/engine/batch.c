/* steno: batches: memory, opening and closing, and what their lanes hold. SPDX-License-Identifier: MIT */
#include "engine/batch.h"
#include <stdlib.h>
#include "engine/task.h"
#include "plan/packing.h"

/* ---- positions that lanes hold of their texts --------------------------------------------------------------------------------- */

static int grows(const struct steno_batch *b, int state) { return b->state[state].desc.kind == STATE_APPEND; }

int32_t lane_reach(const struct steno_batch *b, uint32_t lane, int32_t len)
{
    int32_t was;
    do { /* all states have the same mark */
        was = len;
        for (int i = 0; i < b->model->n_states; i++)
            if (grows(b, i)) len = (int32_t)state_reach(&b->state[i], lane, (uint32_t)len);
    } while (len != was);
    return len;
}

int32_t lane_marked(const struct steno_batch *b, uint32_t lane)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i) && b->state[i].mark[lane]) return (int32_t)b->state[i].mark[lane];
    return 0;
}

void lane_mark(struct steno_batch *b, uint32_t lane, int32_t len)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_mark(&b->state[i], lane, (uint32_t)len);
}

void lane_cut(struct steno_batch *b, uint32_t lane, int32_t len)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_truncate(&b->state[i], lane, (uint32_t)len);
}

void lane_fork(struct steno_batch *b, uint32_t to, uint32_t from)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_fork(&b->state[i], to, from);
}

int lane_prepare(struct steno_batch *b, uint32_t lane, int32_t from, int32_t to)
{
    int bad = 0;
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) bad |= state_prepare(&b->state[i], lane, (uint32_t)from, (uint32_t)to);
    return bad;
}

/* ---- memory, opening and closing ---------------------------------------------------------------------------------------------- */

/* Lists the plans in use. Returns their number. */
static int plans_of(const steno_model *m, const struct plan *plans[MODEL_PLANS])
{
    for (int i = 0; i < m->n_plans; i++) plans[i] = &m->plan[i];
    return m->n_plans;
}

/* Number of lanes of a state. Append states have all lanes, and cross keys one per window. Shift states have one, or one per window if
 * streams share runs. */
static uint32_t state_lanes(const steno_model *m, int state, uint32_t n_windows, uint32_t n_lanes)
{
    switch (m->state[state].kind) {
    case STATE_APPEND: return n_windows * n_lanes;
    case STATE_SHIFT: return m->task->streams_share ? n_windows : 1;
    default: return n_windows;
    }
}

size_t model_ops(const steno_model *m)
{
    size_t n = 0;
    for (int i = 0; i < m->n_plans; i++) n += m->plan[i].n_ops;
    return n;
}

/* Parameters of the executor for a batch, or for a batch that may be opened later; its states then have shapes only. */
static struct exec_params exec_params_of(const steno_model *m, int threads, const struct plan *const *plans, struct kv_state *state,
                                         uint32_t rows_out)
{
    return (struct exec_params){ .plan = plans, .n_plans = m->n_plans, .state = state, .n_states = m->n_states,
                                 .max_out = rows_out, .threads = threads };
}

/* Bytes of the tables of tokens. */
static size_t tokens_sz(const steno_model *m, const struct batch_shape *s, uint32_t n_lanes)
{
    return (m->task->one_by_one ? 1 : n_lanes) * s->n_ids * sizeof(struct sampled_token);
}

/* Number of streams whose states fit. */
static uint32_t streams_of(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    return m->n_states && m->state[0].kind == STATE_SHIFT ? state_lanes(m, 0, n_windows, n_lanes) : 0;
}

/* Shape given by the task. A draft model takes one row of logits per lane at a time. */
static struct batch_shape shape_of(const steno_model *m, uint32_t n_windows, uint32_t n_lanes, int is_draft)
{
    struct batch_shape shape = { 0, 1, 1 };
    if (m->task->shape) shape = m->task->shape(m, n_windows, n_lanes);
    if (is_draft) shape.rows_out = n_windows * n_lanes;
    return shape;
}

/* Memory without the task's part. */
static size_t bare_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes, int is_draft)
{
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = n_windows * n_lanes;
    const struct batch_shape shape = shape_of(m, n_windows, n_lanes, is_draft);
    struct kv_state state[MODEL_STATES];
    size_t n = sizeof(struct steno_batch) + model_ops(m) * sizeof(struct op_time);
    n += streams_of(m, n_windows, n_lanes) * sizeof(struct stream_lane);
    for (int i = 0; i < m->n_states; i++) {
        state[i] = state_shape(&m->state[i], m->kv_type[i], state_lanes(m, i, n_windows, n_lanes));
        n += state_tables_memory(&m->state[i], state[i].lanes);
    }
    const struct exec_params p = exec_params_of(m, team_threads(team), plans, state, shape.rows_out);
    n += exec_memory(m->executor, &p);
    if (shape.first_plan == n_plans) return n;
    n += run_memory(plans + shape.first_plan, n_plans - shape.first_plan, lanes) + tokens_sz(m, &shape, lanes);
    return n + shape.n_ids * sizeof(struct best);
}

size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes)
{
    size_t n = bare_memory(m, team, n_windows, n_lanes, 0);
    if (m->exact) n += batch_memory(m->exact, team, 1, n_lanes);
    return m->task->batch_memory ? n + m->task->batch_memory(m, n_windows, n_lanes) : n;
}

size_t batch_draft_memory(const steno_model *draft, const steno_team *team, uint32_t n_windows)
{
    return bare_memory(draft, team, n_windows, 1, 1) + (draft->task->draft_memory ? draft->task->draft_memory(draft) : 0);
}

/* Have all running requests been cancelled? */
static int all_stop(void *user)
{
    const struct steno_batch *b = user;
    int live = 0;
    if (b->solo) return session_should_stop(b->solo);
    for (steno_session *s = b->first; s; s = s->next) {
        if (s->request_state != REQUEST_LIVE) continue;
        if (!session_should_stop(s)) return 0;
        live = 1;
    }
    return live;
}

/* Allocates the tables of rows and lanes, and of the tokens chosen in them. */
static int run_open(struct steno_batch *b, const struct plan **plans, int n_plans, const struct batch_shape *shape)
{
    const uint32_t lanes = b->n_windows * b->n_lanes;
    b->sampled = arena_alloc(&b->arena, tokens_sz(b->model, shape, lanes));
    int bad = !b->sampled || run_init(&b->run, &b->arena, plans, n_plans, lanes);
    b->run.argmax.best = arena_array(&b->arena, shape->n_ids, sizeof *b->run.argmax.best);
    bad |= !b->run.argmax.best;
    return bad;
}

static int open_parts(struct steno_batch *b, steno_error *e)
{
    const steno_model *m = b->model;
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const struct batch_shape shape = shape_of(m, b->n_windows, b->n_lanes, b->is_draft);
    struct exec_params p = exec_params_of(m, team_threads(b->team), plans, b->state, shape.rows_out);
    int rc = STENO_OK;
    for (int i = 0; i < m->n_states && !rc; i++)
        rc = state_open(&b->state[i], &b->arena, &m->state[i], m->kv_type[i], state_lanes(m, i, b->n_windows, b->n_lanes), e);
    p.team = b->team;
    p.should_stop = all_stop;
    p.user = b;
    if (!rc) rc = exec_open(&b->exec, m->executor, &b->arena, &p, e);
    if (rc) return rc;
    b->time = arena_array(&b->arena, model_ops(m), sizeof *b->time);
    b->n_streaming = streams_of(m, b->n_windows, b->n_lanes);
    b->streaming = arena_array(&b->arena, b->n_streaming, sizeof *b->streaming);
    int bad = !b->time || (b->n_streaming && !b->streaming);
    if (shape.first_plan < n_plans) bad |= run_open(b, plans + shape.first_plan, n_plans - shape.first_plan, &shape);
    if (bad)
        return err_nomem(e, model_ops(m) * sizeof *b->time + tokens_sz(m, &shape, b->n_windows * b->n_lanes), "a session");
    int (*const open)(struct steno_batch *, steno_error *) = b->is_draft ? m->task->draft_open : m->task->batch_open;
    return open ? open(b, e) : STENO_OK;
}

static void batch_close(struct steno_batch *b)
{
    if (b->exact) batch_close(b->exact);
    if (b->draft) batch_close(b->draft);
    if (b->model->task->batch_close && !b->is_draft) b->model->task->batch_close(b);
    queue_destroy(b);
    exec_close(b->exec);
    arena_free(&b->arena);
    model_release(b->model);
    team_close(b->team);
    free(b);
}

void batch_release(struct steno_batch *b)
{
    if (b && b->closed && !b->n_sessions) batch_close(b);
}

/* An empty batch; NULL: no memory. */
static struct steno_batch *batch_new(const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes)
{
    struct steno_batch *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    arena_init(&b->arena);
    queue_init(b);
    b->model = m;
    b->team = team;
    model_hold(m);
    team_hold(team);
    b->n_windows = n_windows;
    b->n_lanes = n_lanes;
    return b;
}

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e)
{
    struct steno_batch *b = *out = batch_new(m, team, n_windows, n_lanes);
    if (!b) return err_nomem(e, sizeof *b, "a session");
    int rc = open_parts(b, e);
    if (!rc && m->exact) rc = batch_open(&b->exact, m->exact, team, 1, n_lanes, e);
    if (!rc) return STENO_OK;
    batch_close(b);
    *out = NULL;
    return rc;
}

int batch_open_draft(struct steno_batch *b, const steno_model *draft, steno_error *e)
{
    struct steno_batch *d = batch_new(draft, b->team, b->n_windows, 1);
    if (!d) return err_nomem(e, sizeof *d, "a session");
    d->is_draft = 1;
    const struct plan *ours = &b->model->plan[PLAN_ENCODER], *its = &draft->plan[PLAN_ENCODER];
    d->shares_encoder = its->cross_state != NO_STATE && same_phase(ours, its, PHASE_ENCODE);
    const int rc = open_parts(d, e);
    for (uint32_t i = 0; !rc && i < d->run.n_lanes; i++) /* done until a text needs draft tokens */
        d->run.lane[i] = (struct lane){ .kv.window = (uint16_t)i,
                                        .sampler = { .out = d->sampled + i * (size_t)draft->text_ctx, .last_ts = -1, .done = 1 } };
    if (rc) batch_close(d);
    else b->draft = d;
    return rc;
}
