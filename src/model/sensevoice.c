/* steno: SenseVoiceSmall as data. SPDX-License-Identifier: MIT
 *
 * An et al. 2024 (FunAudioLLM): four query rows before the filter banks ask for language, event, emotion and spelling of numbers; SAN-M
 * layers in two stacks; a linear head whose most probable ids, repeats and blanks dropped, are the text. Reference: FunASR 1.4,
 * funasr/models/sense_voice/model.py. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/vocab_file.h"
#include "model/funasr.h"
#include "model/sensevoice.h"
#include "plan/emit.h"
#include "plan/linear.h"
#include "plan/sub.h"

static const struct sub layer[] = {
    { sub_sanm, "norm1", "self_attn", NULL, 0 },
    { sub_ffn, "norm2", "feed_forward.w_1", "feed_forward.w_2", SUB_RELU },
    { 0 },
};

enum {
    WINDOW_ROWS = 500, /* 30 s of rows every 60 ms: what the model was trained on */
    QUERY_ROWS = SENSEVOICE_QUERY_ROWS,
    QUERIES = 16,
    HEAD_ROWS = 64     /* rows whose logits exist at a time */
};
static float const norm_eps = 1e-5f;

static int sensevoice_match(const struct weights *w)
{
    return funasr_match(w, "SenseVoiceSmall", "sensevoice-small");
}

struct sensevoice_shape { int32_t d, heads, d_ff, layers, more_layers, taps, n_mels, lfr_m, lfr_n, shift, width, blank, n_vocab; };
#define AT(field) offsetof(struct sensevoice_shape, field)

static const struct funasr_setting setting[] = {
    { "encoder_conf.output_size", "sv.output_size", 4, 8192, 0, AT(d) },
    { "encoder_conf.attention_heads", "sv.attention_heads", 1, 256, 0, AT(heads) },
    { "encoder_conf.linear_units", NULL, 1, 65536, 0, AT(d_ff) },
    { "encoder_conf.num_blocks", "sv.num_blocks", 1, 256, 0, AT(layers) },
    { "encoder_conf.tp_blocks", "sv.tp_blocks", 0, 256, 0, AT(more_layers) },
    { "encoder_conf.kernel_size", "sv.kernel_size", 1, FSMN_TAPS, 1, AT(taps) },
    { "encoder_conf.sanm_shfit", NULL, 0, 0, 1, AT(shift) }, /* FunASR's spelling */
    { "frontend_conf.n_mels", NULL, 1, SPECTRUM_BANDS, 1, AT(n_mels) },
    { "frontend_conf.lfr_m", NULL, 1, FBANK_LFR_MAX, 1, AT(lfr_m) },
    { "frontend_conf.lfr_n", NULL, 1, FBANK_LFR_MAX, 1, AT(lfr_n) },
    { NULL, "sv.input_size", 1, 8192, 0, AT(width) },
    { NULL, "sv.blank_id", 0, 0, 0, AT(blank) },
};
#undef AT

static int read_shape(struct sensevoice_shape *s, struct weights *w, steno_error *e)
{
    *s = (struct sensevoice_shape){ .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6 };
    const int rc = funasr_read_settings(s, setting, sizeof setting / sizeof *setting, w, e);
    if (rc) return rc;
    if (s->d % s->heads || s->d / s->heads % 4 || s->d / s->heads > 256)
        return err_set(e, STENO_EFORMAT, "%s: %d heads do not divide a width of %d into multiples of 4 up to 256", w->name, (int)s->heads,
                       (int)s->d);
    const int32_t width = s->n_mels * s->lfr_m;
    if (s->width && s->width != width)
        return err_set(e, STENO_EFORMAT, "%s: sv.input_size is %d, want %d", w->name, (int)s->width, (int)width);
    s->width = width;
    const struct tensor *inner = s->d_ff ? NULL : weights_find(w, "encoder.encoders0.0.feed_forward.w_1.bias");
    if (inner && inner->n_dims == 1 && inner->dim[0] <= 65536) s->d_ff = (int32_t)inner->dim[0];
    return s->d_ff ? STENO_OK
                   : err_set(e, STENO_EFORMAT,
                             "%s: tensor encoder.encoders0.0.feed_forward.w_1.bias is missing or of no use: the width of the layers "
                             "is its length", w->name);
}

