/* steno: the task of transcription by an audio language model. SPDX-License-Identifier: MIT */
#include "engine/task.h"
#include "model/parts.h"
#include <string.h>
#include "base/os.h"
#include "engine/params.h"
#include "task/audio_lm/audio_lm_draft.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"
#include "task/clips/clip_step.h"
#include "task/decode/generation.h"
#include "task/lm/lm_bench.h"

enum { OWN_WINDOWS = 4 /* of one request: as many clips of 15 s as fit into a run of the encoder */ };
enum { BENCH_TOKENS = 4 /* of a second of speech */, BENCH_IDS = 15, BENCH_IDS_BEFORE = 9 };

static unsigned serves(const steno_model *m)
{
    const struct audio_lm *l = m->family->audio_lm;
    return MODELS_AUDIO_LM | (audio_lm_has_ctc(m) ? MODELS_AUDIO_LM_CTC : 0u) | (l->has_itn ? MODELS_AUDIO_LM_ITN : 0u) |
           (l->has_context ? MODELS_AUDIO_LM_CONTEXT : 0u);
}

static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    const uint32_t lanes = n_windows * n_lanes;
    return (struct batch_shape){ PLAN_ENCODER, lanes > ROWS_OUT_MIN ? lanes : ROWS_OUT_MIN, (size_t)m->text_ctx };
}

static size_t rows_memory(const steno_model *m)
{
    return (size_t)m->plan[PLAN_ENCODER].max_rows * audio_lm_width(m) * sizeof(float);
}

/* Rows of the run before are kept for models that continue the text of a growing clip. */
static size_t earlier_memory(const steno_model *m)
{
    return m->family->audio_lm->has_context ? rows_memory(m) : 0;
}

/* Returns 0 if the model has no CTC head. */
static size_t encoded_memory(const steno_model *m)
{
    if (!audio_lm_has_ctc(m)) return 0;
    return (size_t)m->plan[PLAN_ENCODER].max_rows * m->plan[PLAN_ALIGN].slot[m->plan[PLAN_ALIGN].input].width * sizeof(float);
}

static size_t kept_memory(const steno_model *m)
{
    const struct plan *p = &m->plan[PLAN_ENCODER];
    return audio_lm_kept_rows(m) * p->slot[p->input].width * sizeof(float);
}

static size_t buffers_memory(const steno_model *m)
{
    return rows_memory(m) + earlier_memory(m) + kept_memory(m) + encoded_memory(m);
}

/* Of a lane: where its draft tokens come from. */
static size_t text_memory(const steno_model *m)
{
    return audio_lm_text_most(m) * sizeof(int32_t);
}

static size_t batch_sz(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    return sizeof(struct audio_lm_batch) - sizeof(struct clip_batch) + clip_batch_memory(m, n_windows, n_lanes) + buffers_memory(m) +
           n_windows * (sizeof(struct audio_lm_lane) + text_memory(m));
}

static int part_batch_open(struct steno_batch *b, steno_error *e)
{
    struct audio_lm_batch *a = b->part = arena_array(&b->arena, 1, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a batch");
    a->rows = arena_alloc(&b->arena, rows_memory(b->model));
    a->earlier = earlier_memory(b->model) ? arena_alloc(&b->arena, earlier_memory(b->model)) : NULL;
    a->kept = kept_memory(b->model) ? arena_alloc(&b->arena, kept_memory(b->model)) : NULL;
    a->encoded = encoded_memory(b->model) ? arena_alloc(&b->arena, encoded_memory(b->model)) : NULL;
    a->lane = arena_array(&b->arena, b->n_windows, sizeof *a->lane);
    int has_all = a->rows && (a->earlier || !earlier_memory(b->model)) && a->lane && (a->encoded || !encoded_memory(b->model)) &&
                  (a->kept || !kept_memory(b->model));
    for (uint32_t i = 0; has_all && i < b->n_windows; i++)
        has_all = (a->lane[i].text = arena_alloc(&b->arena, text_memory(b->model))) != NULL;
    return has_all ? clip_batch_init(b, e) : err_nomem(e, buffers_memory(b->model), "a batch");
}

static void part_batch_close(struct steno_batch *b)
{
    const struct audio_lm_batch *a = b->part;
    for (uint32_t i = 0; a && a->lane && i < b->n_windows; i++) {
        struct audio_lm_lane *l = &a->lane[i];
        buf_free(&l->tokens);
        buf_free(&l->held.before);
        buf_free(&l->held.behind);
    }
}

/* Ids of the current clip, and of an earlier one. */
static size_t ids_memory(const steno_model *m)
{
    return (size_t)m->text_ctx * sizeof(int32_t);
}

static size_t earlier_ids_memory(const steno_model *m)
{
    return ((size_t)m->text_ctx + 1) * sizeof(int32_t);
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct audio_lm_session) + clip_session_memory(m, team) + ids_memory(m) + earlier_ids_memory(m);
}

