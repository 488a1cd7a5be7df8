/* steno: the task of decoding log-mel windows token by token. SPDX-License-Identifier: MIT */
#include "engine/task.h"
#include "task/align/align_text.h"
#include "task/ar/ar_bench.h"
#include "task/ar/schedule.h"
#include "task/ar/window_decoder.h"
#include "task/window/window.h"

enum { DECODERS = 2 }; /* transcript and translation */

static unsigned serves(const steno_model *m)
{
    return m->tokens.n_languages ? MODELS_MULTILINGUAL : MODELS_ENGLISH;
}

/* ---- the task's part of a batch ---- */

/* Number of rows of logits: one per lane of a window. A window that begins needs two: the last row of its prompt and the row of the
 * no-speech probability. Only a window with one lane has fewer lanes than that. */
static struct batch_shape shape(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    uint32_t rows = n_windows * (n_lanes > 1 ? n_lanes : 2);
    if (rows < ROWS_OUT_MIN) rows = ROWS_OUT_MIN;
    return (struct batch_shape){ PLAN_DECODER, rows < RUN_LANES ? rows : RUN_LANES, (size_t)m->text_ctx };
}

static size_t ar_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes)
{
    size_t n = sizeof(struct ar_batch) + n_windows * sizeof(struct decode_slot);
    n += n_windows * n_lanes * (n_lanes + 1) * sizeof(struct sampled_token);
    if (n_windows > 1) n += n_windows * (sizeof(struct window_decoder) + decoder_memory(m, 1));
    return n;
}

static int ar_batch_open(struct steno_batch *b, steno_error *e)
{
    const steno_model *m = b->model;
    const uint32_t lanes = b->n_windows * b->n_lanes;
    struct ar_batch *a = b->part = arena_alloc(&b->arena, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a session");
    *a = (struct ar_batch){ 0 };
    a->decode_slot = arena_array(&b->arena, b->n_windows, sizeof *a->decode_slot);
    struct sampled_token *top = arena_array(&b->arena, lanes, (b->n_lanes + 1) * sizeof *top);
    if (!a->decode_slot || !top) return err_nomem(e, lanes * (b->n_lanes + 1) * sizeof *top, "a session");
    for (uint32_t i = 0; i < lanes; i++) {
        b->run.lane[i].sampler.top = top + i * (b->n_lanes + 1);
    }
    if (b->n_windows == 1) return STENO_OK;
    a->decoder = arena_array(&b->arena, b->n_windows, sizeof *a->decoder);
    for (uint32_t i = 0; a->decoder && i < b->n_windows; i++)
        if (decoder_init(&a->decoder[i], &b->arena, m, 1)) return err_nomem(e, decoder_memory(m, 1), "a batch");
    return a->decoder ? STENO_OK : err_nomem(e, b->n_windows * sizeof *a->decoder, "a batch");
}

static void ar_batch_close(struct steno_batch *b)
{
    const struct ar_batch *a = ar_batch_of(b);
    for (uint32_t i = 0; a && a->decoder && i < b->n_windows; i++) decoder_free(&a->decoder[i]);
}

static void ar_batch_forget(const steno_session *s)
{
    ar_batch_of(s->batch)->encoded = NULL;
    slots_forget(s);
}

/* ---- the task's part of a session ---- */

static int window_of(const steno_model *m)
{
    return 2 * m->audio_ctx;
}

static size_t memory(const steno_model *m, const steno_team *team, int shared)
{
    (void)shared;
    return sizeof(struct ar_session) + mel_stream_memory(mel_bank_of(m), window_of(m), team) + (size_t)m->n_vocab / 4 +
           DECODERS * (sizeof(struct window_decoder) + decoder_memory(m, 0)) + (size_t)m->text_ctx * sizeof(int32_t) +
           EARLIER_FRAMES * (size_t)mel_bank_of(m)->n_mels * sizeof(float);
}

static int part_open(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    struct ar_session *a = s->part = arena_alloc(&s->arena, sizeof *a);
    if (!a) return err_nomem(e, sizeof *a, "a session");
    *a = (struct ar_session){ .generation = generation_of(PLAN_DECODER) };
    if (rule_masks_init(&a->masks, &s->arena, m->n_vocab)) return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    const int rc = mel_stream_init(&a->mel, &s->arena, mel_bank_of(m), window_of(m), s->batch->team, e);
    if (rc) return rc;
    a->mel.should_stop = session_stop;
    a->mel.user = s;
    a->decoder = arena_array(&s->arena, DECODERS, sizeof *a->decoder);
    for (int i = 0; a->decoder && i < DECODERS; i++)
        if (decoder_init(&a->decoder[i], &s->arena, m, 0)) return err_nomem(e, decoder_memory(m, 0), "a session");
    a->earlier.ids = arena_array(&s->arena, (size_t)m->text_ctx, sizeof *a->earlier.ids);
    a->earlier.frame = arena_array(&s->arena, EARLIER_FRAMES * (size_t)mel_bank_of(m)->n_mels, sizeof *a->earlier.frame);
    return a->decoder && a->earlier.ids && a->earlier.frame ? STENO_OK : err_nomem(e, DECODERS * sizeof *a->decoder, "a session");
}

static void part_close(steno_session *s)
{
    struct ar_session *a = ar_of(s);
    if (!a) return;
    if (ar_batch_of(s->batch)->encoded == s) ar_batch_of(s->batch)->encoded = NULL;
    mel_stream_close(&a->mel);
    for (int i = 0; a->decoder && i < DECODERS; i++) decoder_free(&a->decoder[i]);
    buf_free(&a->request.clips);
    buf_free(&a->request.parts);
    buf_free(&a->request.shown);
}

static struct front_time *front_time(const steno_session *s)
{
    return &mel_of(s)->time;
}

/* ---- calls ---- */

/* The first pass, before the request is submitted. */
static int listen(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e)
{
    struct arena a;
    struct mel_stream f;
    arena_init(&a);
    int rc = mel_stream_init(&f, &a, mel_bank_of(m), window_of(m), NULL, e);
    if (!rc) {
        rc = mel_stream_listen(&f, src, e);
        if (!rc) *out = (steno_heard){ .size = sizeof *out, .samples = f.samples, .loudest = (double)f.max };
        mel_stream_close(&f);
    }
    arena_free(&a);
    return rc;
}

static int align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p)
{
    return text_align_source(s, mel_of(s), src, text, p);
}

