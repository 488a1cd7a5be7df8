/* steno: opening a model's weights. SPDX-License-Identifier: MIT
 *
 * From a file or folder to the index: its kind (kind.c), its reader (the table of formats), and the settings in its folder. */
#include <inttypes.h>
#include <string.h>
#include "load/array.h"
#include "load/formats.h"
#include "load/weights.h"

/* The type with the most weights. */
static void take_main_type(struct weights *w)
{
    uint64_t n[DT_COUNT] = { 0 }, n_of_form[DT_COUNT][TENSOR_FORMS] = { { 0 } };
    int best = 0, form = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const uint64_t count = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        n[t->type] += count;
        n_of_form[t->type][t->form] += count;
    }
    for (int t = 1; t < DT_COUNT; t++)
        if (n[t] > n[best]) best = t;
    for (int f = 1; f < TENSOR_FORMS; f++)
        if (n_of_form[best][f] > n_of_form[best][form]) form = f;
    w->matrix_type = (enum dtype)best;
    w->matrix_name = form_name((enum tensor_form)form, w->matrix_type);
}

int weights_read_settings(struct meta *m, const struct model_source *p, unsigned which, steno_error *e)
{
    static const struct { unsigned of; const char *file, *prefix; int yaml, is_extra; } known[] = {
        { SETTINGS_NETWORK, "config.json", NULL, 0, 0 },
        { SETTINGS_NETWORK, "config.yaml", NULL, 1, 0 },
        { SETTINGS_GENERATION, "generation_config.json", "generation", 0, 1 },
        { SETTINGS_FEATURES, "processor_config.json", "processor", 0, 1 },
        { SETTINGS_FEATURES, "preprocessor_config.json", "features", 0, 1 },
        { SETTINGS_POOLING, "1_Pooling/config.json", "pooling", 0, 0 }, /* without it the vectors would be others */
        { SETTINGS_POOLING, "sentence_bert_config.json", "sentence", 0, 1 },
        { SETTINGS_FILES, "configuration.json", "configuration", 0, 1 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct file f;
        if (!(known[i].of & which)) continue;
        int rc = (known[i].is_extra ? model_source_find_extra : model_source_find)(p, known[i].file, m->arena, &f, e);
        if (rc > 0) {
            rc = probe_check(&f, e);
            if (!rc) rc = known[i].yaml ? meta_read_yaml(m, known[i].prefix, &f, e) : meta_read_json(m, known[i].prefix, &f, e);
            file_close(&f);
        }
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Read the source's file with the reader of its format. */
static int read_as(struct weights *w, const struct file_probe *k, steno_error *e)
{
    const struct file *f = &w->source.file;
    const struct format *format = format_find(k, f);
    if (!format) return probe_refuse(k, w->name, e);
    w->format = format->name;
    return format->read(w, f, e);
}

/* Read a file, or the weights of a folder. */
static int read_place(struct weights *w, steno_error *e)
{
    struct file_probe k;
    int rc = probe_source(&k, &w->source, e);
    if (rc) return rc;
    if (!w->source.is_folder) return read_as(w, &k, e);
    if (!k.file[0] || !probe_is_weights(k.file)) return probe_refuse(&k, w->name, e);
    struct file f;
    rc = model_source_find(&w->source, k.file, &w->arena, &f, e);
    if (rc < 0) return rc;
    if (!rc) return err_set(e, STENO_EIO, "%s: %s has gone while it was looked at", w->name, k.file);
    w->source.file = f; /* closed by weights_close: the source is a folder and has no file of its own */
    return read_as(w, &k, e);
}

/* A tensor may be stored once under two names (an embedding that is also the head). But a file whose tensors all refer to the same bytes
 * could exhaust memory. */
static int check_sum(const struct weights *w, steno_error *e)
{
    uint64_t stored = w->source.file.size + w->n_unpacked, sum = 0;
    for (uint32_t i = 0; i < w->n_shards; i++) stored += w->shard[i].size;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        sum += w->tensor[i].size; /* each at most as large as its file */
        if (sum / 2 > stored)
            return err_set(e, STENO_EFORMAT, "%s: tensors up to %s (%" PRIu32 " of %" PRIu32 ") want %" PRIu64 " bytes, but %" PRIu64
                           " are stored: many of them share the same bytes; save a copy of each", w->name, w->tensor[i].name, i + 1,
                           w->n_tensors, sum, stored);
    }
    return STENO_OK;
}

int weights_open_source(struct weights *w, const struct model_source *p, steno_error *e)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena);
    meta_init(&w->meta, &w->arena);
    w->source = *p;
    w->name = p->name;
    w->matrix_type = DT_COUNT;
    int rc = read_place(w, e);
    if (!rc) rc = check_sum(w, e);
    if (!rc && !w->has_shape) rc = weights_read_settings(&w->meta, &w->source, SETTINGS_NETWORK, e);
    if (!rc) rc = mlx_join(w, e);
    if (!rc && w->matrix_type == DT_COUNT) take_main_type(w);
    if (!rc) rc = weights_index(w, e);
    if (rc) weights_close(w);
    return rc;
}

int weights_open(struct weights *w, const struct file *f, steno_error *e)
{
    struct model_source p;
    model_source_of_file(&p, f);
    return weights_open_source(w, &p, e);
}

/* ---- the formats ------------------------------------------------------------------------------------------------------------------ */

static const struct format *const formats[] = {
    &format_ggml_vad, &format_ggml_tdt, &format_ggml, &format_gguf, &format_torch, &format_npz, &format_onnx, &format_ct2, &format_nemo,
    &format_safetensors_index, &format_safetensors,
};

const struct format *format_find(const struct file_probe *k, const struct file *f)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->match(k, f)) return formats[i];
    return NULL;
}
