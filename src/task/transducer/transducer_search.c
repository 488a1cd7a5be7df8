/* steno: beam search over the clips of a transducer. SPDX-License-Identifier: MIT
 *
 * A slot of the search has a state of the prediction network and its output. Before the network runs on a hypothesis, the state of its slot
 * is put into a lane of the executor; afterwards it is stored in another slot. */
#include "task/transducer/transducer_search.h"
#include <math.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "search/transducer_beam.h"

struct lane_search {
    struct transducer_beam beam;
    uint8_t *state;            /* the lane's part of the pool, as predicted */
    float *predicted;
    size_t state_sz;
};

/* The searches and the slots of all lanes that search together. */
struct beam_pool {
    struct lane_search *search; /* [n_windows] of which n are in use */
    uint8_t *state;            /* [slots, state_sz] */
    float *predicted;          /* [slots, width of the joint network] */
    size_t state_sz;
    uint8_t *nodes;            /* [nodes_sz] where the nodes of each search begin */
    struct transducer_token *token; /* [rows of a run + 1] the tokens of a text that is added to its lane, */
    float *logprob;            /* and their log-probabilities */
    uint32_t n, slots, used;
    size_t nodes_sz, nodes_used;
    struct buf tokens, logprobs; /* the same; they begin in that memory */
};

_Static_assert((int)RUN_BEAMS <= (int)TRANSDUCER_ROWS, "the hypotheses of a lane fit into a run");

/* Hypotheses of several lanes in order: number `at` of lane `lane`. */
struct round { struct transducer_lane *const *lanes; uint32_t n, lane; int at; };

/* ---- memory */

/* All windows search together with usual beams, and at least one with the widest. A text has as many tokens as rows. */
static void pool_take(struct beam_pool *p, struct arena_take *t, const steno_model *m, uint32_t n_windows)
{
    enum { USUAL = 4 };
    const uint32_t usual = n_windows * (uint32_t)transducer_beam_slots(USUAL), widest = (uint32_t)transducer_beam_slots(RUN_BEAMS);
    const size_t n_rows = m->plan[PLAN_ENCODER].max_rows;
    p->slots = usual > widest ? usual : widest;
    p->state_sz = state_pool_sz(&m->state[STATE_PREDICTION], m->kv_type[STATE_PREDICTION], 1);
    p->search = arena_take(t, n_windows, sizeof *p->search);
    p->state = arena_take(t, p->slots, p->state_sz);
    p->predicted = arena_take(t, (size_t)p->slots * (size_t)transducer_of(m)->width, sizeof *p->predicted);
    p->nodes_sz = transducer_beam_nodes_sz((int)(p->slots / 3), (int32_t)n_rows, (int)n_windows);
    p->nodes = arena_take(t, p->nodes_sz, 1);
    p->token = arena_take(t, n_rows + 1, sizeof *p->token);
    p->logprob = arena_take(t, n_rows + 1, sizeof *p->logprob);
}

size_t transducer_search_memory(const steno_model *m, uint32_t n_windows)
{
    struct beam_pool p;
    struct arena_take t = { 0 };
    pool_take(&p, &t, m, n_windows);
    return sizeof p + t.sz;
}

int transducer_search_open(struct steno_batch *b, steno_error *e)
{
    struct beam_pool *p = transducer_batch_of(b)->pool = arena_array(&b->arena, 1, sizeof *p);
    struct arena_take t = { .a = &b->arena };
    if (p) pool_take(p, &t, b->model, b->n_windows);
    return p && !t.failed ? STENO_OK : err_nomem(e, transducer_search_memory(b->model, b->n_windows), "a batch");
}

/* The slots that the search of a lane needs; 0: its request has ended. */
static uint32_t slots_of(const struct transducer_lane *l)
{
    return l->window->s ? (uint32_t)transducer_beam_slots(clips_of(l->window->s)->request.p.beam_size) : 0;
}

/* The next search of the pool for a lane, with the next slots. */
static struct lane_search *search_of(const struct steno_batch *b, struct transducer_lane *l)
{
    struct beam_pool *p = transducer_batch_of(b)->pool;
    struct lane_search *c = l->beams = &p->search[p->n++];
    c->state_sz = p->state_sz;
    c->state = p->state + p->used * p->state_sz;
    c->predicted = p->predicted + (size_t)p->used * (size_t)transducer_of(b->model)->width;
    p->used += slots_of(l);
    return c;
}

/* Ends the searches of the pool. */
static void searches_end(struct beam_pool *p)
{
    for (; p->n; p->n--) transducer_beam_close(&p->search[p->n - 1].beam);
    p->used = 0;
    p->nodes_used = 0;
    buf_free(&p->tokens);
    buf_free(&p->logprobs);
}

/* ---- a round */

