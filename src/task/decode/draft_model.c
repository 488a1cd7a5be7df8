/* steno: speculative decoding with a draft model. SPDX-License-Identifier: MIT */
#include "task/decode/draft_model.h"
#include <string.h>
#include "base/os.h"
#include "engine/batch.h"
#include "engine/task.h"

/* ---- compatibility ----------------------------------------------------------------------------------------------------------- */

static int check_vocab(const steno_model *m, const steno_model *draft, steno_error *e)
{
    const struct vocab *v = &m->vocab, *w = &draft->vocab;
    const int may_pad = m->lm.tokenizer && draft->lm.tokenizer; /* ids that only one of the models has are padding, and are never drafted */
    if ((!may_pad && (v->n != w->n || m->n_vocab != draft->n_vocab)) || m->tokens.n_languages != draft->tokens.n_languages)
        return err_set(e, STENO_EARG, "the draft model has another vocabulary, of %d ids, %d languages among them, and the model of %d and "
                       "%d: take one that was made for the same", (int)draft->n_vocab, (int)draft->tokens.n_languages, (int)m->n_vocab,
                       (int)m->tokens.n_languages);
    for (int32_t i = 0; i < v->n && i < w->n; i++)
        if (may_pad && (!v->len[i] || !w->len[i])) continue;
        else if (v->len[i] != w->len[i] || (v->len[i] && memcmp(v->bytes[i], w->bytes[i], v->len[i]) != 0))
            return err_set(e, STENO_EARG, "the draft model has another vocabulary: id %d is '%.*s' there and '%.*s' in the model", (int)i,
                           (int)(w->len[i] < 40 ? w->len[i] : 40), (const char *)w->bytes[i], (int)(v->len[i] < 40 ? v->len[i] : 40),
                           (const char *)v->bytes[i]);
    return STENO_OK;
}

int draft_model_check(const steno_model *m, const steno_model *draft, steno_error *e)
{
    if (!m->task->drafts)
        return err_set(e, STENO_EARG, "a %s model has no use for a draft model: leave it out", m->family->name);
    if (draft->index_only) return err_set(e, STENO_EARG, "the draft model was opened with index_only: it has no weights");
    if (draft->task != m->task)
        return err_set(e, STENO_EARG, "a %s model cannot draft for a %s model", draft->family->name, m->family->name);
    if (draft->widths.n_mels != m->widths.n_mels)
        return err_set(e, STENO_EARG, "the draft model has %d mel bands and the model %d: use one with the same number",
                       (int)draft->widths.n_mels, (int)m->widths.n_mels);
    if (m->audio_ctx && (draft->audio_ctx != m->audio_ctx || draft->text_ctx < m->text_ctx))
        return err_set(e, STENO_EARG, "the draft model has %d positions of audio and %d of text, and the model %d and %d: take one with as "
                       "many", (int)draft->audio_ctx, (int)draft->text_ctx, (int)m->audio_ctx, (int)m->text_ctx);
    if (draft->window_rows != m->window_rows || (m->family->audio_lm && (draft->family != m->family || draft->n_states > 1)))
        return err_set(e, STENO_EARG, "a %s model cannot draft for this %s model: prompts or windows of attention differ",
                       draft->family->name, m->family->name);
    return check_vocab(m, draft, e);
}

/* ---- number ------------------------------------------------------------------------------------------------------------------ */

static double const forget = 0.9;        /* weight of a run when the next one is added */
static double const gain_least = 1.02;   /* a smaller gain is not used */
enum { TRY_AGAIN = 32, TRY_SELDOM = 4096 }; /* ids without draft tokens before the next try; doubled each time a try is wrong */

/* Number of multiplications of a step. */
static double products_of(const struct plan *p)
{
    double n = 0;
    for (uint16_t i = 0; i < p->n_ops; i++) {
        const struct bind *c = &p->bind[p->op[i].bind];
        if (p->op[i].kind == OP_LINEAR) n += (double)c->n * (double)c->k;
    }
    return n;
}

