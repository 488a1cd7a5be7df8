/* steno: chunks of several streams pass through the plan together, and their words are output. SPDX-License-Identifier: MIT
 *
 * A word's pieces may lie in several chunks, and consecutive letters become one word. A word that is open at the end of a chunk waits for
 * the next chunk. So the concatenated texts of all segments are the text of the whole. */
#include <math.h>
#include <string.h>
#include "model/parts.h"
#include "search/cif.h"
#include "task/cif/stream_session.h"
#include "task/clips/clip_run.h"

/* ---- words, output as soon as they are final ---------------------------------------------------------------------------------- */

enum { FRAME_MS = FBANK_HOP * 1000 / FBANK_RATE };
static double const before_fire = 1.5, longest = 12; /* in frames, as in search/cif.c */

/* Frame of the stream at which token i fired. */
static double fired_at(const struct stream_session *v, int32_t i)
{
    return (double)(v->placed - v->n_rows) + v->token[i].first + v->token[i].n - 2; /* frame 0 is the remainder of the last chunk */
}

/* Start of token i in frames. After the last token, the end of the chunk's counted frames. */
static double begins_at(const struct stream_session *v, int32_t i)
{
    if (i == v->n_tokens && v->is_last) return (double)v->placed;
    const double at = i < v->n_tokens ? fired_at(v, i) : (double)(v->placed - v->n_rows + v->chunk[0] + v->chunk[1]);
    return fmax(at - before_fire, 0);
}

/* A token that is left out, from `from` to `to` in frames. */
static void mute_add(struct stream_session *v, const struct best *b, double from, double to)
{
    if (!v->n_mute) v->mute_span[0] = from;
    v->mute_span[1] = fmin(to, from + longest);
    v->mute_logprob += (double)b->logprob;
    v->mute[v->n_mute++] = b->id;
}

/* Adds the text of those tokens, if there are any. */
static int left_out_add(steno_session *s, const struct clip_window *w)
{
    struct stream_session *v = stream_of(s);
    if (!v->n_mute) return STENO_OK;
    const double at = (double)v->clips.request.from / FBANK_RATE, frame_s = fbank_bank_of(s->model)->lfr_n * FRAME_MS / 1000.0;
    struct clip_found f = { .ids = v->mute, .n = v->n_mute, .sum_logprob = v->mute_logprob };
    if (cif_words_make(&v->words, s->model, f.ids, f.n, NULL) || cif_words_text(&v->words, 0, cif_words_n(&v->words)))
        return err_nomem(&s->error, (size_t)f.n, "text");
    f.text = v->words.text.p;
    f.n_text = v->words.text.len;
    v->n_mute = 0;
    v->mute_logprob = 0;
    return clip_left_out(s, w, &f, at + v->mute_span[0] * frame_s, at + v->mute_span[1] * frame_s);
}

/* Appends the text tokens of the run to the waiting ones. Those that are left out become a text up to the next that is kept. A status */
static int take_tokens(steno_session *s, struct stream_session *v, const struct clip_window *w)
{
    const struct cif_model *m = stream_model_of(s->model);
    const double frame_s = fbank_bank_of(s->model)->lfr_n * FRAME_MS / 1000.0;
    int rc = STENO_OK;
    v->n_mute = 0;
    v->mute_logprob = 0;
    for (int32_t i = 0; i < v->n_tokens && !rc; i++) {
        const struct best *b = &s->batch->run.argmax.best[v->first + (uint32_t)i];
        const double from = begins_at(v, i), to = begins_at(v, i + 1);
        if (b->id < 0 || b->id == m->blank || b->id == m->bos || b->id == m->eos) continue;
        if (clip_is_mute(s, w, (int32_t)v->token[i].first + (int32_t)v->token[i].n - 2)) {
            mute_add(v, b, from, to);
            continue;
        }
        rc = left_out_add(s, w);
        v->sampled[v->n] = (struct sampled_token){ .id = b->id, .ts_id = -1, .logprob = b->logprob, .p = expf(b->logprob) };
        v->span[v->n][0] = from * frame_s;
        v->span[v->n][1] = fmin(to, from + longest) * frame_s;
        v->ids[v->n++] = b->id;
    }
    return rc ? rc : left_out_add(s, w);
}

