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

int parakeet_add_number(struct weights *w, const char *key, const char *written, int64_t i, steno_error *e)
{
    const struct meta_entry it = { .key = key, .written = written, .kind = META_INT, .i = i, .source = w->name };
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
        copy.written = table[i].own;
        rc = meta_add(&w->meta, &copy, e);
    }
    return rc;
}

/* A size that is missing is the number of rows of a tensor, of which each counts `times`. */
static int add_size(struct weights *w, const char *key, const char *tensor, int times, steno_error *e)
{
    const struct tensor *t = weights_find(w, tensor);
    char written[96];
    if (meta_find(&w->meta, key)) return STENO_OK;
    if (!t || t->dim[0] > INT32_MAX)
        return err_set(e, STENO_EFORMAT, "%s: tensor %s is %s", w->name, tensor, t ? "too large" : "missing");
    snprintf(written, sizeof written, times > 1 ? "rows of %s / %d" : "rows of %s", tensor, times);
    return parakeet_add_number(w, key, written, (int64_t)t->dim[0] / times, e);
}

static int add_layers(struct weights *w, steno_error *e)
{
    char name[64];
    int64_t n = 0;
    if (meta_find(&w->meta, "num_decoder_layers")) return STENO_OK;
    while (snprintf(name, sizeof name, "decoder.prediction.dec_rnn.lstm.weight_hh_l%d", (int)n) && weights_find(w, name)) n++;
    return parakeet_add_number(w, "num_decoder_layers", "number of tensors decoder.prediction.dec_rnn.lstm.weight_hh_l*", n, e);
}

int parakeet_add_sizes(struct weights *w, enum parakeet_head head, steno_error *e)
{
    const int is_ctc = head == PARAKEET_CTC;
    const struct meta_entry type = { .key = "model_type", .kind = META_TEXT, .source = w->name,
                                     .text = is_ctc ? "parakeet_ctc" : head == PARAKEET_TDT ? "parakeet_tdt" : "parakeet_rnnt" };
    int rc = meta_add(&w->meta, &type, e);
    if (!rc) rc = add_size(w, "vocab_size", is_ctc ? "decoder.decoder_layers.0.weight" : "decoder.prediction.embed.weight", 1, e);
    if (!rc) rc = add_size(w, "encoder_config.intermediate_size", "encoder.layers.0.feed_forward1.linear1.weight", 1, e);
    if (!rc) rc = add_size(w, "encoder_config.subsampling_conv_channels", "encoder.pre_encode.conv.0.weight", 1, e);
    if (rc || is_ctc) return rc;
    rc = add_layers(w, e);
    return rc ? rc : add_size(w, "decoder_hidden_size", "decoder.prediction.dec_rnn.lstm.weight_hh_l0", 4, e);
}
