/* steno: the task of voice activity detection. SPDX-License-Identifier: MIT
 *
 * Rows of filter banks stream through the network in pieces. The last inputs of its memory layers are state, so the size of the pieces does
 * not change any probability. The end-point machine turns probabilities into spans. A step of a batch is one piece of the next request in
 * the queue: all that its source has, up to five seconds. The executor holds the state of one stream. If another stream continues, its
 * state is restored first. */
#include "engine/task.h"
#include <string.h>
#include "audio/fbank_stream.h"
#include "base/os.h"
#include "engine/batch_loop.h"
#include "engine/stream_state.h"
#include "task/vad/vad_finder.h"

enum { STREAM_ROWS = FBANK_STREAM_CHUNK / FBANK_HOP + FBANK_LFR_MAX }; /* per read of the source */

/* State in a session. */
struct vad_session {
    struct fbank_stream fbank;
    struct vad_search search;
    struct stream_state state;
    /* The request. */
    steno_source src;
};

static struct vad_session *vad_of(const steno_session *s)
{
    return s->part;
}

/* ---- a request ---- */

static int request_take(steno_session *s, const struct request_given *g)
{
    struct vad_session *v = vad_of(s);
    const steno_vad_params *p = &v->search.p;
    vad_search_take(&v->search, s->model, g->find_speech);
    v->src = *g->src;
    s->should_abort = p->should_abort;
    s->abort_user = p->user;
    return params_check(s, STENO_CALL_FIND_SPEECH, p);
}

static int request_end(steno_session *s, int status)
{
    if (s->request_state != REQUEST_WAITING) s->result.duration_ms = vad_of(s)->fbank.samples / 16;
    stream_state_end(s->batch, &vad_of(s)->state);
    return status;
}

static void on_span(void *session, const struct vad_span *v)
{
    steno_session *s = session;
    result_span(&s->result, v, &vad_of(s)->search.p);
}

static int found(steno_session *s)
{
    return s->result.spans.err ? err_nomem(&s->error, s->result.spans.len, "spans") : STENO_OK;
}

static void request_begin(steno_session *s)
{
    struct vad_session *v = vad_of(s);
    fbank_stream_begin(&v->fbank, &v->src, 0, 0);
    fbank_mirror(v->fbank.fbank, vad_search_mirrors(&v->search));
    v->fbank.may_wait = !s->place.direct;
    vad_search_begin(&v->search, on_span, s);
    queue_begin(s);
    s->request_state = REQUEST_LISTENING;
}

/* Ends the span that is open at the end of the audio. */
static int spans_end(steno_session *s)
{
    struct vad_session *v = vad_of(s);
    vad_search_end(&v->search, v->fbank.samples);
    return found(s);
}

/* ---- a step ---- */

/* Runs n rows and passes their probabilities to the end-point machine. */
static int piece_run(steno_session *s, int n)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    struct vad_session *v = vad_of(s);
    struct run_time spent;
    struct exec *x = s->batch->exec;
    stream_state_run(s->batch);
    int rc = stream_state_take(s->batch, &v->state, &s->error);
    if (rc) return rc;
    rc = exec_phases(x, plan, &(struct phases){ .end = 1, .n_rows = (uint32_t)n }, session_time(s, PLAN_ENCODER), &spent);
    s->timings.encode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_encodes++;
    s->timings.n_wakes++;
    size_t ld;
    const float *out = rc ? NULL : exec_output(x, plan, plan->output, 0, (uint32_t)n, &ld);
    if (!out) return session_ran(s, x, rc ? rc : STENO_ENOMEM);
    vad_search_rows(&v->search, out, ld, n);
    if (!v->fbank.flushed) vad_search_passed(&v->search, v->fbank.samples);
    return found(s);
}

static int needs_piece(const struct steno_batch *b, const steno_session *s)
{
    (void)b;
    return !s->place.waits;
}

