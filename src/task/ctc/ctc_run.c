/* steno: clips of several requests through the encoder and its head together. SPDX-License-Identifier: MIT */
#include "task/ctc/ctc_run.h"
#include <string.h>

/* Rows in the run of the session whose first window is w; 0: it is not its first. */
static uint32_t rows_of(const struct ctc_batch *c, const struct ctc_window *w)
{
    uint32_t n = 0;
    for (const struct ctc_window *k = c->window; k < c->window + c->n; k++) {
        if (k < w && k->s == w->s) return 0;
        if (k->s == w->s) n += k->rows.n;
    }
    return n;
}

/* What a phase took, for a session with n of its `all` rows. */
static void charge(steno_session *s, int phase, int64_t ns, uint32_t n, uint32_t all)
{
    *(phase == PHASE_ENCODE ? &s->timings.encode_us : &s->timings.decode_us) += ns * n / all / 1000;
    s->timings.n_wakes++;
    s->timings.n_encodes += phase == PHASE_ENCODE;
    session_share_time(s, PLAN_ENCODER, n, all);
}

/* A phase over the rows of the run, and its time to those whose rows they are, or to the one that it is for. */
static int run_phase(struct steno_batch *b, int phase, steno_session *only)
{
    const struct ctc_batch *c = ctc_batch_of(b);
    struct run_time spent;
    int profiling = 0;
    for (uint32_t i = 0; i < c->n; i++) profiling |= c->window[i].s && c->window[i].s->profiling;
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = b->run.n_rows, .run = &b->run, .sequence = c->sequence,
                                 .n_sequences = c->n_sequences };
    const int rc = exec_phases(b->exec, ctc_encoder_of(b), &what, profiling ? b->time : NULL, &spent);
    const int64_t ns = spent.first_ns + spent.rest_ns;
    if (only) charge(only, phase, ns, 1, 1);
    for (uint32_t i = 0; i < c->n && !only; i++) {
        const uint32_t n = c->window[i].s ? rows_of(c, &c->window[i]) : 0;
        if (n) charge(c->window[i].s, phase, ns, n, b->run.n_rows);
    }
    return rc;
}

/* The head over rows [from, to) of the run: logits exist for a few rows at a time. w: whose they are, NULL: those of all windows. */
static int run_head(struct steno_batch *b, uint32_t from, uint32_t to, const struct ctc_window *w, ctc_row_fn *show)
{
    struct run *r = &b->run;
    const uint32_t step = ctc_encoder_of(b)->max_out;
    for (uint32_t at = from, end; at < to; at = end) {
        end = to - at < step ? to : at + step;
        for (uint32_t i = 0; i < r->n_rows; i++) r->row[i].flags = i >= at && i < end ? ROW_BEST : 0;
        run_prepare(r);
        const int rc = run_phase(b, PHASE_LM_HEAD, w ? w->s : NULL);
        if (rc) return rc;
        for (uint32_t i = at; show && i < end; i++) {
            const float *logits = exec_logits(b->exec, ctc_encoder_of(b), i - at);
            if (!logits) return STENO_ENOMEM;
            show(w->s, (int)(i - from), logits, &r->argmax.best[i]);
        }
    }
    return STENO_OK;
}

int ctc_run(struct steno_batch *b)
{
    run_prepare(&b->run);
    const int rc = run_phase(b, PHASE_ENCODE, NULL);
    return rc ? rc : run_head(b, 0, b->run.n_rows, NULL, NULL);
}

int ctc_run_again(struct steno_batch *b, const struct ctc_window *w, ctc_row_fn *show)
{
    return run_head(b, w->rows.row, (uint32_t)w->rows.row + w->rows.n, w, show);
}
