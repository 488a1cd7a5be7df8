/* steno: Qwen3-ASR as data. SPDX-License-Identifier: MIT
 *
 * Log-mel of a whole clip passes a stem in chunks of a second and Whisper's layers, whose attention stays within windows of eight seconds.
 * Two linears make rows that take the place of tokens in the prompt of a Qwen3 model. References: qwen-asr 0.0.6 and transformers 5.24,
 * models/qwen3_asr. */
#include "model/qwen3_asr.h"
#include <string.h>
#include "model/features.h"
#include "model/lm.h"
#include "model/parts.h"
#include "plan/bind.h"
#include "plan/stem.h"
#include "plan/sub.h"

enum {
    WINDOW_S = 30, SEGMENT_S = 60, /* a clip, and a segment of speech */
    LONGEST_S = 1200,              /* both, in a context that has room for it: qwen-asr's longest piece */
    RUN_S = 240,                   /* of a run that clips share */
    CTX_USUAL = 1536,              /* positions of prompt and text: a segment, 512 ids, and some context */
    CTX_PROMPT = 128               /* of a larger context: prompt and a short text */
};
static float const eps = 1e-5f;

static int match(const struct weights *w)
{
    return (!strcmp(meta_text(&w->meta, "model_type", ""), "qwen3_asr") && !qwen3_asr_is_aligner(w)) ||
           !strcmp(meta_text(&w->meta, "general.architecture", ""), qwen3_asr_architecture);
}

/* ---- the network */

static uint32_t rows_of_frames(const struct qwen3_asr_shape *s, uint32_t frames)
{
    const uint32_t chunk = 2 * (uint32_t)s->half_chunk;
    return frames / chunk * stem_chunk_rows(chunk) + (frames % chunk + QWEN3_ASR_STACK - 1) / QWEN3_ASR_STACK;
}

static uint32_t rows_of_seconds(const struct qwen3_asr_shape *s, uint32_t seconds)
{
    return rows_of_frames(s, seconds * FBANK_RATE / FBANK_HOP);
}

/* Keys of windows begin with a block of their own, so they need more room than rows. */
static uint32_t room_for_windows(uint32_t rows, uint32_t window)
{
    const uint32_t room = (rows + window - 1) / window * kv_blocks(window) * KV_BLOCK;
    return room > rows ? room - rows : 0;
}

static uint16_t build_layers(struct build *b, const struct qwen3_asr_shape *s, uint16_t x)
{
    static struct sub const layer[] = {
        { sub_attn_linear, "self_attn_layer_norm", "self_attn", NULL, 0 },
        { sub_ffn, "final_layer_norm", "fc1", "fc2", 0 },
        { NULL, NULL, NULL, NULL, 0 },
    };
    const uint32_t d = (uint32_t)s->d, heads = (uint32_t)s->heads;
    const struct sub_dims dims = { .d = d, .n_heads = heads, .n_kv_heads = heads, .d_head = d / heads, .d_ff = (uint32_t)s->d_ff,
                                   .eps = eps };
    const uint16_t out = build_slot(b, d);
    sub_stack(b, layer, &dims, "audio_tower.layers", (uint32_t)s->layers, x);
    emit(b, OP_NORM, "audio_tower.ln_post", out, x, bind_norm(b, "audio_tower.ln_post.weight", "audio_tower.ln_post.bias", d, eps));
    return b->plan.encoded = b->plan.side_output[AUDIO_LM_ENCODED] = out;
}

static void build_adaptor(struct build *b, const struct qwen3_asr_shape *s, uint16_t in)
{
    const uint32_t d = (uint32_t)s->d, d_out = (uint32_t)s->d_out;
    const struct linear_part one = { "audio_tower.proj1.weight", "audio_tower.proj1.bias", d };
    const struct linear_part two = { "audio_tower.proj2.weight", "audio_tower.proj2.bias", d_out };
    build_phase(b, "adapt");
    const uint16_t mid = build_slot(b, d), out = b->plan.output = build_slot(b, d_out);
    const uint16_t up = bind_matrix(b, &one, d, LINEAR_OTHER, NO_BIND);
    if (!b->status) bind_at(b, up)->act = ACT_GELU_ERF;
    emit(b, OP_LINEAR, "audio_tower.proj1", mid, in, up);
    emit(b, OP_LINEAR, "audio_tower.proj2", out, mid, bind_matrix(b, &two, d, LINEAR_OTHER, NO_BIND));
}

