/* steno: batches: what computes, for one window or for several. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "task/ar/ar_task.h"

/* The plans in use; their number. */
static int plans_of(const steno_model *m, const struct plan *plans[MODEL_PLANS])
{
    for (int i = 0; i < m->n_plans; i++) plans[i] = &m->plan[i];
    return m->n_plans;
}

/* The first of the plans whose rows are told apart, and chosen from; the others follow it. */
static int first_run_plan(const steno_model *m)
{
    return m->family->search == SEARCH_AR ? PLAN_DECODER : PLAN_ENCODER;
}

/* Lanes that a state is kept for: cross keys once per window. */
static uint32_t state_lanes(const steno_model *m, int state, uint32_t n_windows, uint32_t n_lanes)
{
    return m->state[state].kind == STATE_APPEND ? n_windows * n_lanes : n_windows;
}

size_t batch_ids(const steno_model *m)
{
    return m->family->search == SEARCH_AR    ? (size_t)m->text_ctx
           : m->family->search == SEARCH_CTC ? m->plan[PLAN_ENCODER].max_rows
                                             : 0;
}

size_t model_ops(const steno_model *m)
{
    size_t n = 0;
    for (int i = 0; i < m->n_plans; i++) n += m->plan[i].n_ops;
    return n;
}

/* Rows of logits at a time: one for each lane of a window, which is also more than a window that begins has, but where it has one lane: the
 * end of its prompt, and the row that says how probable silence is. A tile's worth where rows are not lanes. */
static uint32_t rows_out(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    const uint32_t most = n_windows * (n_lanes > 1 ? n_lanes : 2);
    if (m->family->search != SEARCH_AR || most > RUN_LANES) return RUN_LANES;
    return most > ROWS_OUT_LEAST ? most : ROWS_OUT_LEAST;
}

/* What the executor has to know: of a batch, or of one that might be opened, whose states have their shapes alone. */
static struct exec_params exec_params_of(const steno_model *m, int threads, const struct plan *const *plans, struct kv_state *state,
                                         uint32_t n_windows, uint32_t n_lanes)
{
    return (struct exec_params){ .plan = plans, .n_plans = m->n_plans, .state = state, .n_states = m->n_states,
                                 .max_out = rows_out(m, n_windows, n_lanes), .threads = threads };
}

size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes)
{
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = n_windows * n_lanes;
    struct kv_state state[MODEL_STATES];
    size_t n = sizeof(struct steno_batch) + model_ops(m) * sizeof(struct op_time);
    for (int i = 0; i < m->n_states; i++) {
        state[i] = state_shape(&m->state[i], m->kv_type[i], state_lanes(m, i, n_windows, n_lanes));
        n += state_tables_memory(&m->state[i], state[i].lanes);
    }
    const struct exec_params p = exec_params_of(m, team_threads(team), plans, state, n_windows, n_lanes);
    n += exec_memory(m->executor, &p);
    if (m->exact) n += batch_memory(m->exact, team, 1, n_lanes);
    if (m->family->search == SEARCH_VAD) return n;
    const int first = first_run_plan(m);
    n += run_memory(plans + first, n_plans - first, lanes) + batch_ids(m) * lanes * sizeof(struct sampled_token);
    if (m->family->search == SEARCH_AR) {
        n += n_windows * sizeof(struct decode_slot) + lanes * (n_lanes + 1) * sizeof(struct sampled_token);
        if (n_windows > 1) n += n_windows * (sizeof(struct window_decoder) + decoder_memory(m, 1));
    }
    return n + batch_ids(m) * sizeof(struct best);
}

/* Everybody at work wants to stop. */
static int all_stop(void *user)
{
    const struct steno_batch *b = user;
    int live = 0;
    if (b->solo) return session_should_stop(b->solo);
    for (steno_session *s = b->first; s; s = s->next) {
        if (s->request.state != REQUEST_LIVE) continue;
        if (!session_should_stop(s)) return 0;
        live = 1;
    }
    return live;
}

/* What token by token decoding needs. */
static int open_ar(struct steno_batch *b, steno_error *e)
{
    const steno_model *m = b->model;
    const uint32_t lanes = b->n_windows * b->n_lanes;
    b->decode_slot = arena_array(&b->arena, b->n_windows, sizeof *b->decode_slot);
    struct sampled_token *top = arena_array(&b->arena, lanes, (b->n_lanes + 1) * sizeof *top);
    if (!b->decode_slot || !top) return err_nomem(e, lanes * (b->n_lanes + 1) * sizeof *top, "a session");
    for (uint32_t i = 0; i < lanes; i++) {
        b->run.lane[i].top = top + i * (b->n_lanes + 1);
    }
    if (b->n_windows == 1) return STENO_OK;
    b->decoder = arena_array(&b->arena, b->n_windows, sizeof *b->decoder);
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++)
        if (decoder_init(&b->decoder[i], &b->arena, m, 1)) return err_nomem(e, decoder_memory(m, 1), "a batch");
    return b->decoder ? STENO_OK : err_nomem(e, b->n_windows * sizeof *b->decoder, "a batch");
}

