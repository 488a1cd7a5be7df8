/* steno: converts Whisper models to other file forms. SPDX-License-Identifier: MIT
 *
 * A form is a way to write the list of tensors, the type of each and the vocabulary. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "audio/mel.h"
#include "convert/families.h"
#include "convert/torch_write.h"
#include "convert/whisper_folder.h"
#include "load/ggml.h"
#include "load/vocab.h"
#include "model/whisper_dims.h"
#include "model/whisper_names.h"
#include "text/bpe.h"

struct whisper_file {
    struct weights *w;
    const struct convert_order *o;
    struct byte_writer b;
    struct whisper_dims d;
    struct token_roles roles;
    struct whisper_tensors list;
    int keeps;               /* no type was requested: numbers stay as stored */
    enum dtype type;         /* type of all matrices, in a form with a single type */
    steno_error *e;
};

enum whisper_part { WHISPER_MATRIX, WHISPER_FILTER, WHISPER_OTHER };

/* whisper.cpp's quantizer rounds all tensors with two dimensions, except these. In its files the bias of a convolution has two. */
static enum whisper_part whisper_part_of(const struct tensor *t)
{
    if (strstr(t->name, "conv")) return strstr(t->name, ".weight") ? WHISPER_FILTER : WHISPER_OTHER;
    return t->n_dims == 2 && !strstr(t->name, "positional_embedding") ? WHISPER_MATRIX : WHISPER_OTHER;
}

static int whisper_rank(const struct tensor *t)
{
    return strstr(t->name, ".bias") ? 1 : t->n_dims;
}

static uint64_t whisper_tensor_sz(const struct tensor *t, enum dtype type)
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

static int whisper_file_begin(struct whisper_file *f, struct weights *w, const struct convert_order *o, const struct model_sink *to,
                              int is_bin, steno_error *e)
{
    *f = (struct whisper_file){ .w = w, .o = o, .b = { .to = to, .e = e }, .e = e };
    int rc = whisper_dims_read(&f->d, w, e);
    if (!rc) rc = whisper_respell(w, &f->d, e);
    if (!rc) rc = weights_settle(w, e);
    if (!rc) rc = whisper_tensors_list(&f->list, w, &f->d, e);
    if (!rc) rc = whisper_tokens_init(&f->roles, f->d.n_vocab, e);
    return rc ? rc : choose_type(f, is_bin);
}

static int whisper_file_vocab(struct whisper_file *f)
{
    if (f->w->vocab) return STENO_OK;
    f->w->vocab_first = f->d.n_vocab == WHISPER_VOCAB_ENGLISH ? "gpt2.tiktoken" : NULL;
    const int rc = weights_read_vocab(f->w, f->o->vocab, f->e);
    if (rc) return rc;
    const uint32_t eot = (uint32_t)f->roles.eot; /* special ids are known by position */
    if (f->w->n_vocab_entries > eot) f->w->n_vocab_entries = eot;
    return STENO_OK;
}

static int whisper_file_tensor(struct whisper_file *f, uint32_t i, const struct tensor_change *change)
{
    const struct tensor *t = f->list.tensor[i];
    const struct tensor_note note = { t->name, form_name(t->form, t->type), dtype_name(change->type), NULL, i, f->list.n, t->size,
                                      whisper_tensor_sz(t, change->type) };
    const int rc = bytes_report_tensor(&f->b, &note);
    return rc ? rc : bytes_write_tensor(&f->b, t, change);
}

static struct tensor_change whisper_change_free(const struct whisper_file *f, const struct tensor *t)
{
    const int is_free = f->keeps || whisper_part_of(t) == WHISPER_OTHER;
    return (struct tensor_change){ .type = !is_free ? f->type : dtype_block(t->type) > 1 ? DT_F32 : t->type };
}

/* ---- whisper.cpp's .bin files ----------------------------------------------------------------------------------------------------- */

/* Matrices have the type of the file. Filters are f16 unless all is f32, and the rest is f32: whisper.cpp reads nothing else. Blocks are
 * rounded from f16, whatever the weights were before, because whisper.cpp's quantizer reads f16 files only. */

static struct tensor_change change_of(const struct whisper_file *f, const struct tensor *t)
{
    switch (whisper_part_of(t)) {
    case WHISPER_MATRIX:
        return (struct tensor_change){ .type = f->type, .via = dtype_block(f->type) > 1 && t->type != DT_F16 ? DT_F16 : DT_F32 };
    case WHISPER_FILTER: return (struct tensor_change){ .type = f->type == DT_F32 ? DT_F32 : DT_F16 };
    default: return (struct tensor_change){ .type = DT_F32 };
    }
}

/* Biases of convolutions have two dimensions in these files. */
static int write_record(struct whisper_file *f, const struct tensor *t, enum dtype type)
{
    const int is_wide = t->n_dims == 1 && strstr(t->name, "conv") != NULL;
    return ggml_write_record(&f->b, t->name, type, t->dim, is_wide ? 2 : t->n_dims);
}

