/* steno: runs one window through the plans. SPDX-License-Identifier: MIT */
#include <string.h>
#include "task/window/window.h"

float *batch_mel(const struct steno_batch *b)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    return exec_input(b->exec, p);
}

float *window_mel(const steno_session *s)
{
    return batch_mel(s->batch);
}

/* Copies the encoder's output for the window, without gaps between rows, because the decoder reuses the slot. */
static int features_keep(steno_session *s, const struct plan *p, int32_t n_ctx)
{
    struct buf *b = &s->result.features;
    const struct slot *out = &p->slot[p->output];
    size_t ld;
    const float *rows = exec_output(s->batch->exec, p, p->output, 0, (uint32_t)n_ctx, &ld);
    buf_clear(b);
    for (int32_t i = 0; i < n_ctx && rows; i++)
        buf_add(b, rows + (size_t)i * ld, out->width * sizeof(float));
    if (rows && !b->err) return STENO_OK;
    buf_free(b); /* an incomplete copy is of no use */
    return err_nomem(&s->error, (size_t)n_ctx * out->width * sizeof(float), "audio features");
}

int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    const struct phases what = { .end = ENCODER_PHASES, .n_rows = (uint32_t)n_ctx, .window = (uint16_t)decode_slot };
    ar_batch_of(b)->n_steps = 0;
    return exec_phases(b->exec, p, &what, time, spent);
}

int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx)
{
    struct run_time spent;
    struct steno_batch *b = s->batch;
    const int rc = session_ran(s, b->exec, batch_encode(b, decode_slot, n_ctx, session_time(s, PLAN_ENCODER), &spent));
    s->timings.encode_us += spent.first_ns / 1000;
    s->timings.cross_us += spent.rest_ns / 1000;
    s->timings.n_encodes++;
    s->timings.n_wakes++;
    return rc || !s->params || !s->params->keep_audio_features ? rc : features_keep(s, &s->model->plan[PLAN_ENCODER], n_ctx);
}

void slots_forget(const steno_session *s)
{
    const struct steno_batch *b = s->batch;
    struct decode_slot *slot = ar_batch_of(b)->decode_slot;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (slot[i].audio == s) slot[i].audio = NULL;
}
