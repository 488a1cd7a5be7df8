/* steno: sessions: scratch, state and results of one conversation with a model. SPDX-License-Identifier: MIT */
#include "lib/lib.h"
#include <stdlib.h>
#include <string.h>

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

static int window_of(const steno_model *m)
{
    return 2 * m->audio_ctx;
}

/* The plans in use; their number. */
static int plans_of(const steno_model *m, const struct plan *plans[MODEL_PLANS])
{
    for (int i = 0; i < m->n_plans; i++) plans[i] = &m->plan[i];
    return m->n_plans;
}

/* Lanes that a state is kept for: cross keys once per window. */
static uint32_t state_lanes(const steno_model *m, int state, uint32_t lanes)
{
    return m->state[state].kind == STATE_APPEND ? lanes : 1;
}

/* Most rows whose ids are chosen at once, and most ids of a window. */
static size_t ids_of(const steno_model *m)
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

int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p)
{
    steno_session_params own;
    if (!m || params_of(&own, p)) return STENO_EARG;
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    const uint32_t lanes = (uint32_t)own.max_lanes;
    const int ar = m->family->search == SEARCH_AR;
    size_t n = sizeof(steno_session) + exec_memory(plans, n_plans, team_threads(team)) + ops_of(m) * sizeof(struct op_time);
    for (int i = 0; i < m->n_states; i++) n += state_memory(&m->state[i], m->kv_type, state_lanes(m, i, lanes));
    n += ar ? feed_memory(&m->mel, window_of(m), team) : rows_memory(&m->fbank, team);
    if (m->family->search == SEARCH_VAD) return (int64_t)n;
    n += run_memory(plans[n_plans - 1], ar ? lanes : 1) + (size_t)m->n_vocab / 4;
    n += ids_of(m) * (ar ? lanes * sizeof(struct picked) + 4 * sizeof(int32_t) + sizeof(struct piece)
                         : sizeof(struct picked) + sizeof(int32_t) + sizeof(struct best));
    return (int64_t)n;
}

/* Asked by the executor between ops and by the feed between reads, on the calling thread. */
static int should_stop(void *user)
{
    const steno_session *s = user;
    if (atomic_load(&s->cancel)) return 1;
    if (s->should_abort && s->should_abort(s->abort_user)) return 1;
    return s->params && s->params->should_abort && s->params->should_abort(s->params->user);
}

/* What token by token decoding needs. */
static int open_ar(steno_session *s, uint32_t lanes, steno_error *e)
{
    const steno_model *m = s->model;
    const size_t ctx = (size_t)m->text_ctx;
    const int rc = feed_init(&s->feed, &s->arena, &m->mel, window_of(m), s->team, e);
    if (rc) return rc;
    s->feed.should_stop = should_stop;
    s->feed.user = s;
    s->picked = arena_array(&s->arena, lanes * ctx, sizeof *s->picked);
    s->prompt = arena_array(&s->arena, ctx, sizeof *s->prompt);
    s->history = arena_array(&s->arena, 2 * ctx, sizeof *s->history);
    s->ids = arena_array(&s->arena, ctx, sizeof *s->ids);
    s->pieces = arena_array(&s->arena, ctx + 1, sizeof *s->pieces);
    if (!s->picked || !s->prompt || !s->history || !s->ids || !s->pieces)
        return err_nomem(e, lanes * ctx * sizeof *s->picked, "a session");
    for (uint32_t i = 0; i < lanes; i++) s->run.lane[i].table = state_table(&s->state[STATE_SELF], i);
    return STENO_OK;
}

static int open_ctc(steno_session *s, steno_error *e)
{
    const size_t n = ids_of(s->model);
    s->picked = arena_array(&s->arena, n, sizeof *s->picked);
    s->ids = arena_array(&s->arena, n, sizeof *s->ids);
    s->run.best = arena_array(&s->arena, n, sizeof *s->run.best);
    return s->picked && s->ids && s->run.best ? STENO_OK : err_nomem(e, n * sizeof *s->picked, "a session");
}