static void build_encoder(struct build *b, const struct sensevoice_shape *s)
{
    const uint32_t d = (uint32_t)s->d, width = (uint32_t)s->width, rows = b->plan.max_rows;
    const uint32_t heads = (uint32_t)s->heads;
    const struct sub_dims dims = { .d = d, .n_heads = heads, .n_kv_heads = heads, .d_head = d / heads, .d_ff = (uint32_t)s->d_ff,
                                   .taps = (uint32_t)s->taps, .eps = norm_eps };
    build_phase(b, "encode");
    const uint16_t in = build_slot(b, width), placed = build_slot(b, width), x = build_slot(b, d), mid = build_slot(b, d);
    const uint16_t out = build_slot(b, d);
    b->plan.input = in;
    b->plan.output = out;
    emit(b, OP_SCALE, "encoder.embed", placed, in, bind_scale(b, sqrtf((float)d), bind_sinusoids(b, rows, width), width));

    b->prefix = "encoder.encoders0.0";
    sub_sanm_first(b, &dims, &layer[0], x, placed, width);
    sub_ffn(b, &dims, &layer[1], x, 0);
    b->prefix = "";
    sub_stack(b, layer, &dims, "encoder.encoders", (uint32_t)s->layers - 1, x);
    emit(b, OP_NORM, "encoder.after_norm", mid, x, bind_norm(b, "encoder.after_norm.weight", "encoder.after_norm.bias", d, norm_eps));
    sub_stack(b, layer, &dims, "encoder.tp_encoders", (uint32_t)s->more_layers, mid);
    emit(b, OP_NORM, "encoder.tp_norm", out, mid, bind_norm(b, "encoder.tp_norm.weight", "encoder.tp_norm.bias", d, norm_eps));

    build_phase(b, "head");
    const uint16_t some = build_slot_out(b, d), logits = build_slot_out(b, (uint32_t)s->n_vocab);
    b->plan.logits = logits;
    const struct linear_part ctc_lo = { "ctc.ctc_lo.weight", "ctc.ctc_lo.bias", (uint64_t)s->n_vocab };
    const uint16_t ctc = bind_matrix(b, &ctc_lo, d, LINEAR_LM_HEAD, NO_BIND);
    const struct { enum op_kind kind; const char *label; uint16_t out, in, bind; } head[] = {
        { OP_SCALE, "ctc.rows", some, out, bind_scale(b, 1, NULL, d) },
        { OP_LINEAR, "ctc.logits", logits, some, ctc },
        { OP_LOGITS_REDUCE, "ctc.scan", NO_SLOT, logits, ctc },
        { OP_SAMPLE, "ctc.best", NO_SLOT, logits, ctc },
    };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        struct op *op = emit(b, head[i].kind, head[i].label, head[i].out, head[i].in, head[i].bind);
        if (op) op->rows = ROWS_OUT;
    }
}

static int read_queries(steno_model *m, struct weights *w, uint32_t width, steno_error *e)
{
    struct tensor *t;
    const int rc = weights_get(w, "embed.weight", (const uint64_t[4]){ QUERIES, width, 0, 0 }, &t, e);
    if (rc) return rc;
    float *q = arena_array(&m->arena, (size_t)QUERIES * width, sizeof *q);
    struct ctc_model *c = m->part = arena_alloc(&m->arena, sizeof *c);
    if (!q || !c) return err_nomem(e, (size_t)QUERIES * width * sizeof *q, "queries");
    *c = (struct ctc_model){ .query = q, .blank = 0 };
    return tensor_read_f32(t, q, e);
}

