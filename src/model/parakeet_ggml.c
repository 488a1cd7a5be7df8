/* steno: whisper.cpp's form of a Parakeet model. SPDX-License-Identifier: MIT
 *
 * The settings are the numbers of the header (load/ggml.c). Tensors have NeMo's names, but an LSTM's gates are in the order input, forget,
 * output, cell, and its two biases are one. */
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"

int parakeet_is_ggml(const struct weights *w)
{
    return meta_find(&w->meta, "tdt.n_vocab") != NULL;
}

/* ---- the order of gates */

enum { GATES = 4 };
struct gate_file { struct file whole; uint64_t offset, gate_sz; };

/* Reads the four parts of a tensor in the other order. */
static int read_gates(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    static uint8_t const stored_at[GATES] = { 0, 1, 3, 2 };
    const struct gate_file *g = user;
    int rc = STENO_OK;
    for (uint8_t *to = dst; n && !rc;) {
        const uint64_t gate = off / g->gate_sz, at = off % g->gate_sz, left = g->gate_sz - at;
        const size_t len = n < left ? n : (size_t)left;
        rc = file_read(&g->whole, g->offset + stored_at[gate] * g->gate_sz + at, to, len, e);
        off += len, to += len, n -= len;
    }
    return rc;
}

int parakeet_turn_gates(struct weights *w, struct tensor *t, steno_error *e)
{
    if (t->dim[0] % GATES)
        return err_set(e, STENO_EFORMAT, "%s: tensor %s has %llu rows, want those of 4 gates", w->name, t->name,
                       (unsigned long long)t->dim[0]);
    if (t->n_dims == 1 && t->type != DT_F32) return err_set(e, STENO_EFORMAT, "%s: tensor %s is not f32", w->name, t->name);
    struct gate_file *g = arena_array(&w->arena, 1, sizeof *g);
    struct file *f = arena_array(&w->arena, 1, sizeof *f);
    if (!g || !f) return err_nomem(e, sizeof *g + sizeof *f, "the gates of an LSTM");
    *g = (struct gate_file){ *t->file, t->offset, t->size / GATES };
    *f = (struct file){ .name = t->file->name, .size = t->size, .fd = -1, .read = read_gates, .user = g };
    t->file = f;
    t->offset = 0;
    return STENO_OK;
}

/* ---- the sum of both biases is the first one; the second one is zero */

static int split_bias(struct weights *w, uint32_t index, int layer, steno_error *e)
{
    struct file *f = arena_array(&w->arena, 1, sizeof *f);
    const uint64_t n = w->tensor[index].dim[0];
    float *zeros = arena_array(&w->arena, (size_t)n, sizeof *zeros); /* as long as the first one in the file */
    char *name[2] = { arena_alloc(&w->arena, 64), arena_alloc(&w->arena, 64) };
    struct tensor *second = f && zeros && name[0] && name[1] ? weights_add(w, e) : NULL;
    if (!second) return err_nomem(e, (size_t)n * sizeof *zeros, "the biases of an LSTM");
    for (int i = 0; i < 2; i++) snprintf(name[i], 64, "decoder.prediction.dec_rnn.lstm.bias_%s_l%d", i ? "hh" : "ih", layer);
    file_from_memory(f, w->name, zeros, (size_t)n * sizeof *zeros);
    *second = (struct tensor){ .name = name[1], .type = DT_F32, .n_dims = 1, .dim = { n, 1, 1, 1 }, .file = f, .size = n * sizeof *zeros };
    w->tensor[index].name = name[0];
    return STENO_OK;
}

static int take_lstm(struct weights *w, steno_error *e)
{
    int rc = STENO_OK;
    const uint32_t n = w->n_tensors;
    for (uint32_t i = 0; i < n && !rc; i++) {
        static const char lstm[] = "decoder.prediction.dec_rnn.lstm.";
        const char *part = w->tensor[i].name;
        int layer = 0;
        if (strncmp(part, lstm, sizeof lstm - 1) != 0) continue;
        rc = parakeet_turn_gates(w, &w->tensor[i], e);
        if (!rc && sscanf(part + sizeof lstm - 1, "bias_h_l%4d", &layer) == 1) rc = split_bias(w, i, layer, e);
    }
    return rc ? rc : weights_index(w, e);
}

/* ---- settings */

static const struct parakeet_setting renamed[] = {
    { "tdt.n_audio_state", "encoder_config.hidden_size" }, { "tdt.n_audio_layer", "encoder_config.num_hidden_layers" },
    { "tdt.n_audio_head", "encoder_config.num_attention_heads" }, { "tdt.n_conv_kernel", "encoder_config.conv_kernel_size" },
    { "tdt.n_mels", "encoder_config.num_mel_bins" }, { "tdt.subsampling_factor", "encoder_config.subsampling_factor" },
    { "tdt.n_subsampling_channels", "encoder_config.subsampling_conv_channels" }, { "tdt.n_max_tokens", "max_symbols_per_step" },
    { "tdt.n_pred_dim", "decoder_hidden_size" }, { "tdt.n_pred_layers", "num_decoder_layers" },
};

/* Neither the scale of the input nor local attention can be given: such models are not converted. */
int parakeet_take_ggml(struct weights *w, steno_error *e)
{
    if (!parakeet_is_ggml(w)) return STENO_OK;
    const struct meta_entry *fft = meta_find(&w->meta, "tdt.n_fft"), *pieces = meta_find(&w->meta, "tdt.n_vocab");
    if (fft->i != 512)
        return err_set(e, STENO_EUNSUPPORTED, "%s: tdt.n_fft is %d, this version supports 512", w->name, (int)fft->i);
    const struct meta_entry scale = { .key = "encoder_config.scale_input", .kind = META_BOOL, .i = 0, .source = w->name };
    int rc = parakeet_add_number(w, "vocab_size", "tdt.n_vocab", pieces->i + 1, e);
    if (!rc) rc = meta_add(&w->meta, &scale, e);
    if (!rc) rc = parakeet_rename_settings(w, renamed, sizeof renamed / sizeof *renamed, e);
    if (!rc) rc = take_lstm(w, e);
    return rc ? rc : parakeet_add_sizes(w, PARAKEET_TDT, e);
}