struct speculation speculation_begin(const steno_model *m, const steno_model *draft, int plan)
{
    const double share = products_of(&draft->plan[plan]) / products_of(&m->plan[plan]);
    return (struct speculation){ .right = 2.8, .tried = 4, .share = share, .wait = TRY_AGAIN, .window.wait = 2 };
}

int speculation_may_pay(const struct speculation *g)
{
    return g->share < 0.9;
}

/* k draft tokens per text cost a run of k + 1 rows per text, and k steps of the draft model. *best is raised to the best gain. @return the
 * best k */
static int32_t best_of(const struct speculation *g, const struct steno_batch *b, int32_t texts, int32_t most, double *best)
{
    const double step = run_costs_of(&b->costs, texts), known = run_costs_of(&b->draft->costs, texts);
    const double p = g->right / g->tried, cost = known > 0 ? known : g->share * step;
    double ids = 1, chance = 1;
    int32_t k = 0;
    for (int32_t i = 1; i <= most; i++) {
        chance *= p;
        ids += chance;
        const double gain = ids * step / (run_costs_of(&b->costs, texts * (i + 1)) + i * cost);
        if (gain > *best) *best = gain, k = i;
    }
    return k;
}

int32_t speculation_worth(const struct speculation *g, const struct steno_batch *b, int32_t texts, int32_t most)
{
    double gain = gain_least;
    if (!speculation_may_pay(g) || most < 1 || run_costs_needs(&b->costs, texts)) return 0;
    const int32_t k = best_of(g, b, texts, most, &gain);
    return !k && g->since >= g->wait ? 1 : k;
}

double speculation_gain(const struct speculation *g, const struct steno_batch *b, int32_t texts, int32_t most)
{
    double gain = 1;
    if (!(run_costs_of(&b->costs, texts) > 0) || !(run_costs_of(&b->draft->costs, texts) > 0)) return 0;
    (void)best_of(g, b, texts, most, &gain);
    return gain;
}

void speculation_learn(struct speculation *g, int32_t tried, int32_t right)
{
    g->window.n += right + 1;
    if (!tried) {
        g->since += g->since < TRY_SELDOM;
        return;
    }
    const int was_tried = g->since >= g->wait;
    g->right = forget * g->right + right;
    g->tried = forget * g->tried + right + (right < tried);
    if (!was_tried) g->wait = TRY_AGAIN, g->since = 0;
    else if (right < tried) g->wait = 2 * g->wait < TRY_SELDOM ? 2 * g->wait : TRY_SELDOM, g->since = 0; /* correct drafts continue at
                                                                                                            * once */
}

/* ---- drafting ---------------------------------------------------------------------------------------------------------------- */

void draft_model_rewind(struct steno_batch *d, uint16_t lane, int32_t len)
{
    struct lane *l = &d->run.lane[lane];
    if (l->kv.len < len) return;
    l->kv.len = lane_reach(d, lane, len); /* the rest is read again */
    lane_cut(d, lane, l->kv.len);
}

static int32_t id_at(const struct draft_text *t, int32_t i)
{
    return i < t->n_before ? t->before[i] : t->lane->sampler.out[i - t->n_before].id;
}

/* Adds the rows of the text up to `end` that the draft model has not read. */
static void rows_add(struct steno_batch *d, const struct draft_text *t, int32_t end, uint16_t last)
{
    const int32_t first = d->run.lane[t->to].kv.len, n_vocab = d->model->n_vocab;
    for (int32_t i = first; i < end; i++) {
        const int32_t id = id_at(t, i);
        run_add(&d->run, id < n_vocab ? id : 0, i, t->to, i == end - 1 ? last : 0); /* an id that it does not have is read as id 0 */
    }
}

/* Reads all but the last rows, which run together with those of the other texts. */
static int read_on(struct steno_batch *d, int plan, const struct draft_text *t)
{
    enum { FEW = 16 };
    const struct lane *l = &d->run.lane[t->to];
    const int32_t n = t->n_before + t->lane->sampler.n, max = (int32_t)d->model->plan[plan].max_rows;
    int rc = STENO_OK, ran;
    struct run_time spent;
    while (!rc && n - l->kv.len > FEW) {
        const int32_t end = n - FEW < l->kv.len + max ? n - FEW : l->kv.len + max;
        d->run.n_rows = 0;
        rows_add(d, t, end, 0);
        rc = exec_chain(d->exec, &d->model->plan[plan], &d->run, 1, NULL, &ran, NULL, &spent);
    }
    return rc;
}

