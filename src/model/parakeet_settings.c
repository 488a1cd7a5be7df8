/* steno: settings of a Parakeet model under one name. SPDX-License-Identifier: MIT
 *
 * The names are those of Hugging Face's config.json. Sizes that a form leaves out follow from the tensors. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"

/* ---- what is not supported */

int parakeet_refuse(const struct weights *w, const char *key, const char *is, const char *want, steno_error *e)
{
    return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %.40s, this version supports %s", w->name, key, is, want);
}

int parakeet_check_texts(const struct weights *w, const struct parakeet_text *t, steno_error *e)
{
    for (; t->key; t++) {
        const char *is = meta_text(&w->meta, t->key, t->want);
        if (!strcmp(is, t->want) || (t->or_else && !strcmp(is, t->or_else))) continue;
        return parakeet_refuse(w, t->key, is, *t->want ? t->want : "none", e);
    }
    return STENO_OK;
}

int parakeet_check_flags(const struct weights *w, const struct parakeet_flag *t, steno_error *e)
{
    for (; t->key; t++) {
        const struct meta_entry *it = meta_find(&w->meta, t->key);
        if (it && it->kind == META_BOOL && (it->i != 0) != t->want)
            return parakeet_refuse(w, t->key, it->i ? "true" : "false", t->want ? "true" : "false", e);
    }
    return STENO_OK;
}

int parakeet_check_numbers(const struct weights *w, const struct parakeet_number *t, steno_error *e)
{
    for (; t->key; t++) {
        double x = t->want;
        const struct meta_entry *it = meta_find(&w->meta, t->key);
        if (!it || it->kind == META_NULL) continue;
        const int rc = meta_num(&w->meta, w->name, t->key, -1e9, 1e9, 1, &x, e);
        if (rc) return rc;
        if (!(fabs(x - t->want) <= 1e-7 * fabs(t->want))) /* f32 stores some of them */
            return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %g, this version supports %g", w->name, t->key, x, t->want);
    }
    return STENO_OK;
}

/* ---- one name for each */

int parakeet_add_setting(struct weights *w, const char *key, enum meta_kind kind, int64_t i, const char *text, steno_error *e)
{
    const struct meta_entry it = { .key = key, .kind = kind, .i = i, .text = text, .source = w->name };
    return meta_add(&w->meta, &it, e);
}

int parakeet_rename_settings(struct weights *w, const struct parakeet_setting *table, size_t n, steno_error *e)
{
    int rc = STENO_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct meta_entry *it = meta_find(&w->meta, table[i].own);
        if (!it) continue;
        struct meta_entry copy = *it;
        copy.key = table[i].common;
        rc = meta_add(&w->meta, &copy, e);
    }
    return rc;
}

/* Rows of a tensor; -1: it is missing, or has another form. */
static int64_t rows_of(struct weights *w, const char *name)
{
    const struct tensor *t = weights_find(w, name);
    return t && t->dim[0] <= INT32_MAX ? (int64_t)t->dim[0] : -1;
}

static int add_size(struct weights *w, const char *key, int64_t n, steno_error *e)
{
    return meta_find(&w->meta, key) ? STENO_OK : parakeet_add_setting(w, key, META_INT, n, NULL, e);
}

int parakeet_add_sizes(struct weights *w, enum parakeet_head head, steno_error *e)
{
    char name[64];
    int64_t layers = 0;
    const int is_ctc = head == PARAKEET_CTC;
    const char *type = is_ctc ? "parakeet_ctc" : head == PARAKEET_TDT ? "parakeet_tdt" : "parakeet_rnnt";
    const char *ids = is_ctc ? "decoder.decoder_layers.0.weight" : "decoder.prediction.embed.weight";
    while (snprintf(name, sizeof name, "decoder.prediction.dec_rnn.lstm.weight_hh_l%d", (int)layers) && rows_of(w, name) > 0) layers++;
    int rc = parakeet_add_setting(w, "model_type", META_TEXT, 0, type, e);
    if (!rc) rc = add_size(w, "vocab_size", rows_of(w, ids), e);
    if (!rc) rc = add_size(w, "encoder_config.intermediate_size", rows_of(w, "encoder.layers.0.feed_forward1.linear1.weight"), e);
    if (!rc) rc = add_size(w, "encoder_config.subsampling_conv_channels", rows_of(w, "encoder.pre_encode.conv.0.weight"), e);
    if (rc || is_ctc) return rc;
    rc = add_size(w, "num_decoder_layers", layers, e);
    return rc ? rc : add_size(w, "decoder_hidden_size", rows_of(w, "decoder.prediction.dec_rnn.lstm.weight_hh_l0") / 4, e);
}
