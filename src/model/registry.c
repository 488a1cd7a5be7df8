/* steno: the registry of families. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "model/family.h"
#include "model/parakeet.h"

enum { NAMES_SZ = 240 };

static const struct family *const families[] = {
    &family_whisper, &family_sensevoice, &family_paraformer, &family_paraformer_online, &family_fsmn_vad, &family_silero,
    &family_ct_transformer, &family_nano, &family_qwen3_aligner, &family_qwen3_asr, &family_parakeet_ctc, &family_parakeet_stream,
    &family_parakeet_transducer,
    &family_llama, &family_qwen3, &family_gemma, &family_gemma3, &family_bert,
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

int family_read_settings(const struct family *f, struct weights *w, steno_error *e)
{
    return f && !w->has_shape ? weights_read_settings(&w->meta, &w->source, f->settings, e) : STENO_OK;
}

/* Weights of a known family without their configuration file. */
static int is_bare_whisper(struct weights *w)
{
    return weights_find(w, "encoder.conv1.weight") || weights_find(w, "model.encoder.conv1.weight");
}

/* Lists names: "whisper, sensevoice". */
static void names(char out[NAMES_SZ])
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        at += (size_t)snprintf(out + at, NAMES_SZ - at, "%s%s", at ? ", " : "", families[i]->name);
}

int family_refuse(struct weights *w, steno_error *e)
{
    char known[NAMES_SZ];
    if (is_adapter(w))
        return err_set(e, STENO_EUNSUPPORTED, "%s: a LoRA adapter, which is not a model by itself: merge it into its base model "
                                              "(merge_and_unload of PEFT, llama-export-lora of llama.cpp) and use the result", w->name);
    names(known);
    const char *spec = meta_text(&w->meta, "ct2.spec", NULL);
    if (spec)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a CTranslate2 model of another kind (%.64s); those of faster-whisper are read "
                                              "(WhisperSpec)", w->name, spec);
    const char *architecture = meta_text(&w->meta, "general.architecture", NULL);
    if (architecture)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a GGUF file of the architecture %.80s; no model family known to this version fits it, "
                       "take one of %s", w->name, architecture, known);
    const char *type = meta_text(&w->meta, "model_type", NULL);
    if (!type) type = meta_text(&w->meta, "model", NULL);
    if (!type) type = meta_text(&w->meta, "target", NULL); /* of a .nemo file */
    if (type)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a model of the type %.80s; no model family known to this version fits it, take one of "
                       "%s", w->name, type, known);
    if (is_bare_whisper(w))
        return err_set(e, STENO_EUNSUPPORTED, "%s: the weights of a Whisper model without its dimensions, so no model family fits: put the "
                       "model's config.json beside them", w->name);
    return err_set(e, STENO_EUNSUPPORTED, "%s: %u tensors (%s, …) and no configuration beside them; no model family known to this version "
                   "fits, take one of %s", w->name, (unsigned)w->n_tensors, w->n_tensors ? w->tensor[0].name : "none", known);
}