/* Sets its lane to sample by the rules of the large model's lane, after the same ids, from the ids that both models have. */
static void sampler_set(struct steno_batch *d, struct draft_text *t)
{
    struct lane *l = &d->run.lane[t->to];
    const struct lane_kv kv = l->kv;
    const int32_t n_vocab = d->model->n_vocab;
    lane_copy(l, t->lane);
    t->rules = *l->sampler.rules;
    if (t->rules.n_vocab > n_vocab) t->rules.n_vocab = n_vocab;
    if (t->rules.ts_begin > n_vocab) t->rules.ts_begin = n_vocab;
    l->sampler.rules = &t->rules;
    l->kv = kv;
    l->kv.enc_len = t->lane->kv.enc_len;
    l->sampler.limit = l->sampler.n + t->n_draft;
    l->sampler.keeps_margin = 0;
    l->processors = (struct lane_processors){ 0 };
}

static void take(struct steno_batch *d, struct draft_text *t)
{
    struct sampler *s = &d->run.lane[t->to].sampler;
    const int32_t n = t->lane->sampler.n;
    t->n_draft = s->n - n;
    memcpy(t->lane->sampler.out + n, s->out + n, (size_t)t->n_draft * sizeof *s->out);
    s->rules = NULL;
    s->done = 1;
}

void draft_model_fork(struct steno_batch *d, uint16_t to, uint16_t from, int32_t len)
{
    lane_fork(d, to, from);
    d->run.lane[to].kv.len = d->run.lane[from].kv.len;
    draft_model_rewind(d, to, len);
}

int draft_model_propose(struct steno_batch *d, int plan, struct draft_text *text, int n)
{
    struct run_time spent;
    int rc = STENO_OK, ran;
    for (int i = 0; i < n && !rc; i++) rc = read_on(d, plan, &text[i]);
    for (int i = 0; i < n; i++) sampler_set(d, &text[i]);
    d->run.n_rows = 0;
    for (int i = 0; i < n; i++) rows_add(d, &text[i], text[i].n_before + text[i].lane->sampler.n, ROW_SAMPLE);
    const int64_t t0 = os_now_ns();
    if (!rc) rc = exec_chain(d->exec, &d->model->plan[plan], &d->run, INT32_MAX, NULL, &ran, NULL, &spent);
    if (!rc && ran > 0) run_costs_learn(&d->costs, (uint32_t)n, (os_now_ns() - t0) / ran);
    for (int i = 0; i < n; i++) take(d, &text[i]);
    return rc;
}

int32_t draft_model_count(const struct speculation *g, const struct steno_batch *b, int32_t texts, struct draft_limits of)
{
    const int32_t rows = COSTS_ROWS / texts - 1, room = of.room < rows ? of.room : rows;
    if (room < 1) return 0;
    if (of.asked < 0) return speculation_worth(g, b, texts, room);
    return room < of.asked ? room : of.asked;
}

int draft_texts_collect(const struct steno_batch *b, const struct draft_places *p, struct draft_text text[DRAFT_TEXTS_MAX])
{
    int32_t texts = 0;
    int n = 0;
    for (uint32_t at = 0; b->draft && at < p->n; at++) texts += p->steps(b, at);
    if (!texts || texts > DRAFT_TEXTS_MAX) return 0;
    for (uint32_t at = 0; at < p->n; at++) {
        if (!p->steps(b, at)) continue;
        const struct draft_text t = p->text(b, at, texts);
        if (t.n_draft > 0) text[n++] = t;
    }
    return n;
}

int draft_model_make(struct steno_batch *b, int plan, struct draft_text *text, int n, int64_t *us)
{
    const int64_t t0 = os_now_ns();
    const int rc = draft_model_propose(b->draft, plan, text, n);
    *us = (os_now_ns() - t0) / 1000 / n;
    if (rc) b->exec->error = b->draft->exec->error;
    return rc;
}