/* Keeps `done` tokens from `from` on, which have been output, and the tokens from `open` on. */
static void drop_tokens(struct stream_session *v, int32_t from, int32_t done, int32_t open)
{
    const int32_t waiting = v->n - open;
    memmove(v->ids, v->ids + from, (size_t)done * sizeof *v->ids);
    memmove(v->sampled, v->sampled + from, (size_t)done * sizeof *v->sampled);
    memmove(v->span, v->span + from, (size_t)done * sizeof *v->span);
    memmove(v->ids + done, v->ids + open, (size_t)waiting * sizeof *v->ids);
    memmove(v->sampled + done, v->sampled + open, (size_t)waiting * sizeof *v->sampled);
    memmove(v->span + done, v->span + open, (size_t)waiting * sizeof *v->span);
    v->n_output = done;
    v->n = done + waiting;
}

/* Outputs words [from, to) as a segment with the tokens up to `open`. */
static int segment_report(steno_session *s, const struct clip_window *w, size_t from, size_t to, int32_t open)
{
    struct stream_session *v = stream_of(s);
    const struct cif_timed t = { (const double(*)[2])v->span, (double)v->clips.request.from / FBANK_RATE, v->sampled };
    struct clip_found f = { .ids = v->ids + v->n_output, .tokens = v->sampled + v->n_output, .n = open - v->n_output, .before = "" };
    struct segment g = clip_segment_of(s, w);
    if (cif_words_text(&v->words, from, to)) return err_nomem(&s->error, (size_t)f.n, "text");
    if (from && cif_word(&v->words)[from - 1].space) f.before = " ";
    f.text = f.whole = v->words.text.p;
    f.n_text = f.n_whole = v->words.text.len;
    for (int32_t i = 0; i < f.n; i++) f.sum_logprob += f.tokens[i].logprob;
    const int rc = clip_segment_add(s, &g, &f);
    if (rc) return rc;
    cif_words_place(&v->words, from, to, &t, &g);
    if (v->clips.request.p.word_timestamps) cif_words_add(s, &v->words, from, to, &t, &g);
    return clip_segment_report(s, &g);
}

int stream_settle(steno_session *s, const struct clip_window *w)
{
    struct stream_session *v = stream_of(s);
    int32_t open;
    const int taken = take_tokens(s, v, w);
    if (taken) return taken;
    if (cif_words_make(&v->words, s->model, v->ids, v->n, &open)) return err_nomem(&s->error, (size_t)v->n, "text");
    if (v->is_last || v->n - v->n_output > OPEN_MAX) open = v->n;
    const struct token_word *word = cif_word(&v->words);
    size_t from = 0;
    while (from < cif_words_n(&v->words) && word[from].first < v->n_output) from++; /* several if another word lies within its pieces */
    size_t to = from;
    while (to < cif_words_n(&v->words) && word[to].first < open) to++;
    if (to == from) return STENO_OK;
    const int rc = segment_report(s, w, from, to, open);
    if (!rc) drop_tokens(v, word[to - 1].first, word[to - 1].n, open);
    return rc;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------------ */

enum { PHASE_FIRE = 1, PHASE_REST = 2, PHASE_TOKENS = 3, PHASE_HEAD = 4 }; /* phases after PHASE_ENCODE */

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static struct stream_batch *stream_batch_of(const struct steno_batch *b) { return b->part; }

/* ---- memory ---- */

static void tables_take(struct stream_batch *c, struct arena_take *t, const steno_model *m, size_t n_windows)
{
    const size_t rows = m->plan[PLAN_ENCODER].max_rows;
    c->past = arena_take(t, n_windows, sizeof *c->past);
    c->tokens = arena_take(t, n_windows, sizeof *c->tokens);
    c->token = arena_take(t, rows, sizeof *c->token);
    c->rest = arena_take(t, n_windows, sizeof *c->rest);
    c->weight = arena_take(t, 2 * rows + 4 * n_windows, sizeof *c->weight);
}

size_t stream_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    struct stream_batch c;
    struct arena_take t = { 0 };
    tables_take(&c, &t, m, n_windows);
    return clip_batch_memory(m, n_windows, n_lanes) + sizeof c - sizeof c.clips + t.sz;
}

