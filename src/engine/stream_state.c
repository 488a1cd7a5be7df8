/* steno: state of streams in an executor. SPDX-License-Identifier: MIT */
#include "engine/stream_state.h"
#include <stdlib.h>

size_t stream_state_memory(const steno_model *m)
{
    size_t n = 0;
    for (int i = 0; i < m->n_states; i++) n += state_pool_sz(&m->state[i], m->kv_type[i], 1);
    return n;
}

static int copy_reserve(struct stream_copy *c, size_t sz, steno_error *e)
{
    if (sz <= c->sz) return STENO_OK;
    uint8_t *more = realloc(c->at, sz);
    if (!more) return err_nomem(e, sz, "a stream");
    c->at = more;
    c->sz = sz;
    return STENO_OK;
}

int stream_state_open(struct stream_state *s, struct steno_batch *b, steno_error *e)
{
    int rc = STENO_OK;
    for (int i = 0; i < b->model->n_states && !rc; i++)
        rc = copy_reserve(&s->copy[i], state_pool_sz(&b->model->state[i], b->model->kv_type[i], 1), e);
    return rc;
}

void stream_state_close(struct stream_state *s)
{
    for (int i = 0; i < MODEL_STATES; i++) free(s->copy[i].at);
}

static int put_aside(struct steno_batch *b, uint32_t lane, steno_error *e)
{
    struct stream_state *s = b->streaming[lane].of;
    for (int i = 0; i < b->model->n_states; i++) {
        struct stream_copy *c = &s->copy[i];
        const int rc = copy_reserve(c, exec_state_sz(b->exec, i, lane, c->newest), e);
        if (rc) return rc;
    }
    for (int i = 0; i < b->model->n_states; i++) exec_state_get(b->exec, i, lane, s->copy[i].newest, s->copy[i].at);
    b->streaming[lane].of = NULL;
    return STENO_OK;
}

static int put_back(struct steno_batch *b, const struct stream_state *s, uint32_t lane, steno_error *e)
{
    for (int i = 0; i < b->model->n_states; i++) {
        const int rc = s->is_begun ? exec_state_grow(b->exec, i, lane, s->copy[i].newest) : STENO_OK;
        if (rc) return err_nomem(e, s->copy[i].sz, "a stream");
    }
    for (int i = 0; i < b->model->n_states; i++) {
        if (s->is_begun) exec_state_set(b->exec, i, lane, s->copy[i].newest, s->copy[i].at);
        else exec_state_reset(b->exec, i, lane);
    }
    return STENO_OK;
}

/* A lane that is not in this run: a free one, or the one that was unused for the longest time. */
static uint32_t lane_choose(const struct steno_batch *b)
{
    uint32_t best = 0;
    for (uint32_t l = 1; l < b->n_streaming; l++) {
        const struct stream_lane *x = &b->streaming[l], *y = &b->streaming[best];
        const int is_free = !x->of && x->run < b->n_runs, was_free = !y->of && y->run < b->n_runs;
        if (is_free > was_free || (is_free == was_free && x->run < y->run)) best = l;
    }
    return best;
}

void stream_state_run(struct steno_batch *b)
{
    b->n_runs++;
}

int stream_state_take(struct steno_batch *b, struct stream_state *s, steno_error *e)
{
    if (b->streaming[s->lane].of != s) {
        const uint32_t lane = lane_choose(b);
        int rc = b->streaming[lane].of ? put_aside(b, lane, e) : STENO_OK;
        if (!rc) rc = put_back(b, s, lane, e);
        if (rc) return rc;
        s->lane = (uint16_t)lane;
        s->is_begun = 1;
        b->streaming[lane].of = s;
    }
    b->streaming[s->lane].run = b->n_runs;
    return STENO_OK;
}

void stream_state_end(struct steno_batch *b, struct stream_state *s)
{
    s->is_begun = 0;
    if (b->streaming[s->lane].of == s) b->streaming[s->lane].of = NULL;
}
