/* steno: prompts that contain clips, and the texts that follow. SPDX-License-Identifier: MIT
 *
 * Each clip of a run has a lane: ids, rows of the clip, ids, at positions from 0 on. All prompts are read first, as many rows per replay as
 * fit. Then every step of one chain adds a token to each lane. A row sees its own lane only, so a text does not depend on the other clips
 * of the run.
 *
 * An audio language model may loop until its context is full. With STENO_GUARDS_RETRY such a clip is stopped and decoded again, with a
 * repetition penalty that grows with each attempt. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/utf8.h"
#include "engine/batch_loop.h"
#include "engine/params.h"
#include "task/audio_lm/audio_lm_draft.h"
#include "task/decode/generation.h"
#include "text/repetition.h"
#include "text/tokenizer.h"

static const steno_transcribe_params *params_of(const steno_session *s)
{
    return &clips_of(s)->request.p;
}

/* ---- the text of a clip ------------------------------------------------------------------------------------------------------- */

int audio_lm_text_of(steno_session *s, const struct sampler *p, const char **text, size_t *n)
{
    struct audio_lm_session *a = audio_lm_of(s);
    buf_clear(&a->bytes);
    buf_clear(&a->raw);
    buf_clear(&a->text);
    buf_clear(&a->language);
    for (int32_t i = 0; i < p->n; i++) a->ids[i] = p->out[i].id;
    tokenizer_decode(s->model->lm.tokenizer, a->ids, p->n, 0, &a->bytes);
    if (params_of(s)->prefix) buf_str(&a->raw, params_of(s)->prefix);
    utf8_append_string(&a->raw, (const uint8_t *)a->bytes.p, a->bytes.len);
    if (a->raw.len) s->model->family->audio_lm->text(a->raw.p, a->raw.len, a->forced, &a->text, &a->language);
    if (a->bytes.err || a->raw.err || a->text.err || a->language.err) return err_nomem(&s->error, a->bytes.len, "text");
    *text = a->text.p ? a->text.p : "";
    *n = a->text.len;
    text_strip(text, n);
    return STENO_OK;
}

/* ---- repeated decoding of clips whose text loops ------------------------------------------------------------------------------ */

enum { ATTEMPTS = 3, ENTROPY_MIN_TOKENS = 32 /* shorter texts have low entropy anyway */ };

static double penalty_of(const steno_session *s, int32_t attempt)
{
    static double const more[ATTEMPTS] = { 1, 1.1, 1.3 };
    const double asked = params_of(s)->repetition_penalty;
    return !attempt ? asked : (asked > 1 ? asked : 1) * more[attempt];
}

/* The first attempt, for all clips of the current run. */
static void audio_lm_attempts_begin(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct clip_window *w = &c->window[i];
        if (!w->rows.n) continue;
        struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[w->rows.lane];
        l->now = l->best = (struct audio_lm_attempt){ 0 };
        l->is_read = w->s != NULL;
        l->status = STENO_OK;
        l->penalty = w->s ? penalty_of(w->s, 0) : 1;
    }
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
    if (a->ratio > ratio || is_low || audio_lm_loops(s, l)) flags |= STENO_FLAG_REPETITION;
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

static void report(const steno_session *s, const struct clip_window *w, const struct audio_lm_attempt *a, int failed, int kept)
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
    const int failed = audio_lm_retries(s) && loops(&l->now), is_last = l->now.index == ATTEMPTS - 1 || session_should_stop(s);
    if (!l->now.index || is_better(&l->now, &l->best)) l->best = l->now;
    const int is_best = l->best.index == l->now.index;
    l->is_read = failed && !is_last;
    report(s, w, &l->now, failed, !l->is_read && is_best);
    if (!l->is_read && !is_best) {
        put_back(l, p);
        report(s, w, &l->best, loops(&l->best), 1);
    }
    if (!l->is_read) return STENO_OK;
    if (is_best) rc = keep(s, l, p);
    l->now = (struct audio_lm_attempt){ .index = l->now.index + 1 };
    l->penalty = penalty_of(s, l->now.index);
    return rc;
}

/* Checks the results of an attempt. A clip that fails ends its own request only. @return 1: some lanes are decoded again; the other lanes
 * hold their final text */
static int audio_lm_attempts_judge(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int again = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct clip_window *w = &c->window[i];
        struct audio_lm_lane *l = w->rows.n ? &audio_lm_batch_of(b)->lane[w->rows.lane] : NULL;
        if (!l || !l->is_read) continue;
        if (w->s) l->status = judge(w->s, w, l, &b->run.lane[w->rows.lane].sampler);
        if (!w->s || l->status) l->is_read = 0;
        again |= l->is_read;
    }
    return again;
}

/* ---- time ---------------------------------------------------------------------------------------------------------------------- */

/* Time of a replay or a chain. rows: prompt rows per lane, or NULL to share it equally. */
struct spent { int64_t ns, steps; const uint32_t *rows; uint32_t all; };

