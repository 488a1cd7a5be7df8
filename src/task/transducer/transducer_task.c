/* steno: the task of transcription with a transducer. SPDX-License-Identifier: MIT */
#include "engine/batch_loop.h"
#include "engine/task.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_step.h"
#include "task/transducer/transducer_clips.h"

/* ---- clips */

static int take(steno_session *s)
{
    return transducer_hot_take(&transducer_session_of(s)->hot, s->model, &clips_of(s)->request.p, &s->error);
}

static void end(steno_session *s)
{
    transducer_hot_done(&transducer_session_of(s)->hot);
}

static int settle(steno_session *s, const struct clip_window *w)
{
    const struct transducer_lane *l = &transducer_batch_of(s->batch)->lane[w->rows.lane];
    if (l->ids.err || l->tokens.err || l->rows.err) return err_nomem(&s->error, l->tokens.len, "the tokens of a clip");
    const struct clip_pieces p = transducer_pieces(s->model, l, 0, transducer_lane_tokens(l));
    return clip_pieces_add(s, w, &p, &transducer_session_of(s)->text);
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .take = take, .run = transducer_clips_run, .settle = settle,
                                             .end = end };

/* ---- the task */

static unsigned serves(const steno_model *m)
{
    (void)m;
    return MODELS_PIECES;
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    (void)n_windows, (void)n_lanes, (void)m;
    return (struct batch_shape){ PLAN_ENCODER, RUN_LANES, 1 };
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct transducer_session) + clip_session_memory(m, team);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct transducer_session *c = s->part = arena_array(&s->arena, 1, sizeof *c);
    return c ? clip_session_open(s, &decoder, e) : err_nomem(e, sizeof *c, "a session");
}

static void part_close(steno_session *s)
{
    if (!s->part) return;
    clip_session_close(s);
    buf_free(&transducer_session_of(s)->text);
    transducer_hot_done(&transducer_session_of(s)->hot);
}

static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { "decode", transducer_clips_bench, 1 }, { 0 } };
    return clip_bench(s, phase, n, own);
}

const struct task transducer_task = {
    .name = "transducer",
    .serves = serves,
    .max_lanes = 1,
    .streams_share = 1,
    .one_by_one = 1,
    .own_windows = CLIPS_TOGETHER,
    .shape = shape,
    .batch_memory = transducer_batch_memory,
    .batch_open = transducer_batch_open,
    .batch_close = transducer_batch_close,
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
