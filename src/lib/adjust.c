/* steno: what changes logits before they are chosen from. SPDX-License-Identifier: MIT
 *
 * The caller's filter first, then hot words, then the grammar, whose word is the last; the logit rules follow in the plan. Times and turns
 * of speakers are no text: a grammar does not hear of them. The end of text is allowed where what was said is a sentence, and other
 * special ids never are. */
#include <math.h>
#include "lib/job.h"
#include "search/grammar.h"
#include "search/hotwords.h"

int adjust_open(steno_session *s)
{
    struct call *c = &s->call;
    const steno_model *m = s->model;
    int rc = STENO_OK;
    if (c->p.hotwords && *c->p.hotwords) rc = hotwords_open(&c->hotwords, c->p.hotwords, m->bpe, &s->error);
    if (rc || !c->p.grammar || !*c->p.grammar) return rc;
    rc = grammar_open(&c->grammar, c->p.grammar, c->p.grammar_rule, &s->error);
    return rc ? rc : matcher_open(&c->matcher, c->grammar, &m->vocab, m->tokens.eot, m->tokens.eot, &s->error);
}

void adjust_close(struct call *c)
{
    matcher_close(c->matcher);
    grammar_close(c->grammar);
    hotwords_close(c->hotwords);
    c->matcher = NULL;
    c->grammar = NULL;
    c->hotwords = NULL;
}

int adjust_wanted(const struct call *c)
{
    return c->p.logits_filter || c->hotwords || c->matcher;
}

static void fall(float *x, double penalty)
{
    *x = isinf(penalty) ? -INFINITY : (float)(*x - penalty);
}

/* The lane's state goes on over the tokens that were chosen since it was last seen; lanes that are copied bring theirs along. */
static int state_of(struct strand *w, struct lane *l)
{
    struct matcher *m = w->s->call.matcher;
    if (!l->gram_n) l->gram = matcher_start(m);
    for (; l->gram_n < l->n && l->gram >= 0; l->gram_n++) {
        const int32_t id = l->out[l->gram_n].id;
        if (id >= w->s->model->tokens.eot) continue;
        const int32_t next = matcher_next(m, l->gram, id);
        if (next == MATCH_REJECTED && !isinf(w->s->call.p.grammar_penalty)) continue; /* what was worth its penalty is no part of it */
        l->gram = next;
    }
    return l->gram;
}

static void adjust_grammar(struct strand *w, struct lane *l, float *logits)
{
    const struct call *c = &w->s->call;
    const struct special_tokens *t = &w->s->model->tokens;
    const int32_t eot = t->eot, state = state_of(w, l);
    const uint32_t *mask = state < 0 ? NULL : matcher_mask(c->matcher, state);
    if (!mask) {
        w->failed = 1;
        return;
    }
    for (int32_t i = 0; i < eot; i++)
        if (!(mask[i >> 5] >> (i & 31) & 1)) fall(&logits[i], c->p.grammar_penalty);
    if (!matcher_complete(c->matcher, state)) fall(&logits[eot], c->p.grammar_penalty);
    for (int32_t i = eot + 1; i < t->timestamp_begin; i++)
        if (i != t->solm || !c->p.tinydiarize) fall(&logits[i], c->p.grammar_penalty);
}

void adjust_logits(struct strand *w, struct lane *l, float *logits)
{
    const steno_transcribe_params *p = &w->s->call.p;
    for (int32_t i = 0; i < l->n; i++) w->ids[i] = l->out[i].id;
    w->step.lane = (int32_t)(l - w->s->batch->run.lane) - (int32_t)(w->seat * w->s->batch->n_lanes);
    if (p->logits_filter) p->logits_filter(p->user, &w->step, logits, w->ids, l->n);
    if (w->s->call.hotwords) hotwords_push(w->s->call.hotwords, logits, w->ids, l->n, (float)p->hotwords_boost);
    if (w->s->call.matcher) adjust_grammar(w, l, logits);
}

double adjust_pushed(const struct strand *w, int32_t n)
{
    const struct call *c = &w->s->call;
    double sum = 0;
    for (int32_t i = 0; i < n && c->hotwords; i++)
        sum += (double)hotwords_push_of(c->hotwords, w->ids[i], w->ids, i, (float)c->p.hotwords_boost);
    return sum / (n + 1);
}