/* The next hypothesis with a pending id. *c: its search; NULL: there is none */
static const struct beam_text *pending_next(struct round *r, struct lane_search **c)
{
    for (; r->lane < r->n; r->lane++, r->at = 0)
        while (r->at < r->lanes[r->lane]->beams->beam.n_here) {
            *c = r->lanes[r->lane]->beams;
            const struct beam_text *t = &(*c)->beam.here[r->at++];
            if (t->pending >= 0) return t;
        }
    return NULL;
}

/* Runs the prediction network for hypotheses with a pending id, as many as there are lanes in the executor. @return their number, or a
 * status */
static int predict_some(struct steno_batch *b, struct round *r)
{
    const size_t width = (size_t)transducer_of(b->model)->width;
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const uint32_t most = b->n_streaming < TRANSDUCER_LANES ? b->n_streaming : TRANSDUCER_LANES;
    struct sequence rows[TRANSDUCER_LANES];
    struct { struct lane_search *c; int32_t slot; } to[TRANSDUCER_LANES];
    const struct beam_text *t;
    uint32_t k = 0;
    size_t ld = 0;
    b->run.n_rows = 0;
    for (; k < most && (t = pending_next(r, &to[k].c)) != NULL; k++) {
        exec_state_set(b->exec, STATE_PREDICTION, k, 0, to[k].c->state + (size_t)t->from * to[k].c->state_sz);
        run_add(&b->run, t->pending, 0, (uint16_t)k, 0);
        rows[k] = (struct sequence){ .row = (uint16_t)k, .n = 1, .lane = (uint16_t)k };
        to[k].slot = t->to;
    }
    if (!k) return 0;
    run_prepare(&b->run);
    const int rc = transducer_run_decoder(b, (struct phases){ .n_rows = k, .sequence = rows, .n_sequences = k }, TRANSDUCER_PREDICT);
    if (rc) return rc;
    const float *g = exec_output(b->exec, p, p->output, 0, k, &ld);
    for (uint32_t i = 0; i < k && g; i++) {
        memcpy(to[i].c->predicted + (size_t)to[i].slot * width, g + i * ld, width * sizeof *g);
        exec_state_get(b->exec, STATE_PREDICTION, i, 0, to[i].c->state + (size_t)to[i].slot * to[i].c->state_sz);
    }
    return g ? (int)k : STENO_ENOMEM;
}

/* Writes the sums of a lane's row and of the predictions of its hypotheses. */
static void rows_join(const struct steno_batch *b, const struct transducer_lane *l, float *to, size_t ld)
{
    const size_t width = (size_t)transducer_of(b->model)->width;
    const struct lane_search *c = l->beams;
    for (int i = 0; i < c->beam.n_here; i++, to += ld) {
        const struct beam_text *t = &c->beam.here[i];
        const float *x = transducer_batch_of(b)->joined + ((size_t)l->window->rows.row + (size_t)t->row) * width;
        const float *g = c->predicted + (size_t)(t->pending >= 0 ? t->to : t->from) * width;
        for (size_t k = 0; k < width; k++) to[k] = x[k] + g[k];
    }
}

/* Extends the hypotheses of the next lanes, as many as fit into a run. @return a status of the executor */
static int join_some(struct steno_batch *b, struct round *r)
{
    const struct transducer_model *m = transducer_of(b->model);
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const size_t to_ld = p->slot[p->input].ld;
    const uint32_t first = r->lane;
    float *to = exec_given(b->exec, p, p->input);
    uint32_t n = 0;
    size_t ld = 0;
    for (; r->lane < r->n && n + (uint32_t)r->lanes[r->lane]->beams->beam.n_here <= TRANSDUCER_ROWS; r->lane++) {
        rows_join(b, r->lanes[r->lane], to + n * to_ld, to_ld);
        n += (uint32_t)r->lanes[r->lane]->beams->beam.n_here;
    }
    const int rc = transducer_run_decoder(b, (struct phases){ .n_rows = n }, TRANSDUCER_JOIN);
    if (rc) return rc;
    const float *x = exec_output(b->exec, p, p->side_output[TRANSDUCER_LOGITS], 0, n, &ld);
    for (uint32_t k = first; k < r->lane && x; k++) {
        struct transducer_beam *beam = &r->lanes[k]->beams->beam;
        const int n_here = beam->n_here;
        for (int i = 0; i < n_here; i++, x += ld) {
            struct logit_partial all;
            b->model->kern.logits_reduce(&all, x, NULL, 0, (size_t)m->blank + 1);
            transducer_beam_feed(beam, i, &(struct joint_logits){ x, (double)all.max + log((double)all.sum) });
        }
    }
    return x ? STENO_OK : STENO_ENOMEM;
}

static int round_run(struct steno_batch *b, struct transducer_lane *const *lanes, uint32_t n)
{
    struct round predicting = { .lanes = lanes, .n = n }, joining = predicting;
    int rc;
    while ((rc = predict_some(b, &predicting)) > 0) {}
    while (!rc && joining.lane < n) rc = join_some(b, &joining);
    return rc;
}

