/* steno: Whisper models as transformers folders. SPDX-License-Identifier: MIT
 *
 * Settings and tokenizer files, a few MB, are written first. The weights, one safetensors file, are written last, so a folder with weights
 * is complete. */
#include <stdio.h>
#include <string.h>
#include "load/safetensors_write.h"
#include "model/whisper_folder.h"
#include "model/whisper_forms.h"
#include "model/whisper_shapes.h"
#include "model/whisper_tokens.h"
#include "model/whisper_write.h"
#include "text/merges.h"

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
static const char *type_said(const struct whisper_file *f)
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
    h->folder.weights = type_said(f);
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
    struct st_writer st;
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

int whisper_to_hf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
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
