/* steno: Parakeet models as whisper.cpp's files. SPDX-License-Identifier: MIT
 *
 * The form has TDT models without biases of linears, without a scaled input and with full attention (load/ggml.c, model/parakeet_ggml.c).
 * Matrices and the embedding have the type of the file, the rest is f32. Blocks are rounded from f16, as from a file that was not quantized
 * before. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "base/utf8.h"
#include "convert/parakeet.h"
#include "load/ggml.h"

enum { POSITIONS = 5000, NAME_SZ = 64 };

struct bin_file {
    struct parakeet_model m;
    struct byte_writer b;
    const struct convert_order *o;
    enum dtype type;         /* of matrices */
    uint32_t i, n;           /* tensors */
    steno_error *e;
};

/* ---- what the form has ------------------------------------------------------------------------------------------------------------- */

static int refuse(const struct bin_file *f, const char *what)
{
    return err_set(f->e, STENO_EUNSUPPORTED, "%s: whisper.cpp's files of Parakeet have no place for %s; write a GGUF file", f->m.w->name,
                   what);
}

static int check_model(const struct bin_file *f)
{
    const struct parakeet_shape *s = &f->m.s;
    if (f->m.head != PARAKEET_TDT) return refuse(f, "a head other than TDT");
    if (s->has_biases) return refuse(f, "biases of linears");
    if (s->scales_input) return refuse(f, "a scaled input");
    if (s->behind >= 0 || s->ahead >= 0) return refuse(f, "local attention");
    return s->joint == s->pred ? STENO_OK : refuse(f, "a joint network of another width than the prediction network's");
}

/* The prediction network and what reads its rows. */
static int is_of_prediction(const char *name)
{
    return strncmp(name, "decoder.prediction.", 19) == 0 || (!strncmp(name, "joint.", 6) && strncmp(name, "joint.enc.", 10) != 0);
}

static int is_matrix(const char *name)
{
    return parakeet_part_of(name) == PARAKEET_MATRIX || !strcmp(name, "decoder.prediction.embed.weight");
}

static uint64_t row_of(const struct tensor *t) { return t->dim[1] * t->dim[2] * t->dim[3]; }

/* That of all matrices, if it is one. */
static enum dtype stored_type(const struct bin_file *f)
{
    enum dtype type = DT_COUNT;
    for (uint32_t i = 0; i < f->m.w->n_tensors; i++) {
        const struct tensor *t = &f->m.w->tensor[i];
        if (!is_matrix(t->name)) continue;
        if (type != DT_COUNT && t->type != type) return DT_F32;
        type = t->type;
    }
    return type == DT_COUNT || ggml_ftype_code(type) < 0 ? DT_F32 : type;
}

static enum dtype type_of(const struct bin_file *f, const struct tensor *t)
{
    const int is_whole = f->m.s.pred % dtype_block(f->type) == 0;
    return is_matrix(t->name) && (is_whole || !is_of_prediction(t->name)) ? f->type : DT_F32;
}

static int check_type(const struct bin_file *f, const struct tensor *t)
{
    const enum dtype type = type_of(f, t);
    if (dtype_block(type) > 1 && dtype_block(t->type) > 1 && t->type != type && !f->o->rounds_again)
        return err_set(f->e, STENO_EARG, "%s: tensor %s is %s already, and would be rounded again: make the %s file from the model in f32 "
                       "or f16", f->m.w->name, t->name, form_name(t->form, t->type), dtype_name(type));
    if (row_of(t) % (uint64_t)dtype_block(type) == 0) return STENO_OK;
    return err_set(f->e, STENO_EARG, "%s: tensor %s has rows of %llu, which are not whole blocks of %s, of %d numbers each", f->m.w->name,
                   t->name, (unsigned long long)row_of(t), dtype_name(type), dtype_block(type));
}

static int choose_type(struct bin_file *f)
{
    const struct type_mix *mix = f->o->mix;
    int rc = STENO_OK;
    if (mix && !mix->in_bin)
        return err_set(f->e, STENO_EARG, "%s: %s is not a type of whisper.cpp's files; %s are", f->m.w->name, mix->name,
                       type_mix_bin_names);
    f->type = mix ? (enum dtype)mix->base : stored_type(f);
    for (uint32_t i = 0; i < f->m.w->n_tensors && !rc; i++)
        if (is_matrix(f->m.w->tensor[i].name)) rc = check_type(f, &f->m.w->tensor[i]);
    return rc;
}

