/* steno: the task of transcription with a transducer. SPDX-License-Identifier: MIT
 *
 * The encoder runs over the clips of a run together. Its rows, projected for the joint network, are kept while clips are decoded one after
 * another: for a state of the prediction network several rows are joined at once, up to the first token (search/transducer.h). */
#include <math.h>
#include <string.h>
#include "base/os.h"
#include "engine/batch_loop.h"
#include "engine/task.h"
#include "model/parts.h"
#include "search/transducer.h"
#include "task/clips/clip_pieces.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"
#include "task/clips/clip_step.h"

/* State in a batch: what the encoder made of all rows of a run, and the output of the prediction network. */
struct transducer_batch {
    struct clip_batch clips;
    float *joined;  /* [rows, width] */
    float *predicted; /* [width] */
};

/* State in a session. */
struct transducer_session {
    struct clip_session clips;
    struct buf ids, tokens, rows; /* int32_t, struct sampled_token, struct piece_rows of a clip */
    struct buf text;
};

static const struct transducer_model *part_of(const steno_model *m) { return m->part; }
static struct transducer_batch *batch_of(const struct steno_batch *b) { return b->part; }
static struct transducer_session *session_of(const steno_session *s) { return s->part; }
static size_t width_of(const steno_model *m) { return (size_t)part_of(m)->width; }

/* ---- a run */

/* Reads the projected rows: the next run of a plan may overwrite them. */
static int run(struct steno_batch *b)
{
    struct transducer_batch *t = batch_of(b);
    const struct sequence *last = &t->clips.sequence[t->clips.n_sequences - 1];
    const uint32_t n = (uint32_t)last->row + last->n;
    const size_t width = width_of(b->model);
    size_t ld = 0;
    run_prepare(&b->run);
    const int rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    if (rc) return rc;
    const float *x = exec_output(b->exec, clip_encoder_of(b), clip_encoder_of(b)->side_output[TRANSDUCER_JOINED], 0, n, &ld);
    for (uint32_t i = 0; i < n && x; i++) memcpy(t->joined + i * width, x + i * ld, width * sizeof *x);
    int reported = STENO_OK;
    for (uint32_t i = 0; i < t->clips.n && x && !reported; i++) {
        const struct clip_window *w = &t->clips.window[i];
        if (w->s && w->rows.n && clip_rows_requested(w->s)) reported = clip_slot_report(w->s, w, "encoder", clip_encoder_of(b)->output);
    }
    return x ? reported : STENO_ENOMEM;
}

/* ---- decoding a clip */

static int decoder_run(struct steno_batch *b, int phase, uint32_t n)
{
    struct run_time spent;
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = n, .run = &b->run };
    return exec_phases(b->exec, &b->model->plan[PLAN_DECODER], &what, NULL, &spent);
}

/* Runs the prediction network on a token. Returns a status of the executor. */
static int predict(struct steno_batch *b, int32_t token)
{
    struct transducer_batch *t = batch_of(b);
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    size_t ld;
    b->run.n_rows = 0;
    run_add(&b->run, token, 0, 0, 0);
    run_prepare(&b->run);
    const int rc = decoder_run(b, TRANSDUCER_PREDICT, 1);
    if (rc) return rc;
    const float *g = exec_output(b->exec, p, p->output, 0, 1, &ld);
    if (g) memcpy(t->predicted, g, width_of(b->model) * sizeof *g);
    return g ? STENO_OK : STENO_ENOMEM;
}

static int32_t largest(const float *x, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* The best of rows [row, row + n) of the run for the current state. logprob[n]: of their ids. Returns a status of the executor. */
static int join(struct steno_batch *b, uint32_t row, uint32_t n, struct joint_best *best, float *logprob)
{
    const struct transducer_batch *t = batch_of(b);
    const struct transducer_model *c = part_of(b->model);
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const uint16_t slot = p->input, logits = p->side_output[TRANSDUCER_LOGITS];
    const size_t width = width_of(b->model), ld_in = p->slot[slot].ld;
    float *in = exec_given(b->exec, p, slot);
    size_t ld = 0;
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++) in[i * ld_in + k] = t->joined[(row + i) * width + k] + t->predicted[k];
    const int rc = decoder_run(b, TRANSDUCER_JOIN, n);
    if (rc) return rc;
    const float *x = exec_output(b->exec, p, logits, 0, n, &ld);
    for (uint32_t i = 0; i < n && x; i++, x += ld) {
        struct logit_partial all;
        b->model->kern.logits_reduce(&all, x, NULL, 0, (size_t)c->blank + 1);
        best[i].id = all.arg < 0 ? c->blank : all.arg;
        best[i].duration = c->n_durations ? c->duration[largest(x + c->blank + 1, c->n_durations)] : 0;
        logprob[i] = -logf(all.sum);
    }
    return x ? STENO_OK : STENO_ENOMEM;
}

