/* steno: Fun-ASR-Nano as one GGUF file. SPDX-License-Identifier: MIT
 *
 * Writes the encoder's file of FunASR's runtime, with the tensors and keys of the language model added. Programs that read the encoder's
 * names find them. */
#include <stdio.h>
#include <string.h>
#include "load/join.h"
#include "model/funasr.h"
#include "model/lm_write.h"
#include "model/nano.h"

static int file_name(const char *name, char *out, size_t n)
{
    if (!strncmp(name, "encoder.", 8)) return snprintf(out, n, "audio_%s", name) < (int)n;
    return lm_gguf_name(name, out, n);
}

/* A head that equals the embedding is not written twice. */
static void leave_head(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        if (strcmp(w->tensor[i].name, "lm_head.weight") != 0) continue;
        memmove(&w->tensor[i], &w->tensor[i + 1], (w->n_tensors - i - 1) * sizeof *w->tensor);
        w->n_tensors--;
        return;
    }
}

int nano_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct nano_shape s;
    struct nano_ctc c;
    struct lm_dims d;
    struct gguf_writer g;
    int rc = nano_join(w, o->llm, e);
    if (!rc) rc = nano_rename(w, e);
    if (!rc) rc = nano_read_shape(&s, w, e);
    const char *own = weights_speak_of(w, w->joined);
    if (!rc) rc = lm_dims_read(&d, lm_qwen3, w, e);
    if (!rc && (d.scaling.kind != LM_ROPE_PLAIN || d.window || d.has_qkv_bias))
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: an audio language model is not written with scaled positions, windows or biases",
                     w->name);
    weights_speak_of(w, own);
    const int has_ctc = rc ? rc : nano_ctc_find(&c, w, s.enc.d, e);
    if (has_ctc < 0) return has_ctc;
    if (d.is_tied) leave_head(w);
    rc = weights_rename(w, file_name, e);
    if (rc) return rc;
    gguf_begin(&g, nano_architecture, to, e);
    nano_put_settings(&g, &s);
    lm_put_settings(&g, &d, lm_qwen3);
    weights_speak_of(w, w->joined);
    rc = lm_put_tokenizer(&g, w, 0, e);
    weights_speak_of(w, own);
    if (!rc && has_ctc) rc = nano_ctc_put(&g, &c, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, 0, o);
    gguf_end(&g);
    return rc;
}
