/* steno: the tokenizer of a model. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_TOKENIZER_H
#define STENO_LOAD_TOKENIZER_H
#include "load/tokenizer_text.h"

int tokenizer_is_there(const struct weights *w, steno_error *e); /* does the model have a tokenizer? 0, 1, or a status */
/* Memory comes from the arena of w. STENO_ENOVOCAB if there is none; STENO_EUNSUPPORTED names a kind that is not supported. */
int tokenizer_read(struct tokenizer_file *t, struct weights *w, const struct tokenizer_names *names, steno_error *e);
#endif
