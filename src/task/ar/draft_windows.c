/* steno: speculative decoding of windows with a draft model. SPDX-License-Identifier: MIT */
#include "task/ar/draft_windows.h"
#include "model/parts.h"
#include <string.h>
#include "base/os.h"
#include "task/ar/logits_processors.h"
#include "task/window/window.h"

int draft_windows_may(const struct window_decoder *w)
{
    const steno_transcribe_params *p = &w->request->p;
    const int greedy = !p->beam_size && p->temperature == 0;
    return w->b->draft && greedy && (p->draft_max < 0 ? speculation_may_pay(&w->speculation) : p->draft_max > 0);
}

/* For each window the draft model's encoder has to run, however many draft tokens are accepted. If the saved time was less than that,
 * windows are skipped. From time to time one is encoded to find out if this has changed. */
int draft_windows_may_encode(struct window_decoder *w)
{
    enum { WINDOWS_MAX = 64 };
    struct speculation *g = &w->speculation;
    if (!draft_windows_may(w)) return 0;
    const struct steno_batch *b = w->b;
    const double gain = speculation_gain(g, b, 1, DRAFT_MAX), step = run_costs_of(&b->costs, 1), encode = (double)b->draft->encode_ns;
    if (g->window.n) g->window.ids = g->window.ids > 0 ? (g->window.ids + g->window.n) / 2 : g->window.n;
    g->window.n = 0;
    if (w->request->p.draft_max > 0 || !(gain > 0) || !(g->window.ids > 0)) return 1;
    if (g->window.ids * step * (1 - 1 / gain) > encode) g->window.wait = 2;
    else if (++g->window.since < g->window.wait) return 0;
    else g->window.wait = g->window.wait < WINDOWS_MAX ? 2 * g->window.wait : WINDOWS_MAX;
    g->window.since = 0;
    return 1;
}

/* Adds the time since t0 to the measured cost of the draft model. */
static void draft_timed(steno_session *s, int64_t t0)
{
    const int64_t ns = os_now_ns() - t0;
    struct steno_batch *d = s->batch->draft;
    d->encode_ns = d->encode_ns ? d->encode_ns + (ns - d->encode_ns) / (ns < d->encode_ns ? 2 : 8) : ns;
    s->timings.draft_us += ns / 1000;
}

/* Runs phases of the draft model's encoder for the window. Cancellation stops them. */
static int phases_run(struct window_decoder *w, uint32_t decode_slot, uint16_t first)
{
    steno_session *s = w->s;
    struct steno_batch *d = s->batch->draft;
    const struct phases what = { .first = first, .end = ENCODER_PHASES, .n_rows = (uint32_t)window_ctx(w),
                                 .window = (uint16_t)decode_slot };
    struct run_time spent;
    d->solo = s; /* the session whose cancellation stops the run */
    const int rc = session_ran(s, d->exec, exec_phases(d->exec, &d->model->plan[PLAN_ENCODER], &what, NULL, &spent));
    d->solo = NULL;
    return rc;
}

int draft_windows_are_encoded(const struct window_decoder *w)
{
    return w->s->batch->draft->shares_encoder;
}

int draft_windows_take(struct window_decoder *w, uint32_t decode_slot)
{
    steno_session *s = w->s;
    struct steno_batch *d = s->batch->draft;
    const struct plan *from = &s->model->plan[PLAN_ENCODER], *to = &d->model->plan[PLAN_ENCODER];
    const uint32_t n = (uint32_t)window_ctx(w);
    const int64_t t0 = os_now_ns();
    size_t ld;
    const float *rows = exec_output(s->batch->exec, from, from->output, 0, n, &ld);
    float *rows_there = exec_given(d->exec, to, to->output);
    if (!rows) return err_nomem(&s->error, n * sizeof *rows, "encoder output");
    for (uint32_t i = 0; i < n; i++)
        memcpy(rows_there + (size_t)i * to->slot[to->output].ld, rows + i * ld, to->slot[to->output].width * sizeof *rows);
    const int rc = phases_run(w, decode_slot, PHASE_CROSS);
    draft_timed(s, t0);
    return rc;
}

