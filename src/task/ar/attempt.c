/* steno: temperature fallback: decoding a window until an attempt passes. SPDX-License-Identifier: MIT
 *
 * The encoder has run. An attempt consists of a prompt, a search and a check of the result. A failed attempt is repeated at the next
 * temperature. Reference: openai-whisper 20250625, whisper/transcribe.py, decode_with_fallback; the entropy is whisper.cpp's. */
#include "task/ar/attempt.h"
#include <math.h>
#include <string.h>
#include "engine/params.h"
#include "search/grammar.h"
#include "task/ar/decoding_rules.h"
#include "task/ar/logits_processors.h"
#include "task/ar/prompt.h"
#include "task/ar/search.h"
#include "task/ar/sound_checks.h"
#include "task/ar/verify.h"
#include "text/repetition.h"

enum { ENTROPY_MIN_TOKENS = 32 }; /* shorter texts have low entropy anyway */

void limits_init(struct request *c)
{
    const steno_transcribe_params *p = &c->p;
    steno_transcribe_params d;
    params_default(STENO_CALL_TRANSCRIBE, &d);
    c->limits = (struct limits){ p->compression_ratio_threshold, p->logprob_threshold, p->no_speech_threshold, p->entropy_threshold };
    c->full = c->limits;
    if (isnan(c->full.ratio)) c->full.ratio = d.compression_ratio_threshold;
    if (isnan(c->full.logprob)) c->full.logprob = d.logprob_threshold;
    if (isnan(c->full.no_speech)) c->full.no_speech = d.no_speech_threshold;
}

/* Comparisons with NAN are false, so a disabled threshold sets no flag. */
static uint32_t flags_by(const struct limits *l, const struct attempt *a)
{
    uint32_t flags = 0;
    if (a->ratio > l->ratio || (a->n_tokens > ENTROPY_MIN_TOKENS && a->entropy < l->entropy)) flags |= STENO_FLAG_REPETITION;
    if (a->avg_logprob < l->logprob) flags |= STENO_FLAG_LOW_CONFIDENCE;
    if (a->no_speech_prob > l->no_speech) flags |= STENO_FLAG_NO_SPEECH;
    if (a->unfinished) flags |= STENO_FLAG_UNFINISHED;
    return flags;
}

/* Silence needs no second attempt if this attempt may be used to detect silence. */
static int fails(uint32_t flags, int may_be_silence)
{
    const uint32_t silence = STENO_FLAG_NO_SPEECH | STENO_FLAG_LOW_CONFIDENCE;
    const uint32_t bad = STENO_FLAG_REPETITION | STENO_FLAG_LOW_CONFIDENCE | STENO_FLAG_UNFINISHED;
    return (flags & bad) && !(may_be_silence && (flags & silence) == silence);
}

static int is_retry(const struct window_decoder *w)
{
    return w->request->p.guards == STENO_GUARDS_RETRY;
}

/* The limits that decide whether a window is silent. */
static const struct limits *limits_of(const struct window_decoder *w)
{
    return is_retry(w) ? &w->request->full : &w->request->limits;
}

/* Returns 1 if the best attempt is kept and the first attempt decides about silence. The reference keeps the last attempt and lets it
 * decide, so a bad draw can classify good speech as silence. */
int keeps_best(const struct window_decoder *w)
{
    return w->request->p.guards != STENO_GUARDS_OFF && (is_retry(w) || rules_of(w)->keeps_best);
}

static int shows_silence(const struct window_decoder *w, const struct attempt *a)
{
    const struct limits *l = limits_of(w);
    if (!(a->no_speech_prob > l->no_speech)) return 0;
    return isnan(l->logprob) || !(a->avg_logprob - a->pushed > l->logprob); /* the boost of hot words is not evidence of sound */
}

int is_silence(const struct window_decoder *w)
{
    return keeps_best(w) ? w->attempts.silent : shows_silence(w, &w->attempts.kept);
}

void text_of(struct window_decoder *w, const int32_t *ids, int32_t n, int32_t below)
{
    const steno_model *m = w->s->model;
    buf_clear(&w->bytes);
    buf_clear(&w->text);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < below) vocab_append(&m->vocab, ids[i], &w->bytes);
    utf8_append_string(&w->text, (const uint8_t *)w->bytes.p, w->bytes.len);
}

