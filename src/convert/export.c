/* steno: the table of exports. SPDX-License-Identifier: MIT */
#include "convert/export.h"

#include <stdio.h>
#include <string.h>
#include "convert/bin_random.h"
#include "convert/families.h"
#include "model/parakeet.h"
#include "model/whisper_dims.h"

enum { NAMES_SZ = 400 };

/* In the order of the registry, which is that of messages. */
static const struct family_export exports[] = {
    { &family_whisper, .forms = whisper_forms },
    { &family_sensevoice, .to_gguf = sensevoice_to_gguf, .random_file = sensevoice_random_file },
    { &family_paraformer, .to_gguf = paraformer_to_gguf, .random_file = paraformer_random_file },
    { &family_paraformer_online, .to_gguf = paraformer_to_gguf },
    { &family_fsmn_vad, .to_gguf = vad_to_gguf },
    { &family_silero, .random_file = silero_random_file },
    { &family_ct_transformer, .to_gguf = ct_to_gguf },
    { &family_nano, .to_gguf = nano_to_gguf, .random_file = nano_random_file },
    { &family_qwen3_asr, .to_gguf = qwen3_asr_to_gguf, .has_mixes = 1 },
    { &family_parakeet_ctc, .to_gguf = parakeet_ctc_to_gguf, .has_blocks = 1 },
    { &family_parakeet_stream, .to_gguf = parakeet_stream_to_gguf, .has_blocks = 1 },
    { &family_parakeet_transducer, .to_gguf = parakeet_transducer_to_gguf, .forms = parakeet_forms, .has_blocks = 1 },
    { &family_llama, .to_gguf = llama_to_gguf, .has_mixes = 1 },
    { &family_qwen3, .to_gguf = qwen3_to_gguf, .has_mixes = 1 },
    { &family_gemma, .to_gguf = gemma_to_gguf, .has_mixes = 1 },
    { &family_gemma3, .to_gguf = gemma3_to_gguf, .has_mixes = 1 },
    { &family_bert, .to_gguf = bert_to_gguf, .has_mixes = 1 },
};
enum { N_EXPORTS = sizeof exports / sizeof *exports };

struct family_export export_of(const struct family *f)
{
    for (int i = 0; i < N_EXPORTS; i++)
        if (exports[i].family == f) return exports[i];
    return (struct family_export){ .family = f };
}

static int is_written(const struct family_export *x) { return x->to_gguf != NULL; }
static int has_random_file(const struct family_export *x) { return x->random_file != NULL; }

/* Lists names: "sensevoice, paraformer". */
static void names(char out[NAMES_SZ], int (*is_listed)(const struct family_export *x))
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < N_EXPORTS; i++)
        if (is_listed(&exports[i])) at += (size_t)snprintf(out + at, NAMES_SZ - at, "%s%s", at ? ", " : "", exports[i].family->name);
}

int export_refuse_form(const struct family *f, const char *form, const char *name, steno_error *e)
{
    const struct family_export x = export_of(f);
    char written[NAMES_SZ], own[NAMES_SZ] = "";
    for (const struct model_form *it = x.forms; it && it->name; it++) {
        const size_t at = strlen(own);
        snprintf(own + at, NAMES_SZ - at, "%s%s", at ? ", " : "", it->name);
    }
    if (!*own && !x.to_gguf)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a %s model is written in no form; use its files as they are", name, f->name);
    if (strcmp(form, "gguf") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: a %s model is not written as %.20s, but as %s%s%s", name, f->name, form, own,
                       *own && x.to_gguf ? ", " : "", x.to_gguf ? "gguf" : "");
    names(written, is_written);
    return err_set(e, STENO_EUNSUPPORTED, "%s: a %s model is not written as GGUF; those of %s are%s%s", name, f->name, written,
                   *own ? "; it becomes " : "", own);
}

int export_random_file(struct random_file *r, struct file *f, struct arena *a, const char *shape, enum dtype type, uint64_t seed,
                       steno_error *e)
{
    struct whisper_dims d;
    for (int i = 0; i < N_EXPORTS; i++)
        if (exports[i].random_file && !strcmp(exports[i].family->name, shape)) return exports[i].random_file(r, f, a, type, seed, e);
    const struct parakeet_size *parakeet = parakeet_size_find(shape);
    if (parakeet) return parakeet_random_file(r, f, a, parakeet, type, seed, e);
    const struct qwen3_asr_size *qwen3_asr = qwen3_asr_size_find(shape);
    if (qwen3_asr) return qwen3_asr_random_file(r, f, a, qwen3_asr, type, seed, e);
    const struct lm_shape *lm = lm_shape_find(shape);
    if (lm) return lm_random_file(r, f, a, lm, type, seed, e);
    if (!whisper_shape(shape, &d, e)) return whisper_random_file(r, f, a, &d, type, seed, e);
    char others[NAMES_SZ], known[sizeof e->text];
    names(others, has_random_file);
    snprintf(known, sizeof known, "%s", e->text);
    return err_set(e, STENO_EARG, "%s, %s, %s, %s, %s", known, others, lm_shape_names, parakeet_size_names, qwen3_asr_size_names);
}