static int part_open(steno_session *s, steno_error *e)
{
    struct audio_lm_session *a = s->part = arena_array(&s->arena, 1, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a session");
    const int rc = clip_session_open(s, &audio_lm_clips, e);
    if (rc) return rc;
    memcpy(a->odds, prompt_lookup_of(0).odds, sizeof a->odds);
    if (s->batch->draft) a->speculation = speculation_begin(s->model, s->batch->draft->model, PLAN_DECODER);
    a->ids = arena_alloc(&s->arena, ids_memory(s->model));
    a->earlier = arena_alloc(&s->arena, earlier_ids_memory(s->model));
    return a->ids && a->earlier ? STENO_OK : err_nomem(e, ids_memory(s->model), "a session");
}

static void part_close(steno_session *s)
{
    struct audio_lm_session *a = audio_lm_of(s);
    if (!a) return;
    clip_session_close(s);
    buf_free(&a->before);
    buf_free(&a->behind);
    buf_free(&a->bytes);
    buf_free(&a->raw);
    buf_free(&a->text);
    buf_free(&a->language);
    buf_free(&a->ctc_tokens);
    ctc_words_free(&a->words);
}

static int bench_adapt(struct steno_batch *b, int n)
{
    (void)n;
    return clip_run_phase(b, PHASE_ADAPT, NULL);
}

/* As many ids before and after a clip as in a prompt without context. */
static void bench_prompt(steno_session *s)
{
    struct audio_lm_session *a = audio_lm_of(s);
    buf_clear(&a->before);
    buf_clear(&a->behind);
    for (int32_t id = 0; id < BENCH_IDS; id++) buf_add(id < BENCH_IDS_BEFORE ? &a->before : &a->behind, &id, sizeof id);
}

/* Clips of n seconds with BENCH_TOKENS ids a second: one, or one for each window of the batch. */
static int64_t bench_clips(steno_session *s, int n, uint32_t clips)
{
    struct audio_lm_session *a = audio_lm_of(s);
    const steno_model *m = s->model;
    const int64_t t0 = os_now_ns();
    int rc = STENO_OK;
    bench_prompt(s);
    for (uint32_t i = 0; i < s->batch->run.n_lanes; i++) lane_reset(s, (uint16_t)i); /* no prompt is held */
    a->rules = (struct logit_rules){ .n_vocab = m->n_vocab, .eot = -1, .ts_begin = m->n_vocab };
    a->limit = n > INT32_MAX / BENCH_TOKENS ? INT32_MAX : n * BENCH_TOKENS;
    if (n > model_window_ms(m) / 1000)
        return err_set(&s->error, STENO_EARG, "clips of %d s: the model's have up to %d", n, (int)model_window_ms(m) / 1000);
    if (BENCH_IDS + m->family->audio_lm->rows(m->audio_ctx) + a->limit > m->text_ctx)
        return err_set(&s->error, STENO_EARG, "clips of %d s and their texts do not fit a context of %d", n, (int)m->text_ctx);
    if (a->before.err || a->behind.err) return err_nomem(&s->error, BENCH_IDS * sizeof(int32_t), "a prompt");
    for (uint32_t done = 0; done < clips && !rc;) {
        const int in_run = clip_bench_read(s, (int64_t)n * FBANK_RATE, clips - done);
        if (in_run < 1) return in_run;
        for (uint32_t i = 0; i < s->batch->n_windows; i++) audio_lm_batch_of(s->batch)->lane[i].kept.run = -1; /* nothing is known */
        rc = audio_lm_encode(s->batch);
        if (!rc) rc = audio_lm_decode_all(s->batch);
        done += (uint32_t)in_run;
    }
    return rc ? session_ran(s, s->batch->exec, rc) : (os_now_ns() - t0) / 1000;
}

/* Encoder and adaptor by phase; the decoder as in every language model; whole clips. */
static int64_t bench(steno_session *s, const char *phase, int n)
{
    static struct clip_bench_phase const own[] = { { "adapt", bench_adapt, 0 }, { 0 } };
    if (!strcmp(phase, "clip")) return bench_clips(s, n, 1);
    if (!strcmp(phase, "clips")) return bench_clips(s, n, s->batch->n_windows);
    const int writes = !strcmp(phase, "prompt") || !strcmp(phase, "decode") || !strcmp(phase, "batch");
    return writes ? lm_bench(s, PLAN_DECODER, phase, n) : clip_bench(s, phase, n, own);
}

const struct task audio_lm_task = {
    .name = "audio_lm",
    .serves = serves,
    .max_lanes = 1,
    .own_windows = OWN_WINDOWS,
    .drafts = STENO_DRAFTS_OF_MODEL | STENO_DRAFTS_OF_TEXT,
    .draft_memory = audio_lm_draft_memory,
    .draft_open = audio_lm_draft_open,
    .shape = shape,
    .batch_memory = batch_sz,
    .batch_open = part_batch_open,
    .batch_close = part_batch_close,
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
