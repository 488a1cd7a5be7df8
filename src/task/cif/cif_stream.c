/* steno: the task of streaming transcription by integrate-and-fire. SPDX-License-Identifier: MIT */
#include "engine/task.h"
#include "model/parts.h"
#include <string.h>
#include "engine/batch_loop.h"
#include "plan/bind.h"
#include "task/cif/stream_session.h"
#include "task/clips/clip_step.h"

static size_t row_width(const steno_model *m) { return (size_t)fbank_width(fbank_bank_of(m)); }
static int64_t row_samples(const steno_model *m) { return (int64_t)fbank_bank_of(m)->lfr_n * FBANK_HOP; }

/* ---- a request ---- */

static uint32_t look_back_rows(int32_t chunks, int32_t rows)
{
    return chunks < 0 ? UINT32_MAX : (uint32_t)(chunks * rows);
}

static int take(steno_session *s)
{
    struct stream_session *v = stream_of(s);
    const steno_transcribe_params *p = &v->clips.request.p;
    param_chunk_size(p->chunk_size, v->chunk);
    v->look_back[STATE_PAST] = look_back_rows(p->encoder_chunk_look_back, v->chunk[1]);
    /* the reference's decoder treats "unlimited" as none */
    v->look_back[STATE_CROSS_PAST] = look_back_rows(p->decoder_chunk_look_back > 0 ? p->decoder_chunk_look_back : 0, v->chunk[1]);
    return STENO_OK;
}

static void begin(steno_session *s)
{
    struct stream_session *v = stream_of(s);
    memset(v->rows, 0, (size_t)stream_context_rows(v) * row_width(s->model) * sizeof *v->rows);
    v->n_new = v->n_tokens = v->n_output = v->n = 0;
    v->placed = v->is_complete = v->is_last = 0;
    v->rest = 0;
    for (int i = 0; i < MODEL_STATES; i++) {
        v->past[i] = (struct run_past){ 0 };
        v->state.copy[i].newest = i == STATE_MEMORY ? 0 : 1;
    }
}

static void end(steno_session *s)
{
    stream_state_end(s->batch, &stream_of(s)->state);
}

/* ---- chunks ---- */

/* Handles audio that ends within a chunk. A rest shorter than a row is dropped. Rows that had no rows after them are encoded once more. */
static void gather_last(struct stream_session *v, float *rows, size_t width, int64_t samples)
{
    struct fbank_stream *r = &v->clips.fbank;
    v->n_new = fbank_stream_held(r) < samples ? 0 : v->n_new + fbank_stream_flush(r, rows + (size_t)v->n_new * width, width);
    v->is_last = 1;
}

static int gather(steno_session *s, int *has)
{
    struct stream_session *v = stream_of(s);
    struct fbank_stream *r = &v->clips.fbank;
    const size_t width = row_width(s->model);
    const int64_t samples = row_samples(s->model), chunk = v->chunk[1] * samples;
    float *rows = v->rows + (size_t)stream_context_rows(v) * width;
    *has = v->is_complete;
    if (v->is_complete || v->is_last) return STENO_OK;
    const int rc = fbank_stream_piece(r, chunk, rows, width, &v->n_new, &s->error);
    if (rc || r->samples <= v->clips.request.from) return rc;
    if (fbank_stream_held(r) < chunk) gather_last(v, rows, width, samples);
    *has = v->is_complete = 1;
    return STENO_OK;
}

static uint32_t rows(const steno_session *s)
{
    const struct stream_session *v = stream_of(s);
    return (uint32_t)(stream_context_rows(v) + v->n_new);
}

