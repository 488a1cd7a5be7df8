/* steno: chooses the ids of a generated text. SPDX-License-Identifier: MIT */
#include "task/decode/generator.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "engine/batch.h"
#include "engine/params.h"
#include "search/json_schema.h"

enum { ENDS_MAX = 32 };

static const struct tokenizer *tokenizer_of(const struct generator *c) { return c->s->model->lm.tokenizer; }

static int is_end(const struct generator *c, int32_t id)
{
    return tokenizer_of(c) ? tokenizer_is_end(tokenizer_of(c), id) : id == c->s->model->tokens.eot;
}

/* The i-th id that ends a text, -1 after the last one. */
static int32_t end_at(const struct generator *c, int i)
{
    return tokenizer_of(c) ? tokenizer_end_at(tokenizer_of(c), i) : i ? -1 : c->s->model->tokens.eot;
}

/* ---- before sampling --------------------------------------------------------------------------------------------------------- */

static void keep_raw(struct generator *c, const float *x, int32_t n)
{
    struct logit_partial sum = { -INFINITY, 0, -1 };
    memcpy(c->raw, x, (size_t)n * sizeof *x);
    c->s->model->kern.logits_reduce(&sum, x, NULL, 0, (size_t)n);
    c->lse = sum.arg < 0 ? -INFINITY : sum.max + log(sum.sum);
}

/* Bars ids that the grammar does not allow. Ids that end the text have no text, and are allowed after a complete sentence. */
static void generator_mask(struct generator *c, float *x, int32_t n)
{
    const uint32_t *allowed = matcher_mask(c->matcher, c->state);
    float end[ENDS_MAX];
    int n_ends = 0;
    if (!allowed) {
        c->status = err_set(&c->s->error, STENO_ENOMEM, "%s", matcher_why(c->matcher));
        return;
    }
    for (int i = 0; i < ENDS_MAX && end_at(c, i) >= 0; i++) end[n_ends++] = x[end_at(c, i)];
    for (int32_t id = 0; id < n; id += 32) {
        const uint32_t bits = id < c->n_text ? allowed[id / 32] : 0;
        const int32_t to = n - id < 32 ? n - id : 32;
        for (int32_t k = 0; k < to && bits != UINT32_MAX; k++)
            if (!(bits >> k & 1)) x[id + k] = -INFINITY;
    }
    for (int i = 0; i < n_ends; i++)
        if (matcher_complete(c->matcher, c->state) && !c->p->ignore_eos) x[end_at(c, i)] = end[i];
}

/* Does the grammar allow the id? Checking a single id is cheap. If the most probable id is allowed, no mask is needed. */
static int may_follow(const struct generator *c, int32_t id)
{
    if (id >= 0 && is_end(c, id)) return matcher_complete(c->matcher, c->state);
    return id >= 0 && id < c->n_text && matcher_next(c->matcher, c->state, id) >= 0;
}

void generator_filter(struct generator *c, float *x)
{
    steno_session *s = c->s;
    const int32_t n = s->model->n_vocab, *held = (const int32_t *)(const void *)s->held.p;
    keep_raw(c, x, n);
    if (!c->changes) return;
    for (int i = 0; c->p->ignore_eos && end_at(c, i) >= 0; i++) x[end_at(c, i)] = -INFINITY;
    if (c->matcher && sampler_chain_cuts(&c->chain)) generator_mask(c, x, n);
    if (sampler_chain_apply(&c->chain, x, n, held, (int32_t)(s->held.len / sizeof *held)))
        c->status = err_nomem(&s->error, (size_t)n, "what is drawn from");
    if (c->matcher && !sampler_chain_cuts(&c->chain) && !may_follow(c, sampler_favourite(&c->lane->sampler, x))) generator_mask(c, x, n);
}

static void filter(void *user, uint16_t lane, float *x)
{
    (void)lane;
    generator_filter(user, x);
}

/* ---- after sampling ---------------------------------------------------------------------------------------------------------- */

static void finish(struct generator *c, int why)
{
    c->finish = why;
    c->lane->sampler.done = 1;
}

