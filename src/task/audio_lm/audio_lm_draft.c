/* steno: draft models of audio language models. SPDX-License-Identifier: MIT */
#include "task/audio_lm/audio_lm_draft.h"
#include <string.h>
#include "base/os.h"
#include "engine/batch.h"
#include "model/parts.h"
#include "task/clips/clip_run.h"

size_t audio_lm_draft_memory(const steno_model *draft)
{
    return (size_t)draft->plan[PLAN_ENCODER].max_rows * audio_lm_width(draft) * sizeof(float);
}

int audio_lm_draft_open(struct steno_batch *d, steno_error *e)
{
    d->part = arena_alloc(&d->arena, audio_lm_draft_memory(d->model));
    return d->part ? STENO_OK : err_nomem(e, audio_lm_draft_memory(d->model), "a draft model's rows");
}

/* Its output of the current run: [rows of a run, d], each clip at its first row. */
static float *rows_of(const struct steno_batch *b) { return b->draft->part; }

int audio_lm_draft_may(const struct steno_batch *b, const steno_session *s)
{
    const int32_t asked = clips_of(s)->request.p.draft_max;
    return b->draft && (asked < 0 ? speculation_may_pay(&audio_lm_of(s)->speculation) : asked > 0);
}

/* ---- clips ------------------------------------------------------------------------------------------------------------------- */

static int rows_keep(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    const struct plan *p = &b->draft->model->plan[PLAN_ENCODER];
    const size_t d = p->slot[p->output].width;
    for (uint32_t i = 0; i < c->n_sequences; i++) {
        const uint32_t from = c->sequence[i].row, n = (uint32_t)b->model->family->audio_lm->rows(c->sequence[i].n);
        size_t ld;
        const float *x = exec_output(b->draft->exec, p, p->output, from, n, &ld);
        if (!x) return STENO_ENOMEM;
        for (uint32_t r = 0; r < n; r++) memcpy(rows_of(b) + (from + r) * d, x + r * ld, d * sizeof *x);
    }
    return STENO_OK;
}

/* Copies the features and the table of rows. */
static void input_copy(struct steno_batch *b)
{
    struct steno_batch *d = b->draft;
    const struct plan *from = &b->model->plan[PLAN_ENCODER], *to = &d->model->plan[PLAN_ENCODER];
    const size_t ld = from->slot[from->input].ld, ld_there = to->slot[to->input].ld, width = from->slot[from->input].width;
    const float *x = exec_input(b->exec, from);
    float *there = exec_input(d->exec, to);
    d->run.n_rows = 0;
    for (uint32_t i = 0; i < b->run.n_rows; i++) {
        memcpy(there + i * ld_there, x + i * ld, width * sizeof *x);
        run_add(&d->run, 0, b->run.row[i].pos, b->run.row[i].lane, 0);
    }
}

int audio_lm_draft_encode(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int needed = 0;
    for (uint32_t i = 0; i < c->n; i++) needed |= c->window[i].s && c->window[i].rows.n && audio_lm_draft_may(b, c->window[i].s);
    if (!needed) return STENO_OK;
    const int64_t t0 = os_now_ns();
    input_copy(b);
    run_prepare(&b->draft->run);
    b->draft->solo = c->n == 1 ? c->window[0].s : NULL; /* the session whose cancellation stops the run */
    int rc = clip_run_draft_phase(b, PHASE_ENCODE);
    if (!rc) rc = clip_run_draft_phase(b, PHASE_ADAPT);
    if (rc) b->exec->error = b->draft->exec->error;
    if (!rc) rc = rows_keep(b);
    b->draft->solo = NULL;
    const int64_t us = (os_now_ns() - t0) / 1000;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->window[i].s) c->window[i].s->timings.draft_us += us / c->n;
    return rc;
}

/* ---- prompts ----------------------------------------------------------------------------------------------------------------- */

static int prompt_run(struct steno_batch *d, uint32_t *n_input)
{
    struct run_time spent;
    int ran;
    *n_input = 0;
    if (!d->run.n_rows) return STENO_OK;
    const int rc = exec_chain(d->exec, &d->model->plan[PLAN_DECODER], &d->run, 1, NULL, &ran, NULL, &spent);
    d->run.n_rows = 0;
    return rc;
}

