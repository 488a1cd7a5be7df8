/* steno: where somebody speaks. SPDX-License-Identifier: MIT
 *
 * Rows of filter banks stream through the network in pieces; its memories' last inputs are state, so pieces of any size give the same
 * probabilities. The end-point machine turns them into spans. */
#include <string.h>
#include "task/vad/vad_task.h"
#include "task/fbank_stream.h"

/* What a search for speech keeps in a session. */
struct vad_session {
    struct fbank_stream fbank;
    struct vad vad;
};

static struct vad_session *vad_of(const steno_session *s)
{
    return s->part;
}

static const struct vad_params *vad_params_of(const steno_model *m)
{
    return m->part;
}

static int check(steno_session *s, const steno_vad_params *p, struct vad_params *q)
{
    *q = *vad_params_of(s->model);
    const int rc = params_check(s, STENO_CALL_FIND_SPEECH, p);
    if (rc) return rc;
    if (p->max_end_silence_ms >= 0) {
        q->dynamic = 0;
        q->max_end_silence_ms = (int)p->max_end_silence_ms;
    }
    if (p->max_segment_ms > 0) q->max_segment_ms = (int)p->max_segment_ms;
    q->threshold = p->threshold;
    return STENO_OK;
}

static int span_add(steno_session *s, const steno_vad_params *p, const struct vad_span *v)
{
    const steno_span span = { sizeof span, 0, v->t0_ms, v->t1_ms };
    buf_add(&s->result.spans, &span, sizeof span);
    if (s->result.spans.err) return err_nomem(&s->error, s->result.spans.len, "spans");
    if (p->on_span) p->on_span(p->user, &span);
    return STENO_OK;
}

/* Probabilities of n rows into the machine. */
static int piece(steno_session *s, const steno_vad_params *p, int n, int64_t *frame)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    struct run_time spent;
    struct exec *x = s->batch->exec;
    int rc = exec_phases(x, plan, &(struct phases){ .end = 1, .n_rows = (uint32_t)n }, session_time(s, PLAN_ENCODER), &spent);
    s->timings.encode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_encodes++;
    s->timings.n_wakes++;
    size_t ld;
    const float *out = rc ? NULL : exec_output(x, plan, plan->output, 0, (uint32_t)n, &ld);
    if (!out) return session_ran(s, x, rc ? rc : STENO_ENOMEM);
    for (int i = 0; i < n && !rc; i++, ++*frame) {
        const float p_silence = out[(size_t)i * ld];
        struct vad_span span;
        if (p->on_frame) p->on_frame(p->user, *frame * VAD_FRAME_MS, 1 - p_silence);
        if (vad_step(&vad_of(s)->vad, p_silence, &span)) rc = span_add(s, p, &span);
    }
    return rc;
}

static int find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    const struct slot *in = &plan->slot[plan->input];
    struct fbank_stream *fbank = &vad_of(s)->fbank;
    struct vad_params q;
    int rc = check(s, p, &q);
    if (!rc) rc = fbank_stream_begin(fbank, src, 0, 0, &s->error);
    if (rc) return rc;
    exec_state_reset(s->batch->exec, 0, 0);
    vad_begin(&vad_of(s)->vad, &q);
    int64_t frame = 0;
    for (int n = 1; !rc && n;) {
        rc = fbank_stream_next(fbank, (int)plan->max_rows, exec_input(s->batch->exec, plan), in->ld, &n, &s->error);
        if (!rc && n) rc = piece(s, p, n, &frame);
    }
    s->result.duration_ms = fbank->samples / 16;
    struct vad_span last[VAD_HELD];
    const int n = rc ? 0 : vad_end(&vad_of(s)->vad, fbank->samples, last);
    for (int i = 0; i < n && !rc; i++) rc = span_add(s, p, &last[i]);
    return rc;
}

/* ---- the task ---- */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return BY_VAD;
}

/* Nothing is chosen: there are no tables. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ m->n_plans, RUN_LANES, 0 };
}

static size_t memory(const steno_model *m, const steno_team *team)
{
    return sizeof(struct vad_session) + fbank_stream_memory(fbank_bank_of(m), 0, team);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct vad_session *v = s->part = arena_alloc(&s->arena, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a session");
    *v = (struct vad_session){ 0 };
    const int rc = fbank_stream_init(&v->fbank, &s->arena, fbank_bank_of(s->model), 0, s->batch->team, e);
    v->fbank.should_stop = session_stop;
    v->fbank.user = s;
    return rc;
}

static void part_close(steno_session *s)
{
    if (vad_of(s)) fbank_stream_close(&vad_of(s)->fbank);
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
    .find_speech = find_speech,
};