static int write_head(struct whisper_file *f)
{
    struct ggml_head head = { .type = f->type, .filters = f->w->mel_filters, .vocab = f->w->vocab, .n_entries = f->w->n_vocab_entries };
    for (int i = 0; i < WHISPER_DIMS; i++) memcpy(&head.number[i], (const char *)&f->d + whisper_dim[i].at, sizeof head.number[i]);
    if (!head.filters) {
        const size_t n = (size_t)f->d.n_mels * MEL_BINS;
        float *filters = arena_array(&f->w->arena, n, sizeof *filters);
        if (!filters) return err_nomem(f->e, n * sizeof *filters, "mel filters");
        mel_filters_slaney(filters, f->d.n_mels, MEL_FFT);
        head.filters = filters;
    }
    return ggml_write_head(&f->b, &head);
}

static int whisper_to_bin(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct whisper_file f;
    int rc = whisper_file_begin(&f, w, o, to, 1, e);
    if (!rc) rc = whisper_file_vocab(&f);
    if (!rc) rc = write_head(&f);
    for (uint32_t i = 0; i < f.list.n && !rc; i++) {
        const struct tensor_change change = change_of(&f, f.list.tensor[i]);
        rc = write_record(&f, f.list.tensor[i], change.type);
        if (!rc) rc = whisper_file_tensor(&f, i, &change);
    }
    return rc;
}

/* ---- OpenAI's .pt files ----------------------------------------------------------------------------------------------------------- */

/* Two dictionaries: the ten numbers, and the weights by name. Such a file has no vocabulary, mel filters or alignment heads; the program
 * that reads it has its own. */

static void put_dims(struct torch_writer *t, const struct whisper_dims *d)
{
    static const struct { const char *name; size_t at; } dim[] = { /* in the order of ModelDimensions */
#define DIM(name) { #name, offsetof(struct whisper_dims, name) }
        DIM(n_mels), DIM(n_audio_ctx), DIM(n_audio_state), DIM(n_audio_head), DIM(n_audio_layer),
        DIM(n_vocab), DIM(n_text_ctx), DIM(n_text_state), DIM(n_text_head), DIM(n_text_layer),
#undef DIM
    };
    torch_put_dict(t, "dims");
    for (size_t i = 0; i < sizeof dim / sizeof *dim; i++) {
        int32_t v;
        memcpy(&v, (const char *)d + dim[i].at, sizeof v);
        torch_put_number(t, dim[i].name, v);
    }
    torch_put_dict_end(t);
}

static void put_tensors(struct torch_writer *t, const struct whisper_file *f)
{
    torch_put_dict(t, "model_state_dict");
    for (uint32_t i = 0; i < f->list.n; i++) {
        const struct tensor *it = f->list.tensor[i];
        torch_put_tensor(t, it->name, whisper_change_free(f, it).type, it->dim, whisper_rank(it));
    }
    torch_put_dict_end(t);
}

static int write_tensors(struct torch_writer *t, struct whisper_file *f)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; i < f->list.n && !rc; i++) {
        const struct tensor_change change = whisper_change_free(f, f->list.tensor[i]);
        rc = torch_write_tensor(t, whisper_tensor_sz(f->list.tensor[i], change.type));
        if (!rc) rc = whisper_file_tensor(f, i, &change);
        if (!rc) rc = torch_write_tensor_end(t);
    }
    return rc;
}

static int whisper_to_pt(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct whisper_file f;
    struct torch_writer t;
    int rc = whisper_file_begin(&f, w, o, to, 0, e);
    if (rc) return rc;
    torch_write_start(&t, &f.b, "whisper");
    put_dims(&t, &f.d);
    put_tensors(&t, &f);
    rc = torch_write_pickle(&t);
    if (!rc) rc = write_tensors(&t, &f);
    if (!rc) rc = torch_write_end(&t);
    torch_write_free(&t);
    return rc;
}

/* ---- transformers folders --------------------------------------------------------------------------------------------------------- */

/* Settings and tokenizer files, a few MB, are written first. The weights, one safetensors file, are written last, so a folder with weights
 * is complete. */

enum { NAME_SZ = 128 };

struct hf {
    struct whisper_file f;
    struct whisper_folder folder;
    struct vocab vocab;
    struct align_heads heads;
    struct buf merges, quiet;
    struct bpe *bpe;
};

/* Bytes of all ids. Two ids with the same bytes would become one in the files. */
static int fill_vocab(struct hf *h)
{
    struct weights *w = h->f.w;
    const int32_t eot = h->f.roles.eot;
    steno_error *e = h->f.e;
    int rc = vocab_init(&h->vocab, &w->arena, h->f.d.n_vocab, eot, e);
    for (int32_t id = 0; id < h->f.d.n_vocab && !rc; id++) {
        uint32_t n = 0;
        if (id < eot && (uint32_t)id < w->n_vocab_entries) vocab_set(&h->vocab, id, w->vocab[id].s, w->vocab[id].n);
        if (id < eot) continue;
        const char *s = whisper_token_text(&h->f.roles, id, &w->arena, &n);
        if (!s) return err_nomem(e, 16, "vocabulary");
        vocab_set(&h->vocab, id, (const uint8_t *)s, n);
    }
    if (!rc) rc = vocab_index(&h->vocab, &w->arena, e);
    for (int32_t id = 0; id < eot && !rc; id++)
        if (h->vocab.len[id] && vocab_find(&h->vocab, h->vocab.bytes[id], h->vocab.len[id]) != id)
            rc = err_set(e, STENO_EUNSUPPORTED, "%s: the vocabulary is damaged: ids %d and %d have the same bytes; convert another copy of "
                         "the model", w->name, (int)vocab_find(&h->vocab, h->vocab.bytes[id], h->vocab.len[id]), (int)id);
    return rc;
}