/* ---- the header -------------------------------------------------------------------------------------------------------------------- */

static void put(struct buf *b, uint32_t v) /* little-endian */
{
    const uint8_t p[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    buf_add(b, p, sizeof p);
}

static void put_numbers(struct buf *b, const struct bin_file *f)
{
    enum { MAGIC = 0x67676d6c };
    const struct parakeet_shape *s = &f->m.s;
    const int32_t number[] = { s->n_vocab, POSITIONS, s->d, s->heads, s->layers, s->n_mels, ggml_ftype_written(f->type), FBANK_FFT,
                               PARAKEET_STACK, s->channels, s->taps, s->pred, s->pred_layers, s->n_durations, s->max_symbols };
    put(b, MAGIC);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) put(b, (uint32_t)number[i]);
}

/* A stored list, or Hann's window. */
static int put_list(struct buf *b, const struct tensor *t, struct arena *a, steno_error *e)
{
    const size_t n = t ? (size_t)(t->dim[0] * row_of(t)) : FBANK_WINDOW;
    float *x = arena_array(a, n, sizeof *x);
    int rc = x ? STENO_OK : err_nomem(e, n * sizeof *x, "the front end");
    if (!rc && t) rc = tensor_read_f32(t, x, e);
    for (size_t i = 0; !rc && !t && i < n; i++) x[i] = (float)(0.5 - 0.5 * cos(2 * acos(-1) * (double)i / (FBANK_WINDOW - 1)));
    if (!rc) buf_add(b, x, n * sizeof *x);
    return rc;
}

