/* steno: integrate-and-fire over the clips of a run. SPDX-License-Identifier: MIT */
#include "task/cif/cif_clips.h"
#include "model/parts.h"
#include <string.h>
#include "search/cif.h"
#include "task/clips/clip_session.h"

enum { PHASE_TOKENS = 1, PHASE_TOKENS_HEAD = 2, PHASE_TOKENS_BEST = 3, PHASE_TIMES = 4 }; /* phases after PHASE_ENCODE */

static struct cif_batch *cif_batch_of(const struct steno_batch *b) { return b->part; }

static void tables_take(struct cif_batch *c, struct arena_take *t, const steno_model *m, size_t n_windows)
{
    const size_t rows = m->plan[PLAN_ENCODER].max_rows;
    c->clip = arena_take(t, n_windows, sizeof *c->clip);
    c->tokens = arena_take(t, n_windows, sizeof *c->tokens);
    c->alpha = arena_take(t, rows + n_windows, sizeof *c->alpha);
    c->fine = arena_take(t, rows * (size_t)((const struct cif_model *)m->part)->fine, sizeof *c->fine);
    c->token = arena_take(t, rows, sizeof *c->token);
    c->weight = arena_take(t, 2 * (rows + n_windows), sizeof *c->weight);
    cif_hot_rows_take(&c->hot, t, m);
}

size_t cif_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    struct cif_batch c;
    struct arena_take t = { 0 };
    tables_take(&c, &t, m, n_windows);
    return clip_batch_memory(m, n_windows, n_lanes) + sizeof c - sizeof c.clips + t.sz;
}

int cif_batch_open(struct steno_batch *b, steno_error *e)
{
    struct arena_take t = { .a = &b->arena };
    struct cif_batch *c = b->part = arena_array(&b->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a batch");
    tables_take(c, &t, b->model, b->n_windows);
    return t.failed ? err_nomem(e, clip_encoder_of(b)->max_rows * sizeof *c->token, "a batch") : clip_batch_init(b, e);
}

/* Reads the weights of n rows. STENO_ENOMEM: the executor has no output */
static int weights_read(struct steno_batch *b, uint16_t slot, uint32_t row, uint32_t n, struct cif_weight how, float *weight)
{
    size_t ld = 0;
    const float *x = exec_output(b->exec, clip_encoder_of(b), slot, row, n, &ld);
    for (uint32_t t = 0; t < n && x; t++) weight[t] = cif_alpha(x[t * ld], how.smooth, how.noise);
    return x ? STENO_OK : STENO_ENOMEM;
}

/* Reads the weights of clip i's frames and finds its tokens, after those of earlier clips. Each clip has one extra frame in the tables, so
 * its part begins i frames later than its rows. A weight is at most 1, so there are at most as many tokens as frames. Returns a status of
 * the executor. */
static int tokens_find(struct steno_batch *b, uint32_t i)
{
    struct cif_batch *c = cif_batch_of(b);
    const struct cif_model *m = b->model->part;
    const struct sequence s = c->clips.sequence[i];
    const size_t at = (size_t)s.row + i;
    const uint32_t first = i ? c->clip[i - 1].first_token + c->clip[i - 1].n_tokens : 0;
    float *alpha = c->alpha + at;
    const int rc = weights_read(b, clip_encoder_of(b)->side_output[0], s.row, s.n, m->weight, alpha);
    if (rc) return rc;
    alpha[s.n] = m->tail;
    const int32_t n = cif_tokens(c->token + first, c->weight + 2 * at, s.n, alpha, s.n + 1);
    for (int32_t k = 0; k < n; k++) c->token[first + (uint32_t)k].at += (uint32_t)(2 * at);
    c->clip[i] = (struct cif_clip){ .alpha = alpha, .n_frames = s.n + 1, .first_token = first, .n_tokens = (uint32_t)n };
    c->tokens[i] = sequence_next(i ? &c->tokens[i - 1] : NULL, (uint32_t)n, (uint16_t)i);
    return STENO_OK;
}

int cif_clips_find(struct steno_batch *b, int n)
{
    int rc = STENO_OK;
    (void)n;
    for (uint32_t i = 0; i < cif_batch_of(b)->clips.n_sequences && !rc; i++) rc = tokens_find(b, i);
    return rc;
}

/* Runs the decoder over all tokens and finds their most probable ids. */
static int tokens_run(struct steno_batch *b)
{
    struct cif_batch *c = cif_batch_of(b);
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < c->clips.n_sequences; i++)
        for (uint32_t k = 0; k < c->clip[i].n_tokens; k++) run_add(&b->run, 0, (int32_t)k, (uint16_t)i, 0);
    if (!b->run.n_rows) return STENO_OK;
    c->clips.tokens = c->tokens;
    b->run.cif = (struct run_cif){ c->token, c->weight };
    run_prepare(&b->run);
    const int rc = clip_run_phase(b, PHASE_TOKENS, NULL);
    if (rc || ((const struct cif_model *)b->model->part)->hot == CIF_HOT_WITHIN) return rc; /* the hot-word run finds the ids */
    return clip_run_phase(b, PHASE_TOKENS_BEST, NULL);
}

