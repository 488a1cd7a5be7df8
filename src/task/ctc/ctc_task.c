/* steno: the task of transcription with a CTC head. SPDX-License-Identifier: MIT */
#include "engine/task.h"
#include "task/clips/clip_bench.h"
#include "task/clips/clip_step.h"
#include "task/ctc/ctc_session.h"

static unsigned serves(const steno_model *m)
{
    (void)m;
    return BY_TAGS;
}

/* Logits exist for one tile of rows at a time, independent of lanes. A lane is a clip in the run. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, m->plan[PLAN_ENCODER].max_rows };
}

static size_t ids_memory(const steno_model *m)
{
    return m->plan[PLAN_ENCODER].max_rows * sizeof(int32_t);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct ctc_session) + clip_session_memory(m, team) + (size_t)m->n_vocab / 4 + ids_memory(m) + ctc_search_memory(m);
}

static int part_open(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    struct ctc_session *c = s->part = arena_array(&s->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a session");
    if (rule_masks_init(&c->masks, &s->arena, m->n_vocab)) return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    int rc = clip_session_open(s, &ctc_decoder, e);
    if (!rc) rc = ctc_search_open(&c->search, &s->arena, m, e);
    if (rc) return rc;
    c->ids = arena_alloc(&s->arena, ids_memory(m));
    return c->ids ? STENO_OK : err_nomem(e, ids_memory(m), "a session");
}

static void part_close(steno_session *s)
{
    struct ctc_session *c = ctc_of(s);
    if (!c) return;
    clip_session_close(s);
    ctc_text_free(&c->text);
    ctc_words_free(&c->words);
    ctc_search_done(c->search);
}

static int bench_best(struct steno_batch *b, int n)
{
    (void)n;
    return ctc_run_best(b);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { "ctc", bench_best, 0 }, { 0 } };
    return clip_bench(s, phase, n, own);
}

const struct task ctc_task = {
    .name = "ctc",
    .serves = serves,
    .max_lanes = 1,
    .one_by_one = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = clip_batch_memory,
    .batch_open = clip_batch_open,
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
