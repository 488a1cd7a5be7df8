/* steno: settings of a Hugging Face folder's feature extractor. SPDX-License-Identifier: MIT
 *
 * A model gives nonsense with features that it was not trained with, so others than those computed here are refused. dither is noise, and
 * do_normalize only the default of an argument of transformers' extractors. Newer folders have the settings in processor_config.json, in a
 * group. */
#include "model/features.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int refuse(const struct meta_entry *it, const char *name, const char *is, const char *want, steno_error *e)
{
    return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %.40s, this version supports %s", it->source, name, is, want);
}

static int check_number(const struct weights *w, const char *key, const char *name, double want, steno_error *e)
{
    const struct meta_entry *it = meta_find(&w->meta, key);
    char is[32], here[32];
    double x = want;
    if (!it || it->kind == META_NULL) return STENO_OK;
    const int rc = meta_num(&w->meta, it->source, key, -1e9, 1e9, 1, &x, e);
    if (rc || fabs(x - want) <= 1e-7 * fabs(want)) return rc;
    snprintf(is, sizeof is, "%g", x);
    snprintf(here, sizeof here, "%g", want);
    return refuse(it, name, is, here, e);
}

/* In the file whose keys begin with `group`. */
static int check_group(const struct weights *w, const char *group, const struct features_served *s, steno_error *e)
{
    const struct { const char *name; double want; } number[] = {
        { "sampling_rate", 16000 }, { "hop_length", 160 }, { "n_fft", s->n_fft }, { "win_length", s->win_length },
        { "feature_size", s->n_mels }, { "preemphasis", s->preemphasis }, { "padding_value", 0 },
    };
    char key[64];
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof number / sizeof *number && !rc; i++) {
        snprintf(key, sizeof key, "%s.%s", group, number[i].name);
        rc = check_number(w, key, number[i].name, number[i].want, e);
    }
    snprintf(key, sizeof key, "%s.padding_side", group);
    const struct meta_entry *it = rc ? NULL : meta_find(&w->meta, key);
    if (it && it->kind == META_TEXT && strcmp(it->text, "right") != 0) return refuse(it, "padding_side", it->text, "right", e);
    return rc;
}

int features_check(const struct weights *w, const struct features_served *s, steno_error *e)
{
    const int rc = check_group(w, "features", s, e);
    return rc ? rc : check_group(w, "processor.feature_extractor", s, e);
}