static int write_head(struct bin_file *f)
{
    struct buf b = { 0 };
    struct parakeet_front front;
    const struct parakeet_shape *s = &f->m.s;
    int rc = parakeet_front_find(&front, &f->m, f->e);
    put_numbers(&b, f);
    put(&b, (uint32_t)s->n_mels);
    put(&b, FBANK_FFT / 2 + 1);
    if (!rc) rc = put_list(&b, front.filters, &f->m.w->arena, f->e);
    put(&b, FBANK_WINDOW);
    if (!rc) rc = put_list(&b, front.window, &f->m.w->arena, f->e);
    for (int32_t i = 0; i < s->n_durations; i++) put(&b, (uint32_t)s->duration[i]);
    put(&b, (uint32_t)s->n_vocab);
    for (int32_t i = 0; i < s->n_vocab; i++) {
        put(&b, f->m.piece[i].n);
        buf_add(&b, f->m.piece[i].s, f->m.piece[i].n);
    }
    if (!rc) rc = b.err ? err_nomem(f->e, b.len, "the header of a file") : bytes_write(&f->b, b.p, b.len);
    buf_free(&b);
    return rc;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------------------------- */

/* Extents of the form: a bias of the stem has four dimensions, a filter of layers two. */
static int extents_of(const char *name, uint64_t dim[4], int n_dims)
{
    n_dims = parakeet_extents(name, dim, n_dims);
    if (text_ends(name, ".depthwise_conv.weight")) {
        dim[1] = dim[2];
        dim[2] = 1;
        return 2;
    }
    if (strncmp(name, "encoder.pre_encode.conv.", 24) != 0 || !text_ends(name, ".bias")) return n_dims;
    memcpy(dim, (const uint64_t[4]){ 1, dim[0], 1, 1 }, 4 * sizeof *dim);
    return 4;
}

/* The number of batches in training, which the form needs. Only such a file has it as f32; otherwise it is 0. */
static int write_batches(struct bin_file *f, const char *variance)
{
    char name[NAME_SZ];
    float batches = 0;
    const int n = (int)(strrchr(variance, '.') - variance);
    snprintf(name, sizeof name, "%.*s.num_batches_tracked", n, variance);
    const struct tensor *t = weights_find(f->m.w, name);
    int rc = t && t->type == DT_F32 && t->size == sizeof batches ? tensor_read_f32(t, &batches, f->e) : STENO_OK;
    if (!rc) rc = ggml_write_record(&f->b, name, DT_F32, NULL, 0);
    return rc ? rc : bytes_write(&f->b, &batches, sizeof batches);
}

static int write_tensor(struct bin_file *f, const struct tensor *t)
{
    const enum dtype type = type_of(f, t);
    const struct tensor_change change = { .type = type, .via = dtype_block(type) > 1 && t->type != DT_F16 ? DT_F16 : DT_F32 };
    const struct tensor_note note = { t->name, form_name(t->form, t->type), dtype_name(type), NULL, f->i, f->n, t->size,
                                      t->dim[0] * dtype_row_sz(type, (size_t)row_of(t)) };
    uint64_t dim[4];
    memcpy(dim, t->dim, sizeof dim);
    const int n_dims = extents_of(t->name, dim, t->n_dims);
    int rc = bytes_report_tensor(&f->b, &note);
    if (!rc) rc = ggml_write_record(&f->b, t->name, type, dim, n_dims);
    if (!rc) rc = bytes_write_tensor(&f->b, t, &change);
    return !rc && text_ends(t->name, ".running_var") ? write_batches(f, t->name) : rc;
}

/* Both biases of a layer in one. */
static int add_biases(struct bin_file *f, struct tensor *t, struct file *sum)
{
    char other[NAME_SZ], *name = arena_alloc(&f->m.w->arena, NAME_SZ);
    int layer = 0;
    sscanf(strrchr(t->name, '_'), "_l%4d", &layer);
    snprintf(other, sizeof other, "decoder.prediction.dec_rnn.lstm.bias_hh_l%d", layer);
    const struct tensor *second = weights_find(f->m.w, other);
    const size_t n = (size_t)t->dim[0];
    float *x = arena_array(&f->m.w->arena, 2 * n, sizeof *x);
    if (!name || !x) return err_nomem(f->e, 2 * n * sizeof *x, "the biases of an LSTM");
    if (!second || second->dim[0] != n) return err_set(f->e, STENO_EFORMAT, "%s: %s is missing", f->m.w->name, other);
    int rc = tensor_read_f32(t, x, f->e);
    if (!rc) rc = tensor_read_f32(second, x + n, f->e);
    for (size_t i = 0; i < n && !rc; i++) x[i] += x[n + i];
    snprintf(name, NAME_SZ, "decoder.prediction.dec_rnn.lstm.bias_h_l%d", layer);
    file_from_memory(sum, f->m.w->name, x, n * sizeof *x);
    *t = (struct tensor){ .name = name, .type = DT_F32, .n_dims = 1, .dim = { n, 1, 1, 1 }, .file = sum, .size = n * sizeof *x };
    return rc;
}

static int write_any(struct bin_file *f, const struct tensor *stored)
{
    struct tensor t = *stored;
    struct file sum;
    int rc = STENO_OK;
    if (!strncmp(t.name, "decoder.prediction.dec_rnn.lstm.", 32)) {
        if (strstr(t.name, ".bias_ih_")) rc = add_biases(f, &t, &sum);
        if (!rc) rc = parakeet_turn_gates(f->m.w, &t, f->e);
    }
    return rc ? rc : write_tensor(f, &t);
}

static int is_written(const char *name)
{
    return parakeet_is_written(name) && strncmp(name, "ctc_decoder.", 12) != 0 && !strstr(name, ".lstm.bias_hh_");
}

static int to_bin(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct bin_file f = { .b = { .to = to, .e = e }, .o = o, .e = e };
    int rc = parakeet_model_read(&f.m, PARAKEET_RNNT, 0, w, e);
    if (!rc) rc = check_model(&f);
    if (!rc) rc = choose_type(&f);
    for (uint32_t i = 0; i < w->n_tensors; i++) f.n += (uint32_t)is_written(w->tensor[i].name);
    if (!rc) rc = write_head(&f);
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++) {
        if (!is_written(w->tensor[i].name)) continue;
        rc = write_any(&f, &w->tensor[i]);
        f.i++;
    }
    return rc;
}

const struct model_form parakeet_forms[] = { { "bin", to_bin, 0 }, { NULL, NULL, 0 } };
