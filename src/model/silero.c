/* steno: Silero VAD as data. SPDX-License-Identifier: MIT
 *
 * Versions 5 and 6 for 16 kHz: frames of 512 samples with margins of 64, the magnitudes of four spectra, four convolutions over them, an
 * LSTM from frame to frame, the logit of speech. A convolution over the few columns of a frame is written as one matrix over all columns.
 * So frames are rows, and many frames are one product. Reference: silero-vad 6.2; whisper.cpp, src/whisper.cpp (its file). */
#include <stdio.h>
#include <string.h>
#include "model/silero.h"
#include "model/parts.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/lstm.h"

enum { FRAME = SILERO_FRAME, MARGIN = SILERO_MARGIN, STFT = SILERO_STFT, BINS = SILERO_BINS, CELLS = SILERO_CELLS,
       TAPS = SILERO_TAPS, STFT_HOP = 128, COLUMNS = 4,
       PIECE_FRAMES = 160 /* rows per replay: 5 s */ };

const struct silero_conv silero_conv[SILERO_CONVS] = {
    { BINS, 128, COLUMNS, 4 }, { 128, 64, 4, 2 }, { 64, 64, 2, 1 }, { 64, CELLS, 1, 1 },
};

static const struct hysteresis_params usual = { .rules = HYSTERESIS_LONGEST_PAUSE, .frame = FRAME, .threshold = 0.5, .neg_threshold = 0.35,
                                                .min_speech = 4000, .min_silence = 1600, .max_speech = INT64_MAX, .pad = 480 };

/* The basis of spectra of 256 samples. All spellings have it, ggml's and ONNX's with a prefix, except the published safetensors, which use
 * other names. */
static const char basis[] = "stft.forward_basis_buffer", head_weight[] = "decoder.decoder.2.weight";

static const struct tensor *basis_of(const struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const size_t n = strlen(t->name), m = sizeof basis - 1;
        if (n >= m && !strcmp(t->name + n - m, basis) && t->dim[0] == 2 * BINS) return t;
    }
    return NULL;
}

static const struct { const char *was, *is; } other_name[] = {
    { "stft_conv.weight", basis },
    { "conv1.weight", "encoder.0.reparam_conv.weight" },
    { "conv1.bias", "encoder.0.reparam_conv.bias" },
    { "conv2.weight", "encoder.1.reparam_conv.weight" },
    { "conv2.bias", "encoder.1.reparam_conv.bias" },
    { "conv3.weight", "encoder.2.reparam_conv.weight" },
    { "conv3.bias", "encoder.2.reparam_conv.bias" },
    { "conv4.weight", "encoder.3.reparam_conv.weight" },
    { "conv4.bias", "encoder.3.reparam_conv.bias" },
    { "lstm_cell.weight_ih", "decoder.rnn.weight_ih" },
    { "lstm_cell.weight_hh", "decoder.rnn.weight_hh" },
    { "lstm_cell.bias_ih", "decoder.rnn.bias_ih" },
    { "lstm_cell.bias_hh", "decoder.rnn.bias_hh" },
    { "final_conv.weight", head_weight },
    { "final_conv.bias", "decoder.decoder.2.bias" },
};

static int usual_name(const char *name, char *out, size_t n)
{
    for (size_t i = 0; i < sizeof other_name / sizeof *other_name; i++)
        if (!strcmp(name, other_name[i].was)) return snprintf(out, n, "%s", other_name[i].is) > 0;
    return 0;
}

static int has_other_names(const struct weights *w)
{
    int n = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++)
        n += !strcmp(w->tensor[i].name, other_name[0].was) || !strcmp(w->tensor[i].name, "lstm_cell.weight_hh");
    return n == 2;
}

static int silero_match(const struct weights *w)
{
    return has_other_names(w) || !strcmp(meta_text(&w->meta, "model_type", ""), "silero-16k") || basis_of(w) != NULL;
}

/* ---- names */

/* Tensors are known by the names of the published network, after the prefix of the basis. Tensors with another prefix belong to the 8 kHz
 * network. */
static int strip(struct weights *w, steno_error *e)
{
    const struct tensor *found = basis_of(w);
    if (!found) return err_set(e, STENO_EFORMAT, "%s: tensor %s of [%d, 1, %d] is missing", w->name, basis, 2 * BINS, STFT);
    const char *prefix = found->name;
    const size_t n = strlen(prefix) - (sizeof basis - 1);
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        struct tensor *t = &w->tensor[i];
        if (strncmp(t->name, prefix, n) != 0) t->used = 1;
        else if (t->name != prefix) t->name += n;
    }
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (w->tensor[i].name == prefix) w->tensor[i].name += n;
    return weights_index(w, e);
}

/* Silero also publishes a network for whole sequences, which is refused. */
static int check_form(const struct weights *w, steno_error *e)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, "encoder.0.weight"))
            return err_set(e, STENO_EUNSUPPORTED, "%s: this is Silero VAD for whole sequences, whose LSTM is stored in another way: take "
                           "silero_vad.onnx of the same package", w->name);
    return STENO_OK;
}