static int detect_language(steno_session *s, const steno_source *src, float *probs, int n)
{
    int rc = mel_stream_listen(mel_of(s), src, &s->error);
    if (!rc) rc = language_detect(s, mel_of(s), 0, 1, 1, probs, n);
    if (rc >= 0) s->result.language = language_code(rc);
    return rc;
}

static int encode(steno_session *s, const float *pcm, int64_t n)
{
    const int64_t max = (int64_t)mel_of(s)->window * MEL_HOP;
    struct pcm memory = { pcm, n < max ? n : max, 0, max };
    const steno_source src = pcm_source(&memory);
    int rc = mel_stream_listen(mel_of(s), &src, &s->error);
    if (!rc) rc = mel_stream_window(mel_of(s), 0, mel_of(s)->window, 0, window_mel(s), &s->error);
    if (!rc) rc = window_encode(s, 0, s->model->audio_ctx);
    ar_of(s)->generation = generation_of(PLAN_DECODER);
    ar_batch_of(s->batch)->encoded = rc ? NULL : s;
    return rc;
}

/* Uses the window in the first decode slot. */
static int may_generate(steno_session *s)
{
    if (ar_batch_of(s->batch)->encoded == s) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "no window was encoded: call steno_encode first");
}

static int generate_ids(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    const int rc = may_generate(s);
    return rc ? rc : generation_run(s, &ar_of(s)->generation, ids, n, p, again);
}

const struct task ar_task = {
    .name = "ar",
    .serves = serves,
    .max_lanes = MAX_LANES,
    .drafts = STENO_DRAFTS_OF_MODEL,
    .shape = shape,
    .batch_memory = ar_batch_memory,
    .batch_open = ar_batch_open,
    .batch_close = ar_batch_close,
    .batch_forget = ar_batch_forget,
    .memory = memory,
    .open = part_open,
    .close = part_close,
    .front_time = front_time,
    .call = STENO_CALL_TRANSCRIBE,
    .request_take = request_take,
    .request_end = request_end,
    .batch_begin = schedule_begin,
    .batch_step = schedule_step,
    .listen = listen,
    .align = align,
    .detect_language = detect_language,
    .encode = encode,
    .generate = generate_ids,
    .bench = bench_phase,
};