/* ---- clips */

static void lane_begin(struct steno_batch *b, struct transducer_lane *l)
{
    const struct transducer_model *m = transducer_of(b->model);
    struct beam_pool *p = transducer_batch_of(b)->pool;
    struct lane_search *c = search_of(b, l);
    c->beam.of = (struct transducer_shape){ m->blank, m->max_symbols, m->duration, m->n_durations };
    c->beam.width = clips_of(l->window->s)->request.p.beam_size;
    c->beam.hot = l->hot->words;
    c->beam.boost = l->hot->boost;
    exec_state_reset(b->exec, STATE_PREDICTION, 0);
    exec_state_get(b->exec, STATE_PREDICTION, 0, 0, c->state);
    const size_t nodes_sz = transducer_beam_nodes_sz(c->beam.width, l->search.n_rows, 1);
    transducer_beam_lend(&c->beam, p->nodes + p->nodes_used, nodes_sz);
    p->nodes_used += nodes_sz;
    transducer_beam_begin(&c->beam, l->search.n_rows);
}

/* Adds the text of rank `place` to the lane. @return 0: there is none */
static int text_add(const struct steno_batch *b, struct transducer_lane *l, int place)
{
    struct searched_text text;
    struct beam_pool *p = transducer_batch_of(b)->pool;
    buf_clear(&p->tokens);
    buf_clear(&p->logprobs);
    text.n = transducer_beam_end(&l->beams->beam, place, &p->tokens, &p->logprobs, &text.logprob);
    if (text.n < 0 || p->tokens.err || p->logprobs.err) return 0;
    for (int32_t i = 0; i < text.n; i++) {
        const struct transducer_token *token = (const struct transducer_token *)(const void *)p->tokens.p + i;
        transducer_token_add(l, b->model, token, ((const float *)(const void *)p->logprobs.p)[i]);
    }
    buf_add(&l->texts, &text, sizeof text);
    return 1;
}

static void lane_end(const struct steno_batch *b, struct transducer_lane *l)
{
    const struct beam_pool *p = transducer_batch_of(b)->pool;
    const int32_t asked = clips_of(l->window->s)->request.p.n_best, n_best = asked > 1 ? asked : 1;
    for (int i = 0; i < n_best && text_add(b, l, i); i++) {}
    l->texts.err |= l->beams->beam.nodes.err || p->tokens.err || p->logprobs.err;
}

/* Keeps the lanes whose search goes on, and ends the others. @return their number */
static uint32_t lanes_keep(const struct steno_batch *b, struct transducer_lane **lane, uint32_t n)
{
    uint32_t live = 0, kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (lane[i]->window->s && !session_should_stop(lane[i]->window->s)) lane[live++] = lane[i];
    for (uint32_t i = 0; i < live; i++) {
        if (!lane[i]->window->s) continue; /* it ended while another one was asked */
        if (transducer_beam_next(&lane[i]->beams->beam)) lane[kept++] = lane[i];
        else lane_end(b, lane[i]);
    }
    return kept;
}

/* Begins the searches of the first lanes, as many as the pool has slots for. Those that began come first. *begun: their number.
 * @return the number of lanes that had their turn */
static uint32_t lanes_begin(struct steno_batch *b, struct transducer_lane **lane, uint32_t n_lanes, uint32_t *begun)
{
    struct beam_pool *p = transducer_batch_of(b)->pool;
    const size_t n = b->model->plan[PLAN_ENCODER].max_rows + 1;
    uint32_t taken = 0;
    *begun = 0;
    p->tokens = (struct buf){ .p = (char *)p->token, .cap = n * sizeof *p->token, .lent = 1 };
    p->logprobs = (struct buf){ .p = (char *)p->logprob, .cap = n * sizeof *p->logprob, .lent = 1 };
    for (; taken < n_lanes && slots_of(lane[taken]) <= p->slots - p->used; taken++) {
        if (!slots_of(lane[taken])) continue;
        lane_begin(b, lane[taken]);
        lane[(*begun)++] = lane[taken];
    }
    return taken;
}

int transducer_search(struct steno_batch *b, uint32_t n)
{
    struct transducer_lane **lane = transducer_batch_of(b)->busy;
    uint32_t left;
    int rc = STENO_OK;
    for (uint32_t at = 0; at < n && !rc; lane = transducer_batch_of(b)->busy + at) {
        at += lanes_begin(b, lane, n - at, &left);
        while (!rc && (left = lanes_keep(b, lane, left)) > 0) {
            rc = round_run(b, lane, left);
            while (requests_sweep(b)) {} /* also clips that wait for slots */
        }
        searches_end(transducer_batch_of(b)->pool);
    }
    return rc;
}