int draft_windows_encode(struct window_decoder *w, uint32_t decode_slot)
{
    steno_session *s = w->s;
    struct steno_batch *d = s->batch->draft;
    const struct plan *p = &d->model->plan[PLAN_ENCODER];
    const size_t n = 2 * (size_t)d->model->audio_ctx * (size_t)d->model->widths.n_mels;
    const int64_t t0 = os_now_ns();
    memcpy(exec_input(d->exec, p), window_mel(s), n * sizeof(float));
    const int rc = phases_run(w, decode_slot, PHASE_ENCODE);
    draft_timed(s, t0);
    return rc;
}

void draft_windows_begin(struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    const struct lane *l = &w->b->run.lane[attempts->ar.lane0];
    const int may = draft_windows_may(w) && ar_batch_of(w->b)->decode_slot[w->decode_slot].is_drafted;
    attempts->uses_draft = may && attempts->ar.p.n_lanes == 1 && !attempts->ar.p.beams && l->sampler.rules->temperature == 0;
    if (attempts->uses_draft) draft_model_rewind(w->b->draft, (uint16_t)w->decode_slot, 0);
}

/* Does the search in a decode slot step? */
static int slot_steps(const struct steno_batch *b, uint32_t at)
{
    const struct window_decoder *w = ar_batch_of(b)->decode_slot[at].user;
    return w && !ar_prompts(&w->attempts.ar);
}

static struct draft_text slot_text(const struct steno_batch *b, uint32_t at, int32_t texts)
{
    const struct window_decoder *w = ar_batch_of(b)->decode_slot[at].user;
    const struct ar *ar = &w->attempts.ar;
    if (!w->attempts.uses_draft || ar->done) return (struct draft_text){ 0 };
    struct lane *l = &w->b->run.lane[ar->lane0];
    const struct draft_limits limits = { w->request->p.draft_max, l->sampler.limit - l->sampler.n - 1 };
    return (struct draft_text){ .before = ar->prompt, .n_before = ar->n_prompt, .lane = l, .to = (uint16_t)at,
                                .n_draft = draft_model_count(&w->speculation, b, texts, limits) };
}

static int texts_add(const struct steno_batch *b, struct draft_text *text)
{
    return draft_texts_collect(b, &(struct draft_places){ b->n_windows, slot_steps, slot_text }, text);
}

int draft_windows_needed(struct steno_batch *b)
{
    struct draft_text text[DRAFT_TEXTS_MAX];
    return texts_add(b, text) > 0;
}

int draft_windows_make(struct steno_batch *b)
{
    struct draft_text text[DRAFT_TEXTS_MAX];
    const int n = texts_add(b, text);
    if (!n) return STENO_OK;
    int64_t us;
    const int rc = draft_model_make(b, PLAN_DECODER, text, n, &us);
    for (int i = 0; i < n && !rc; i++) {
        struct window_decoder *w = ar_batch_of(b)->decode_slot[text[i].to].user;
        w->attempts.ar.n_draft = text[i].n_draft;
        w->s->timings.draft_us += us;
    }
    return rc;
}

void draft_windows_check(struct steno_batch *b, struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    const struct chain_calls calls = { .filter = batch_filter, .user = b };
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    struct lane *l = &b->run.lane[attempts->ar.lane0];
    const int32_t n = attempts->ar.n_draft;
    int32_t chosen = 0, right = 0;
    uint32_t out = 0;
    if (attempts->uses_draft && !ar_prompts(&attempts->ar) && !n) speculation_learn(&w->speculation, 0, 0);
    if (!n) return;
    while (b->run.row[b->run.out_row[out]].lane != attempts->ar.lane0) out++;
    const struct row *row = &b->run.row[b->run.out_row[out]];
    const int32_t first = row->pos;
    while (!exec_choose(b->exec, p, &b->run, &calls, out + (uint32_t)chosen)) {
        chosen++;
        if (attempts->failed || l->sampler.done || right == n || l->sampler.out[l->sampler.n - 1].id != row[right + 1].token) break;
        right++;
    }
    if (chosen == right) attempts->uses_draft = attempts->uses_text = 0; /* sampling failed: continue with single steps */
    l->kv.len = first + chosen;
    state_truncate(&b->state[STATE_SELF], attempts->ar.lane0, (uint32_t)l->kv.len);
    if (b->draft) draft_model_rewind(b->draft, (uint16_t)w->decode_slot, l->kv.len);
    if (b->draft) speculation_learn(&w->speculation, n, right);
    w->s->timings.n_drafted += n;
    w->s->timings.n_accepted += right;
    attempts->ar.n_draft = 0;
}