/* Every implementation but one normalises the features; the vectors stand in am.mvn beside the weights. */
static int read_front(steno_model *m, struct weights *w, const struct sensevoice_shape *s, steno_error *e)
{
    float *shift = NULL, *scale = NULL;
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!bank) return err_nomem(e, sizeof *bank, "filter banks");
    int rc = m->opening->no_cmvn ? STENO_OK : funasr_read_cmvn(w, s->width, &m->arena, &shift, &scale, e);
    if (!rc) rc = fbank_bank_init(bank, &m->arena, &(struct fbank_params){ s->n_mels, s->lfr_m, s->lfr_n, shift, scale }, &m->kern, e);
    return rc;
}

/* Pieces have U+2581 for spaces. @return what is left of n bytes */
static uint32_t spaces_put(char *s, uint32_t n)
{
    uint32_t len = 0;
    for (uint32_t k = 0; k < n; len++) {
        const int space = n - k >= 3 && !memcmp(s + k, "\xe2\x96\x81", 3);
        s[len] = space ? ' ' : s[k];
        k += space ? 3 : 1;
    }
    return len;
}

static int read_vocab(steno_model *m, struct weights *w, steno_error *e)
{
    if (w->n_vocab_entries != (uint32_t)m->n_vocab)
        return err_set(e, STENO_EFORMAT, "%s: the vocabulary has %u entries, the head %d", w->name, (unsigned)w->n_vocab_entries,
                       (int)m->n_vocab);
    int rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    for (uint32_t i = 0; i < w->n_vocab_entries && !rc; i++) {
        char *copy = arena_strdup(&m->arena, (const char *)w->vocab[i].s, w->vocab[i].n);
        if (!copy) return err_nomem(e, w->vocab[i].n, "vocabulary");
        vocab_set(&m->vocab, (int32_t)i, (const uint8_t *)copy, spaces_put(copy, w->vocab[i].n));
    }
    return rc ? rc : vocab_index(&m->vocab, &m->arena, e);
}

static int sensevoice_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct sensevoice_shape s;
    int rc = read_shape(&s, w, e);
    if (rc) return rc;
    const struct tensor *head = weights_find(w, "ctc.ctc_lo.bias");
    if (!head || head->n_dims != 1 || head->dim[0] < 2 || head->dim[0] > 1 << 20)
        return err_set(e, STENO_EFORMAT, "%s: tensor ctc.ctc_lo.bias is missing or of no use: the number of ids is its length", w->name);
    s.n_vocab = (int32_t)head->dim[0];
    m->name = "small";
    m->n_vocab = s.n_vocab;
    m->n_plans = 1;
    m->audio_ctx = WINDOW_ROWS;
    m->widths = (struct model_widths){ .n_mels = s.n_mels, .audio_state = s.d, .audio_heads = s.heads,
                                       .audio_layers = s.layers + s.more_layers };
    if (!w->vocab) rc = weights_read_vocab(w, m->opening->vocab_path, e); /* before the weights: it may be somewhere else */
    if (rc) return rc;
    struct build b;
    const struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = QUERY_ROWS + WINDOW_ROWS, .max_out = HEAD_ROWS };
    build_begin(&b, &p, e);
    build_encoder(&b, &s);
    rc = build_end(&b, &m->plan[PLAN_ENCODER]);
    if (!rc) rc = read_queries(m, w, (uint32_t)s.width, e);
    if (!rc) rc = read_front(m, w, &s, e);
    return rc ? rc : read_vocab(m, w, e);
}

const struct family family_sensevoice = {
    .name = "sensevoice",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "ctc",
    .narrow = 0,
    .match = sensevoice_match,
    .describe = sensevoice_describe,
    .ctc = &sensevoice_ctc,
    .spare = funasr_spare,
    .ids_to_bytes = sensevoice_ids_to_bytes,
};
