/* steno: vocabularies of FunASR's recognisers. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_FUNASR_VOCAB_H
#define STENO_MODEL_FUNASR_VOCAB_H
#include "model/family.h"

/* Before the weights are read: it may be somewhere else, and not the model's, whose n_vocab is known. STENO_EFORMAT: another number of
 * entries; what weights_read_vocab returns */
int funasr_find_vocab(const steno_model *m, struct weights *w, steno_error *e);
/* Every entry, by id. text: rewrites s[n] in place and says what is left of it; NULL: entries stay as they are. */
int funasr_read_vocab(steno_model *m, const struct weights *w, uint32_t (*text)(char *s, uint32_t n), steno_error *e);
#endif
