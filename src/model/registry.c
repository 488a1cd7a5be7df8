/* steno: the registry of families. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "model/family.h"
#include "model/lm_random.h"
#include "model/whisper_random.h"
#include "model/whisper_shapes.h"

enum { NAMES_SZ = 200 };

static const struct family *const families[] = {
    &family_whisper, &family_sensevoice, &family_paraformer, &family_paraformer_online, &family_fsmn_vad, &family_silero,
    &family_ct_transformer, &family_nano, &family_llama, &family_qwen3, &family_gemma, &family_gemma3, &family_bert,
};

/* A file of adapter matrices for another model contains no model. */
static int is_adapter(const struct weights *w)
{
    if (!strcmp(meta_text(&w->meta, "general.type", ""), "adapter")) return 1;
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (strstr(w->tensor[i].name, "lora_")) return 1;
    return 0;
}

const struct family *family_find(const struct weights *w)
{
    if (is_adapter(w)) return NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->match(w)) return families[i];
    return NULL;
}

/* Weights of a known family without their configuration file. */
static int is_bare_whisper(struct weights *w)
{
    return weights_find(w, "encoder.conv1.weight") || weights_find(w, "model.encoder.conv1.weight");
}

static int is_written(const struct family *f) { return f->to_gguf != NULL; }
static int has_random_file(const struct family *f) { return f->random_file != NULL; }

/* Lists names: "whisper, sensevoice". is_wanted selects families; NULL selects all. */
static void names(char out[NAMES_SZ], int (*is_wanted)(const struct family *f))
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!is_wanted || is_wanted(families[i]))
            at += (size_t)snprintf(out + at, NAMES_SZ - at, "%s%s", at ? ", " : "", families[i]->name);
}

int family_refuse_form(const struct family *f, const char *form, const char *name, steno_error *e)
{
    char written[NAMES_SZ], own[NAMES_SZ] = "";
    for (const struct model_form *it = f->forms; it && it->name; it++) {
        const size_t at = strlen(own);
        snprintf(own + at, NAMES_SZ - at, "%s%s", at ? ", " : "", it->name);
    }
    if (strcmp(form, "gguf") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a %s model is not written as %.20s, but as %s%s%s", name, f->name, form, own,
                       *own && f->to_gguf ? ", " : "", f->to_gguf ? "gguf" : "");
    names(written, is_written);
    return err_set(e, STENO_EUNSUPPORTED, "%s: a %s model is not written as GGUF; those of %s are%s%s", name, f->name, written,
                   *own ? "; it becomes " : "", own);
}

int family_refuse(struct weights *w, steno_error *e)
{
    char known[NAMES_SZ];
    if (is_adapter(w))
        return err_set(e, STENO_EUNSUPPORTED, "%s: a LoRA adapter, which is not a model by itself: merge it into its base model "
                                              "(merge_and_unload of PEFT, llama-export-lora of llama.cpp) and use the result", w->name);
    names(known, NULL);
    const char *architecture = meta_text(&w->meta, "general.architecture", NULL);
    if (architecture)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a GGUF file of the architecture %.80s; no model family known to this version fits it, "
                       "take one of %s", w->name, architecture, known);
    const char *type = meta_text(&w->meta, "model_type", NULL);
    if (!type) type = meta_text(&w->meta, "model", NULL);
    if (type)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a model of the type %.80s; no model family known to this version fits it, take one of "
                       "%s", w->name, type, known);
    if (is_bare_whisper(w))
        return err_set(e, STENO_EUNSUPPORTED, "%s: the weights of a Whisper model without its dimensions, so no model family fits: put the "
                       "model's config.json beside them", w->name);
    return err_set(e, STENO_EUNSUPPORTED, "%s: %u tensors (%s, …) and no configuration beside them; no model family known to this version "
                   "fits, take one of %s", w->name, (unsigned)w->n_tensors, w->n_tensors ? w->tensor[0].name : "none", known);
}

int family_random_file(struct random_file *r, struct file *f, struct arena *a, const char *shape, enum dtype type, uint64_t seed,
                       steno_error *e)
{
    struct whisper_dims d;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->random_file && !strcmp(families[i]->name, shape)) return families[i]->random_file(r, f, a, type, seed, e);
    const struct lm_shape *lm = lm_shape_find(shape);
    if (lm) return lm_random_file(r, f, a, lm, type, seed, e);
    if (!whisper_shape(shape, &d, e)) return whisper_random_file(r, f, a, &d, type, seed, e);
    char others[NAMES_SZ], known[sizeof e->text];
    names(others, has_random_file);
    snprintf(known, sizeof known, "%s", e->text);
    return err_set(e, STENO_EARG, "%s, %s, %s", known, others, lm_shape_names);
}
