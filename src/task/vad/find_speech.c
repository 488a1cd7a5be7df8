/* steno: where somebody speaks. SPDX-License-Identifier: MIT
 *
 * Rows of filter banks stream through the network in pieces; its memories' last inputs are state, so pieces of any size give the same
 * probabilities. The end-point machine turns them into spans. */
#include <string.h>
#include "task/params.h"

static int check(steno_session *s, const steno_vad_params *p, struct vad_params *q)
{
    *q = s->model->vad;
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
        if (vad_step(&s->vad, p_silence, &span)) rc = span_add(s, p, &span);
    }
    return rc;
}

static int find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    const struct slot *in = &plan->slot[plan->input];
    struct vad_params q;
    int rc = check(s, p, &q);
    if (!rc) rc = fbank_stream_begin(&s->fbank_stream, src, 0, 0, &s->error);
    if (rc) return rc;
    exec_state_reset(s->batch->exec, 0, 0);
    vad_begin(&s->vad, &q);
    int64_t frame = 0;
    for (int n = 1; !rc && n;) {
        rc = fbank_stream_next(&s->fbank_stream, (int)plan->max_rows, exec_input(s->batch->exec, plan), in->ld, &n, &s->error);
        if (!rc && n) rc = piece(s, p, n, &frame);
    }
    s->result.duration_ms = s->fbank_stream.samples / 16;
    struct vad_span last[VAD_HELD];
    const int n = rc ? 0 : vad_end(&s->vad, s->fbank_stream.samples, last);
    for (int i = 0; i < n && !rc; i++) rc = span_add(s, p, &last[i]);
    return rc;
}

static int vad_call(steno_session *s, const steno_source *src, const steno_vad_params *p)
{
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    if (s->model->family->search != SEARCH_VAD)
        return err_set(&s->error, STENO_EARG, "a %s model does not find speech: use a voice-activity model", s->model->family->name);
    steno_vad_params copy;
    steno_vad_params_init(&copy);
    if (params_take(&copy, p, sizeof copy, offsetof(steno_vad_params, user)))
        return err_set(&s->error, STENO_EARG, "steno_vad_params was not filled by steno_vad_params_init");
    s->should_abort = copy.should_abort;
    s->abort_user = copy.user;
    return find_speech(s, src, &copy);
}

int steno_find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, vad_call(s, src, p));
}

int steno_span_count(const steno_session *s)
{
    return s ? (int)(s->result.spans.len / sizeof(steno_span)) : 0;
}

int steno_span_get(const steno_session *s, int i, steno_span *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_span_count(s)) return STENO_EARG;
    steno_span span = ((const steno_span *)(const void *)s->result.spans.p)[i];
    span.size = out->size < sizeof span ? out->size : (uint32_t)sizeof span;
    memcpy(out, &span, span.size);
    return STENO_OK;
}
