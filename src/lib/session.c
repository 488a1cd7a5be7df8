/* steno: sessions: scratch, state and results of one conversation with a model. SPDX-License-Identifier: MIT */
#include "lib/lib.h"
#include <stdlib.h>
#include <string.h>

void steno_session_params_init(steno_session_params *p)
{
    if (p) *p = (steno_session_params){ sizeof *p, 1 };
}

static int lanes_of(const steno_session_params *p)
{
    return p ? p->max_lanes : 1;
}

static int window_of(const steno_model *m)
{
    return 2 * m->audio_ctx;
}

int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p)
{
    if (!m || (p && (p->size < sizeof *p || p->max_lanes < 1 || p->max_lanes > MAX_LANES))) return STENO_EARG;
    const struct plan *const plans[] = { &m->plan[PLAN_ENCODER], &m->plan[PLAN_DECODER] };
    const uint32_t lanes = (uint32_t)lanes_of(p);
    size_t n = sizeof(steno_session) + exec_memory(plans, MODEL_PLANS, team_threads(team));
    n += state_memory(&m->state[STATE_SELF], m->kv_type, lanes) + state_memory(&m->state[STATE_CROSS], m->kv_type, 1);
    n += run_memory(plans[PLAN_DECODER], lanes) + feed_memory(&m->mel, window_of(m), team);
    n += (size_t)m->text_ctx * (lanes * sizeof(struct picked) + 4 * sizeof(int32_t) + sizeof(struct piece));
    n += (size_t)m->n_vocab / 4;
    n += (plans[0]->n_ops + (size_t)plans[1]->n_ops) * sizeof(struct op_time);
    return (int64_t)n;
}

/* Asked by the executor between ops and by the feed between reads, on the calling thread. */
static int should_stop(void *user)
{
    const steno_session *s = user;
    if (atomic_load(&s->cancel)) return 1;
    return s->params && s->params->should_abort && s->params->should_abort(s->params->user);
}

static int open_parts(steno_session *s, uint32_t lanes, steno_error *e)
{
    const steno_model *m = s->model;
    const struct plan *const plans[] = { &m->plan[PLAN_ENCODER], &m->plan[PLAN_DECODER] };
    const size_t ctx = (size_t)m->text_ctx;
    int rc = exec_open(&s->exec, &s->arena, &m->kern, s->team, plans, MODEL_PLANS, e);
    if (!rc) rc = state_open(&s->state[STATE_SELF], &s->arena, &m->state[STATE_SELF], m->kv_type, lanes, e);
    if (!rc) rc = state_open(&s->state[STATE_CROSS], &s->arena, &m->state[STATE_CROSS], m->kv_type, 1, e);
    if (!rc) rc = feed_init(&s->feed, &s->arena, &m->mel, window_of(m), s->team, e);
    if (rc) return rc;
    s->exec.state = s->state;
    s->exec.should_stop = s->feed.should_stop = should_stop;
    s->exec.user = s->feed.user = s;
    const int bad = run_init(&s->run, &s->arena, plans[PLAN_DECODER], lanes) || rule_masks_init(&s->masks, &s->arena, m->n_vocab);
    s->picked = arena_array(&s->arena, lanes * ctx, sizeof *s->picked);
    s->prompt = arena_array(&s->arena, ctx, sizeof *s->prompt);
    s->history = arena_array(&s->arena, 2 * ctx, sizeof *s->history);
    s->ids = arena_array(&s->arena, ctx, sizeof *s->ids);
    s->pieces = arena_array(&s->arena, ctx + 1, sizeof *s->pieces);
    s->time = arena_array(&s->arena, plans[0]->n_ops + (size_t)plans[1]->n_ops, sizeof *s->time);
    if (bad || !s->picked || !s->prompt || !s->history || !s->ids || !s->pieces || !s->time)
        return err_nomem(e, lanes * ctx * sizeof *s->picked, "a session");
    for (uint32_t i = 0; i < lanes; i++) s->run.lane[i].table = state_table(&s->state[STATE_SELF], i);
    return STENO_OK;
}

int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_session_open needs a place for the session and a model");
    *out = NULL;
    if (p && (p->size < sizeof *p || p->max_lanes < 1 || p->max_lanes > MAX_LANES))
        return err_set(e, STENO_EARG, "max_lanes is %d, want 1..%d", (int)p->max_lanes, MAX_LANES);
    steno_session *s = calloc(1, sizeof *s);
    if (!s) return err_nomem(e, sizeof *s, "a session");
    arena_init(&s->arena);
    s->model = m;
    s->team = team;
    s->timings.load_us = m->load_us;
    const int rc = open_parts(s, (uint32_t)lanes_of(p), e);
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
    now.source_us = s->feed.source_ns / 1000;
    now.mel_us = s->feed.mel_ns / 1000;
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
    s->feed.source_ns = s->feed.mel_ns = s->exec.runs = 0;
}

void steno_profile_enable(steno_session *s, int on)
{
    if (s) s->profiling = on;
}

int steno_profile_get(const steno_session *s, int i, const char **label, int64_t *ns, int64_t *calls)
{
    if (!s || i < 0) return STENO_EARG;
    int at = i;
    for (int p = 0; p < MODEL_PLANS; p++) {
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
