/* steno: decoding a window until it passes. SPDX-License-Identifier: MIT
 *
 * The encoder has run; an attempt is a prompt, a chain of steps and a judgement. What fails is decoded again, hotter each time. The
 * prompt's keys and values do not depend on the temperature, so an attempt with the same prompt begins at the prompt's last row.
 * Reference: openai-whisper 20250625, whisper/transcribe.py, decode_with_fallback; the entropy is whisper.cpp's. */
#include <math.h>
#include <string.h>
#include "lib/job.h"

enum { ENTROPY_LEAST = 32 }; /* so few tokens cannot have much entropy */

void limits_init(struct job *j)
{
    const steno_transcribe_params *p = j->p;
    steno_transcribe_params d;
    steno_transcribe_params_init(&d);
    j->limits = (struct limits){ p->compression_ratio_threshold, p->logprob_threshold, p->no_speech_threshold, p->entropy_threshold };
    j->full = j->limits;
    if (isnan(j->full.ratio)) j->full.ratio = d.compression_ratio_threshold;
    if (isnan(j->full.logprob)) j->full.logprob = d.logprob_threshold;
    if (isnan(j->full.no_speech)) j->full.no_speech = d.no_speech_threshold;
}

/* Comparisons with NAN are false: a threshold that is off never speaks. */
static uint32_t flags_by(const struct limits *l, const struct attempt *a)
{
    uint32_t flags = 0;
    if (a->ratio > l->ratio || (a->n_tokens > ENTROPY_LEAST && a->entropy < l->entropy)) flags |= STENO_FLAG_REPETITION;
    if (a->avg_logprob < l->logprob) flags |= STENO_FLAG_LOW_CONFIDENCE;
    if (a->no_speech_prob > l->no_speech) flags |= STENO_FLAG_NO_SPEECH;
    return flags;
}

/* Silence needs no better text. */
static int fails(uint32_t flags)
{
    const uint32_t silence = STENO_FLAG_NO_SPEECH | STENO_FLAG_LOW_CONFIDENCE;
    return (flags & (STENO_FLAG_REPETITION | STENO_FLAG_LOW_CONFIDENCE)) && (flags & silence) != silence;
}

static const struct limits *deciding(const struct job *j)
{
    return j->p->guards == STENO_GUARDS_RETRY ? &j->full : &j->limits;
}

int is_silence(const struct job *j)
{
    const struct limits *l = deciding(j);
    if (!(j->kept.no_speech_prob > l->no_speech)) return 0;
    return isnan(l->logprob) || !(j->kept.avg_logprob > l->logprob);
}

void text_of(steno_session *s, const int32_t *ids, int32_t n)
{
    buf_clear(&s->bytes);
    buf_clear(&s->text);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < s->model->tokens.eot) vocab_append(&s->model->vocab, ids[i], &s->bytes);
    utf8_append(&s->text, (const uint8_t *)s->bytes.p, s->bytes.len);
}

/* ---- one attempt ---- */

/* Temperature of rung i, rounded so that 0.2 three times is 0.6. */
static double temperature_of(const struct job *j, int i)
{
    return !i ? j->p->temperature : nearbyint((j->p->temperature + i * j->p->temperature_increment_on_fallback) * 1e6) / 1e6;
}

/* Rungs after the first; the last is not above 1. */
static int rungs_of(const struct job *j)
{
    const double step = j->p->temperature_increment_on_fallback, room = 1 + 1e-6 - j->p->temperature;
    return step > 0 && room >= step ? (int)(room / step) : 0;
}

static int run_rows(struct job *j, struct ar *ar)
{
    steno_session *s = j->s;
    for (;;) {
        s->batch->run.n_rows = 0;
        const int steps = ar_want(ar, &s->batch->run, s->model->plan[PLAN_DECODER].max_rows);
        if (!steps) return STENO_OK;
        const int rc = steps_run(s, steps);
        if (rc) return rc;
        ar_give(ar, &s->batch->run);
    }
}

