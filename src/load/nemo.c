/* steno: reader of NeMo's files. SPDX-License-Identifier: MIT
 *
 * A .nemo file is a tar archive: model_config.yaml with the settings, model_weights.ckpt with the weights as torch.save writes them, and
 * the tokenizer's files, which the settings name "nemo:NAME". */
#include <string.h>
#include "load/formats.h"
#include "load/tar.h"
#include "load/vocab.h"

static int nemo_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_NEMO;
}

/* Open a member that must exist. */
static int open_member(struct file *out, const struct tar *t, const struct weights *w, const struct file *f, const char *name,
                       struct arena *a, steno_error *e)
{
    const struct tar_member *m = tar_find(t, name);
    if (!m) return err_set(e, STENO_EFORMAT, "%s: %s is missing in the archive", w->name, name);
    return tar_member_file(out, f, m, a, e);
}

static int read_settings(struct weights *w, const struct tar *t, const struct file *f, steno_error *e)
{
    struct file yaml;
    int rc = open_member(&yaml, t, w, f, "model_config.yaml", &w->arena, e);
    if (!rc) rc = meta_read_yaml(&w->meta, NULL, &yaml, e);
    w->has_shape = 1;
    return rc;
}

/* The SentencePiece model that the settings name. Models without one have characters as labels. */
static int read_pieces(struct weights *w, const struct tar *t, const struct file *f, steno_error *e)
{
    static const char before[] = "nemo:";
    const char *name = meta_text(&w->meta, "tokenizer.model_path", NULL);
    if (!name) return STENO_OK;
    struct file *model = arena_array(&w->arena, 1, sizeof *model);
    if (!model) return err_nomem(e, sizeof *model, "a member of a tar archive");
    if (!strncmp(name, before, sizeof before - 1)) name += sizeof before - 1;
    const int rc = open_member(model, t, w, f, name, &w->arena, e);
    return rc ? rc : vocab_take_sentencepiece(w, model, e);
}

static int read_weights(struct weights *w, const struct tar *t, const struct file *f, steno_error *e)
{
    struct file_probe k;
    struct file *ckpt = arena_array(&w->arena, 1, sizeof *ckpt); /* tensors refer to it */
    if (!ckpt) return err_nomem(e, sizeof *ckpt, "a member of a tar archive");
    int rc = open_member(ckpt, t, w, f, "model_weights.ckpt", &w->arena, e);
    if (!rc) rc = probe_file(&k, ckpt, e);
    if (!rc && k.form != PROBE_TORCH)
        rc = err_set(e, STENO_EFORMAT, "%s: want a file of torch.save; %s%s%s%s", ckpt->name,
                     k.form == PROBE_EMPTY || k.form == PROBE_UNKNOWN ? "" : "this is ", k.what,
                     k.form == PROBE_OTHER ? "; " : "", k.form == PROBE_OTHER ? k.advice : "");
    return rc ? rc : format_torch.read(w, ckpt, e);
}

static int nemo_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct tar t;
    int rc = tar_open(&t, f, &w->arena, e);
    if (!rc) rc = read_settings(w, &t, f, e);
    if (!rc) rc = read_pieces(w, &t, f, e);
    return rc ? rc : read_weights(w, &t, f, e);
}

const struct format format_nemo = { "NeMo", nemo_match, nemo_read };