/* A number in the header, if present, must equal the one that is built. */
static int check_number(const struct weights *w, const char *key, int want, steno_error *e)
{
    const struct meta_entry *entry = meta_find(&w->meta, key);
    if (!entry || entry->i == want) return STENO_OK;
    return err_set(e, STENO_EUNSUPPORTED, "%s: header: %s is %lld, want %d: Silero VAD 5 and 6 for 16 kHz are read", w->name, key,
                   (long long)entry->i, want);
}

static int check_header(const struct weights *w, steno_error *e)
{
    static const char *const of_conv[] = { "in", "out", "kernel" };
    static const struct { const char *key; int want; } number[] = {
        { "window", FRAME }, { "context", MARGIN }, { "n_encoder_layers", SILERO_CONVS }, { "lstm_in", CELLS }, { "lstm_hidden", CELLS },
        { "final_in", CELLS }, { "final_out", 1 },
    };
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof number / sizeof *number && !rc; i++) rc = check_number(w, number[i].key, number[i].want, e);
    for (int i = 0; i < 3 * SILERO_CONVS && !rc; i++) {
        const struct silero_conv *c = &silero_conv[i / 3];
        char key[32];
        snprintf(key, sizeof key, "encoder.%d.%s", i / 3, of_conv[i % 3]);
        rc = check_number(w, key, i % 3 == 0 ? c->in : i % 3 == 1 ? c->out : TAPS, e);
    }
    return rc;
}

/* ---- matrices over the columns of a frame */

struct made { struct weights *w; steno_error *e; };

/* Adds a computed f32 tensor, in the memory of the weights. */
static int add_made(const struct made *to, const char *name, const float *x, uint64_t rows, uint64_t n)
{
    struct weights *w = to->w;
    struct tensor *t = weights_add(w, to->e);
    struct file *f = arena_alloc(&w->arena, sizeof *f);
    const char *own = arena_strdup(&w->arena, name, strlen(name));
    if (!t || !f || !own) return err_nomem(to->e, sizeof *f, "the network");
    const size_t sz = (size_t)(rows * n) * sizeof *x;
    file_from_memory(f, w->name, x, sz);
    *t = (struct tensor){ .name = own, .type = DT_F32, .n_dims = 2, .dim = { rows, n, 1, 1 }, .file = f, .size = sz, .used = 1 };
    return STENO_OK;
}

/* Convolution [out, in, TAPS], with a zero column on each side, as a matrix [columns_out * out, columns * in]. */
static void spread(float *y, const float *x, const struct silero_conv *c)
{
    const int step = c->columns / c->columns_out;
    const size_t width = (size_t)c->columns * (size_t)c->in;
    for (int to = 0; to < c->columns_out; to++)
        for (int o = 0; o < c->out; o++)
            for (int k = 0; k < TAPS; k++) {
                const int from = to * step + k - 1, is_there = from >= 0 && from < c->columns;
                const float *tap = x + (size_t)(o * c->in * TAPS + k);
                float *row = y + (size_t)(to * c->out + o) * width + (size_t)(is_there ? from * c->in : 0);
                for (int i = 0; is_there && i < c->in; i++) row[i] = tap[i * TAPS];
            }
}

static int make_conv(const struct made *to, int i)
{
    const struct silero_conv *c = &silero_conv[i];
    const uint64_t rows = (uint64_t)(c->columns_out * c->out), n = (uint64_t)(c->columns * c->in);
    struct tensor *weight, *bias;
    char name[64];
    snprintf(name, sizeof name, "encoder.%d.reparam_conv.weight", i);
    int rc = weights_get(to->w, name, (uint64_t[4]){ (uint64_t)c->out, (uint64_t)c->in, TAPS, 0 }, &weight, to->e);
    snprintf(name, sizeof name, "encoder.%d.reparam_conv.bias", i);
    if (!rc) rc = weights_get(to->w, name, (uint64_t[4]){ (uint64_t)c->out, 0, 0, 0 }, &bias, to->e);
    if (rc) return rc;
    struct arena *a = &to->w->arena;
    float *x = arena_array(a, (size_t)(c->out * c->in * TAPS), sizeof *x), *y = arena_array(a, (size_t)(rows * n), sizeof *y);
    float *b = arena_array(a, (size_t)rows, sizeof *b);
    if (!x || !y || !b) return err_nomem(to->e, (size_t)(rows * n) * sizeof *y, "the network");
    memset(y, 0, (size_t)(rows * n) * sizeof *y);
    rc = tensor_read_f32(weight, x, to->e);
    if (!rc) rc = tensor_read_f32(bias, b, to->e);
    if (rc) return rc;
    spread(y, x, c);
    for (uint64_t r = (uint64_t)c->out; r < rows; r++) b[r] = b[r - (uint64_t)c->out];
    snprintf(name, sizeof name, "frame.%d.weight", i);
    rc = add_made(to, name, y, rows, n);
    snprintf(name, sizeof name, "frame.%d.bias", i);
    return rc ? rc : add_made(to, name, b, 1, rows);
}

