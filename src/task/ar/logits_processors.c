/* steno: logits processors: the caller's filter, repetitions, hot words, a grammar. SPDX-License-Identifier: MIT
 *
 * Repetitions are penalised first, then the caller's filter runs, then hot words, then the grammar. The plan applies the logit rules after
 * them.
 *
 * Timestamps and speaker turns are not text: hot words continue across timestamps, and the grammar does not match either. But the grammar
 * decides where they may stand, because the text is cut there: not inside a character or a word, and not where no text could follow.
 * End-of-text is allowed where the text is a sentence of the grammar. Other special ids are never allowed. The last token of an attempt
 * must complete a sentence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task/ar/logits_processors.h"
#include "search/grammar.h"
#include "search/hotwords.h"

static int has_bit(const uint32_t *bits, int32_t i)
{
    return bits[i >> 5] >> (i & 31) & 1;
}

static int grammar_begin(steno_session *s)
{
    struct request *c = request_of(s);
    const struct vocab *v = &s->model->vocab;
    const int32_t n_text = s->model->tokens.n_text;
    int rc = grammar_open(&c->grammar, c->p.grammar, c->p.grammar_rule, &s->error);
    if (!rc) rc = matcher_open(&c->matcher, c->grammar, v, n_text, n_text, &s->error);
    if (rc) return rc;
    c->joining = calloc((size_t)n_text / 32 + 1, sizeof *c->joining);
    if (!c->joining) return err_nomem(&s->error, (size_t)n_text / 8, "a grammar");
    for (int32_t i = 0; i < n_text; i++)
        if (id_joins(v, i)) c->joining[i >> 5] |= 1u << (i & 31);
    return STENO_OK;
}

int processors_open(steno_session *s)
{
    struct request *c = request_of(s);
    int rc = STENO_OK;
    if (c->p.hotwords && *c->p.hotwords) rc = hotwords_open(&c->hotwords, c->p.hotwords, s->model->bpe, &s->error);
    return rc || !c->p.grammar ? rc : grammar_begin(s);
}

void processors_close(struct request *c)
{
    matcher_close(c->matcher);
    grammar_close(c->grammar);
    hotwords_close(c->hotwords);
    free(c->joining);
    c->matcher = NULL;
    c->grammar = NULL;
    c->hotwords = NULL;
    c->joining = NULL;
}

int processors_failed(steno_session *s)
{
    return err_set(&s->error, STENO_ENOMEM, "grammar: %s", matcher_why(request_of(s)->matcher));
}

int processors_needed(const struct request *c)
{
    return c->p.logits_filter || c->hotwords || c->matcher || c->p.repetition_penalty != 1 || c->p.no_repeat_ngram_size;
}

/* Copies the ids of the lane that are less than `end` to attempts->ids. With `end` = end-of-text these are the text ids. @return their
 * number */
static int32_t ids_below(struct decoder_attempts *attempts, const struct lane *l, int32_t end)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->sampler.n; i++)
        if (l->sampler.out[i].id < end) attempts->ids[n++] = l->sampler.out[i].id;
    return n;
}

/* ---- n-grams that would occur twice (Paulus et al. 2017) ---- */

static void mask_repeated(float *logits, const int32_t *ids, int32_t n, int32_t size)
{
    const int32_t begun = size - 1; /* the last tokens, which may begin an n-gram that is there */
    for (int32_t i = 0; i + begun < n; i++)
        if (!memcmp(ids + i, ids + n - begun, (size_t)begun * sizeof *ids)) logits[ids[i + begun]] = -INFINITY;
}

/* ---- a grammar ---- */

static void lower(float *x, double penalty)
{
    *x = isinf(penalty) ? -INFINITY : (float)(*x - penalty);
}

/* Advances the lane's grammar state over the tokens chosen since the last call. A copied lane keeps the state of its original. */
static int state_of(struct window_decoder *w, struct lane *l)
{
    struct matcher *m = w->request->matcher;
    if (!l->processors.grammar_n) l->processors.grammar_state = matcher_start(m);
    for (; l->processors.grammar_n < l->sampler.n && l->processors.grammar_state >= 0; l->processors.grammar_n++) {
        const int32_t id = l->sampler.out[l->processors.grammar_n].id;
        if (id >= w->s->model->tokens.n_text) continue;
        const int32_t next = matcher_next(m, l->processors.grammar_state, id);
        /* a token chosen despite its penalty does not advance the grammar */
        if (next == MATCH_REJECTED && !isinf(w->request->p.grammar_penalty)) continue;
        l->processors.grammar_state = next;
    }
    return l->processors.grammar_state;
}

/* Position of a lane in its grammar. */
struct grammar_step {
    int complete, between; /* the text is a sentence; the text ends at a character boundary */
    int joins;             /* the text ends with a letter that a following letter would join */
    int last;              /* only one more token fits */
    const uint32_t *mask;  /* text ids that may follow */
};

/* Can some text follow that does not continue the current word? */
static int can_go_on(const struct window_decoder *w, const struct grammar_step *at)
{
    const uint32_t *masked = w->rules.mask, *joining = w->request->joining;
    const int32_t n_text = w->s->model->tokens.n_text;
    for (int32_t i = 0; i < n_text; i += 32) {
        uint32_t ids = at->mask[i >> 5] & ~masked[i >> 5];
        if (n_text - i < 32) ids &= (1u << (n_text - i)) - 1;
        if (at->joins) ids &= ~joining[i >> 5];
        if (ids) return 1;
    }
    return 0;
}

