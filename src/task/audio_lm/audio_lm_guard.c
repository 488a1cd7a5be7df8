/* steno: repeated decoding of clips whose text loops. SPDX-License-Identifier: MIT */
#include "task/audio_lm/audio_lm_guard.h"
#include <math.h>
#include <string.h>
#include "task/audio_lm/audio_lm_text.h"
#include "text/compression.h"
#include "engine/params.h"
#include "text/repetition.h"

enum { ATTEMPTS = 3, ENTROPY_MIN_TOKENS = 32 /* shorter texts have low entropy anyway */ };

static const steno_transcribe_params *params_of(const steno_session *s)
{
    return &clips_of(s)->request.p;
}

static int is_retry(const steno_session *s)
{
    return params_of(s)->guards == STENO_GUARDS_RETRY;
}

static double penalty_of(const steno_session *s, int32_t attempt)
{
    static double const more[ATTEMPTS] = { 1, 1.1, 1.3 };
    const double asked = params_of(s)->repetition_penalty;
    return !attempt ? asked : (asked > 1 ? asked : 1) * more[attempt];
}

void audio_lm_attempts_begin(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct clip_window *w = &c->window[i];
        if (!w->rows.n) continue;
        struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[w->rows.lane];
        l->now = l->best = (struct audio_lm_attempt){ 0 };
        l->is_read = w->s != NULL;
        l->penalty = w->s ? penalty_of(w->s, 0) : 1;
    }
}

static int ids_loop(steno_session *s, const struct sampler *p)
{
    int32_t *ids = audio_lm_of(s)->ids;
    for (int32_t i = 0; i < p->n; i++) ids[i] = p->out[i].id;
    return tokens_loop(ids, p->n, s->model->n_vocab);
}

int audio_lm_goes_round(steno_session *s, const struct sampler *p)
{
    return is_retry(s) && ids_loop(s, p);
}

/* ---- checks ---------------------------------------------------------------------------------------------------------------------- */

/* A disabled threshold counts as its default. The entropy threshold has none: comparisons with NAN are false. */
static uint32_t flags_of(steno_session *s, const struct audio_lm_attempt *a, const struct sampler *l)
{
    const steno_transcribe_params *p = params_of(s);
    steno_transcribe_params usual;
    params_default(STENO_CALL_TRANSCRIBE, &usual);
    const double ratio = isnan(p->compression_ratio_threshold) ? usual.compression_ratio_threshold : p->compression_ratio_threshold;
    const double least = isnan(p->logprob_threshold) ? usual.logprob_threshold : p->logprob_threshold;
    const int is_low = a->n > ENTROPY_MIN_TOKENS && a->entropy < p->entropy_threshold;
    uint32_t flags = a->index ? STENO_FLAG_RETRIED : 0;
    if (a->ratio > ratio || is_low || ids_loop(s, l)) flags |= STENO_FLAG_REPETITION;
    if (a->avg_logprob < least) flags |= STENO_FLAG_LOW_CONFIDENCE;
    return flags;
}

static int measure(steno_session *s, struct audio_lm_attempt *a, const struct sampler *p)
{
    const char *text;
    size_t n;
    const int rc = audio_lm_text_of(s, p, &text, &n);
    if (rc) return rc;
    if (p->dead || isnan(p->sum_logprob))
        return err_set(&s->error, STENO_EFORMAT, "the model's logits are not numbers: its weights are damaged");
    a->n = p->n;
    a->completed = p->ended;
    a->sum_logprob = p->sum_logprob;
    a->avg_logprob = p->sum_logprob / (p->n + 1);
    a->entropy = token_entropy(audio_lm_of(s)->ids, p->n);
    a->ratio = compression_ratio(text, n);
    if (a->ratio < 0) return err_nomem(&s->error, n, "the text of a clip");
    a->flags = flags_of(s, a, p);
    return STENO_OK;
}

static int loops(const struct audio_lm_attempt *a)
{
    return (a->flags & STENO_FLAG_REPETITION) != 0;
}

static int is_better(const struct audio_lm_attempt *a, const struct audio_lm_attempt *b)
{
    return loops(a) != loops(b) ? loops(b) : a->avg_logprob > b->avg_logprob;
}

static void tell(const steno_session *s, const struct clip_window *w, const struct audio_lm_attempt *a, int failed, int kept)
{
    const steno_transcribe_params *p = params_of(s);
    const steno_attempt t = { .size = sizeof t, .index = a->index, .at_ms = w->at / 16, .avg_logprob = a->avg_logprob,
                              .compression_ratio = a->ratio, .entropy = a->entropy, .n_tokens = a->n, .flags = a->flags, .kept = kept,
                              .score = &a->avg_logprob, .n_candidates = 1, .margin = (double)INFINITY,
                              .margin_timestamps = (double)INFINITY, .failed = failed, .completed = a->completed,
                              .seek_delta_ms = (w->end - w->at) / 16 };
    if (p->on_attempt) p->on_attempt(p->user, &t);
}

/* ---- the next attempt ---------------------------------------------------------------------------------------------------------- */

/* Stores the sampler's tokens, the best so far, before the next attempt. */
static int keep(steno_session *s, struct audio_lm_lane *l, const struct sampler *p)
{
    buf_clear(&l->tokens);
    buf_add(&l->tokens, p->out, (size_t)p->n * sizeof *p->out);
    return l->tokens.err ? err_nomem(&s->error, l->tokens.len, "the text of a clip") : STENO_OK;
}

static void put_back(const struct audio_lm_lane *l, struct sampler *p)
{
    p->n = l->best.n;
    p->sum_logprob = l->best.sum_logprob;
    if (p->n) memcpy(p->out, l->tokens.p, (size_t)p->n * sizeof *p->out);
}

static int judge(steno_session *s, const struct clip_window *w, struct audio_lm_lane *l, struct sampler *p)
{
    int rc = measure(s, &l->now, p);
    if (rc) return rc;
    const int failed = is_retry(s) && loops(&l->now), is_last = l->now.index == ATTEMPTS - 1 || session_should_stop(s);
    if (!l->now.index || is_better(&l->now, &l->best)) l->best = l->now;
    const int is_best = l->best.index == l->now.index;
    l->is_read = failed && !is_last;
    tell(s, w, &l->now, failed, !l->is_read && is_best);
    if (!l->is_read && !is_best) {
        put_back(l, p);
        tell(s, w, &l->best, loops(&l->best), 1);
    }
    if (!l->is_read) return STENO_OK;
    if (is_best) rc = keep(s, l, p);
    l->now = (struct audio_lm_attempt){ .index = l->now.index + 1 };
    l->penalty = penalty_of(s, l->now.index);
    return rc;
}

int audio_lm_attempts_judge(struct steno_batch *b, int *again)
{
    const struct clip_batch *c = clip_batch_of(b);
    int rc = STENO_OK;
    *again = 0;
    for (uint32_t i = 0; i < c->n && !rc; i++) {
        const struct clip_window *w = &c->window[i];
        struct audio_lm_lane *l = w->rows.n ? &audio_lm_batch_of(b)->lane[w->rows.lane] : NULL;
        if (!l || !l->is_read) continue;
        if (w->s) rc = judge(w->s, w, l, &b->run.lane[w->rows.lane].sampler);
        else l->is_read = 0;
        *again |= l->is_read;
    }
    return rc;
}
