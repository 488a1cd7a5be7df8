/* steno: the clips of a run through a transducer. SPDX-License-Identifier: MIT
 *
 * A round runs the prediction network for the clips that have a new token, joins the next rows of every clip in one product, and gives each
 * clip's results to its search. Clips do not depend on each other, so neither their grouping nor the number of rows of a round changes a
 * result. */
#include "task/transducer/transducer_clips.h"
#include <math.h>
#include <string.h>
#include "base/os.h"
#include "engine/batch_loop.h"
#include "task/clips/clip_run.h"

/* ---- memory */

static void tables_take(struct transducer_batch *t, struct arena_take *take, const steno_model *m, size_t n_windows)
{
    const size_t width = (size_t)transducer_of(m)->width, n_rows = m->plan[PLAN_ENCODER].max_rows;
    const size_t n_tokens = transducer_of(m)->stream ? 0 : n_rows + n_windows;
    t->joined = arena_take(take, n_rows * width, sizeof *t->joined);
    t->tokens.ids = arena_take(take, n_tokens, sizeof *t->tokens.ids);
    t->tokens.tokens = arena_take(take, n_tokens, sizeof *t->tokens.tokens);
    t->tokens.rows = arena_take(take, n_tokens, sizeof *t->tokens.rows);
    t->lane = arena_take(take, n_windows, sizeof *t->lane);
    t->busy = arena_take(take, n_windows, sizeof *t->busy);
    float *predicted = arena_take(take, n_windows * width, sizeof *predicted);
    for (size_t i = 0; i < n_windows && take->a && !take->failed; i++)
        t->lane[i] = (struct transducer_lane){ .predicted = predicted + i * width };
}

size_t transducer_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    struct transducer_batch t;
    struct arena_take take = { 0 };
    tables_take(&t, &take, m, n_windows);
    return clip_batch_memory(m, n_windows, n_lanes) + sizeof t - sizeof t.clips + take.sz;
}

int transducer_batch_open(struct steno_batch *b, steno_error *e)
{
    b->part = arena_array(&b->arena, 1, sizeof(struct transducer_batch));
    return b->part ? transducer_batch_init(b, e) : err_nomem(e, sizeof(struct transducer_batch), "a batch");
}

int transducer_batch_init(struct steno_batch *b, steno_error *e)
{
    struct arena_take take = { .a = &b->arena };
    struct transducer_batch *t = transducer_batch_of(b);
    tables_take(t, &take, b->model, b->n_windows);
    if (take.failed) t->lane = NULL;
    return take.failed ? err_nomem(e, take.sz, "a batch") : clip_batch_init(b, e);
}

void transducer_lanes_close(struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++) transducer_lane_close(&transducer_batch_of(b)->lane[i]);
}

void transducer_batch_close(struct steno_batch *b)
{
    const struct transducer_batch *t = transducer_batch_of(b);
    if (t && t->lane) transducer_lanes_close(b);
}

void transducer_lane_close(struct transducer_lane *l)
{
    buf_free(&l->ids);
    buf_free(&l->tokens);
    buf_free(&l->rows);
    buf_free(&l->texts);
}

/* ---- the encoder */

/* Reads the projected rows: the next run of a plan may overwrite them. */
int transducer_encode(struct steno_batch *b)
{
    struct transducer_batch *t = transducer_batch_of(b);
    const struct plan *p = clip_encoder_of(b);
    const struct sequence *last = &t->clips.sequence[t->clips.n_sequences - 1];
    const uint32_t n = (uint32_t)last->row + last->n;
    const size_t width = (size_t)transducer_of(b->model)->width;
    size_t ld = 0;
    run_prepare(&b->run);
    int rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    if (rc) return rc;
    const float *x = exec_output(b->exec, p, p->side_output[TRANSDUCER_JOINED], 0, n, &ld);
    for (uint32_t i = 0; i < n && x; i++) memcpy(t->joined + i * width, x + i * ld, width * sizeof *x);
    for (uint32_t i = 0; i < t->clips.n && x && !rc; i++) {
        const struct clip_window *w = &t->clips.window[i];
        if (w->s && w->rows.n && clip_rows_requested(w->s)) rc = clip_slot_report(w->s, w, "encoder", p->output);
    }
    return x ? rc : STENO_ENOMEM;
}

/* ---- hot words */

int transducer_hot_take(struct transducer_hot *h, const steno_model *m, const steno_transcribe_params *p, steno_error *e)
{
    transducer_hot_done(h);
    h->boost = (float)p->hotwords_boost;
    return p->hotwords && *p->hotwords ? hotwords_open(&h->words, p->hotwords, m->bpe, e) : STENO_OK;
}

