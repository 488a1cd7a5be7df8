/* steno: batches: what computes, for one window or for several. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "lib/lib.h"

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

static size_t ops_of(const steno_model *m)
{
    size_t n = 0;
    for (int i = 0; i < m->n_plans; i++) n += m->plan[i].n_ops;
    return n;
}

/* Rows of logits at a time: one per lane, and a tile's worth where rows are not lanes. */
static uint32_t rows_out(const steno_model *m, uint32_t lanes)
{
    return m->family->search != SEARCH_AR ? RUN_LANES : lanes > ROWS_OUT_LEAST ? lanes
                                                                               : ROWS_OUT_LEAST;
}

size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes)
{
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = n_windows * n_lanes;
    size_t n = sizeof(struct steno_batch) + exec_memory(plans, n_plans, team_threads(team), rows_out(m, lanes)) +
               ops_of(m) * sizeof(struct op_time);
    for (int i = 0; i < m->n_states; i++) n += state_memory(&m->state[i], m->kv_type, state_lanes(m, i, n_windows, n_lanes));
    if (m->family->search == SEARCH_VAD) return n;
    const int first = first_run_plan(m);
    n += run_memory(plans + first, n_plans - first, lanes) + batch_ids(m) * lanes * sizeof(struct picked);
    return n + batch_ids(m) * sizeof(struct best);
}

static int open_parts(struct steno_batch *b, steno_error *e)
{
    const steno_model *m = b->model;
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = b->n_windows * b->n_lanes;
    int rc = exec_open(&b->exec, &b->arena, &m->kern, b->team, plans, n_plans, rows_out(m, lanes), e);
    for (int i = 0; i < m->n_states && !rc; i++)
        rc = state_open(&b->state[i], &b->arena, &m->state[i], m->kv_type, state_lanes(m, i, b->n_windows, b->n_lanes), e);
    if (rc) return rc;
    b->exec.state = b->state;
    b->time = arena_array(&b->arena, ops_of(m), sizeof *b->time);
    int bad = !b->time;
    if (m->family->search != SEARCH_VAD) {
        b->picked = arena_array(&b->arena, lanes * batch_ids(m), sizeof *b->picked);
        const int first = first_run_plan(m);
        bad |= !b->picked || run_init(&b->run, &b->arena, plans + first, n_plans - first, lanes);
        b->run.best = arena_array(&b->arena, batch_ids(m), sizeof *b->run.best);
        bad |= !b->run.best;
    }
    if (bad) return err_nomem(e, ops_of(m) * sizeof *b->time + lanes * batch_ids(m) * sizeof *b->picked, "a session");
    for (uint32_t i = 0; m->family->search == SEARCH_AR && i < lanes; i++) b->run.lane[i].table = state_table(&b->state[STATE_SELF], i);
    return STENO_OK;
}

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e)
{
    struct steno_batch *b = calloc(1, sizeof *b);
    *out = b;
    if (!b) return err_nomem(e, sizeof *b, "a session");
    arena_init(&b->arena);
    b->model = m;
    b->team = team;
    b->n_windows = n_windows;
    b->n_lanes = n_lanes;
    b->timings.load_us = m->load_us;
    const int rc = open_parts(b, e);
    if (!rc) return STENO_OK;
    batch_close(b);
    *out = NULL;
    return rc;
}

void batch_close(struct steno_batch *b)
{
    if (!b) return;
    for (int i = 0; i < MODEL_STATES; i++) state_close(&b->state[i]);
    exec_close(&b->exec);
    arena_free(&b->arena);
    free(b);
}
