/* steno: phases of an encoder over clips of several requests. SPDX-License-Identifier: MIT */
#include "task/clips/clip_run.h"
#include <string.h>

/* Rows in the run of the session whose first window is w; 0: w is not its first window. */
static uint32_t rows_of(const struct clip_batch *c, const struct clip_window *w)
{
    uint32_t n = 0;
    for (const struct clip_window *k = c->window; k < c->window + c->n; k++) {
        if (k < w && k->s == w->s) return 0;
        if (k->s == w->s) n += k->rows.n;
    }
    return n;
}

/* Adds the time of a phase to a session with n of its `all` rows. */
static void charge(steno_session *s, int phase, int64_t ns, uint32_t n, uint32_t all)
{
    *(phase == PHASE_ENCODE ? &s->timings.encode_us : &s->timings.decode_us) += ns * n / all / 1000;
    s->timings.n_wakes++;
    s->timings.n_encodes += phase == PHASE_ENCODE;
    session_share_time(s, PLAN_ENCODER, n, all);
}

int clip_run_phase(struct steno_batch *b, int phase, steno_session *only)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct sequence *last = &c->sequence[c->n_sequences - 1];
    const uint32_t n_rows = (uint32_t)last->row + last->n; /* the table may also hold tokens beside the frames */
    struct run_time spent;
    int profiling = 0;
    for (uint32_t i = 0; i < c->n; i++) profiling |= c->window[i].s && c->window[i].s->profiling;
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = n_rows, .run = &b->run, .window = c->sequence[0].lane,
                                 .sequence = c->sequence, .n_sequences = c->n_sequences > 1 ? c->n_sequences : 0,
                                 .tokens = c->tokens };
    const int rc = exec_phases(b->exec, clip_encoder_of(b), &what, profiling ? b->time : NULL, &spent);
    const int64_t ns = spent.first_ns + spent.rest_ns;
    if (only) charge(only, phase, ns, 1, 1);
    for (uint32_t i = 0; i < c->n && !only; i++) {
        const uint32_t n = c->window[i].s ? rows_of(c, &c->window[i]) : 0;
        if (n) charge(c->window[i].s, phase, ns, n, n_rows);
    }
    return rc;
}

int clip_run_head(struct steno_batch *b, uint32_t from, uint32_t to, const struct clip_head *h)
{
    struct run *r = &b->run;
    const uint32_t step = clip_encoder_of(b)->max_out;
    const uint16_t wants = h->panels ? ROW_LOGITS : ROW_BEST;
    int rc = STENO_OK;
    r->argmax.panels = h->panels;
    for (uint32_t at = from, end; at < to && !rc; at = end) {
        end = to - at < step ? to : at + step;
        for (uint32_t i = 0; i < r->n_rows; i++) r->row[i].flags = i >= at && i < end ? wants : 0;
        run_prepare(r);
        rc = clip_run_phase(b, h->phase, h->w ? h->w->s : NULL);
        for (uint32_t i = at; h->show && i < end && !rc; i++) {
            const float *logits = exec_logits(b->exec, clip_encoder_of(b), i - at);
            if (logits) h->show(h->w->s, (int)(i - from), logits, &r->argmax.best[i]);
            else rc = STENO_ENOMEM;
        }
    }
    r->argmax.panels = NULL;
    return rc;
}