/* ---- one attempt ---- */

/* Temperature of fallback step i, rounded so that 3 * 0.2 is 0.6. */
static double temperature_of(const steno_transcribe_params *p, int i)
{
    if (i && p->n_fallback_temperatures) return p->fallback_temperatures[i - 1];
    return !i ? p->temperature : nearbyint((p->temperature + i * p->temperature_increment_on_fallback) * 1e6) / 1e6;
}

/* Number of fallback steps after the first. With increments the temperature of the last is at most 1. */
static int fallback_steps_of(const steno_transcribe_params *p)
{
    if (p->n_fallback_temperatures) return p->n_fallback_temperatures;
    const double step = p->temperature_increment_on_fallback, room = 1 + 1e-6 - p->temperature;
    return step > 0 && room >= step ? (int)(room / step) : 0;
}

/* Counts the candidates other than the chosen one. The best of five is often probable when most of them are not. */
static void others_count(struct window_decoder *w, struct attempt *a)
{
    struct decoder_attempts *attempts = &w->attempts;
    const struct sequence_score_rules *rules = &attempts->ar.p.score;
    a->n_others = a->n_sure_others = 0;
    for (int32_t i = 0; i < attempts->ar.p.n_lanes && !attempts->ar.p.beams; i++) {
        const struct lane *l = &w->b->run.lane[attempts->ar.lane0 + i];
        if (attempts->ar.lane0 + i == attempts->ar.result) continue;
        const double p = rules->on ? sequence_score_of(l, rules, attempts->ar.p.length_penalty).avg_logprob : ar_avg_logprob(l);
        a->n_others++;
        a->n_sure_others += !l->sampler.dead && !(p - processors_pushed(w, l) < limits_of(w)->logprob);
    }
}

static int measure(struct window_decoder *w, struct attempt *a)
{
    struct decoder_attempts *attempts = &w->attempts;
    steno_session *s = w->s;
    attempts->lane = attempts->ar.result;
    const struct lane *l = &w->b->run.lane[attempts->lane];
    const struct sequence_score_rules *rules = &attempts->ar.p.score;
    const struct sequence_score v = sequence_score_of(l, rules, attempts->ar.p.length_penalty);
    struct sentence sentence;
    others_count(w, a);
    a->pushed = processors_pushed(w, l);
    a->sequence = attempts->ar.chosen;
    a->is_bad = v.failed;
    a->n_tokens = rules->on ? v.n : l->sampler.n;
    for (int32_t i = 0; i < l->sampler.n; i++) attempts->ids[i] = l->sampler.out[i].id;
    const int rc = sentence_of(w, attempts->ids, a->n_tokens, &sentence);
    if (rc) return rc;
    a->unfinished = sentence.end == SENTENCE_NONE;
    a->completed = l->sampler.n < l->sampler.limit;
    int single_end;
    begun_advance(w, a->n_tokens, &a->advance, &single_end);
    a->avg_logprob = rules->on ? v.avg_logprob : ar_avg_logprob(l);
    a->no_speech_prob = (double)w->b->run.lane[w->decode_slot * w->b->n_lanes].prob.p;
    a->margin = l->sampler.margin;
    if (isnan(a->no_speech_prob) || isnan(a->avg_logprob))
        return err_set(&s->error, STENO_EFORMAT, "the model's logits are not numbers: its weights are damaged");
    a->entropy = token_entropy(attempts->ids, a->n_tokens);
    text_of(w, attempts->ids, a->n_tokens, w->request->p.tinydiarize ? s->model->tokens.n_text : s->model->tokens.timestamp_begin);
    const char *text = w->text.p ? w->text.p : "";
    size_t n = w->text.len;
    text_strip(&text, &n);
    a->ratio = compression_ratio(text, n);
    if (w->bytes.err || w->text.err || a->ratio < 0) return err_nomem(&s->error, n, "the text of a window");
    a->flags = flags_by(&w->request->full, a);
    if (tokens_loop(attempts->ids, a->n_tokens, s->model->tokens.n_text)) a->flags |= STENO_FLAG_REPETITION;
    if (a->index) a->flags |= STENO_FLAG_RETRIED;
    return STENO_OK;
}

static int has_timestamp(const struct window_decoder *w, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (w->attempts.ids[i] > w->s->model->tokens.timestamp_begin) return 1;
    return 0;
}