/* Reads what the source of s has, up to one piece, and runs it. @return 0: the source has nothing yet */
static int piece_take(struct steno_batch *b, steno_session *s)
{
    const struct plan *plan = &b->model->plan[PLAN_ENCODER];
    const size_t ld = plan->slot[plan->input].ld;
    int n = 0;
    if (s->request_state == REQUEST_WAITING) request_begin(s);
    const int most = vad_of(s)->search.p.streaming ? STREAM_ROWS : (int)plan->max_rows; /* streaming: report as soon as possible */
    int rc = fbank_stream_next(&vad_of(s)->fbank, most, exec_input(b->exec, plan), ld, &n, &s->error);
    if (rc == STREAM_WAITS) {
        s->place.waits = 1;
        return 0;
    }
    const int has_ended = !rc && !n;
    if (n) {
        queue_given(b, queue_passes(b, s, needs_piece));
        queue_window(s);
        s->request_state = REQUEST_LIVE;
        rc = piece_run(s, n);
        s->request_state = REQUEST_LISTENING;
    } else if (!rc) {
        rc = spans_end(s);
    }
    if (rc || has_ended) request_finish(s, rc);
    return 1;
}

static int piece_step(struct steno_batch *b)
{
    queue_look(b);
    for (;;) {
        while (requests_sweep(b)) {}
        queue_take(b);
        steno_session *s = queue_next(b, needs_piece);
        if (!s) return 0;
        if (piece_take(b, s)) return 1;
    }
}

/* ---- benchmarks ---- */

/* Times "features" or "encode" of n seconds. @return microseconds, or a status */
static int64_t bench(steno_session *s, const char *phase, int n)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    const int is_features = !strcmp(phase, "features");
    struct fbank_stream *r = &vad_of(s)->fbank;
    struct exec *x = s->batch->exec;
    int64_t left = (int64_t)n * FBANK_RATE, ns = 0;
    const steno_source src = saw_source(&left);
    if (!is_features && strcmp(phase, "encode") != 0)
        return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known are features, encode", phase);
    fbank_stream_begin(r, &src, 0, 0);
    exec_state_reset(x, 0, 0);
    for (int rows = 0, rc = STENO_OK;;) {
        struct run_time spent;
        int64_t t0 = os_now_ns();
        rc = fbank_stream_next(r, (int)plan->max_rows, exec_input(x, plan), plan->slot[plan->input].ld, &rows, &s->error);
        if (rc || !rows) return rc ? rc : ns / 1000;
        if (!is_features) {
            t0 = os_now_ns();
            rc = exec_phases(x, plan, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, NULL, &spent);
            if (rc) return session_ran(s, x, rc);
        }
        ns += os_now_ns() - t0;
    }
}

/* ---- the task ---- */

static unsigned serves(const steno_model *m)
{
    return MODELS_VAD | (m->family->thresholds ? MODELS_VAD_THRESHOLDS : MODELS_VAD_VOTES);
}

/* The task samples nothing, so it needs no tables. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ m->n_plans, RUN_LANES, 0 };
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    return sizeof(struct vad_session) + fbank_stream_memory(fbank_bank_of(m), 0, team) + (shared ? stream_state_memory(m) : 0);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct vad_session *v = s->part = arena_alloc(&s->arena, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a session");
    *v = (struct vad_session){ 0 };
    const int rc = fbank_stream_init(&v->fbank, &s->arena, fbank_bank_of(s->model), 0, s->batch->team, e);
    v->fbank.should_stop = session_stop;
    v->fbank.user = s;
    return rc || s->own_batch ? rc : stream_state_open(&v->state, s->batch, e);
}

static void part_close(steno_session *s)
{
    if (!vad_of(s)) return;
    fbank_stream_close(&vad_of(s)->fbank);
    stream_state_close(&vad_of(s)->state);
}

static struct front_time *front_time(const steno_session *s)
{
    return &vad_of(s)->fbank.time;
}

const struct task vad_task = {
    .name = "vad",
    .serves = serves,
    .max_lanes = 1,
    .shape = shape,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_FIND_SPEECH,
    .request_take = request_take,
    .request_end = request_end,
    .batch_step = piece_step,
    .bench = bench,
};
