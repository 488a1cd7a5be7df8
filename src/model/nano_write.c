/* steno: Fun-ASR-Nano as one GGUF file. SPDX-License-Identifier: MIT
 *
 * The file of the encoder as FunASR's runtime has it, with the tensors and keys of the language model's in it: whoever looks for the
 * encoder's names finds them. */
#include <stdio.h>
#include <string.h>
#include "model/funasr.h"
#include "model/lm_write.h"
#include "model/nano.h"

static int file_name(const char *name, char *out, size_t n)
{
    if (!strncmp(name, "encoder.", 8)) return snprintf(out, n, "audio_%s", name) < (int)n;
    return lm_gguf_name(name, out, n);
}

/* A head that is the embedding is not written twice. */
static void leave_head(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        if (strcmp(w->tensor[i].name, "lm_head.weight") != 0) continue;
        memmove(&w->tensor[i], &w->tensor[i + 1], (w->n_tensors - i - 1) * sizeof *w->tensor);
        w->n_tensors--;
        return;
    }
}

int nano_to_gguf(struct weights *w, enum dtype type, const char *vocab_path, const struct gguf_sink *to, steno_error *e)
{
    struct nano_shape s;
    struct lm_dims d;
    struct gguf_writer g;
    (void)vocab_path; /* the tokenizer lies with the language model */
    int rc = nano_join(w, NULL, e);
    if (!rc) rc = nano_rename(w, e);
    if (!rc) rc = nano_read_shape(&s, w, e);
    if (!rc) rc = lm_dims_read(&d, lm_qwen3, w, e);
    if (rc) return rc;
    if (d.is_tied) leave_head(w);
    rc = weights_rename(w, file_name, e);
    if (rc) return rc;
    gguf_begin(&g, nano_architecture, to, e);
    nano_put_settings(&g, &s);
    rc = lm_put_settings(&g, &d, lm_qwen3, w->name);
    if (!rc) rc = lm_put_tokenizer(&g, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, 0, type);
    gguf_end(&g);
    return rc;
}