static void fill(steno_session *s, struct clip_window *w, float *x, size_t ld)
{
    struct stream_session *v = stream_of(s);
    const size_t width = row_width(s->model), beside = (size_t)stream_context_rows(v);
    const float scale = stream_model_of(s->model)->scale;
    for (int32_t i = 0; i < v->n_new; i++) {
        float *row = v->rows + (beside + (size_t)i) * width, *position = x; /* x serves as scratch and is overwritten below */
        sinusoids_row(position, (uint32_t)width, ++v->placed);
        s->model->kern.scale(row, row, scale, position, width);
    }
    v->n_rows = (int32_t)beside + v->n_new;
    for (size_t i = 0; i < (size_t)v->n_rows; i++) memcpy(x + i * ld, v->rows + i * width, width * sizeof *x);
    memmove(v->rows, v->rows + (size_t)v->n_new * width, beside * width * sizeof *v->rows);
    v->n_new = v->is_complete = 0;
    fbank_stream_piece_take(&v->clips.fbank);
    w->end = fbank_stream_at(&v->clips.fbank);
    clip_mark(s, w, v->placed - v->n_rows, v->placed);
}

static int lane(steno_session *s, uint16_t *at)
{
    struct stream_session *v = stream_of(s);
    const int rc = stream_state_take(s->batch, &v->state, &s->error);
    *at = v->state.lane;
    return rc;
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .shares = 1, .take = take, .run = stream_run, .settle = stream_settle,
                                             .end = end, .begin = begin, .gather = gather, .rows = rows, .keys = stream_keys, .lane = lane,
                                             .fill = fill };

/* ---- the task ---- */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_CIF_STREAM;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

enum { TOKENS = OPEN_MAX + 2 * CHUNK_TOKENS, PER_TOKEN = sizeof(int32_t) + sizeof(struct sampled_token) + 2 * sizeof(double) };

static size_t rows_floats(const steno_model *m)
{
    return (size_t)m->plan[PLAN_ENCODER].max_rows * row_width(m);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    return sizeof(struct stream_session) + clip_session_memory(m, team) + (shared ? stream_state_memory(m) : 0) +
           (rows_floats(m) + 3 * CHUNK_TOKENS) * sizeof(float) + CHUNK_TOKENS * (sizeof(struct cif_token) + sizeof(int32_t)) +
           (size_t)TOKENS * PER_TOKEN;
}

static int part_open(steno_session *s, steno_error *e)
{
    struct stream_session *v = s->part = arena_array(&s->arena, 1, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a session");
    int rc = clip_session_open(s, &decoder, e);
    if (!rc && !s->own_batch) rc = stream_state_open(&v->state, s->batch, e);
    if (rc) return rc;
    v->rows = arena_array(&s->arena, rows_floats(s->model), sizeof *v->rows);
    v->alpha = arena_array(&s->arena, 3 * CHUNK_TOKENS, sizeof *v->alpha);
    v->token = arena_array(&s->arena, CHUNK_TOKENS, sizeof *v->token);
    v->ids = arena_array(&s->arena, TOKENS, sizeof *v->ids);
    v->sampled = arena_array(&s->arena, TOKENS, sizeof *v->sampled);
    v->span = arena_array(&s->arena, TOKENS, sizeof *v->span);
    v->mute = arena_array(&s->arena, CHUNK_TOKENS, sizeof *v->mute);
    if (!v->rows || !v->mute || !v->alpha || !v->token || !v->ids || !v->sampled || !v->span)
        return err_nomem(e, rows_floats(s->model) * sizeof *v->rows, "a session");
    v->weight = v->alpha + CHUNK_TOKENS;
    return STENO_OK;
}

static void part_close(steno_session *s)
{
    struct stream_session *v = stream_of(s);
    if (!v) return;
    clip_session_close(s);
    stream_state_close(&v->state);
    cif_words_close(&v->words);
}

const struct task cif_stream_task = {
    .name = "cif-stream",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .streams_share = 1,
    .shape = shape,
    .batch_memory = stream_batch_memory,
    .batch_open = stream_batch_open,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = clip_front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = clip_request_take,
    .request_end = clip_request_end,
    .batch_step = clip_step,
};