/* Position of the first stop text in the text, of which the bytes from `from` on are new. Returns the length if there is none. */
static size_t stop_find(const struct generator *c, size_t from)
{
    const struct buf *text = &c->s->generated_text;
    size_t first = text->len;
    for (int32_t i = 0; i < c->p->n_stop; i++) {
        const size_t n = strlen(c->p->stop[i]), back = n - 1;
        const char *at = text->len ? strstr(text->p + (from > back ? from - back : 0), c->p->stop[i]) : NULL;
        if (at && (size_t)(at - text->p) < first) first = (size_t)(at - text->p);
    }
    return first;
}

/* Number of bytes at the end of the text that may begin a stop text. */
static size_t stop_begun(const struct generator *c)
{
    const struct buf *text = &c->s->generated_text;
    size_t most = 0;
    for (int32_t i = 0; i < c->p->n_stop; i++) {
        size_t n = strlen(c->p->stop[i]) - 1;
        if (n > text->len) n = text->len;
        for (; n > most; n--)
            if (!memcmp(text->p + text->len - n, c->p->stop[i], n)) most = n;
    }
    return most;
}

static void text_pass(struct generator *c, const steno_token *tok, size_t to)
{
    const struct buf *text = &c->s->generated_text;
    const size_t from = c->passed, n = to > from ? to - from : 0;
    c->passed = to > from ? to : from;
    if (!c->p->on_token || (!tok && !n)) return;
    if (c->p->on_token(c->p->user, tok, n ? text->p + from : "", n) && !c->lane->sampler.done) finish(c, STENO_FINISH_CALLER);
}

static void add_text(struct generator *c, int32_t id)
{
    struct buf *text = &c->s->generated_text;
    const struct vocab *vocab = &c->s->model->vocab;
    if (tokenizer_of(c)) token_stream_push(&c->stream, id, text);
    else if (id < vocab->n_text) token_stream_push_bytes(&c->stream, vocab->bytes[id], vocab->len[id], text);
}

static int is_before(const float *x, int32_t a, int32_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); }

/* Adds the most probable ids of the step. Their number is the same at all places. */
static void tops_add(struct generator *c)
{
    int32_t best[TOP_LOGPROBS_MAX], n = 0;
    const int32_t n_vocab = c->s->model->n_vocab, want = c->p->top_logprobs < n_vocab ? c->p->top_logprobs : n_vocab;
    for (int32_t id = 0; id < n_vocab; id++) {
        if (n == want && !is_before(c->raw, id, best[n - 1])) continue;
        int32_t at = n < want ? n++ : n - 1;
        for (; at && is_before(c->raw, id, best[at - 1]); at--) best[at] = best[at - 1];
        best[at] = id;
    }
    for (int32_t i = 0; i < n; i++) {
        struct sampled_token t = { .id = best[i], .ts_id = -1, .logprob = (float)(c->raw[best[i]] - c->lse) };
        t.p = expf(t.logprob);
        buf_add(&c->s->tops, &t, sizeof t);
    }
}

/* Adds id number i of the lane. */
static void take(struct generator *c, struct sampled_token *t)
{
    steno_session *s = c->s;
    const size_t before = s->generated_text.len;
    if (c->raw) {
        t->logprob = (float)(c->raw[t->id] - c->lse);
        t->p = expf(t->logprob);
    }
    add_text(c, t->id);
    if (c->matcher) c->state = matcher_next(c->matcher, c->state, t->id);
    buf_add(&s->held, &t->id, sizeof t->id);
    buf_add(&s->generated, &t->id, sizeof t->id);
    if (c->p->top_logprobs) tops_add(c);
    buf_add(&s->chosen, t, sizeof *t);
    if (s->tops.err || s->held.err || s->generated.err || s->chosen.err || s->generated_text.err) {
        c->status = err_nomem(&s->error, s->held.len, "new ids");
        const size_t whole = s->chosen.len / sizeof *t * sizeof t->id;
        if (s->generated.len > whole) s->generated.len = whole; /* an id counts only if all its data is stored */
        buf_clear(&s->tops);
        c->lane->sampler.done = 1;
        return;
    }
    const size_t stop = stop_find(c, before);
    if (stop < s->generated_text.len) {
        s->generated_text.len = stop;
        s->generated_text.p[stop] = '\0';
        finish(c, STENO_FINISH_STOP);
    }
    const steno_token tok = { .size = sizeof tok, .id = t->id, .ts_id = -1, .p = t->p, .logprob = t->logprob, .t0_ms = -1, .t1_ms = -1,
                              .t_dtw_ms = -1 };
    text_pass(c, &tok, s->generated_text.len - (c->finish == STENO_FINISH_STOP ? 0 : stop_begun(c)));
}