void transducer_hot_done(struct transducer_hot *h)
{
    hotwords_close(h->words);
    h->words = NULL;
}

/* The best id so far, and its logit with its push. */
struct hot_choice { const float *logits; int32_t blank, id; float value; };

static void choice_push(void *user, int32_t id, float by)
{
    struct hot_choice *c = user;
    const float value = c->logits[id] + by;
    if (id == c->blank || !(value > c->value || (value == c->value && id < c->id))) return;
    c->id = id;
    c->value = value;
}

/* The id that hot words choose instead of `plain`, the best one without them, which is not blank. */
static int32_t hot_choose(const struct transducer_lane *l, const steno_model *m, const float *logits, int32_t plain)
{
    struct hot_choice c = { logits, transducer_of(m)->blank, plain, logits[plain] };
    hotwords_each(l->hot->words, l->recent, l->n_recent, l->hot->boost, choice_push, &c);
    return c.id;
}

/* Is the request's list there? Its session may have ended while another one was asked. */
static int is_hot(const struct transducer_lane *l)
{
    return l->window->s && l->hot && l->hot->words;
}

static void recent_add(struct transducer_lane *l, int32_t id)
{
    if (l->n_recent == HOTWORD_IDS) memmove(l->recent, l->recent + 1, (size_t)--l->n_recent * sizeof *l->recent);
    l->recent[l->n_recent++] = id;
}

/* ---- rounds */

int transducer_run_decoder(struct steno_batch *b, struct phases what, int phase)
{
    struct run_time spent;
    what.first = phase;
    what.end = phase + 1;
    what.run = &b->run;
    return exec_phases(b->exec, &b->model->plan[PLAN_DECODER], &what, NULL, &spent);
}

/* Runs the prediction network for the lanes that have a token. Returns a status of the executor. */
static int predict(struct steno_batch *b, struct transducer_lane *const *lane, uint32_t n)
{
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    struct sequence rows[TRANSDUCER_LANES];
    struct transducer_lane *moved[TRANSDUCER_LANES];
    uint32_t n_moved = 0;
    size_t ld = 0;
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (lane[i]->next < 0) continue;
        const uint16_t at = lane[i]->window->rows.lane;
        run_add(&b->run, lane[i]->next, 0, at, 0);
        rows[n_moved] = (struct sequence){ .row = (uint16_t)n_moved, .n = 1, .lane = at };
        moved[n_moved++] = lane[i];
    }
    if (!n_moved) return STENO_OK;
    run_prepare(&b->run);
    const struct phases what = { .n_rows = n_moved, .sequence = rows, .n_sequences = n_moved };
    const int rc = transducer_run_decoder(b, what, TRANSDUCER_PREDICT);
    if (rc) return rc;
    const float *g = exec_output(b->exec, p, p->output, 0, n_moved, &ld);
    for (uint32_t i = 0; i < n_moved && g; i++) {
        memcpy(moved[i]->predicted, g + i * ld, (size_t)transducer_of(b->model)->width * sizeof *g);
        moved[i]->next = -1;
    }
    return g ? STENO_OK : STENO_ENOMEM;
}

/* Writes the sum of each row and of its lane's prediction, for the next rows of every lane. Returns the number of rows. */
static uint32_t rows_join(struct steno_batch *b, struct transducer_lane *const *lane, uint32_t n)
{
    const struct transducer_batch *t = transducer_batch_of(b);
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const size_t width = (size_t)transducer_of(b->model)->width, ld = p->slot[p->input].ld;
    const int32_t most = (int32_t)(TRANSDUCER_ROWS / n) < TRANSDUCER_AHEAD ? (int32_t)(TRANSDUCER_ROWS / n) : TRANSDUCER_AHEAD;
    float *to = exec_given(b->exec, p, p->input);
    uint32_t n_rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct transducer *s = &lane[i]->search;
        const float *x = t->joined + ((size_t)lane[i]->window->rows.row + (size_t)(s->row - lane[i]->base)) * width;
        lane[i]->first = s->row;
        lane[i]->n_rows = s->n_rows - s->row < most ? s->n_rows - s->row : most;
        for (int32_t r = 0; r < lane[i]->n_rows; r++, n_rows++, to += ld, x += width)
            for (size_t k = 0; k < width; k++) to[k] = x[k] + lane[i]->predicted[k];
    }
    return n_rows;
}

