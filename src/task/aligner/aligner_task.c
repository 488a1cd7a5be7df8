/* steno: the task of forced alignment. SPDX-License-Identifier: MIT */
#include "engine/task.h"
#include <string.h>
#include "engine/params.h"
#include "task/aligner/aligner_session.h"

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_ALIGNER;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)m, (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, 1 }; /* no ids are chosen */
}

static size_t rows_memory(const steno_model *m)
{
    const struct plan *p = &m->plan[PLAN_ENCODER];
    return (size_t)p->max_rows * p->slot[p->output].width * sizeof(float);
}

static size_t batch_sz(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    return sizeof(struct aligner_batch) - sizeof(struct clip_batch) + clip_batch_memory(m, n_windows, n_lanes) +
           n_windows * sizeof(struct aligner_clip) + rows_memory(m);
}

static int part_batch_open(struct steno_batch *b, steno_error *e)
{
    struct aligner_batch *a = b->part = arena_array(&b->arena, 1, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a batch");
    a->rows = arena_alloc(&b->arena, rows_memory(b->model));
    a->clip = arena_array(&b->arena, b->n_windows, sizeof *a->clip);
    return a->rows && a->clip ? clip_batch_init(b, e) : err_nomem(e, rows_memory(b->model), "a batch");
}

/* With the audio of two clips, which a chain holds. */
static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct aligner_session) + fbank_stream_memory(fbank_bank_of(m), 0, team) +
           2 * (size_t)aligner_most_samples(m) * sizeof(float);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct aligner_session *a = s->part = arena_array(&s->arena, 1, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a session");
    const int rc = fbank_stream_init(&a->stream, &s->arena, fbank_bank_of(s->model), 0, s->batch->team, e);
    a->stream.should_stop = session_stop;
    a->stream.user = s;
    return rc;
}

static void part_close(steno_session *s)
{
    struct aligner_session *a = s->part;
    if (!a) return;
    fbank_stream_close(&a->stream);
    spoken_words_free(&a->words);
    struct buf *const all[] = { &a->pcm, &a->prompt, &a->ends, &a->clip_ms, &a->clip_probability, &a->ms, &a->probability, &a->text,
                                &a->scratch };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_free(all[i]);
    chain_kept_free(&a->kept);
}

static struct front_time *front_time(const steno_session *s)
{
    return &aligner_of(s)->stream.time;
}

static int request_take(steno_session *s, const struct request_given *g)
{
    (void)g;
    return err_set(&s->error, STENO_EARG, "a %s model does not transcribe: it finds the times of the words of a known text",
                   s->model->family->name);
}

static int request_end(steno_session *s, int status)
{
    (void)s;
    return status;
}

const struct task aligner_task = {
    .name = "aligner",
    .serves = serves,
    .max_lanes = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = batch_sz,
    .batch_open = part_batch_open,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_ALIGN,
    .request_take = request_take,
    .request_end = request_end,
    .align = aligner_align,
    .align_results = aligner_align_results,
};