static void take_new(struct generator *c)
{
    struct sampler *l = &c->lane->sampler;
    for (; c->taken < l->n && !c->status && !c->finish; c->taken++) {
        struct sampled_token *t = &l->out[c->taken];
        if (c->given) t->id = c->given[c->taken];
        if (is_end(c, t->id) && !c->p->ignore_eos && !c->given) { /* an end that the executor does not treat as one */
            c->end = t->id;
            l->n = c->taken;
            l->ended = l->done = 1;
            break;
        }
        take(c, t);
    }
}

/* Samples the rows of draft tokens while the draft tokens before them match the chosen ids. */
static void check_draft(struct generator *c)
{
    struct steno_batch *b = c->s->batch;
    struct lane *l = c->lane;
    const struct chain_calls calls = { NULL, c->filters ? filter : NULL, c };
    const int32_t first = b->run.row[c->row].pos;
    int32_t right = 0;
    for (int32_t i = 0;; i++, right++) {
        const int rc = exec_choose(b->exec, &c->s->model->plan[c->plan], &b->run, &calls, c->out + (uint32_t)i);
        if (rc) c->status = session_ran(c->s, b->exec, rc);
        take_new(c);
        if (c->status || l->sampler.done || i == c->lookup.n || l->sampler.out[l->sampler.n - 1].id != c->lookup.id[i]) break;
    }
    l->kv.len = first + right + 1;
    lane_cut(b, (uint32_t)(l - b->run.lane), l->kv.len);
    c->s->timings.n_drafted += c->lookup.n;
    c->s->timings.n_accepted += right;
    if (c->uses_draft) draft_model_rewind(b->draft, (uint16_t)(l - b->run.lane), l->kv.len);
    if (c->uses_draft) speculation_learn(&c->speculation, c->lookup.n, right);
}

int32_t generator_draft_count(const struct generator *c, int32_t texts)
{
    const struct sampler *l = &c->lane->sampler;
    if (!c->uses_draft) return 0;
    const int32_t ids = l->limit - l->n - 1, there = c->s->batch->draft->model->text_ctx - (int32_t)(c->s->held.len / sizeof(int32_t));
    const struct draft_limits limits = { c->p->draft_max, ids < there ? ids : there };
    return draft_model_count(&c->speculation, c->s->batch, texts, limits);
}

struct draft_text generator_text(const struct generator *c, int32_t texts)
{
    const steno_session *s = c->s;
    return (struct draft_text){ .before = (const int32_t *)(const void *)s->held.p,
                                  .n_before = (int32_t)(s->held.len / sizeof(int32_t)) - c->lane->sampler.n, .lane = c->lane,
                                  .to = (uint16_t)(c->lane - s->batch->run.lane), .n_draft = generator_draft_count(c, texts) };
}

void generator_take_draft(struct generator *c, const struct draft_text *t)
{
    const struct sampler *l = &c->lane->sampler;
    c->lookup.n_given = t->n_draft;
    for (int32_t i = 0; i < t->n_draft; i++) c->lookup.id[i] = l->out[l->n + i].id;
}

int generator_propose(struct generator *c)
{
    steno_session *s = c->s;
    struct steno_batch *d = s->batch->draft;
    struct draft_text text = generator_text(c, 1);
    const int64_t t0 = os_now_ns();
    const int rc = draft_model_propose(d, c->plan, &text, 1);
    s->timings.draft_us += (os_now_ns() - t0) / 1000;
    if (!rc) generator_take_draft(c, &text);
    s->batch->run.n_rows = 0;
    generator_rows(c, DRAFT_MAX, 1);
    return session_ran(s, d->exec, rc);
}