/* May a timestamp or a speaker turn stand here? There must be room for the timestamp that begins the next segment, and for text. */
static int can_pause(const struct window_decoder *w, const struct lane *l, const struct grammar_step *at)
{
    const int32_t ts = w->rules.ts_begin, opens = l->sampler.n ? l->sampler.out[l->sampler.n - 1].id >= ts : !w->rules.begun;
    if (!at->between || at->complete) return at->between;
    return l->sampler.limit - l->sampler.n > (opens ? 1 : 2) && can_go_on(w, at);
}

static void adjust_grammar(struct window_decoder *w, struct lane *l, float *logits)
{
    const struct request *c = w->request;
    const struct token_roles *t = &w->s->model->tokens;
    const double penalty = c->p.grammar_penalty;
    const int32_t n_text = t->n_text, state = state_of(w, l), n = ids_below(&w->attempts, l, n_text);
    struct grammar_step at = { .last = isinf(penalty) && l->sampler.n == l->sampler.limit - 1 };
    at.mask = state < 0 ? NULL : at.last ? matcher_mask_last(c->matcher, state) : matcher_mask(c->matcher, state);
    if (!at.mask) {
        w->attempts.failed = 1;
        return;
    }
    const int32_t before = last_char(&w->s->model->vocab, w->attempts.ids, n);
    at.joins = n && before >= 0 && char_joins((uint32_t)before);
    at.complete = matcher_complete(c->matcher, state);
    at.between = matcher_between(c->matcher, state);
    /* a word does not continue after a timestamp or a speaker turn */
    const int apart = at.joins && l->sampler.n && l->sampler.out[l->sampler.n - 1].id >= n_text;
    for (int32_t i = 0; i < n_text; i++)
        if (!has_bit(at.mask, i) || (apart && has_bit(c->joining, i))) lower(&logits[i], penalty);
    if (!at.complete) lower(&logits[t->eot], penalty);
    const int turns = c->p.tinydiarize, pause = (w->rules.timestamps || turns) && can_pause(w, l, &at);
    for (int32_t i = n_text; i < t->timestamp_begin; i++)
        if (i != t->eot && (i != t->turn || !turns || !pause)) lower(&logits[i], penalty);
    for (int32_t i = t->timestamp_begin; i < w->rules.n_vocab && w->rules.timestamps && !pause; i++) lower(&logits[i], penalty);
}

int sentence_of(struct window_decoder *w, const int32_t *ids, int32_t n, struct sentence *out)
{
    struct request *c = w->request;
    const int32_t n_text = w->s->model->tokens.n_text, ts = w->s->model->tokens.timestamp_begin;
    *out = (struct sentence){ SENTENCE_AS_CUT, n };
    if (!is_forced(c)) return STENO_OK;
    int32_t state = matcher_start(c->matcher), cut = 0, pairs = 0;
    int cut_last = 0;
    for (int32_t i = 0; i < n; i++) {
        if (ids[i] < n_text) state = matcher_next(c->matcher, state, ids[i]);
        if (!i || ids[i] < ts || ids[i - 1] < ts) continue;
        pairs++;
        cut_last = matcher_complete(c->matcher, state);
        if (cut_last) cut = i;
    }
    if (state == MATCH_NOMEM) return processors_failed(w->s);
    const int whole = matcher_complete(c->matcher, state), single_end = n >= 2 && ids[n - 1] >= ts && ids[n - 2] < ts;
    if (whole && (!pairs || single_end || cut_last)) return STENO_OK;
    if (cut) *out = (struct sentence){ SENTENCE_AS_CUT, cut + 1 };
    else *out = (struct sentence){ whole ? SENTENCE_UNCUT : SENTENCE_NONE, whole ? n : 0 };
    return STENO_OK;
}

int is_forced(const struct request *c)
{
    return c->matcher && isinf(c->p.grammar_penalty);
}

/* ---- one step ---- */

void process_logits(struct window_decoder *w, struct lane *l, float *logits)
{
    struct decoder_attempts *attempts = &w->attempts;
    const steno_transcribe_params *p = &w->request->p;
    for (int32_t i = 0; i < l->sampler.n; i++) attempts->ids[i] = l->sampler.out[i].id;
    attempts->step.lane = (int32_t)(l - w->b->run.lane) - (int32_t)(w->decode_slot * w->b->n_lanes);
    if (p->repetition_penalty != 1) sampler_penalise(&l->sampler, logits, (float)p->repetition_penalty);
    if (p->no_repeat_ngram_size) mask_repeated(logits, attempts->ids, l->sampler.n, p->no_repeat_ngram_size);
    if (p->logits_filter) p->logits_filter(p->user, &attempts->step, logits, attempts->ids, l->sampler.n);
    if (w->request->hotwords) {
        const int32_t n = ids_below(attempts, l, w->s->model->tokens.timestamp_begin);
        hotwords_push(w->request->hotwords, logits, attempts->ids, n, (float)p->hotwords_boost);
    }
    if (w->request->matcher) adjust_grammar(w, l, logits);
}

void batch_filter(void *user, uint16_t lane, float *logits)
{
    struct steno_batch *b = user;
    struct window_decoder *w = ar_batch_of(b)->decode_slot[lane / b->n_lanes].user;
    if (w) process_logits(w, &b->run.lane[lane], logits);
}

double processors_pushed(struct window_decoder *w, const struct lane *l)
{
    const struct request *c = w->request;
    const int32_t n = ids_below(&w->attempts, l, w->s->model->tokens.timestamp_begin);
    double sum = 0;
    for (int32_t i = 0; i < n && c->hotwords; i++)
        sum += (double)hotwords_push_of(c->hotwords, w->attempts.ids[i], w->attempts.ids, i, (float)c->p.hotwords_boost);
    return sum / (l->sampler.n + 1);
}
