/* steno: Qwen3-ASR as GGUF files. SPDX-License-Identifier: MIT
 *
 * One file, as for other audio language models: the settings and tensors of the audio part under their own names, those of the language
 * model and its tokenizer as llama.cpp writes them. */
#include "model/qwen3_asr.h"

#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/gguf_file.h"
#include "convert/lm.h"
#include "load/tokenizer.h"

enum { KEY_SZ = 96 };

static void put_setting(void *user, const char *name, int32_t v)
{
    char key[KEY_SZ];
    snprintf(key, sizeof key, "%s.%s", qwen3_asr_architecture, name);
    gguf_put_u32(user, key, (uint32_t)v);
}

static int name_of(const char *name, char *out, size_t n)
{
    return lm_gguf_name(name, out, n) || snprintf(out, n, "%s", name) < (int)n;
}

/* Matrices of the audio part have the type that the language model's rules give to most matrices, filters at most f16. */
static enum dtype type_of(const struct type_mix *mix, const struct mix_tensor *t, enum dtype *requested)
{
    const enum dtype base = (enum dtype)mix->base;
    const int is_audio = !strncmp(t->name, "audio_tower.", 12), is_filter = is_audio && strstr(t->name, ".conv2d") != NULL;
    *requested = is_filter && base != DT_F32 && base != DT_BF16 ? DT_F16 : is_filter ? base : DT_F32;
    return is_filter || !mix_may_round(t) ? *requested : mix_type(mix, t, requested);
}

int qwen3_asr_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct qwen3_asr_shape s;
    struct lm_dims d;
    struct gguf_writer g;
    if (meta_find(&w->meta, "general.architecture")) return lm_file_again(w, lm_qwen3->name, type_of, o, to, e);
    int rc = qwen3_asr_respell(w, e);
    if (!rc) rc = qwen3_asr_read_shape(&s, w, e);
    if (!rc) rc = lm_dims_read(&d, lm_qwen3, w, e);
    if (!rc && (d.scaling.kind != LM_ROPE_PLAIN || d.window || d.has_qkv_bias))
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: an audio language model is not written with scaled positions, windows or biases",
                     w->name);
    if (!rc) rc = tokenizer_is_there(w, e);
    if (rc < 0) return rc;
    if (!rc)
        return err_set(e, STENO_ENOVOCAB, "%s: no tokenizer in it or beside it, and without one the file could transcribe nothing: want "
                       "tokenizer.json, or vocab.json and merges.txt", w->name);
    const struct gguf_file f = { .name = name_of, .type = type_of, .left_out = d.is_tied ? "lm_head.weight" : NULL, .layers = d.layers,
                                 .heads_share = d.heads / d.kv_heads >= 4 };
    gguf_file_begin(&g, qwen3_asr_architecture, w, to, e);
    qwen3_asr_each_setting(&s, put_setting, &g);
    lm_put_settings(&g, &d, lm_qwen3);
    rc = lm_put_tokenizer(&g, w, (uint32_t)d.n_vocab, e);
    if (!rc) rc = gguf_file_write(&g, w, &f, o);
    gguf_end(&g);
    return rc;
}
