/* steno: language models as GGUF files. SPDX-License-Identifier: MIT
 *
 * It writes llama.cpp's files: the keys and names of a GGUF file are kept, those of a folder come from the family. */
#ifndef STENO_CONVERT_LM_H
#define STENO_CONVERT_LM_H
#include "convert/gguf_file.h"
#include "model/lm.h"

/* Rewrites a GGUF file with other types. architecture: that of the language model; rule: as in struct gguf_file */
int lm_file_again(struct weights *w, const char *architecture, gguf_type_rule *rule, const struct convert_order *o,
                  const struct model_sink *to, steno_error *e);

/* ---- parts of a file -------------------------------------------------------------------------------------------------------------- */

/* Writes the keys after the architecture's name. */
void lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch);
/* Writes tokenizer.* from the model's tokenizer. rows: number of tokens, equal to the rows of the embedding; 0: all tokens, at least one.
 * STENO_ENOVOCAB, STENO_EUNSUPPORTED */
int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, uint32_t rows, steno_error *e);
#endif