static int32_t largest(const float *x, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Adds a token. A mark of a model with durations has the end of the token before it as both times. */
void transducer_token_add(struct transducer_lane *l, const steno_model *m, const struct transducer_token *token, float logprob)
{
    const int has_durations = transducer_of(m)->n_durations > 0;
    struct piece_rows rows = { token->row, has_durations ? token->row + token->duration : token->row + 1, PIECE_OPEN };
    const struct sampled_token sampled = { .id = token->id, .ts_id = -1, .p = expf(logprob), .logprob = logprob };
    if (has_durations && l->rows.len && m->family->pieces->is_mark(m, token->id))
        rows.begin = rows.end = ((const struct piece_rows *)(const void *)(l->rows.p + l->rows.len))[-1].end;
    buf_add(&l->ids, &token->id, sizeof token->id);
    buf_add(&l->tokens, &sampled, sizeof sampled);
    buf_add(&l->rows, &rows, sizeof rows);
    if (is_hot(l)) recent_add(l, token->id);
    l->next = token->id;
}

/* Gives the logits of a lane's rows, ld floats apart, to its search. */
static void lane_feed(struct transducer_lane *l, const steno_model *m, const struct kern *k, const float *logits, size_t ld)
{
    const struct transducer_model *c = transducer_of(m);
    struct joint_best best[TRANSDUCER_AHEAD];
    float logprob[TRANSDUCER_AHEAD];
    struct transducer_token token;
    for (int32_t i = 0; i < l->n_rows; i++, logits += ld) {
        struct logit_partial all;
        k->logits_reduce(&all, logits, NULL, 0, (size_t)c->blank + 1);
        best[i].id = all.arg < 0 ? c->blank : all.arg;
        best[i].duration = c->n_durations ? c->duration[largest(logits + c->blank + 1, c->n_durations)] : 0;
        if (is_hot(l) && best[i].id != c->blank) best[i].id = hot_choose(l, m, logits, best[i].id);
        logprob[i] = best[i].id == all.arg ? -logf(all.sum) : logits[best[i].id] - all.max - logf(all.sum);
    }
    if (transducer_feed(&l->search, l->first, best, l->n_rows, &token)) transducer_token_add(l, m, &token, logprob[token.row - l->first]);
}

/* Finds the next token of each lane, if its next rows have one. Returns a status of the executor. */
static int lanes_step(struct steno_batch *b, struct transducer_lane *const *lane, uint32_t n)
{
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    size_t ld = 0;
    int rc = predict(b, lane, n);
    if (rc) return rc;
    const uint32_t n_rows = rows_join(b, lane, n);
    rc = transducer_run_decoder(b, (struct phases){ .n_rows = n_rows }, TRANSDUCER_JOIN);
    if (rc) return rc;
    const float *x = exec_output(b->exec, p, p->side_output[TRANSDUCER_LOGITS], 0, n_rows, &ld);
    for (uint32_t i = 0; i < n && x; i++) {
        lane_feed(lane[i], b->model, &b->model->kern, x, ld);
        x += (size_t)lane[i]->n_rows * ld;
    }
    return x ? STENO_OK : STENO_ENOMEM;
}

/* ---- clips */

void transducer_lane_begin(struct transducer_lane *l, const steno_model *m, const struct transducer_hot *hot)
{
    const struct transducer_model *c = transducer_of(m);
    l->search = (struct transducer){ .blank = c->blank, .max_symbols = c->max_symbols, .has_durations = c->n_durations > 0 };
    l->next = c->blank;
    l->base = 0;
    l->hot = hot;
    l->n_recent = 0;
    buf_clear(&l->ids);
    buf_clear(&l->tokens);
    buf_clear(&l->rows);
    buf_clear(&l->texts);
    transducer_begin(&l->search, 0);
}

void transducer_lane_judge(const steno_session *s, struct transducer_lane *l, const struct clip_window *w, int32_t base)
{
    struct piece_rows *rows = (struct piece_rows *)(void *)l->rows.p;
    const int32_t *ids = (const int32_t *)(const void *)l->ids.p;
    for (int32_t i = 0; i < transducer_lane_tokens(l); i++)
        if (rows[i].mute == PIECE_OPEN) clip_piece_judge(s, w, rows, i, ids[i], rows[i].begin - base);
}

struct clip_pieces transducer_pieces(const steno_model *m, const struct transducer_lane *l, int32_t from, int32_t to)
{
    return (struct clip_pieces){ .ids = (const int32_t *)(const void *)l->ids.p + from,
                                 .tokens = (const struct sampled_token *)(const void *)l->tokens.p + from,
                                 .rows = (const struct piece_rows *)(const void *)l->rows.p + from, .n = to - from,
                                 .row_ms = fbank_row_ms(fbank_bank_of(m)), .source = "transducer" };
}

/* Lends the lane memory for a token per row. */
static void tokens_lend(struct transducer_lane *l, const struct transducer_tokens *t, const struct sequence *rows)
{
    const size_t at = (size_t)rows->row + rows->lane, n = (size_t)rows->n + 1;
    l->ids = (struct buf){ .p = (char *)(t->ids + at), .cap = n * sizeof *t->ids, .lent = 1 };
    l->tokens = (struct buf){ .p = (char *)(t->tokens + at), .cap = n * sizeof *t->tokens, .lent = 1 };
    l->rows = (struct buf){ .p = (char *)(t->rows + at), .cap = n * sizeof *t->rows, .lent = 1 };
}

struct transducer_lane *transducer_clip_begin(struct steno_batch *b, const struct clip_window *w)
{
    struct transducer_lane *l = &transducer_batch_of(b)->lane[w->rows.lane];
    transducer_lane_close(l);
    tokens_lend(l, &transducer_batch_of(b)->tokens, &w->rows);
    transducer_lane_begin(l, b->model, w->s ? &transducer_session_of(w->s)->hot : NULL);
    l->window = w;
    l->search.n_rows = w->rows.n;
    exec_state_reset(b->exec, STATE_PREDICTION, w->rows.lane);
    return l;
}

/* Has its session ended, does it ask to stop, or is there no memory for its tokens? */
static int lane_ends(const struct transducer_lane *l)
{
    steno_session *s = l->window->s;
    return transducer_is_done(&l->search) || l->ids.err || l->tokens.err || l->rows.err || !s || session_should_stop(s);
}

/* Keeps the lanes that continue. Returns their number. */
static uint32_t lanes_keep(struct transducer_lane **lane, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!lane_ends(lane[i])) lane[kept++] = lane[i];
    return kept;
}