int stream_batch_open(struct steno_batch *b, steno_error *e)
{
    struct arena_take t = { .a = &b->arena };
    struct stream_batch *c = b->part = arena_array(&b->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a batch");
    tables_take(c, &t, b->model, b->n_windows);
    return t.failed ? err_nomem(e, clip_encoder_of(b)->max_rows * sizeof *c->token, "a batch") : clip_batch_init(b, e);
}

/* ---- look-back ---- */

uint32_t stream_keys(const steno_session *s)
{
    const struct stream_session *v = stream_of(s);
    return (uint32_t)(stream_context_rows(v) + v->n_new) + larger(v->past[STATE_PAST].held, v->past[STATE_CROSS_PAST].held);
}

/* Sets what the next run of a stream sees: the rows that earlier runs left in the state. The run adds its first `kept` rows. Of the
 * encoder's first chunk all rows stay, as in the reference. @return the number of rows in the state afterwards */
static uint32_t past_set(struct stream_batch *c, struct stream_session *v, int state, uint32_t kept, uint32_t room)
{
    struct run_past *p = &v->past[state];
    const int first = state == STATE_PAST && !p->held;
    p->kept = v->look_back[state] ? kept : 0;
    c->past[v->state.lane][state] = *p;
    return smaller(p->held + p->kept, first ? room : smaller(v->look_back[state], room));
}

/* Number of a chunk's rows that the state keeps. */
static uint32_t kept_of(const struct stream_session *v, int state)
{
    const int has_ahead = state == STATE_CROSS_PAST || v->chunk[2]; /* without look-ahead rows, the reference's encoder keeps none */
    const int32_t behind = state == STATE_CROSS_PAST ? 0 : v->chunk[2];
    return has_ahead && (state == STATE_PAST || v->n_tokens) ? (uint32_t)(v->n_rows - behind) : 0;
}

/* Runs a phase that attends to a state. */
static int run_phase(struct steno_batch *b, int phase, int state)
{
    enum { STEP = 256 };
    struct stream_batch *c = stream_batch_of(b);
    const uint32_t room = b->model->plan[PLAN_ENCODER].max_past;
    int rc = STENO_OK;
    for (uint32_t i = 0; i < c->clips.n && !rc; i++) {
        if (!c->clips.window[i].s) continue;
        struct stream_session *v = stream_of(c->clips.window[i].s);
        const uint32_t next = past_set(c, v, state, kept_of(v, state), room);
        const uint32_t steps = (next + STEP - 1) / STEP * STEP; /* unlimited look-back grows in steps */
        rc = exec_state_grow(b->exec, state, v->state.lane, v->look_back[state] == UINT32_MAX ? smaller(steps, room) : next);
        v->past[state].held = next;
        v->state.copy[state].newest = next ? next : 1;
    }
    return rc ? rc : clip_run_phase(b, phase, NULL);
}

/* ---- tokens ---- */

/* Weights of the frames, after the remainder of the last chunk. */
static int weights_read(struct steno_batch *b, struct stream_session *v, const struct clip_window *w)
{
    const struct plan *p = clip_encoder_of(b);
    const struct cif_model *m = stream_model_of(b->model);
    size_t ld = 0;
    const float *x = exec_output(b->exec, p, p->side_output[0], w->rows.row, (uint32_t)v->n_rows, &ld);
    if (!x) return STENO_ENOMEM;
    v->alpha[0] = v->rest;
    for (int32_t t = 0; t < v->n_rows; t++) {
        const int counts = t >= v->chunk[0] && (v->is_last || t < v->chunk[0] + v->chunk[1]);
        v->alpha[t + 1] = counts ? cif_alpha(x[(size_t)t * ld], m->weight.smooth, m->weight.noise) : 0;
    }
    v->alpha[v->n_rows + 1] = m->tail;
    v->n_tokens = cif_go_on(v->token, v->weight, &v->rest, v->alpha, v->n_rows + 1 + (v->is_last != 0));
    return STENO_OK;
}

/* Sets the table rows of chunk i. No other row attends to them. */
static void tokens_place(struct stream_batch *c, uint32_t i, uint32_t n)
{
    c->tokens[i] = sequence_next(i ? &c->tokens[i - 1] : NULL, n, c->clips.window[i].rows.lane);
    c->tokens[i].block = 0;
}

/* Finds the tokens of all chunks, in order. A window without a session has none. *n_tokens: their total */
static int tokens_find(struct steno_batch *b, uint32_t *n_tokens)
{
    struct stream_batch *c = stream_batch_of(b);
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < c->clips.n; i++) {
        const struct clip_window *w = &c->clips.window[i];
        struct stream_session *v = w->s ? stream_of(w->s) : NULL;
        tokens_place(c, i, 0);
        c->rest[i] = (struct cif_token){ 0 };
        if (!v) continue;
        const int rc = weights_read(b, v, w);
        if (rc) return rc;
        const struct cif_token rest = v->token[v->n_tokens];
        memcpy(c->weight + at, v->weight, (rest.at + rest.n) * sizeof *c->weight);
        for (int32_t k = 0; k <= v->n_tokens; k++) {
            struct cif_token *to = k < v->n_tokens ? &c->token[n + (uint32_t)k] : &c->rest[i];
            *to = v->token[k];
            to->at += at;
        }
        v->first = n;
        tokens_place(c, i, (uint32_t)v->n_tokens);
        n += (uint32_t)v->n_tokens;
        at += rest.at + rest.n;
    }
    *n_tokens = n;
    return STENO_OK;
}

