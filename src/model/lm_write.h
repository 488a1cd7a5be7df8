/* steno: language models as part of a GGUF file. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_LM_WRITE_H
#define STENO_MODEL_LM_WRITE_H
#include "model/lm.h"

/* Keys behind the architecture's name. STENO_EUNSUPPORTED: it has what these do not say */
int lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch, const char *name);
/* tokenizer.*, from the model's tokenizer. STENO_ENOVOCAB, STENO_EUNSUPPORTED */
int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, steno_error *e);
#endif