static void report(const struct window_decoder *w, const struct attempt *a, int kept)
{
    const struct decoder_attempts *attempts = &w->attempts;
    const steno_transcribe_params *p = &w->request->p;
    if (!p->on_attempt) return;
    const int32_t n = attempts->ar.n_ranks < AR_FINISHED ? attempts->ar.n_ranks : AR_FINISHED;
    const steno_attempt t = { sizeof t, a->index, w->position.seek * 10, a->temperature, a->avg_logprob, a->ratio, a->no_speech_prob,
                              a->entropy, a->n_tokens, a->flags, a->with_previous, kept, attempts->ar.rank, n, attempts->ar.chosen,
                              (double)a->margin.text, (double)a->margin.time, a->verified, a->corrected,
                              a->failed, a->completed, has_timestamp(w, a->n_tokens), a->advance * 10 };
    p->on_attempt(p->user, &t);
}

/* ---- the fallback ladder ---- */

/* Rank of an attempt: 0: no sentence of its grammar, 1: a loop that only the token limit ended, 2: low confidence, 3: none of these. */
static int class_of(const struct attempt *a)
{
    if (a->unfinished) return 0;
    if (a->flags & STENO_FLAG_REPETITION && !a->completed) return 1;
    return a->flags & STENO_FLAG_LOW_CONFIDENCE ? 2 : 3;
}

/* Speech that repeats itself compresses well, too, so a probable repetitive text ranks before an improbable text. */
int attempt_is_better(const struct attempt *a, const struct attempt *b)
{
    const int a_loops = (a->flags & STENO_FLAG_REPETITION) != 0, b_loops = (b->flags & STENO_FLAG_REPETITION) != 0;
    if (class_of(a) != class_of(b)) return class_of(a) > class_of(b);
    return a_loops != b_loops ? b_loops : a->avg_logprob > b->avg_logprob;
}

static int attempt_next(struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    const int i = attempts->fallback_step;
    const double temperature = temperature_of(&w->request->p, i && attempts->without_context ? i - 1 : i);
    const int with = prompt_has_previous(w) && !(attempts->without_context && i) && temperature < rules_of(w)->context_temperature;
    const int again = i && with == attempts->now.with_previous;
    const int sequence = i ? attempts->now.sequence : 0;
    attempts->now = (struct attempt){ .index = i, .with_previous = with, .temperature = temperature, .sequence = sequence };
    return search_begin(w, again);
}

/* Returns 1 if no other search of the request holds states of its grammar. */
static int is_alone(const struct window_decoder *w)
{
    const struct steno_batch *b = w->s->batch;
    const struct decode_slot *slot = ar_batch_of(b)->decode_slot;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (slot[i].user && slot[i].user != w && slot[i].user->s == w->s) return 0;
    return 1;
}

int attempts_begin(struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    attempts->without_context = is_retry(w) && prompt_has_previous(w); /* attempt 1 of a retry: the same without previous text */
    attempts->fallback_step = 0;
    attempts->second_look = 0;
    attempts->n_draws = attempts->n_sure_draws = 0;
    attempts->last_fallback_step = fallback_steps_of(&w->request->p) + attempts->without_context;
    attempts->repeating = 0;
    attempts->failed = 0;
    if (w->request->matcher && is_alone(w)) matcher_reset(w->request->matcher);
    return attempt_next(w);
}

/* Without speech, the most probable text is a loop, and sampled texts are improbable. Speech that repeats itself stays probable at some of
 * the temperatures. Draws at low temperatures may loop, too. In that case the best text is one that ended by itself and is as improbable as
 * the text of silence. A single bad draw is not enough. With several candidates per temperature and a probable loop, at least three of five
 * draws are improbable if there is no speech. With speech, even in noise, fewer than half are. */
int draws_fall_apart(int n, int n_sure, int best_is_silence)
{
    enum { DRAWS = 2, MANY = 10 };
    const int unsure = n - n_sure;
    if (n < DRAWS) return 0;
    if (!n_sure || (n >= MANY && 5 * unsure >= 3 * n)) return 1;
    return best_is_silence && unsure >= DRAWS && 5 * unsure >= 2 * n;
}

/* A loop that no draw confirms is no evidence of speech, so half the no-speech probability is enough. Draws of speech that repeats itself,
 * even at 5 dB below other voices, are probable at the lowest temperatures. */