/* Seconds of a clip: more than usual if the caller asks for a larger context, two thirds of which are rows and the rest text. */
static int32_t longest_s(const steno_model *m, const struct qwen3_asr_shape *s, int32_t usual)
{
    const int32_t ctx = m->opening->text_ctx, rows = ctx > CTX_USUAL ? (ctx - CTX_PROMPT) / 3 * 2 : 0;
    const int32_t fits = rows / (int32_t)rows_of_seconds(s, 1);
    return fits < usual ? usual : fits < LONGEST_S ? fits : LONGEST_S;
}

static int build_encoder(steno_model *m, const struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    struct build b;
    const uint32_t rows = rows_of_seconds(s, (uint32_t)s->run_s), window = rows_of_frames(s, (uint32_t)s->window);
    const struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = rows, .max_out = 1, .max_past = room_for_windows(rows, window),
                                    .precision = model_rows_precision(m), .unfused = m->opening->unfused };
    const struct stem_of_chunks stem = { .n_mels = (uint32_t)s->n_mels, .channels = (uint32_t)s->channels, .d = (uint32_t)s->d,
                                         .stack = QWEN3_ASR_STACK, .frames = 2 * (uint32_t)s->half_chunk, .rows = window };
    m->window_rows = (int32_t)window;
    build_begin(&b, &p, e);
    build_phase(&b, "encode");
    build_adaptor(&b, s, build_layers(&b, s, stem_of_chunks_build(&b, &stem, "audio_tower")));
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

static int describe_audio(steno_model *m, const struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    const struct features_served served = { FBANK_WINDOW, FBANK_WINDOW, s->n_mels, 0 };
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!bank) return err_nomem(e, sizeof *bank, "filter banks");
    m->audio_ctx = (int32_t)rows_of_seconds(s, (uint32_t)s->clip_s);
    m->segment_ctx = (int32_t)rows_of_seconds(s, (uint32_t)s->segment_s);
    m->widths = (struct model_widths){ .n_mels = s->n_mels, .audio_state = s->d, .audio_heads = s->heads, .audio_layers = s->layers };
    int rc = features_check(w, &served, e);
    if (!rc) rc = build_encoder(m, s, w, e);
    return rc ? rc : fbank_bank_log_mel(bank, &m->arena, s->n_mels, QWEN3_ASR_STACK, 2 * s->half_chunk, &m->kern, e);
}

static int describe_text(steno_model *m, const struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    static const char *const ends[] = { "<|im_end|>", "<|endoftext|>", NULL };
    const struct tensor *t = weights_find(w, "model.layers.0.self_attn.q_proj.weight");
    if (!t) t = weights_find(w, "blk.0.attn_q.weight");
    const struct lm_part part = { .plan = PLAN_DECODER, .takes_rows = 1, .ctx_most = s->ctx_most, .classes = s->classes,
                                  .stored = t ? t->type : m->matrix_type };
    m->lm.ends = ends;
    const int rc = lm_add(m, lm_qwen3, w, &part, e);
    if (rc) return rc;
    if (m->widths.text_state != s->d_out)
        return err_set(e, STENO_EFORMAT, "%s: audio_config.output_dim is %d, but the language model has rows of %d", w->name, (int)s->d_out,
                       (int)m->widths.text_state);
    return qwen3_asr_check_tokens(m, s, w->name, e);
}

int qwen3_asr_describe(steno_model *m, const struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    if (m->opening->llm)
        return err_set(e, STENO_EARG, "llm is for models whose language model is another file; %s has its own: leave it out", w->name);
    const int rc = describe_audio(m, s, w, e);
    return rc ? rc : describe_text(m, s, w, e);
}

static int describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct qwen3_asr_shape s;
    int rc = qwen3_asr_respell(w, e);
    if (!rc) rc = qwen3_asr_read_shape(&s, w, e);
    if (rc) return rc;
    m->name = s.d_out == 1024 ? "0.6b" : s.d_out == 2048 ? "1.7b" : "qwen3-asr";
    s.clip_s = longest_s(m, &s, WINDOW_S);
    s.segment_s = longest_s(m, &s, SEGMENT_S);
    s.run_s = longest_s(m, &s, RUN_S);
    s.ctx_most = CTX_USUAL;
    return qwen3_asr_describe(m, &s, w, e);
}

static const char *const spare[] = { "lm_head.weight", NULL }; /* stored although it equals the embedding */

const struct family family_qwen3_asr = {
    .name = "qwen3-asr",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "audio_lm",
    .low_precision = LOW_PRECISION_ROWS | LOW_PRECISION_STEPS,
    .settings = SETTINGS_GENERATION | SETTINGS_FEATURES,
    .match = match,
    .describe = describe,
    .audio_lm = &qwen3_asr_lm,
    .language = qwen3_asr_language_index,
    .spare = spare,
    .ids_to_bytes = lm_ids_to_bytes,
};
