/* steno: language models as parts of a GGUF file. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_LM_WRITE_H
#define STENO_MODEL_LM_WRITE_H
#include "load/gguf_write.h"
#include "model/lm.h"

/* Writes the keys after the architecture's name. */
void lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch);
/* Writes tokenizer.* from the model's tokenizer. rows: number of tokens, equal to the rows of the embedding; 0: all tokens, at least one.
 * STENO_ENOVOCAB, STENO_EUNSUPPORTED */
int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, uint32_t rows, steno_error *e);
#endif
