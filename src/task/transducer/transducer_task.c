/* steno: the task of transcription with a transducer. SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "engine/batch_loop.h"
#include "engine/task.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_step.h"
#include "task/transducer/transducer_clips.h"
#include "task/transducer/transducer_search.h"

/* ---- clips */

static int take(steno_session *s)
{
    return transducer_hot_take(&transducer_session_of(s)->hot, s->model, &clips_of(s)->request.p, &s->error);
}

static void end(steno_session *s)
{
    transducer_hot_done(&transducer_session_of(s)->hot);
}

static int has_beams(const struct clip_window *w)
{
    return w->s && clips_of(w->s)->request.p.beam_size > 1;
}

/* Begins the clips with beams, or those without. @return their number */
static uint32_t lanes_begin(struct steno_batch *b, int with_beams)
{
    struct transducer_batch *t = transducer_batch_of(b);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->clips.n; i++)
        if (t->clips.window[i].rows.n && has_beams(&t->clips.window[i]) == with_beams)
            t->busy[n++] = transducer_clip_begin(b, &t->clips.window[i]);
    return n;
}

/* Greedy clips are decoded together, then those with beams. */
static int run(struct steno_batch *b)
{
    int rc = transducer_encode(b);
    if (rc) return rc;
    const int64_t t0 = os_now_ns();
    transducer_lanes_close(b);
    rc = transducer_decode(b, lanes_begin(b, 0));
    if (!rc) rc = transducer_search(b, lanes_begin(b, 1));
    transducer_share_time(&transducer_batch_of(b)->clips, os_now_ns() - t0);
    return rc;
}

/* Adds tokens [from, from + n) of a lane as a hypothesis of its clip. @return 0: there is no memory */
static int hypothesis_add(steno_session *s, const struct transducer_lane *l, int32_t from, int32_t n, struct hypothesis *h)
{
    struct buf *text = &transducer_session_of(s)->text;
    const struct clip_pieces p = transducer_pieces(s->model, l, from, from + n);
    double sum = 0;
    for (int32_t i = 0; i < p.n; i++) sum += (double)p.tokens[i].logprob;
    h->at_ms = l->window->at * 1000 / FBANK_RATE;
    h->avg_logprob = sum / (p.n + 1);
    if (!l->texts.len) h->score = sum;
    buf_clear(text);
    s->model->family->pieces->text(s->model, p.ids, p.n, text);
    const size_t space = text->len && text->p[0] == ' ';
    result_hypothesis_tokens(&s->result, h, p.tokens, p.n);
    result_hypothesis(&s->result, h, text->len ? text->p + space : "", text->len - space);
    return !text->err && !result_status(&s->result);
}

/* Adds the n_best texts of a clip. */
static int hypotheses_add(steno_session *s, const struct transducer_lane *l)
{
    const int n_best = clips_of(s)->request.p.n_best, n = (int)(l->texts.len / sizeof(struct searched_text));
    int32_t from = 0;
    int fits = 1;
    for (int i = 0; i < n_best && i < (n ? n : 1) && fits; i++) {
        const struct searched_text greedy = { 0, transducer_lane_tokens(l) };
        const struct searched_text *text = n ? (const struct searched_text *)(const void *)l->texts.p + i : &greedy;
        struct hypothesis h = { .place = i, .score = text->logprob };
        fits = hypothesis_add(s, l, from, text->n, &h);
        from += text->n;
    }
    return fits ? STENO_OK : err_nomem(&s->error, l->tokens.len, "the texts of a clip");
}

static int settle(steno_session *s, const struct clip_window *w)
{
    struct transducer_lane *l = &transducer_batch_of(s->batch)->lane[w->rows.lane];
    if (l->ids.err || l->tokens.err || l->rows.err || l->texts.err) return err_nomem(&s->error, l->tokens.len, "the tokens of a clip");
    transducer_lane_judge(s, l, w, 0);
    const int rc = clip_all_mute(s, w) ? STENO_OK : hypotheses_add(s, l);
    const int32_t n = l->texts.len ? ((const struct searched_text *)(const void *)l->texts.p)->n : transducer_lane_tokens(l);
    const struct clip_pieces p = transducer_pieces(s->model, l, 0, n);
    return rc ? rc : clip_pieces_add(s, w, &p, &transducer_session_of(s)->text);
}

static const struct clip_decoder decoder = { .max_clips = UINT32_MAX, .take = take, .run = run, .settle = settle, .end = end };

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

static size_t batch_sz(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    return transducer_batch_memory(m, n_windows, n_lanes) + transducer_search_memory(m, n_windows);
}

static int part_batch_open(struct steno_batch *b, steno_error *e)
{
    const int rc = transducer_batch_open(b, e);
    return rc ? rc : transducer_search_open(b, e);
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
    .batch_memory = batch_sz,
    .batch_open = part_batch_open,
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