static int loop_falls_apart(const struct decoder_attempts *attempts)
{
    enum { LADDER = 5 };
    return attempts->best.flags & STENO_FLAG_REPETITION && attempts->n_draws >= LADDER && !attempts->n_sure_draws;
}

static int falls_apart(const struct window_decoder *w)
{
    const struct decoder_attempts *attempts = &w->attempts;
    const double p = attempts->best.no_speech_prob, limit = limits_of(w)->no_speech;
    if (p > limit && draws_fall_apart(attempts->n_draws, attempts->n_sure_draws, shows_silence(w, &attempts->best))) return 1;
    return p > limit / 2 && loop_falls_apart(attempts);
}

static void draws_count(struct window_decoder *w, const struct attempt *a)
{
    if (!(a->temperature > w->request->p.temperature)) return;
    w->attempts.n_draws += 1 + a->n_others;
    w->attempts.n_sure_draws += a->n_sure_others + !(a->avg_logprob - a->pushed < limits_of(w)->logprob);
}

/* If no voice makes such a sound (music or strokes), any doubtful text is dropped. Sampling would only give similar texts. */
static int is_voiceless(const struct window_decoder *w, const struct attempt *a)
{
    return keeps_best(w) && w->window.voiceless && a->flags & (STENO_FLAG_NO_SPEECH | STENO_FLAG_LOW_CONFIDENCE | STENO_FLAG_REPETITION);
}

/* Previous text can make a window look silent. If the window contains a sound that moves, it is decoded once more without previous text. */
static int looks_again(const struct window_decoder *w)
{
    const struct decoder_attempts *attempts = &w->attempts;
    return keeps_best(w) && attempts->silent && attempts->now.with_previous && !attempts->without_context &&
           !window_steady(w, w->position.seek, w->position.seek + w->window.frames);
}

static int attempt_without_context(struct window_decoder *w, int *again)
{
    struct decoder_attempts *attempts = &w->attempts;
    attempts->now.failed = attempts->best.failed = 1;
    report(w, &attempts->now, 0);
    attempts->second_look = attempts->without_context = 1;
    attempts->last_fallback_step++;
    attempts->fallback_step++;
    *again = 1;
    return attempt_next(w);
}

int attempt_settle(struct window_decoder *w, int *again)
{
    struct decoder_attempts *attempts = &w->attempts;
    *again = 0;
    struct attempt *a = attempts->repeating ? &attempts->best : &attempts->now;
    int rc = measure(w, a);
    if (!rc && verify_needed(w, a)) {
        rc = verify_attempt(w, a);
        if (!rc) rc = measure(w, a);
    }
    if (rc) return rc;
    if (attempts->repeating) {
        attempts->kept = attempts->best;
        report(w, &attempts->kept, 1);
        return STENO_OK;
    }
    const int retry = is_retry(w), best = keeps_best(w), i = attempts->fallback_step;
    const int first = !i || (i == 1 && attempts->second_look);
    const int voiceless = first && is_voiceless(w, &attempts->now);
    if (first) attempts->silent = shows_silence(w, &attempts->now) || voiceless;
    if (!i || attempt_is_better(&attempts->now, &attempts->best)) attempts->best = attempts->now;
    const struct limits *limits = &w->request->limits;
    const uint32_t flags = retry ? attempts->now.flags : flags_by(limits, &attempts->now);
    const struct decoding_rules *rules = rules_of(w);
    const int failed = !voiceless && (rules->fails && !retry ? rules->fails(limits, &attempts->now) : fails(flags, first || !best));
    if (!i && looks_again(w)) return attempt_without_context(w, again);
    draws_count(w, &attempts->now);
    if (best && failed && i == attempts->last_fallback_step && falls_apart(w)) attempts->silent = 1;
    attempts->now.failed = failed;
    if (attempts->best.index == i) attempts->best.failed = failed;
    const int done = !failed || (i == attempts->last_fallback_step && (!best || attempts->best.index == i));
    attempts->kept = attempts->now;
    report(w, &attempts->now, done);
    if (done) return STENO_OK;
    *again = 1;
    if (i < attempts->last_fallback_step) {
        attempts->fallback_step++;
        return attempt_next(w);
    }
    attempts->repeating = 1; /* draws are reproducible, so one more search costs less than keeping the state of every attempt */
    const int same = attempts->best.with_previous == attempts->now.with_previous;
    attempts->now = attempts->best;
    return search_begin(w, same);
}