void transducer_share_time(const struct clip_batch *c, int64_t ns)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < c->n; i++) all += c->window[i].rows.n;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->window[i].s && all) c->window[i].s->timings.decode_us += ns * c->window[i].rows.n / all / 1000;
}

/* Steps of the first n lanes of those that are not done. */
static int lanes_round(struct steno_batch *b, uint32_t n)
{
    struct transducer_lane *const *lane = transducer_batch_of(b)->busy;
    int rc = STENO_OK;
    for (uint32_t i = 0; i < n && !rc; i += TRANSDUCER_LANES)
        rc = lanes_step(b, lane + i, n - i < TRANSDUCER_LANES ? n - i : TRANSDUCER_LANES);
    return rc;
}

/* Ends cancelled requests, also those that wait. A session may be closed then, with its lane if that is of a stream. @return the number of
 * lanes that are left */
static uint32_t lanes_sweep(struct steno_batch *b, uint32_t n)
{
    struct transducer_lane **lane = transducer_batch_of(b)->busy;
    const struct clip_window *of[MAX_WINDOWS];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) of[i] = lane[i]->window;
    while (requests_sweep(b)) {}
    for (uint32_t i = 0; i < n; i++)
        if (of[i]->s) lane[kept++] = lane[i];
    return kept;
}

int transducer_decode(struct steno_batch *b, uint32_t n)
{
    int rc = STENO_OK;
    while (!rc && (n = lanes_keep(transducer_batch_of(b)->busy, n)) > 0) {
        rc = lanes_round(b, n);
        n = lanes_sweep(b, n);
    }
    return rc;
}

int transducer_bench(struct steno_batch *b, uint32_t lanes, int rounds, int tokens)
{
    struct transducer_batch *t = transducer_batch_of(b);
    int rc = STENO_OK;
    for (int k = 0; k < rounds && !rc; k++) {
        for (uint32_t i = 0; i < lanes; i++) {
            t->busy[i]->next = k < tokens ? k % transducer_of(b->model)->blank : -1;
            transducer_begin(&t->busy[i]->search, t->busy[i]->window->rows.n);
        }
        rc = lanes_round(b, lanes);
    }
    return rc;
}

int transducer_clips_bench(struct steno_batch *b, int n)
{
    const struct clip_window *w = &clip_batch_of(b)->window[0];
    transducer_batch_of(b)->busy[0] = transducer_clip_begin(b, w);
    return transducer_bench(b, 1, n, n);
}