static void charge(struct steno_batch *b, const struct spent *t)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct audio_lm_lane *l = audio_lm_batch_of(b)->lane;
    uint32_t n_lanes = 0;
    for (uint32_t lane = 0; lane < c->n_sequences; lane++) n_lanes += l[lane].is_read != 0;
    for (uint32_t lane = 0; lane < c->n_sequences; lane++) {
        steno_session *s = l[lane].is_read ? audio_lm_owner(b, lane) : NULL;
        const uint32_t n = t->rows ? t->rows[lane] : 1, all = t->rows ? t->all : n_lanes;
        if (!s || !n || !all) continue;
        *(t->rows ? &s->timings.prompt_us : &s->timings.decode_us) += t->ns * n / all / 1000;
        if (t->rows) s->timings.n_prompt_tokens += n;
        s->timings.n_steps += t->steps;
        session_share_time(s, PLAN_DECODER, n, all);
    }
}

static int is_profiled(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int any = 0;
    for (uint32_t i = 0; i < c->n; i++) any |= c->window[i].s && c->window[i].s->profiling;
    return any;
}

/* Table for the times of operations; NULL if no session is profiled. */
static struct op_time *times_of(struct steno_batch *b)
{
    if (!is_profiled(b)) return NULL;
    memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    return b->time;
}

/* ---- prompts ------------------------------------------------------------------------------------------------------------------- */

/* The number of leading ids that a and b share. */
static int32_t ids_shared(const struct buf *a, const struct buf *b)
{
    const int32_t *x = (const int32_t *)(const void *)a->p, *y = (const int32_t *)(const void *)b->p;
    const size_t n = (a->len < b->len ? a->len : b->len) / sizeof *x;
    size_t i = 0;
    while (i < n && x[i] == y[i]) i++;
    return (int32_t)i;
}

/* The number of positions at which a prompt equals the one that the lane holds: their keys and values have the same bits, so they are not
 * computed again. Another attempt of a clip reads one position; the next text of a growing clip reads what follows its whole windows. At
 * least the last position is read, whose logits are needed. */
static int32_t prompt_shared(const struct steno_batch *b, uint16_t lane, const struct audio_lm_prompt *p)
{
    const struct audio_lm_batch *a = audio_lm_batch_of(b);
    const struct audio_lm_prompt *held = &a->lane[lane].held;
    const int has_rows = held->run && p->run - held->run <= (a->earlier != NULL);
    const size_t d = audio_lm_width(b->model);
    const int32_t n_before = audio_lm_n_ids(&p->before), n_behind = audio_lm_n_ids(&p->behind);
    const int32_t there = b->run.lane[lane].kv.len, all = n_before + p->n + n_behind;
    int32_t n = has_rows && b->model->n_states == 1 ? ids_shared(&held->before, &p->before) : 0;
    if (n == n_before && held->before.len == p->before.len) {
        int32_t i = 0;
        while (i < held->n && i < p->n && !memcmp(held->row + (size_t)i * d, p->row + (size_t)i * d, d * sizeof *p->row)) i++;
        n += i;
        if (i == p->n && i == held->n) n += ids_shared(&held->behind, &p->behind);
    }
    if (n > there) n = there;
    return n < all ? n : all - 1;
}

/* Copies a prompt before it is read. Without memory none is held. */
static void prompt_hold(struct audio_lm_prompt *held, const struct audio_lm_prompt *p)
{
    buf_clear(&held->before);
    buf_clear(&held->behind);
    buf_add(&held->before, p->before.p, p->before.len);
    buf_add(&held->behind, p->behind.p, p->behind.len);
    held->row = p->row;
    held->n = p->n;
    held->run = held->before.err || held->behind.err ? 0 : p->run;
}

/* known: positions that the lane keeps. */
static void lane_begin(struct steno_batch *b, uint16_t lane, steno_session *s, int32_t known)
{
    const struct audio_lm_session *a = audio_lm_of(s);
    lane_rewind(b, lane, known);
    struct lane *l = &b->run.lane[lane];
    l->sampler.rules = &a->rules;
    l->sampler.limit = a->limit;
    l->processors.enabled = !(audio_lm_batch_of(b)->lane[lane].penalty == 1);
}

/* Prompt rows collected for the next replay. */
struct prompts {
    struct steno_batch *b;
    struct room room;
    uint32_t row;                /* rows of the input slot in use */
    uint32_t rows[RUN_LANES], all; /* per lane, in the current replay */
};

static int prompts_run(struct prompts *p)
{
    struct steno_batch *b = p->b;
    const struct chain_calls calls = { NULL, audio_lm_penalise, b };
    struct run_time took;
    int ran = 0;
    if (!b->run.n_rows) return STENO_OK;
    const int rc = exec_chain(b->exec, audio_lm_decoder_of(b), &b->run, 1, &calls, &ran, times_of(b), &took);
    charge(b, &(struct spent){ took.first_ns + took.rest_ns, 0, p->rows, p->all });
    b->run.n_rows = p->row = p->all = 0;
    memset(p->rows, 0, sizeof p->rows);
    return rc;
}