static int make_matrices(struct weights *w, steno_error *e)
{
    const struct made to = { w, e };
    struct tensor *head; /* a row, stored as a vector in ggml's file */
    int rc = weights_get(w, head_weight, (uint64_t[4]){ CELLS, 0, 0, 0 }, &head, e);
    if (!rc) head->n_dims = 2, head->dim[0] = 1, head->dim[1] = CELLS, head->dim[2] = head->dim[3] = 1;
    for (int i = 0; i < SILERO_CONVS && !rc; i++) rc = make_conv(&to, i);
    return rc ? rc : weights_index(w, e);
}

/* ---- the network */

/* out = act(matrix of in), from column `column` on. */
static uint16_t linear(struct build *b, const struct linear_part *part, uint16_t out, uint16_t in, int k, enum act act)
{
    const uint16_t bind = bind_matrix(b, part, (uint64_t)k, LINEAR_OTHER, NO_BIND);
    emit(b, OP_LINEAR, part->weight, out, in, bind);
    if (!b->status) bind_at(b, bind)->act = (uint8_t)act;
    return bind;
}

/* Four spectra of a frame: the same matrix, moved by STFT_HOP samples each time. */
static uint16_t build_spectra(struct build *b, uint16_t in)
{
    const uint16_t parts = build_slot(b, COLUMNS * 2 * BINS), out = build_slot(b, COLUMNS * BINS);
    const struct linear_part matrix = { basis, NULL, 2 * BINS };
    const uint16_t first = bind_matrix(b, &matrix, STFT, LINEAR_OTHER, NO_BIND);
    for (int i = 0; i < COLUMNS && !b->status; i++) {
        const uint16_t bind = bind_copy(b, first);
        struct op *op = emit(b, OP_LINEAR, "stft", parts, in, bind);
        if (!op) break;
        op->column = (uint16_t)(i * 2 * BINS);
        bind_at(b, bind)->in_column = (uint32_t)(i * STFT_HOP);
    }
    const uint16_t pairs = bind_scale(b, 1, NULL, BINS);
    if (!b->status) bind_at(b, pairs)->heads = COLUMNS;
    emit(b, OP_MAGNITUDE, "magnitude", out, parts, pairs);
    return out;
}

static void build_net(struct build *b)
{
    build_phase(b, "frames");
    const uint16_t in = build_slot(b, FRAME + 2 * MARGIN);
    b->plan.input = in;
    uint16_t x = build_spectra(b, in);
    for (int i = 0; i < SILERO_CONVS; i++) {
        char weight[32], bias[32];
        snprintf(weight, sizeof weight, "frame.%d.weight", i);
        snprintf(bias, sizeof bias, "frame.%d.bias", i);
        const int n = silero_conv[i].columns_out * silero_conv[i].out, k = silero_conv[i].columns * silero_conv[i].in;
        const uint16_t y = build_slot(b, (uint32_t)n);
        linear(b, &(struct linear_part){ weight, bias, (uint64_t)n }, y, x, k, ACT_RELU);
        x = y;
    }
    const uint16_t h = build_slot(b, CELLS), active = build_slot(b, CELLS);
    sub_lstm(b, &(struct lstm_layer){ .name = "decoder.rnn", .n = CELLS, .k = CELLS, .is_cell = 1, .state = 1 }, h, x, ROWS_RUN);
    const uint16_t relu = bind_scale(b, 0, NULL, CELLS);
    if (!b->status) bind_at(b, relu)->act = ACT_RELU;
    emit(b, OP_ACT, "decoder.relu", active, h, relu);
    b->plan.output = build_slot(b, 1);
    linear(b, &(struct linear_part){ head_weight, "decoder.decoder.2.bias", 1 }, b->plan.output, active, CELLS, ACT_NONE);
}

static int silero_describe(steno_model *m, struct weights *w, steno_error *e)
{
    int rc = check_header(w, e);
    if (!rc && has_other_names(w)) rc = weights_rename(w, usual_name, e);
    if (!rc) rc = strip(w, e);
    if (!rc) rc = check_form(w, e);
    if (!rc) rc = make_matrices(w, e);
    if (rc) return rc;
    struct vad_model *part = m->part = arena_alloc(&m->arena, sizeof *part);
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!part || !bank) return err_nomem(e, sizeof *part + sizeof *bank, "frames");
    *part = (struct vad_model){ .frame = FRAME };
    fbank_bank_frames(bank, FRAME, MARGIN, &m->kern);
    m->name = "16k";
    m->n_plans = m->n_states = 1;
    m->widths = (struct model_widths){ .audio_state = CELLS, .audio_layers = SILERO_CONVS };
    m->state[0] = (struct state_desc){ "the LSTM's last output and cell", STATE_SHIFT, 1, 1, 2 * CELLS, 1, 0, 0, 0 };
    struct build b;
    const struct build_params p = { .name = "frames", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = PIECE_FRAMES };
    build_begin(&b, &p, e);
    build_net(&b);
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

const struct family family_silero = {
    .name = "silero",
    .front_end = FRONT_SAMPLES,
    .task = "vad",
    .low_precision = 0,
    .thresholds = &usual,
    .match = silero_match,
    .describe = silero_describe,
};
