/* steno: the task of transcription by integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * The model gives each encoder frame a weight. Whenever the weights sum to 1, the frames become a token (Dong and Xu 2020). All tokens of a
 * clip are decoded at once; each becomes its most probable id. */
#include "engine/task.h"
#include "model/parts.h"
#include <math.h>
#include "engine/batch_loop.h"
#include "search/cif.h"
#include "task/cif/cif_clips.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"
#include "task/clips/clip_step.h"

enum { FRAME_MS = FBANK_HOP * 1000 / FBANK_RATE };

static const struct cif_model *cif_model_of(const steno_model *m) { return m->part; }

/* ---- results ---- */

/* Copies the text ids of the clip to cif_session.ids and their tokens to the batch's table. */
static struct clip_found found_of(const steno_session *s, const struct cif_clip *clip)
{
    const struct cif_model *m = cif_model_of(s->model);
    const struct cif_session *c = cif_of(s);
    struct clip_found f = { .ids = c->ids, .tokens = s->batch->sampled };
    for (uint32_t i = clip->first_token; i < clip->first_token + clip->n_tokens; i++) {
        const struct best *b = &s->batch->run.argmax.best[i];
        if (b->id < 0 || b->id == m->blank || b->id == m->bos || b->id == m->eos) continue;
        s->batch->sampled[f.n] = (struct sampled_token){ .id = b->id, .ts_id = -1, .logprob = b->logprob, .p = expf(b->logprob) };
        c->ids[f.n++] = b->id;
        f.sum_logprob += b->logprob;
    }
    return f;
}

/* Finds the times of the text ids, in seconds from the clip's start. For finer weights the reference swaps the predictor's peaks and
 * weights, so peaks are scaled and searched here. The times equal those of the reference. */
static void find_times(const steno_session *s, const struct cif_clip *clip, int32_t n)
{
    struct cif_session *c = cif_of(s);
    const int32_t fine = cif_model_of(s->model)->fine;
    struct cif_frames f = { clip->alpha, c->peak, clip->n_frames, fbank_bank_of(s->model)->lfr_n * FRAME_MS / 1000.0 };
    if (fine) f = (struct cif_frames){ c->peak, clip->fine, clip->n_fine, f.frame_s / fine };
    if (fine) cif_fine_peaks(c->peak, clip->fine, clip->n_fine, (int32_t)clip->n_tokens);
    else cif_fires(c->peak, clip->alpha, clip->n_frames);
    const int32_t timed = cif_times(c->span, n, &f, c->scratch);
    for (int32_t i = timed; i < n; i++) c->span[i][0] = c->span[i][1] = timed ? c->span[timed - 1][1] : 0;
}

static void show_logits(steno_session *s, int row, const float *logits, const struct best *best)
{
    const int32_t n = s->model->n_vocab;
    (void)best;
    clip_rows_report(s, cif_of(s)->shown, &(struct clip_rows){ "logits", logits, row, 1, n, (size_t)n });
}

/* Passes rows to on_rows. */
static int show_rows(steno_session *s, const struct clip_window *w, const struct cif_clip *clip)
{
    clip_rows_report(s, w, &(struct clip_rows){ "cif_alphas", clip->alpha, 0, clip->n_frames, 1, 1 });
    clip_rows_report(s, w, &(struct clip_rows){ "cif_fine_alphas", clip->fine, 0, clip->n_fine, 1, 1 });
    cif_of(s)->shown = w;
    return request_ran(s, cif_clips_head(s->batch, w, show_logits));
}

static int settle(steno_session *s, const struct clip_window *w)
{
    struct cif_session *c = cif_of(s);
    const struct cif_clip *clip = cif_clip_of(s->batch, w);
    struct clip_found f = found_of(s, clip);
    struct segment g = clip_segment_of(s, w);
    const int shown = clip_rows_requested(s) ? show_rows(s, w, clip) : STENO_OK;
    if (shown) return shown;
    const int bad = cif_words_make(&c->words, s->model, c->ids, f.n, NULL) || cif_words_text(&c->words, 0, cif_words_n(&c->words));
    if (bad) return err_nomem(&s->error, (size_t)f.n, "text");
    if (!c->words.text.len) return STENO_OK;
    f.text = f.whole = c->words.text.p;
    f.n_text = f.n_whole = c->words.text.len;
    if (clip_all_mute(s, w)) return clip_left_out(s, w, &f, g.start, g.end);
    const int rc = clip_segment_add(s, &g, &f);
    if (rc) return rc;
    if (clips_of(s)->request.p.word_timestamps) {
        const struct cif_timed t = { (const double(*)[2])c->span, g.start, f.tokens };
        find_times(s, clip, f.n);
        cif_words_add(s, &c->words, 0, cif_words_n(&c->words), &t, &g);
        cif_words_place(&c->words, 0, cif_words_n(&c->words), &t, &g);
    }
    return clip_segment_report(s, &g);
}

static int take(steno_session *s)
{
    const char *lines = clips_of(s)->request.p.hotwords;
    return cif_hot_open(&cif_of(s)->hot, s->model, lines && *lines ? lines : NULL, &s->error);
}

static void end(steno_session *s)
{
    cif_hot_close(cif_of(s)->hot);
    cif_of(s)->hot = NULL;
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .take = take, .run = cif_clips_run, .settle = settle, .end = end };

/* ---- the task ---- */

static unsigned serves(const steno_model *m)
{
    const struct cif_model *c = cif_model_of(m); /* NULL while the model is being opened */
    return MODELS_CIF | (c && c->hot != CIF_HOT_NONE ? MODELS_CIF_HOTWORDS : 0);
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

/* Bytes per frame in a session. */
enum { PER_FRAME = sizeof(int32_t) + 2 * sizeof(double), PER_FINE = 2 * sizeof(float) };

/* Maximum number of rows for finer times. */
static size_t fine_rows(const steno_model *m)
{
    const int32_t fine = cif_model_of(m)->fine;
    return ((size_t)m->audio_ctx + 1) * (size_t)(fine ? fine : 1);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct cif_session) + clip_session_memory(m, team) + ((size_t)m->audio_ctx + 1) * PER_FRAME +
           fine_rows(m) * PER_FINE;
}

static int part_open(steno_session *s, steno_error *e)
{
    const size_t n = (size_t)s->model->audio_ctx + 1, n_fine = fine_rows(s->model);
    struct cif_session *c = s->part = arena_array(&s->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a session");
    const int rc = clip_session_open(s, &decoder, e);
    if (rc) return rc;
    c->span = arena_array(&s->arena, n, sizeof *c->span);
    c->ids = arena_array(&s->arena, n, sizeof *c->ids);
    c->peak = arena_array(&s->arena, 2 * n_fine, sizeof *c->peak);
    if (!c->span || !c->ids || !c->peak) return err_nomem(e, n * PER_FRAME + n_fine * PER_FINE, "a session");
    c->scratch = c->peak + n_fine;
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    struct cif_session *c = cif_of(s);
    if (!c) return;
    clip_session_close(s);
    cif_hot_close(c->hot);
    cif_words_close(&c->words);
}

/* ---- benchmarks ---- */

static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { "cif", cif_clips_find, 0 }, { "decode", cif_clips_bench, 1 }, { 0 } };
    return clip_bench(s, phase, n, own);
}

const struct task cif_task = {
    .name = "cif",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = cif_batch_memory,
    .batch_open = cif_batch_open,
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