/* Does a request need times from weights finer than frames? */
static int needs_fine(const struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int needed = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->window[i].s && c->window[i].rows.n && cif_clip_of(b, &c->window[i])->n_tokens)
            needed |= clips_of(c->window[i].s)->request.p.word_timestamps;
    return needed && ((const struct cif_model *)b->model->part)->fine;
}

/* Computes these weights for all clips. Returns a status of the executor. */
static int fine_find(struct steno_batch *b)
{
    struct cif_batch *c = cif_batch_of(b);
    const struct cif_model *m = b->model->part;
    int rc = clip_run_phase(b, PHASE_TIMES, NULL);
    for (uint32_t i = 0; i < c->clips.n_sequences && !rc; i++) {
        const struct sequence s = c->clips.sequence[i];
        const uint32_t row = (uint32_t)(s.row * m->fine), n = (uint32_t)(s.n * m->fine);
        c->clip[i].fine = c->fine + row;
        c->clip[i].n_fine = (int32_t)n;
        rc = weights_read(b, clip_encoder_of(b)->side_output[1], row, n, m->fine_weight, c->clip[i].fine);
    }
    return rc;
}

/* Passes encoder rows to on_rows before the tokens overwrite them. */
static int encoded_report(struct steno_batch *b)
{
    const struct clip_batch *c = clip_batch_of(b);
    int rc = STENO_OK;
    for (uint32_t i = 0; i < c->n && !rc; i++) {
        const struct clip_window *w = &c->window[i];
        if (w->s && w->rows.n && clip_rows_requested(w->s)) rc = clip_slot_report(w->s, w, "encoder", clip_encoder_of(b)->encoded);
    }
    return rc;
}

/* Applies the hot words of each clip to its ids. */
static int hot_words_apply(struct steno_batch *b)
{
    struct cif_batch *c = cif_batch_of(b);
    struct best *best = b->run.argmax.best;
    const uint32_t n = b->run.n_rows;
    int needed = 0, rc = STENO_OK;
    for (uint32_t i = 0; i < c->clips.n; i++) needed |= c->clips.window[i].s && cif_of(c->clips.window[i].s)->hot;
    c->heeds = needed && n;
    if (!c->heeds) return STENO_OK;
    rc = cif_hot_rows_keep(&c->hot, b, n);
    for (uint32_t i = 0; i < c->clips.n && !rc; i++) {
        const struct clip_window *w = &c->clips.window[i];
        struct cif_hot_words *hot = w->s && w->rows.n ? cif_of(w->s)->hot : NULL;
        const struct cif_clip *clip = hot ? cif_clip_of(b, w) : NULL;
        if (clip && clip->n_tokens) rc = cif_hot_run(hot, w->s, &c->hot, clip->first_token, clip->n_tokens);
    }
    memcpy(best, c->hot.best, n * sizeof *best);
    return rc;
}

int cif_clips_run(struct steno_batch *b)
{
    cif_batch_of(b)->clips.tokens = NULL;
    run_prepare(&b->run);
    int rc = clip_run_phase(b, PHASE_ENCODE, NULL);
    if (!rc) rc = encoded_report(b);
    if (!rc) rc = cif_clips_find(b, 0);
    if (!rc) rc = tokens_run(b);
    if (!rc && needs_fine(b)) rc = fine_find(b);
    return rc ? rc : hot_words_apply(b);
}

int cif_clips_head(struct steno_batch *b, const struct clip_window *w, clip_row_fn *show)
{
    const struct cif_clip *c = cif_clip_of(b, w);
    if (cif_batch_of(b)->heeds || clip_encoder_of(b)->logits == NO_SLOT || !c->n_tokens) return STENO_OK;
    const struct clip_head h = { .phase = PHASE_TOKENS_HEAD, .w = w, .show = show };
    return clip_run_head(b, c->first_token, c->first_token + c->n_tokens, &h);
}

int cif_clips_bench(struct steno_batch *b, int n)
{
    struct cif_batch *c = cif_batch_of(b);
    const uint32_t rows = c->clips.sequence[0].n;
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        c->token[i] = (struct cif_token){ i * rows / (uint32_t)n, 1, i };
        c->weight[i] = 1;
    }
    c->clip[0] = (struct cif_clip){ .n_tokens = (uint32_t)n };
    c->tokens[0] = sequence_next(NULL, (uint32_t)n, 0);
    return tokens_run(b);
}