/* Adds a token. A mark of a model with durations has the end of the token before it as both times. */
static void token_add(steno_session *s, const struct transducer_token *token, float logprob)
{
    struct transducer_session *c = session_of(s);
    const struct transducer_model *m = part_of(s->model);
    const int32_t end = m->n_durations ? token->row + token->duration : token->row + 1;
    struct piece_rows rows = { token->row, end };
    const struct sampled_token sampled = { .id = token->id, .ts_id = -1, .p = expf(logprob), .logprob = logprob };
    if (m->n_durations && c->rows.len && s->model->family->pieces->is_mark(s->model, token->id))
        rows.begin = rows.end = ((const struct piece_rows *)(const void *)(c->rows.p + c->rows.len))[-1].end;
    buf_add(&c->ids, &token->id, sizeof token->id);
    buf_add(&c->tokens, &sampled, sizeof sampled);
    buf_add(&c->rows, &rows, sizeof rows);
}

/* Returns a status of the executor. */
static int decode(steno_session *s, const struct clip_window *w)
{
    enum { AHEAD = TRANSDUCER_ROWS };
    struct steno_batch *b = s->batch;
    const struct transducer_model *m = part_of(s->model);
    struct transducer t = { .blank = m->blank, .max_symbols = m->max_symbols, .has_durations = m->n_durations > 0 };
    struct transducer_session *c = session_of(s);
    buf_clear(&c->ids);
    buf_clear(&c->tokens);
    buf_clear(&c->rows);
    transducer_begin(&t, w->rows.n);
    exec_state_reset(b->exec, STATE_PREDICTION, 0);
    int rc = predict(b, m->blank);
    while (!rc && !transducer_is_done(&t)) {
        struct joint_best best[AHEAD];
        float logprob[AHEAD];
        struct transducer_token token;
        const int32_t first = t.row, left = t.n_rows - first, n = left < AHEAD ? left : AHEAD;
        rc = join(b, (uint32_t)(w->rows.row + first), (uint32_t)n, best, logprob);
        if (rc || !transducer_feed(&t, first, best, n, &token)) continue;
        token_add(s, &token, logprob[token.row - first]);
        if (c->ids.err || c->tokens.err || c->rows.err) rc = STENO_ENOMEM;
        if (!rc && !transducer_is_done(&t)) rc = predict(b, token.id);
    }
    return rc;
}

static int settle(steno_session *s, const struct clip_window *w)
{
    struct transducer_session *c = session_of(s);
    const int64_t t0 = os_now_ns();
    const int rc = request_ran(s, decode(s, w));
    s->timings.decode_us += (os_now_ns() - t0) / 1000;
    if (rc) return rc;
    const struct clip_pieces p = { .ids = (const int32_t *)(const void *)c->ids.p, .n = (int32_t)(c->ids.len / sizeof(int32_t)),
                                   .tokens = (const struct sampled_token *)(const void *)c->tokens.p,
                                   .rows = (const struct piece_rows *)(const void *)c->rows.p,
                                   .row_ms = fbank_bank_of(s->model)->lfr_n * FBANK_HOP / (FBANK_RATE / 1000),
                                   .source = "transducer" };
    return clip_pieces_add(s, w, &p, &c->text);
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .run = run, .settle = settle };

/* ---- the task */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_PIECES;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes, (void)m;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, 1 };
}

static void tables_take(struct transducer_batch *t, struct arena_take *take, const steno_model *m)
{
    t->joined = arena_take(take, m->plan[PLAN_ENCODER].max_rows * width_of(m), sizeof *t->joined);
    t->predicted = arena_take(take, width_of(m), sizeof *t->predicted);
}

static size_t batch_memory_of(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    struct transducer_batch t;
    struct arena_take take = { 0 };
    tables_take(&t, &take, m);
    return clip_batch_memory(m, n_windows, n_lanes) + sizeof t - sizeof t.clips + take.sz;
}

static int part_begin(struct steno_batch *b, steno_error *e)
{
    struct arena_take take = { .a = &b->arena };
    struct transducer_batch *t = b->part = arena_array(&b->arena, 1, sizeof *t);
    if (!t) return err_nomem(e, sizeof *t, "a batch");
    tables_take(t, &take, b->model);
    return take.failed ? err_nomem(e, take.sz, "a batch") : clip_batch_init(b, e);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct transducer_session) + clip_session_memory(m, team);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct transducer_session *c = s->part = arena_array(&s->arena, 1, sizeof *c);
    return c ? clip_session_open(s, &decoder, e) : err_nomem(e, sizeof *c, "a session");
}

static void part_close(steno_session *s)
{
    struct transducer_session *c = session_of(s);
    if (!c) return;
    clip_session_close(s);
    struct buf *const all[] = { &c->ids, &c->tokens, &c->rows, &c->text };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_free(all[i]);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { 0 } };
    return clip_bench(s, phase, n, own);
}

const struct task transducer_task = {
    .name = "transducer",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = batch_memory_of,
    .batch_open = part_begin,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = clip_front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = clip_request_take,
    .request_end = clip_request_end,
    .batch_step = clip_step,
    .bench = bench,
};