static int find_merges(struct hf *h)
{
    struct weights *w = h->f.w;
    h->folder.merge = (const int32_t(*)[2])w->merge;
    h->folder.n_merges = w->n_merges;
    if (w->merge) return STENO_OK;
    const int rc = merges_of_ranks(&h->vocab, &h->merges, h->f.e);
    h->folder.merge = (const int32_t(*)[2])(const void *)h->merges.p;
    h->folder.n_merges = (uint32_t)(h->merges.len / sizeof *h->folder.merge);
    return rc;
}

static int find_quiet(struct hf *h)
{
    int rc = bpe_open(&h->bpe, &h->vocab, h->f.e);
    if (!rc) rc = whisper_non_speech(h->bpe, &h->quiet, h->f.e);
    h->folder.quiet = (const int32_t *)(const void *)h->quiet.p;
    h->folder.n_quiet = (uint32_t)(h->quiet.len / sizeof *h->folder.quiet);
    return rc;
}

static enum dtype main_type(const struct whisper_file *f)
{
    for (uint32_t i = 0; i < f->list.n; i++)
        if (whisper_part_of(f->list.tensor[i]) == WHISPER_MATRIX) return whisper_change_free(f, f->list.tensor[i]).type;
    return DT_F32;
}

/* A file from another program may have single f32 tensors. A reader that expects f16 would round them. */
static const char *type_named(const struct whisper_file *f)
{
    const enum dtype type = main_type(f);
    for (uint32_t i = 0; i < f->list.n; i++)
        if (whisper_change_free(f, f->list.tensor[i]).type != type) return "float32";
    return type == DT_F16 ? "float16" : type == DT_BF16 ? "bfloat16" : "float32";
}

static int describe(struct hf *h)
{
    struct whisper_file *f = &h->f;
    int rc = whisper_file_vocab(f);
    if (!rc) rc = fill_vocab(h);
    if (!rc) rc = find_merges(h);
    if (!rc) rc = find_quiet(h);
    if (!rc) rc = align_heads_find(&h->heads, &f->w->arena, &f->d, whisper_official_name(&f->d, f->w->name), NULL, &f->w->meta, f->e);
    f->roles.blank = rc ? -1 : vocab_find(&h->vocab, (const uint8_t *)" ", 1);
    h->folder.d = &f->d;
    h->folder.roles = &f->roles;
    h->folder.vocab = &h->vocab;
    h->folder.heads = &h->heads;
    h->folder.weights = type_named(f);
    return rc;
}

static int write_descriptions(struct hf *h)
{
    int rc = STENO_OK;
    for (const struct whisper_folder_file *it = whisper_folder_files; it->name && !rc; it++) {
        struct buf text = { 0 };
        it->put(&text, &h->folder);
        rc = text.err ? err_nomem(h->f.e, text.len, it->name) : bytes_write_file(&h->f.b, it->name);
        if (!rc) rc = bytes_write(&h->f.b, text.p, text.len);
        buf_free(&text);
    }
    return rc;
}

static int write_weights(struct whisper_file *f)
{
    struct safetensors_writer st;
    char name[NAME_SZ];
    st_write_start(&st);
    for (uint32_t i = 0; i < f->list.n; i++) {
        const struct tensor *t = f->list.tensor[i];
        whisper_name_to_transformers(t->name, name, sizeof name);
        st_put_tensor(&st, name, whisper_change_free(f, t).type, t->dim, whisper_rank(t));
    }
    int rc = bytes_write_file(&f->b, "model.safetensors");
    if (!rc) rc = st_write_head(&st, &f->b);
    buf_free(&st.head);
    for (uint32_t i = 0; i < f->list.n && !rc; i++) {
        const struct tensor_change change = whisper_change_free(f, f->list.tensor[i]);
        rc = whisper_file_tensor(f, i, &change);
    }
    return rc;
}

static int whisper_to_hf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct hf h = { 0 };
    int rc = whisper_file_begin(&h.f, w, o, to, 0, e);
    if (!rc) rc = describe(&h);
    if (!rc) rc = write_descriptions(&h);
    if (!rc) rc = write_weights(&h.f);
    bpe_close(h.bpe);
    buf_free(&h.merges);
    buf_free(&h.quiet);
    return rc;
}

/* ---- the forms -------------------------------------------------------------------------------------------------------------------- */

const struct model_form whisper_forms[] = {
    { "bin", whisper_to_bin, 0 },
    { "pt", whisper_to_pt, 0 },
    { "hf", whisper_to_hf, 1 },
    { NULL, NULL, 0 },
};