static int open_parts(steno_session *s, uint32_t lanes, steno_error *e)
{
    const steno_model *m = s->model;
    const enum search search = m->family->search;
    const struct plan *plans[MODEL_PLANS];
    const int n_plans = plans_of(m, plans);
    int rc = exec_open(&s->exec, &s->arena, &m->kern, s->team, plans, n_plans, e);
    for (int i = 0; i < m->n_states && !rc; i++)
        rc = state_open(&s->state[i], &s->arena, &m->state[i], m->kv_type, state_lanes(m, i, lanes), e);
    if (rc) return rc;
    s->exec.state = s->state;
    s->exec.should_stop = should_stop;
    s->exec.user = s;
    s->time = arena_array(&s->arena, ops_of(m), sizeof *s->time);
    const int bad = !s->time || (search != SEARCH_VAD && (run_init(&s->run, &s->arena, plans[n_plans - 1], lanes) ||
                                                          rule_masks_init(&s->masks, &s->arena, m->n_vocab)));
    if (bad) return err_nomem(e, ops_of(m) * sizeof *s->time, "a session");
    if (search == SEARCH_AR) return open_ar(s, lanes, e);
    rc = rows_init(&s->rows, &s->arena, &m->fbank, s->team, e);
    s->rows.should_stop = should_stop;
    s->rows.user = s;
    return rc || search == SEARCH_VAD ? rc : open_ctc(s, e);
}

int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_session_open needs a place for the session and a model");
    *out = NULL;
    steno_session_params own;
    if (params_of(&own, p)) return err_set(e, STENO_EARG, "max_lanes is %d, want 1..%d", (int)own.max_lanes, MAX_LANES);
    if (m->index_only) return err_set(e, STENO_EARG, "the model was opened with index_only: it has no weights");
    steno_session *s = calloc(1, sizeof *s);
    if (!s) return err_nomem(e, sizeof *s, "a session");
    arena_init(&s->arena);
    s->model = m;
    s->team = team;
    s->timings.load_us = m->load_us;
    const int rc = open_parts(s, m->family->search == SEARCH_AR ? (uint32_t)own.max_lanes : 1, e);
    if (rc) {
        steno_session_close(s);
        return rc;
    }
    *out = s;
    return STENO_OK;
}

void steno_session_close(steno_session *s)
{
    if (!s) return;
    feed_close(&s->feed);
    rows_close(&s->rows);
    for (int i = 0; i < MODEL_STATES; i++) state_close(&s->state[i]);
    exec_close(&s->exec);
    result_free(&s->result);
    buf_free(&s->bytes);
    buf_free(&s->text);
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
}

void session_begin(steno_session *s)
{
    err_clear(&s->error);
    atomic_store(&s->cancel, 0);
    atomic_store(&s->exec.stop, 0);
    result_clear(&s->result);
    s->n_history = 0;
    s->params = NULL;
    s->should_abort = NULL;
    s->encoded_from = -1;
    for (uint32_t i = 0; i < s->run.n_lanes; i++) s->run.lane[i].done = 1; /* until lane_reset puts one to use */
}

/* ---- self-knowledge ---- */

struct op_time *session_time(const steno_session *s, int plan)
{
    if (!s->profiling) return NULL;
    return plan == PLAN_ENCODER ? s->time : s->time + s->model->plan[PLAN_ENCODER].n_ops;
}

int steno_timings_get(const steno_session *s, steno_timings *t)
{
    if (!s || !t || t->size < sizeof(uint32_t)) return STENO_EARG;
    steno_timings now = s->timings;
    now.source_us = (s->feed.source_ns + s->rows.source_ns) / 1000;
    now.mel_us = (s->feed.mel_ns + s->rows.fbank_ns) / 1000;
    now.n_wakes = s->exec.runs;
    const uint32_t n = t->size < sizeof now ? t->size : (uint32_t)sizeof now;
    now.size = n;
    memcpy(t, &now, n);
    return STENO_OK;
}

void steno_timings_reset(steno_session *s)
{
    if (!s) return;
    s->timings = (steno_timings){ .load_us = s->model->load_us };
    s->feed.source_ns = s->feed.mel_ns = s->rows.source_ns = s->rows.fbank_ns = s->exec.runs = 0;
}

void steno_profile_enable(steno_session *s, int on)
{
    if (s) s->profiling = on;
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
