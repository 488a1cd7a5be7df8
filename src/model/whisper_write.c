/* steno: converts Whisper models to other file forms. SPDX-License-Identifier: MIT */
#include "model/whisper_write.h"

#include <inttypes.h>
#include <string.h>
#include "load/ggml_type.h"
#include "load/vocab_file.h"
#include "model/whisper_spelling.h"
#include "model/whisper_tokens.h"

/* whisper.cpp's quantizer rounds all tensors with two dimensions, except these. In its files the bias of a convolution has two. */
enum whisper_part whisper_part_of(const struct tensor *t)
{
    if (strstr(t->name, "conv")) return strstr(t->name, ".weight") ? WHISPER_FILTER : WHISPER_OTHER;
    return t->n_dims == 2 && !strstr(t->name, "positional_embedding") ? WHISPER_MATRIX : WHISPER_OTHER;
}

int whisper_rank(const struct tensor *t)
{
    return strstr(t->name, ".bias") ? 1 : t->n_dims;
}

uint64_t whisper_tensor_sz(const struct tensor *t, enum dtype type)
{
    return t->dim[0] * dtype_row_sz(type, (size_t)(t->dim[1] * t->dim[2] * t->dim[3]));
}

/* Blocks have been rounded once already. */
static int rounds_again(const struct tensor *t, enum dtype type)
{
    return dtype_block(type) > 1 && dtype_block(t->type) > 1 && t->type != type;
}

static int check_matrix(const struct whisper_file *f, const struct tensor *t)
{
    const char *name = dtype_name(f->type);
    if (rounds_again(t, f->type) && !f->o->rounds_again)
        return err_set(f->e, STENO_EARG,
                       "%s: tensor %s is %s already, and would be rounded again: make the %s file from the model in f32 or f16", f->w->name,
                       t->name, form_name(t->form, t->type), name);
    const uint64_t row = t->dim[1], block = (uint64_t)dtype_block(f->type);
    if (row % block == 0) return STENO_OK;
    return err_set(f->e, STENO_EARG, "%s: tensor %s has rows of %" PRIu64 ", which are not whole blocks of %s, of %" PRIu64
                   " numbers each; whisper.cpp reads no file of several types%s", f->w->name, t->name, row, name, block,
                   row % QBLOCK ? "" : ": take q8_0, q5_1, q5_0, q4_1 or q4_0");
}

/* The single type of all matrices, if no number changes by it. */
static enum dtype stored_type(const struct whisper_file *f)
{
    enum dtype type = DT_COUNT;
    for (uint32_t i = 0; i < f->list.n; i++) {
        const struct tensor *t = f->list.tensor[i];
        const enum whisper_part part = whisper_part_of(t);
        if (part == WHISPER_FILTER && t->type != DT_F16) return DT_F32;
        if (part != WHISPER_MATRIX) continue;
        if (type != DT_COUNT && t->type != type) return DT_F32;
        type = t->type;
    }
    return type == DT_COUNT || ggml_ftype_code(type) < 0 ? DT_F32 : type;
}

static int choose_type(struct whisper_file *f, int is_bin)
{
    const char *name = f->o->mix ? f->o->mix->name : "";
    f->keeps = !f->o->mix;
    f->type = f->keeps ? stored_type(f) : (enum dtype)f->o->mix->base;
    if (f->keeps) return STENO_OK;
    if (is_bin && !f->o->mix->in_bin)
        return err_set(f->e, STENO_EARG, "%s: %s is not a type of whisper.cpp's files; %s are", f->w->name, name, type_mix_bin_names);
    if (!is_bin && dtype_block(f->type) > 1)
        return err_set(f->e, STENO_EARG, "%s: %s is written to a .bin file alone; f32, f16 and bf16 are written to others", f->w->name,
                       name);
    int rc = STENO_OK;
    for (uint32_t i = 0; i < f->list.n && !rc; i++)
        if (whisper_part_of(f->list.tensor[i]) == WHISPER_MATRIX) rc = check_matrix(f, f->list.tensor[i]);
    return rc;
}

int whisper_file_begin(struct whisper_file *f, struct weights *w, const struct convert_order *o, const struct model_sink *to, int is_bin,
                       steno_error *e)
{
    *f = (struct whisper_file){ .w = w, .o = o, .b = { .to = to, .e = e }, .e = e };
    int rc = whisper_dims_read(&f->d, w, e);
    if (!rc) rc = whisper_respell(w, &f->d, e);
    if (!rc) rc = weights_settle(w, e);
    if (!rc) rc = whisper_tensors_list(&f->list, w, &f->d, e);
    if (!rc) rc = whisper_tokens_init(&f->roles, f->d.n_vocab, e);
    return rc ? rc : choose_type(f, is_bin);
}

int whisper_file_vocab(struct whisper_file *f)
{
    if (f->w->vocab) return STENO_OK;
    f->w->vocab_first = f->d.n_vocab == WHISPER_VOCAB_ENGLISH ? "gpt2.tiktoken" : NULL;
    const int rc = weights_read_vocab(f->w, f->o->vocab, f->e);
    if (rc) return rc;
    const uint32_t eot = (uint32_t)f->roles.eot; /* special ids are known by position */
    if (f->w->n_vocab_entries > eot) f->w->n_vocab_entries = eot;
    return STENO_OK;
}

int whisper_file_tensor(struct whisper_file *f, uint32_t i, const struct tensor_change *change)
{
    const struct tensor *t = f->list.tensor[i];
    const struct tensor_note note = { t->name, form_name(t->form, t->type), dtype_name(change->type), NULL, i, f->list.n, t->size,
                                      whisper_tensor_sz(t, change->type) };
    const int rc = bytes_tell_tensor(&f->b, &note);
    return rc ? rc : bytes_write_tensor(&f->b, t, change);
}

struct tensor_change whisper_change_free(const struct whisper_file *f, const struct tensor *t)
{
    const int is_free = f->keeps || whisper_part_of(t) == WHISPER_OTHER;
    return (struct tensor_change){ .type = !is_free ? f->type : dtype_block(t->type) > 1 ? DT_F32 : t->type };
}
