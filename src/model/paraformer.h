/* steno: Paraformer, functions shared by its files. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_PARAFORMER_H
#define STENO_MODEL_PARAFORMER_H
#include "model/family.h"

extern const struct cif paraformer_cif;
/* Prepares the text of each id for building words. The model's vocabulary must be set. */
int paraformer_text_init(steno_model *m, steno_error *e);
void paraformer_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as family.ids_to_bytes */
#endif
