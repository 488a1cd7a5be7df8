/* steno: beam search over the clips of a transducer. SPDX-License-Identifier: MIT
 *
 * A slot of the search has a state of the prediction network and its output. Before the network runs on a hypothesis, the state of its slot
 * is put into a lane of the executor; afterwards it is stored in another slot. */
#include "task/transducer/transducer_search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "search/transducer_beam.h"

struct transducer_search {
    struct transducer_beam beam;
    uint8_t *state;            /* [slots, state_sz] */
    float *predicted;          /* [slots, width of the joint network] */
    size_t state_sz;
    int slots;
    struct buf tokens, logprobs;
};

void transducer_search_close(struct transducer_search *c)
{
    if (!c) return;
    transducer_beam_close(&c->beam);
    buf_free(&c->tokens);
    buf_free(&c->logprobs);
    free(c->state);
    free(c->predicted);
    free(c);
}

/* Memory for a search of this width. NULL: there is none */
static struct transducer_search *search_of(struct steno_batch *b, int beams)
{
    struct transducer_batch *t = transducer_batch_of(b);
    const int slots = transducer_beam_slots(beams);
    if (t->search && t->search->slots >= slots) return t->search;
    transducer_search_close(t->search);
    struct transducer_search *c = t->search = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->slots = slots;
    c->state_sz = exec_state_sz(b->exec, STATE_PREDICTION, 0, 0);
    c->state = calloc((size_t)slots, c->state_sz);
    c->predicted = calloc((size_t)slots * (size_t)transducer_of(b->model)->width, sizeof *c->predicted);
    if (c->state && c->predicted) return c;
    transducer_search_close(c);
    return t->search = NULL;
}

/* Runs the prediction network for up to n hypotheses with a pending id, from *at on, as many as there are lanes. */
static int predict_some(struct steno_batch *b, struct transducer_search *c, int *at, int n)
{
    const size_t width = (size_t)transducer_of(b->model)->width;
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const uint32_t most = b->n_streaming < TRANSDUCER_LANES ? b->n_streaming : TRANSDUCER_LANES;
    struct sequence rows[TRANSDUCER_LANES];
    int32_t to[TRANSDUCER_LANES];
    uint32_t k = 0;
    size_t ld = 0;
    b->run.n_rows = 0;
    for (; *at < n && k < most; ++*at) {
        const struct beam_text *t = &c->beam.here[*at];
        if (t->pending < 0) continue;
        exec_state_set(b->exec, STATE_PREDICTION, k, 0, c->state + (size_t)t->from * c->state_sz);
        run_add(&b->run, t->pending, 0, (uint16_t)k, 0);
        rows[k] = (struct sequence){ .row = (uint16_t)k, .n = 1, .lane = (uint16_t)k };
        to[k++] = t->to;
    }
    if (!k) return STENO_OK;
    run_prepare(&b->run);
    const int rc = transducer_run_decoder(b, (struct phases){ .n_rows = k, .sequence = rows, .n_sequences = k }, TRANSDUCER_PREDICT);
    if (rc) return rc;
    const float *g = exec_output(b->exec, p, p->output, 0, k, &ld);
    for (uint32_t i = 0; i < k && g; i++) {
        memcpy(c->predicted + (size_t)to[i] * width, g + i * ld, width * sizeof *g);
        exec_state_get(b->exec, STATE_PREDICTION, i, 0, c->state + (size_t)to[i] * c->state_sz);
    }
    return g ? STENO_OK : STENO_ENOMEM;
}

/* Joins the row of n hypotheses with their predictions, and extends them. */
static int join(struct steno_batch *b, struct transducer_search *c, const float *joined, int n)
{
    const struct transducer_model *m = transducer_of(b->model);
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const size_t width = (size_t)m->width, to_ld = p->slot[p->input].ld;
    float *to = exec_given(b->exec, p, p->input);
    size_t ld = 0;
    for (int i = 0; i < n; i++, to += to_ld) {
        const struct beam_text *t = &c->beam.here[i];
        const float *x = joined + (size_t)t->row * width, *g = c->predicted + (size_t)(t->pending >= 0 ? t->to : t->from) * width;
        for (size_t k = 0; k < width; k++) to[k] = x[k] + g[k];
    }
    const int rc = transducer_run_decoder(b, (struct phases){ .n_rows = (uint32_t)n }, TRANSDUCER_JOIN);
    if (rc) return rc;
    const float *x = exec_output(b->exec, p, p->side_output[TRANSDUCER_LOGITS], 0, (uint32_t)n, &ld);
    for (int i = 0; i < n && x; i++, x += ld) {
        struct logit_partial all;
        b->model->kern.logits_reduce(&all, x, NULL, 0, (size_t)m->blank + 1);
        transducer_beam_feed(&c->beam, i, &(struct joint_logits){ x, (double)all.max + log((double)all.sum) });
    }
    return x ? STENO_OK : STENO_ENOMEM;
}

/* Adds the text of rank `place` to the lane. @return 0: there is none */
static int text_add(struct transducer_search *c, struct transducer_lane *l, const steno_model *m, int place)
{
    struct searched_text text;
    buf_clear(&c->tokens);
    buf_clear(&c->logprobs);
    text.n = transducer_beam_end(&c->beam, place, &c->tokens, &c->logprobs, &text.logprob);
    if (text.n < 0 || c->tokens.err || c->logprobs.err) return 0;
    for (int32_t i = 0; i < text.n; i++) {
        const struct transducer_token *token = (const struct transducer_token *)(const void *)c->tokens.p + i;
        transducer_token_add(l, m, token, ((const float *)(const void *)c->logprobs.p)[i]);
    }
    buf_add(&l->texts, &text, sizeof text);
    return 1;
}

int transducer_search_run(struct steno_batch *b, struct transducer_lane *l)
{
    const steno_session *s = l->window->s;
    const struct transducer_model *m = transducer_of(b->model);
    const steno_transcribe_params *p = &clips_of(s)->request.p;
    const float *joined = transducer_batch_of(b)->joined + (size_t)l->window->rows.row * (size_t)m->width;
    const int beams = p->beam_size, n_best = p->n_best > 1 ? p->n_best : 1;
    struct transducer_search *c = search_of(b, beams);
    if (!c) {
        l->texts.err = 1;
        return STENO_OK;
    }
    c->beam.of = (struct transducer_shape){ m->blank, m->max_symbols, m->duration, m->n_durations };
    c->beam.width = beams;
    c->beam.hot = l->hot->words;
    c->beam.boost = l->hot->boost;
    memset(c->state, 0, c->state_sz);
    exec_state_reset(b->exec, STATE_PREDICTION, 0);
    exec_state_get(b->exec, STATE_PREDICTION, 0, 0, c->state);
    transducer_beam_begin(&c->beam, l->search.n_rows);
    int rc = STENO_OK;
    for (int n; !rc && (n = transducer_beam_next(&c->beam)) > 0;) {
        if (session_should_stop(l->window->s)) return STENO_OK;
        for (int at = 0; at < n && !rc;) rc = predict_some(b, c, &at, n);
        if (!rc) rc = join(b, c, joined, n);
    }
    for (int i = 0; i < n_best && !rc && text_add(c, l, b->model, i); i++) {}
    l->texts.err |= c->beam.nodes.err || c->tokens.err || c->logprobs.err;
    return rc;
}