static int open_parts(struct steno_batch *b, steno_error *e)
{
    const steno_model *m = b->model;
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = b->n_windows * b->n_lanes;
    int rc = STENO_OK;
    for (int i = 0; i < m->n_states && !rc; i++)
        rc = state_open(&b->state[i], &b->arena, &m->state[i], m->kv_type[i], state_lanes(m, i, b->n_windows, b->n_lanes), e);
    struct exec_params p = exec_params_of(m, team_threads(b->team), plans, b->state, b->n_windows, b->n_lanes);
    p.team = b->team;
    p.should_stop = all_stop;
    p.user = b;
    if (!rc) rc = exec_open(&b->exec, m->executor, &b->arena, &p, e);
    if (rc) return rc;
    b->time = arena_array(&b->arena, model_ops(m), sizeof *b->time);
    int bad = !b->time;
    if (m->family->search != SEARCH_VAD) {
        b->sampled = arena_array(&b->arena, lanes * batch_ids(m), sizeof *b->sampled);
        const int first = first_run_plan(m);
        bad |= !b->sampled || run_init(&b->run, &b->arena, plans + first, n_plans - first, lanes);
        b->run.best = arena_array(&b->arena, batch_ids(m), sizeof *b->run.best);
        bad |= !b->run.best;
    }
    if (bad) return err_nomem(e, model_ops(m) * sizeof *b->time + lanes * batch_ids(m) * sizeof *b->sampled, "a session");
    return m->family->search == SEARCH_AR ? open_ar(b, e) : STENO_OK;
}

static void batch_close(struct steno_batch *b)
{
    if (b->exact) batch_close(b->exact);
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++) decoder_free(&b->decoder[i]);
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

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e)
{
    struct steno_batch *b = calloc(1, sizeof *b);
    *out = b;
    if (!b) return err_nomem(e, sizeof *b, "a session");
    arena_init(&b->arena);
    queue_init(b);
    b->model = m;
    b->team = team;
    model_hold(m);
    team_hold(team);
    b->n_windows = n_windows;
    b->n_lanes = n_lanes;
    int rc = open_parts(b, e);
    if (!rc && m->exact) rc = batch_open(&b->exact, m->exact, team, 1, n_lanes, e);
    if (!rc) return STENO_OK;
    batch_close(b);
    *out = NULL;
    return rc;
}

/* ---- the public face ---- */

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
    if (own->max_windows * own->max_lanes > RUN_LANES)
        return err_set(e, STENO_EARG, "%d windows of %d sequences are %d sequences; at most %d decode together, so at most %d windows",
                       (int)own->max_windows, (int)own->max_lanes, (int)(own->max_windows * own->max_lanes), RUN_LANES,
                       RUN_LANES / (int)own->max_lanes);
    if (own->steps_between_encodes < 0)
        return err_set(e, STENO_EARG, "steps_between_encodes is %d, want 0 or more", (int)own->steps_between_encodes);
    if (m->family->search != SEARCH_AR) return err_set(e, STENO_EARG, "a %s model does not decode in batches", m->family->name);
    if (m->index_only) return err_set(e, STENO_EARG, "the model was opened with index_only: it has no weights");
    return STENO_OK;
}

int64_t steno_batch_memory(const steno_model *m, const steno_team *team, const steno_batch_params *p)
{
    steno_batch_params own;
    if (!m || params_of(&own, m, p, NULL)) return STENO_EARG;
    return (int64_t)batch_memory(m, team, (uint32_t)own.max_windows, (uint32_t)own.max_lanes);
}

int steno_batch_open(steno_batch **out, const steno_model *m, steno_team *team, const steno_batch_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_batch_open needs a place for the batch and a model");
    *out = NULL;
    steno_batch_params own;
    int rc = params_of(&own, m, p, e);
    if (!rc) rc = batch_open(out, m, team, (uint32_t)own.max_windows, (uint32_t)own.max_lanes, e);
    if (!rc) (*out)->params = own;
    return rc;
}

void steno_batch_close(steno_batch *b)
{
    if (!b || !batch_may_close(b)) return;
    b->closed = 1;
    batch_release(b);
}