void generator_rows(struct generator *c, int32_t draft, int32_t rows)
{
    struct run *r = &c->s->batch->run;
    const struct sampler *l = &c->lane->sampler;
    const int32_t ids = l->limit - l->n - 1, context = c->s->model->text_ctx - c->lane->kv.len - 1;
    const int32_t room = ids < context ? ids : context;
    c->row = r->n_rows;
    c->out = r->n_rows ? r->n_out : 0;
    prompt_lookup_rows(&c->lookup, r, (uint16_t)(c->lane - r->lane), (const int32_t *)(const void *)c->s->held.p,
                       (int32_t)(c->s->held.len / sizeof(int32_t)), room < draft ? room : draft, &c->s->batch->costs, rows);
}

int generator_next(struct generator *c)
{
    if (c->lookup.n) check_draft(c);
    else {
        take_new(c);
        speculation_learn(&c->speculation, 0, 0);
    }
    if (!c->status && session_should_stop(c->s)) c->status = err_set(&c->s->error, STENO_ECANCELED, "canceled");
    return !c->status && !c->lane->sampler.done;
}

/* Handles the ids chosen in the last replay, then adds the rows of the next one. */
static int next(void *user)
{
    struct generator *c = user;
    struct steno_batch *b = c->s->batch;
    const uint32_t rows = run_costs_rows(&b->run);
    const int goes_on = generator_next(c);
    run_costs_end(&b->costs, rows);
    c->goes_on = goes_on && generator_draft_count(c, 1) > 0;
    if (!goes_on || c->goes_on) return 0;
    b->run.n_rows = 0;
    generator_rows(c, DRAFT_MAX, 1);
    return 1;
}

void generator_give(struct generator *c, const int32_t *ids)
{
    c->given = ids;
    c->rules.eot = -1;
}

struct chain_calls generator_calls(struct generator *c)
{
    return (struct chain_calls){ next, c->filters ? filter : NULL, c };
}

int generator_end(struct generator *c, int rc)
{
    steno_session *s = c->s;
    if (!rc) rc = c->status;
    if (rc) {
        s->finish = rc == STENO_ECANCELED ? STENO_FINISH_CANCELED : STENO_FINISH_NONE;
        return rc;
    }
    const struct sampler *l = &c->lane->sampler;
    if (l->ended && c->end < 0 && !l->dead) c->end = s->model->tokens.eot;
    if (l->ended) c->finish = STENO_FINISH_END;
    if (!c->finish) c->finish = STENO_FINISH_LENGTH;
    if (c->end >= 0) buf_add(&s->held, &c->end, sizeof c->end);
    if (c->finish != STENO_FINISH_STOP) {
        token_stream_end(&c->stream, &s->generated_text);
        text_pass(c, NULL, s->generated_text.len);
    }
    s->finish = c->finish;
    return s->held.err || s->generated_text.err ? err_nomem(&s->error, s->held.len, "new ids") : STENO_OK;
}

/* ---- open -------------------------------------------------------------------------------------------------------------------- */

static int check_stops(steno_session *s, const steno_generate_params *p)
{
    if (p->n_stop < 0 || (p->n_stop && !p->stop))
        return err_set(&s->error, STENO_EARG, "n_stop is %d, want 0 or more texts in stop", (int)p->n_stop);
    for (int32_t i = 0; i < p->n_stop; i++)
        if (!p->stop[i] || !*p->stop[i]) return err_set(&s->error, STENO_EARG, "stop %d is empty", (int)i);
    return STENO_OK;
}

/* A rule that never ends may be one of the schema, whose rules are the first lines. @return rc, or that of json_schema_blame */
static int blame_schema(const steno_generate_params *p, uint32_t n_lines, int rc, steno_error *e)
{
    static const char mark[] = "line ";
    const char *line = strstr(e->text, mark);
    if (!p->json_schema || !line || strtoul(line + sizeof mark - 1, NULL, 10) > n_lines) return rc;
    return json_schema_blame(p->json_schema, strlen(p->json_schema), rc, e);
}

