/* steno: the task of transcription with a CTC head. SPDX-License-Identifier: MIT */
#include "task/ctc/ctc_task.h"
#include "task/ctc/ctc_step.h"

static unsigned serves(const steno_model *m)
{
    (void)m;
    return BY_TAGS;
}

/* ---- its part of a batch ---- */

/* Rows are not lanes: a tile's worth of logits. A lane is a clip in the run. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

static size_t ctc_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)m, (void)n_lanes;
    return sizeof(struct ctc_batch) + n_windows * (sizeof(struct ctc_window) + sizeof(struct sequence));
}

static int ctc_batch_open(struct steno_batch *b, steno_error *e)
{
    struct ctc_batch *c = b->part = arena_array(&b->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a batch");
    c->window = arena_array(&b->arena, b->n_windows, sizeof *c->window);
    c->sequence = arena_array(&b->arena, b->n_windows, sizeof *c->sequence);
    return c->window && c->sequence ? STENO_OK : err_nomem(e, b->n_windows * sizeof *c->window, "a batch");
}

/* ---- its part of a session ---- */

/* Samples of a clip. */
static int64_t clip_of(const steno_model *m)
{
    return (int64_t)m->audio_ctx * fbank_bank_of(m)->lfr_n * FBANK_HOP;
}

static size_t ids_memory(const steno_model *m)
{
    return m->plan[PLAN_ENCODER].max_rows * sizeof(int32_t);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct ctc_session) + fbank_stream_memory(fbank_bank_of(m), clip_of(m), team) + (size_t)m->n_vocab / 4 + ids_memory(m);
}

static int part_open(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    struct ctc_session *c = s->part = arena_alloc(&s->arena, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a session");
    *c = (struct ctc_session){ 0 };
    if (rule_masks_init(&c->masks, &s->arena, m->n_vocab)) return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    const int rc = fbank_stream_init(&c->fbank, &s->arena, fbank_bank_of(m), clip_of(m), s->batch->team, e);
    c->fbank.should_stop = session_stop;
    c->fbank.user = s;
    if (rc) return rc;
    c->ids = arena_alloc(&s->arena, ids_memory(m));
    return c->ids ? STENO_OK : err_nomem(e, ids_memory(m), "a session");
}

static void part_close(steno_session *s)
{
    struct ctc_session *c = ctc_of(s);
    if (!c) return;
    fbank_stream_close(&c->fbank);
    ctc_text_free(&c->text);
    ctc_words_free(&c->words);
    ctc_words_free(&c->words);
}

static struct front_time *front_time(const steno_session *s)
{
    return &ctc_of(s)->fbank.time;
}

const struct task ctc_task = {
    .name = "ctc",
    .serves = serves,
    .max_lanes = 1,
    .shape = shape,
    .batch_memory = ctc_batch_memory,
    .batch_open = ctc_batch_open,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = ctc_request_take,
    .request_end = ctc_request_end,
    .batch_step = ctc_step,
};