/* Choose tokens; `again`: the prompt is that of the attempt before. */
static int choose(struct job *j, struct attempt *a, int again)
{
    steno_session *s = j->s;
    const steno_model *m = s->model;
    struct lane *l = &s->batch->run.lane[0];
    const float no_speech = l->prob;
    int sot = 0;
    const int32_t n = prompt_make(j, a->with_previous, &sot), room = m->text_ctx + 1 - n;
    const int32_t most = j->p->sample_len ? j->p->sample_len : m->text_ctx / 2;
    lane_rewind(s, 0, again ? n - 1 : 0);
    l->rules = &s->rules;
    l->limit = most < room ? most : room;
    l->stream = pick_stream(j->seek, a->index, 0);
    l->prob = no_speech; /* an attempt that goes on behind the prompt does not see its row */
    l->prob_id = m->tokens.nospeech;
    s->rules.temperature = a->temperature;
    s->step = (steno_step){ .size = sizeof s->step, .at_ms = j->seek * 10, .temperature = a->temperature, .attempt = a->index,
                            .n_vocab = m->n_vocab };
    if (l->limit <= 0) return err_set(&s->error, STENO_EARG, "the prompt leaves no room for text");
    struct ar ar;
    ar_begin(&ar, 0, s->prompt, n, sot);
    ar.fed = l->kv_len;
    return run_rows(j, &ar);
}

static int measure(struct job *j, struct attempt *a)
{
    steno_session *s = j->s;
    const struct lane *l = &s->batch->run.lane[0];
    for (int32_t i = 0; i < l->n; i++) s->ids[i] = l->out[i].id;
    a->n_tokens = l->n;
    a->avg_logprob = ar_avg_logprob(l);
    a->no_speech_prob = (double)l->prob;
    a->entropy = token_entropy(s->ids, l->n);
    text_of(s, s->ids, l->n);
    const char *text = s->text.p ? s->text.p : "";
    size_t n = s->text.len;
    text_strip(&text, &n);
    a->ratio = compression_ratio(text, n);
    if (s->bytes.err || s->text.err || a->ratio < 0) return err_nomem(&s->error, n, "the text of a window");
    a->flags = flags_by(&j->full, a);
    if (tokens_loop(s->ids, l->n, s->model->tokens.eot)) a->flags |= STENO_FLAG_REPETITION;
    if (a->index) a->flags |= STENO_FLAG_RETRIED;
    return STENO_OK;
}

static void tell(const struct job *j, const struct attempt *a, int kept)
{
    if (!j->p->on_attempt) return;
    const steno_attempt t = { sizeof t, a->index, j->seek * 10, a->temperature, a->avg_logprob, a->ratio, a->no_speech_prob, a->entropy,
                              a->n_tokens, a->flags, a->with_previous, kept };
    j->p->on_attempt(j->p->user, &t);
}

/* ---- the ladder ---- */

static int is_better(const struct attempt *a, const struct attempt *b)
{
    const int a_loops = (a->flags & STENO_FLAG_REPETITION) != 0, b_loops = (b->flags & STENO_FLAG_REPETITION) != 0;
    return a_loops != b_loops ? b_loops : a->avg_logprob > b->avg_logprob;
}

int window_decode(struct job *j)
{
    const int retry = j->p->guards == STENO_GUARDS_RETRY, previous = prompt_has_previous(j);
    const int bare = retry && previous, last = rungs_of(j) + bare; /* attempt 1 of a retry: the same, without the text before */
    struct attempt a = { 0 }, best = { 0 };
    for (int i = 0; i <= last; i++) {
        const int with = previous && !(bare && i);
        const int again = i && with == a.with_previous;
        a = (struct attempt){ .index = i, .with_previous = with, .temperature = temperature_of(j, i && bare ? i - 1 : i) };
        int rc = choose(j, &a, again);
        if (!rc) rc = measure(j, &a);
        if (rc) return rc;
        if (!i || is_better(&a, &best)) best = a;
        const int failed = fails(retry ? a.flags : flags_by(&j->limits, &a));
        j->kept = a;
        if (!failed || (i == last && (!retry || best.index == i))) {
            tell(j, &a, 1);
            return STENO_OK;
        }
        tell(j, &a, 0);
    }
    const int again = best.with_previous == a.with_previous;
    const int rc = choose(j, &best, again); /* draws repeat, so once more costs less than keeping every attempt */
    if (!rc) measure(j, &best);
    j->kept = best;
    if (!rc) tell(j, &best, 1);
    return rc;
}