/* Text ids are those with bytes of their own. With a grammar, all other ids are barred. */
static int open_grammar(struct generator *c)
{
    const steno_generate_params *p = c->p;
    const struct vocab *v = &c->s->model->vocab;
    struct parsed_grammar *g = &c->s->grammar;
    steno_error *e = &c->s->error;
    struct buf rules = { 0 };
    uint32_t n_lines = 0;
    if (!p->grammar && !p->json_schema) return STENO_OK;
    const char *of_schema = p->grammar ? "json-schema" : "root";
    int rc = p->json_schema ? json_schema_grammar(&rules, of_schema, p->json_schema, strlen(p->json_schema), e) : STENO_OK;
    for (size_t i = 0; i < rules.len; i++) n_lines += rules.p[i] == '\n';
    if (p->grammar) {
        buf_str(&rules, p->grammar);
        buf_add(&rules, "", 1); /* the root rule is part of the key */
        buf_str(&rules, p->grammar_rule ? p->grammar_rule : "root");
    }
    if (!rc && rules.err) rc = err_nomem(e, rules.len, "a grammar");
    c->n_text = v->n_text < v->n ? v->n_text : v->n;
    if (!rc && (!g->matcher || g->text.len != rules.len || memcmp(g->text.p, rules.p, rules.len) != 0)) {
        parsed_grammar_free(g);
        rc = grammar_open(&g->grammar, rules.p, p->grammar ? p->grammar_rule : NULL, e);
        if (rc) rc = blame_schema(p, n_lines, rc, e);
        if (!rc) rc = matcher_open(&g->matcher, g->grammar, v, c->n_text, -1, e);
        g->text = rules;
        rules = (struct buf){ 0 };
    }
    buf_free(&rules);
    if (rc) parsed_grammar_free(g);
    c->matcher = g->matcher;
    if (!rc) matcher_reset(c->matcher);
    if (!rc) c->state = matcher_start(c->matcher);
    return rc;
}

int generator_open(struct generator *c, steno_session *s, int plan, const steno_generate_params *p)
{
    const steno_model *m = s->model;
    *c = (struct generator){ .s = s, .p = p, .end = -1, .lookup = prompt_lookup_of(p->draft_max), .plan = plan };
    token_stream_begin(&c->stream, m->lm.tokenizer, 0);
    c->stream.began = 1; /* the prompt is before it */
    c->stream.is_string = 1;
    int rc = check_stops(s, p);
    if (!rc) rc = open_grammar(c);
    if (!rc) rc = sampler_chain_open(&c->chain, p, &s->error);
    if (rc) return rc;
    c->changes = p->ignore_eos || c->matcher || sampler_chain_filters(&c->chain);
    c->filters = c->changes || p->top_logprobs;
    if (c->filters && !(c->raw = malloc((size_t)m->n_vocab * sizeof *c->raw)))
        return err_nomem(&s->error, (size_t)m->n_vocab * sizeof *c->raw, "logits");
    c->rules = (struct logit_rules){ .n_vocab = m->n_vocab, .eot = p->ignore_eos ? -1 : m->tokens.eot, .ts_begin = m->n_vocab,
                                     .temperature = sampler_chain_temperature(&c->chain), .seed = p->seed };
    return STENO_OK;
}

void generator_start(struct generator *c, struct lane *lane, int32_t room, int uses_draft)
{
    const steno_model *draft = uses_draft && c->s->batch->draft ? c->s->batch->draft->model : NULL;
    c->lane = lane;
    if (draft) c->speculation = speculation_begin(c->s->model, draft, c->plan);
    c->uses_draft = draft && (c->p->draft_max < 0 ? speculation_may_pay(&c->speculation) : c->p->draft_max > 0);
    if (c->uses_draft) c->lookup = prompt_lookup_of(0);
    lane->sampler.limit = c->p->max_tokens && c->p->max_tokens < room ? c->p->max_tokens : room;
    lane->sampler.rules = &c->rules;
    lane->processors.enabled = c->filters;
}

void generator_close(struct generator *c)
{
    sampler_chain_close(&c->chain);
    free(c->raw);
    if (c->lane) c->lane->sampler.rules = NULL;
    *c = (struct generator){ 0 };
}