/* Fills the table with the tokens of all chunks, or with the remainder of each. `token` has the frames of each. */
static void table_fill(struct steno_batch *b, const struct cif_token *token, int left)
{
    struct stream_batch *c = stream_batch_of(b);
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < c->clips.n; i++) {
        if (left) tokens_place(c, i, 1);
        for (uint32_t k = 0; k < c->tokens[i].n; k++) run_add(&b->run, 0, (int32_t)k, c->tokens[i].lane, 0);
    }
    b->run.cif = (struct run_cif){ token, c->weight };
    c->clips.tokens = c->tokens;
    run_prepare(&b->run);
}

/* Computes the remainder of each chunk after its tokens have used the previous remainder. Then restores the table of tokens. */
static int rest_keep(struct steno_batch *b)
{
    struct stream_batch *c = stream_batch_of(b);
    table_fill(b, c->rest, 1);
    const int rc = clip_run_phase(b, PHASE_REST, NULL);
    for (uint32_t i = 0; i < c->clips.n; i++) {
        const steno_session *s = c->clips.window[i].s;
        tokens_place(c, i, s ? (uint32_t)stream_of(s)->n_tokens : 0);
    }
    if (!rc) table_fill(b, c->token, 0);
    return rc;
}

int stream_run(struct steno_batch *b)
{
    struct stream_batch *c = stream_batch_of(b);
    uint32_t n_tokens;
    memset(c->past, 0, b->n_windows * sizeof *c->past);
    b->run.past = c->past;
    c->clips.tokens = NULL;
    run_prepare(&b->run);
    int rc = run_phase(b, PHASE_ENCODE, STATE_PAST);
    if (!rc) rc = tokens_find(b, &n_tokens);
    if (!rc && n_tokens) {
        table_fill(b, c->token, 0);
        rc = clip_run_phase(b, PHASE_FIRE, NULL);
    }
    if (!rc) rc = rest_keep(b);
    if (rc || !n_tokens) return rc;
    rc = run_phase(b, PHASE_TOKENS, STATE_CROSS_PAST);
    return rc ? rc : clip_run_head(b, 0, b->run.n_rows, &(struct clip_head){ .phase = PHASE_HEAD });
}