/* Adds the prompt of a window to the rows of the draft model. n_input: rows of its input that are in use */
static int prompt_add(struct steno_batch *b, const struct clip_window *w, uint32_t *n_input)
{
    const struct audio_lm_session *a = audio_lm_of(w->s);
    struct steno_batch *d = b->draft;
    const struct plan *p = &d->model->plan[PLAN_DECODER];
    const struct slot *in = &p->slot[p->input];
    const int32_t *before = (const int32_t *)(const void *)a->before.p, *behind = (const int32_t *)(const void *)a->behind.p;
    const int32_t from = audio_lm_n_ids(&a->before), to = from + b->model->family->audio_lm->rows(w->rows.n);
    const int32_t n = to + audio_lm_n_ids(&a->behind);
    const float *row = rows_of(b) + (size_t)w->rows.row * in->width;
    int rc = STENO_OK;
    draft_model_rewind(d, w->rows.lane, 0);
    for (int32_t i = 0; i < n && !rc; i++) {
        if (d->run.n_rows == p->max_rows) rc = prompt_run(d, n_input);
        int32_t id = i < from ? before[i] : i < to ? token_of_input(*n_input) : behind[i - to];
        if (i >= from && i < to) memcpy(exec_input(d->exec, p) + (size_t)(*n_input)++ * in->ld, row + (size_t)(i - from) * in->width,
                                        in->width * sizeof *row);
        else if (id >= d->model->n_vocab) id = 0;
        run_add(&d->run, id, i, w->rows.lane, 0);
    }
    return rc;
}

int audio_lm_draft_read(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    uint32_t n_input = 0;
    int rc = STENO_OK;
    if (!b->draft) return STENO_OK;
    b->draft->run.n_rows = 0;
    for (uint32_t i = 0; i < c->n && !rc; i++) {
        const struct clip_window *w = &c->window[i];
        const struct audio_lm_lane *l = w->rows.n ? &audio_lm_batch_of(b)->lane[w->rows.lane] : NULL;
        if (w->s && l && l->is_read && l->uses_draft) rc = prompt_add(b, w, &n_input);
    }
    if (!rc) rc = prompt_run(b->draft, &n_input);
    if (rc) b->exec->error = b->draft->exec->error;
    return rc;
}

/* ---- drafts ------------------------------------------------------------------------------------------------------------------ */

static int lane_steps(const struct steno_batch *b, uint32_t lane)
{
    return !b->run.lane[lane].sampler.done;
}

static struct draft_text lane_text(const struct steno_batch *b, uint32_t lane, int32_t texts)
{
    const struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    const steno_session *s = audio_lm_owner(b, lane);
    if (!l->uses_draft || !s) return (struct draft_text){ 0 };
    struct lane *of = &b->run.lane[lane];
    const int32_t ids = of->sampler.limit - of->sampler.n - 1;
    const int32_t ours = b->model->text_ctx, its = b->draft->model->text_ctx, context = (its < ours ? its : ours) - of->kv.len - 1;
    const struct draft_limits limits = { clips_of(s)->request.p.draft_max, ids < context ? ids : context };
    return (struct draft_text){ .n_before = l->n_prompt, .lane = of, .to = (uint16_t)lane,
                                .n_draft = draft_model_count(&l->speculation, b, texts, limits) };
}

static int texts_add(const struct steno_batch *b, struct draft_text *text)
{
    return draft_texts_collect(b, &(struct draft_places){ clip_batch_of(b)->n_sequences, lane_steps, lane_text }, text);
}

int audio_lm_draft_needed(struct steno_batch *b)
{
    struct draft_text text[DRAFT_TEXTS_MAX];
    return texts_add(b, text) > 0;
}

int audio_lm_draft_make(struct steno_batch *b)
{
    struct draft_text text[DRAFT_TEXTS_MAX];
    const int n = texts_add(b, text);
    if (!n) return STENO_OK;
    int64_t us;
    const int rc = draft_model_make(b, PLAN_DECODER, text, n, &us);
    for (int i = 0; i < n && !rc; i++) {
        struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[text[i].to];
        const struct sampler *p = &text[i].lane->sampler;
        l->lookup.n_given = text[i].n_draft;
        for (int32_t k = 0; k < text[i].n_draft; k++) l->lookup.id[k] = p->out[p->n + k].id;
        audio_lm_owner(b, text[i].to)->timings.draft_us += us;
    }
    return rc;
}

void audio_lm_draft_learn(struct steno_batch *b, uint32_t lane, int32_t n, int32_t right)
{
    struct audio_lm_lane *l = &audio_lm_batch_of(b)->lane[lane];
    if (!l->uses_draft) return;
    if (n) draft_model_rewind(b->draft, (uint16_t)lane, b->run.lane[lane].kv.len);
    speculation_learn(&l->speculation, n, right);
}
