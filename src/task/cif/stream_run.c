/* steno: a chunk of a stream through the plan. SPDX-License-Identifier: MIT */
#include "search/cif.h"
#include "task/cif/stream_session.h"
#include "task/clips/clip_run.h"

enum { PHASE_FIRE = 1, PHASE_TOKENS = 2, PHASE_HEAD = 3 }; /* behind PHASE_ENCODE */

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The next run sees what earlier ones left in the state, and leaves the first `kept` of its own rows. Of those of the encoder's first chunk
 * all stay, as in the reference. @return what there is then */
static uint32_t past_set(struct run *r, struct stream_session *v, int state, uint32_t kept, uint32_t room)
{
    struct run_past *p = &v->past[state];
    const int first = state == STATE_PAST && !p->held;
    p->kept = v->look_back[state] ? kept : 0;
    r->past[state] = *p;
    return smaller(p->held + p->kept, first ? room : smaller(v->look_back[state], room));
}

/* A phase that looks back on a state. */
static int run_phase(struct steno_batch *b, struct stream_session *v, int phase, int state, uint32_t kept)
{
    enum { STEP = 256 };
    const uint32_t room = b->model->plan[PLAN_ENCODER].max_past, next = past_set(&b->run, v, state, kept, room);
    const uint32_t steps = (next + STEP - 1) / STEP * STEP; /* what looks back on everything grows in steps */
    int rc = exec_state_grow(b->exec, state, v->look_back[state] == UINT32_MAX ? smaller(steps, room) : next);
    if (!rc) rc = clip_run_phase(b, phase, NULL);
    v->past[state].held = next;
    v->state.copy[state].newest = next ? next : 1;
    return rc;
}

/* Weights of the frames, behind what was left before them. */
static int weights_read(struct steno_batch *b, struct stream_session *v, int is_last)
{
    const struct plan *p = clip_encoder_of(b);
    const struct cif_model *m = stream_model_of(b->model);
    size_t ld = 0;
    const float *x = exec_output(b->exec, p, p->side_output[0], 0, (uint32_t)v->n_rows, &ld);
    if (!x) return STENO_ENOMEM;
    v->alpha[0] = v->rest;
    for (int32_t t = 0; t < v->n_rows; t++) {
        const int counts = t >= v->chunk[0] && (is_last || t < v->chunk[0] + v->chunk[1]);
        v->alpha[t + 1] = counts ? cif_alpha(x[(size_t)t * ld], m->weight.smooth, m->weight.noise) : 0;
    }
    v->alpha[v->n_rows + 1] = m->tail;
    v->n_tokens = cif_go_on(v->token, v->weight, &v->rest, v->alpha, v->n_rows + 1 + (is_last != 0));
    return STENO_OK;
}

static void table_fill(struct run *r, int32_t n)
{
    r->n_rows = 0;
    for (int32_t i = 0; i < n; i++) run_add(r, 0, i, 0, 0);
    run_prepare(r);
}

/* Frames, and the tokens that they make. */
static int encode(struct steno_batch *b, steno_session *s)
{
    struct stream_session *v = stream_of(s);
    const uint32_t own = (uint32_t)(v->n_rows - v->chunk[2]);
    int rc = stream_state_take(b, &v->state, &b->exec->error);
    run_prepare(&b->run);
    if (!rc) rc = run_phase(b, v, PHASE_ENCODE, STATE_PAST, v->chunk[2] ? own : 0); /* without rows ahead the reference keeps none */
    if (!rc) rc = weights_read(b, v, v->is_last);
    if (rc) return rc;
    table_fill(&b->run, v->n_tokens + 1);
    b->run.cif = (struct run_cif){ v->token, v->weight };
    return clip_run_phase(b, PHASE_FIRE, NULL);
}

int stream_run(struct steno_batch *b)
{
    const struct clip_window *w = clip_batch_of(b)->window;
    steno_session *s = w->s;
    struct stream_session *v = stream_of(s);
    int rc = encode(b, s);
    if (rc || !v->n_tokens) return rc;
    table_fill(&b->run, v->n_tokens);
    rc = run_phase(b, v, PHASE_TOKENS, STATE_CROSS_PAST, (uint32_t)v->n_rows);
    return rc ? rc : clip_run_head(b, 0, b->run.n_rows, &(struct clip_head){ .phase = PHASE_HEAD });
}