/* row: [d] of the clip; NULL: the row is an id. */
static int prompts_add(struct prompts *p, int32_t id, const float *row, uint16_t lane, int32_t position, uint16_t flags)
{
    struct steno_batch *b = p->b;
    const struct plan *d = audio_lm_decoder_of(b);
    const struct room left = run_left(&b->run, p->room);
    const int rc = left.rows && left.out ? STENO_OK : prompts_run(p);
    if (rc) return rc;
    if (row) {
        memcpy(exec_input(b->exec, d) + (size_t)p->row * d->slot[d->input].ld, row, d->slot[d->input].width * sizeof *row);
        id = token_of_input(p->row++);
    }
    run_add(&b->run, id, position, lane, flags);
    p->rows[lane]++;
    p->all++;
    return STENO_OK;
}

/* Adds the positions of a prompt from `from` on. */
static int prompt_add(struct prompts *p, uint16_t lane, const struct audio_lm_prompt *of, int32_t from)
{
    const int32_t *before = (const int32_t *)(const void *)of->before.p, *behind = (const int32_t *)(const void *)of->behind.p;
    const int32_t n_before = audio_lm_n_ids(&of->before), n_behind = audio_lm_n_ids(&of->behind);
    const int32_t rows_end = n_before + of->n, end = rows_end + n_behind;
    const size_t d = audio_lm_width(p->b->model);
    int rc = STENO_OK;
    for (int32_t at = from; at < end && !rc; at++) {
        const int is_row = at >= n_before && at < rows_end;
        const int32_t id = at < n_before ? before[at] : is_row ? 0 : behind[at - rows_end];
        rc = prompts_add(p, id, is_row ? of->row + (size_t)(at - n_before) * d : NULL, lane, at, at == end - 1 ? ROW_SAMPLE : 0);
    }
    return rc;
}

static int prompt_read(struct prompts *p, const struct clip_window *w)
{
    const struct audio_lm_session *a = audio_lm_of(w->s);
    struct audio_lm_batch *b = audio_lm_batch_of(p->b);
    const struct audio_lm_prompt of = { a->before, a->behind, b->rows + (size_t)w->rows.row * audio_lm_width(p->b->model),
                                        p->b->model->family->audio_lm->rows(w->rows.n), b->run };
    const int32_t known = prompt_shared(p->b, w->rows.lane, &of);
    lane_begin(p->b, w->rows.lane, w->s, known);
    audio_lm_text_begin(p->b, w->rows.lane, w->s, of.n);
    prompt_hold(&b->lane[w->rows.lane].held, &of);
    return prompt_add(p, w->rows.lane, &of, known);
}

/* ---- the whole run ------------------------------------------------------------------------------------------------------------- */

static int prompts_read(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    struct prompts p = { .b = b, .room = exec_room(b->exec, audio_lm_decoder_of(b)) };
    int rc = STENO_OK;
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].sampler.done = 1;
    for (uint32_t i = 0; i < c->n && !rc; i++) {
        if (!c->window[i].s || !c->window[i].rows.n || !audio_lm_batch_of(b)->lane[c->window[i].rows.lane].is_read) continue;
        c->window[i].s->timings.n_prompts++;
        rc = prompt_read(&p, &c->window[i]);
    }
    return rc ? rc : prompts_run(&p);
}

/* Reads the prompts of all lanes that need one, then decodes their texts. */
static int attempt_run(struct steno_batch *b)
{
    const struct chain_calls calls = { audio_lm_next, audio_lm_penalise, b };
    struct run_time took;
    int ran = 0, rc = prompts_read(b);
    if (!rc) rc = audio_lm_draft_read(b);
    if (rc) return rc;
    do {
        audio_lm_look(b);
        rc = audio_lm_draft_make(b);
        if (rc || !audio_lm_rows(b)) break;
        rc = exec_chain(b->exec, audio_lm_decoder_of(b), &b->run, INT_MAX, &calls, &ran, times_of(b), &took);
        charge(b, &(struct spent){ took.first_ns + took.rest_ns, ran, NULL, 0 });
    } while (!rc && audio_lm_batch_of(b)->goes_on);
    audio_lm_texts_end(b);
    return rc ? rc : audio_lm_batch_of(b)->status;
}

int audio_lm_decode(struct steno_batch *b)
{
    int rc;
    audio_lm_attempts_begin(b);
    do rc = attempt_run(b);
    while (!rc && audio_lm_attempts_judge(b));
    return rc;
}

int audio_lm_decode_all(struct steno_batch *b)
{
    struct run_time took;
    int ran = 0;
    for (uint32_t i = 0; i < clip_batch_of(b)->n; i++) {
        struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[clip_batch_of(b)->window[i].rows.lane];
        l->is_read = 1;
        l->penalty = 1;
    }
    const int rc = prompts_read(b);
    run_advance(&b->run);
    return rc || !b->run.n_rows ? rc : exec_chain(b->exec, audio_lm_decoder_of(b), &b->run, INT_MAX, NULL, &ran, NULL, &took);
}