/* ---- the n best texts --------------------------------------------------------------------------------------------------------- */

/* One finished text, from either place. */
struct found { double sum, rank; const struct sampled_token *tokens; int32_t n; };

/* Reads text i. *at: position in w->attempts.found; it is moved to the next text. @return 0: there is no text i */
static int found_at(struct found *f, const struct window_decoder *w, int32_t i, size_t *at)
{
    const struct decoder_attempts *attempts = &w->attempts;
    if (attempts->ar.found) {
        struct ar_candidate c;
        if (*at + sizeof c > attempts->found.len) return 0;
        memcpy(&c, attempts->found.p + *at, sizeof c);
        *f = (struct found){ c.sum, c.rank, (const struct sampled_token *)(const void *)(attempts->found.p + *at + sizeof c), c.n };
        *at += sizeof c + (size_t)c.n * sizeof *f->tokens;
        return 1;
    }
    const int one = attempts->ar.p.n_lanes == 1 || attempts->kept.verified; /* one text only, in the lane of the result */
    if (i >= (one ? 1 : attempts->ar.p.n_lanes)) return 0;
    const struct sampler *s = &w->b->run.lane[one ? attempts->lane : attempts->ar.lane0 + i].sampler;
    *f = (struct found){ s->sum_logprob, ar_rank(s->sum_logprob, s->n, attempts->ar.p.length_penalty), s->out, s->n };
    return 1;
}

/* The best text after text *last, whose rank is `rank`. *last becomes its index. @return 0: there are no more */
static int next_best(struct found *best, const struct window_decoder *w, double rank, int32_t *last)
{
    struct found f;
    size_t at = 0;
    int32_t chosen = -1;
    for (int32_t i = 0; found_at(&f, w, i, &at); i++) {
        const int is_behind = *last < 0 || f.rank < rank || (f.rank == rank && i > *last);
        if (!is_behind || (chosen >= 0 && !(f.rank > best->rank))) continue;
        *best = f;
        chosen = i;
    }
    *last = chosen;
    return chosen >= 0;
}

int hypotheses_add(struct window_decoder *w)
{
    struct result *r = w->result;
    struct found f = { .rank = INFINITY };
    int32_t last = -1;
    if (w->attempts.found.err) return err_nomem(&w->s->error, w->attempts.found.len, "the texts of a window");
    for (int32_t i = 0; i < w->request->p.n_best && next_best(&f, w, f.rank, &last); i++) {
        struct hypothesis h = { .at_ms = w->position.seek * 10, .place = i, .avg_logprob = f.sum / (f.n + 1), .score = f.rank };
        result_hypothesis_tokens(r, &h, f.tokens, f.n);
        if (r->hypothesis_ids.err) break;
        const int32_t *ids = (const int32_t *)(const void *)r->hypothesis_ids.p;
        text_of(w, f.n ? ids + h.first_token : ids, f.n, w->s->model->tokens.n_text);
        result_hypothesis(r, &h, w->text.p ? w->text.p : "", w->text.len);
    }
    return result_status(r) || w->text.err || w->bytes.err ? err_nomem(&w->s->error, r->text.len, "the texts of a window") : STENO_OK;
}

/* ---- text that is left out of the result -------------------------------------------------------------------------------------- */

void leave_out(struct window_decoder *w, int64_t t0_ms, int64_t t1_ms, const int32_t *ids, int32_t n_ids, int whole)
{
    const struct attempt *kept = &w->attempts.kept;
    struct left_out l = { .avg_logprob = kept->avg_logprob, .no_speech_prob = kept->no_speech_prob, .t0_ms = t0_ms, .t1_ms = t1_ms,
                          .flags = kept->flags | STENO_FLAG_NO_SPEECH, .whole = (uint16_t)whole,
                          .language = (uint16_t)(w->window.language_seen + 1) };
    text_of(w, ids, n_ids, w->s->model->tokens.n_text);
    const char *text = w->text.p ? w->text.p : "";
    size_t n = w->text.len;
    text_strip(&text, &n);
    if (n && w->request->p.guards != STENO_GUARDS_OFF) result_left_out(w->result, &l, text, n);
}
