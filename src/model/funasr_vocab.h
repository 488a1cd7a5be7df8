/* steno: vocabularies of FunASR's recognisers. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_FUNASR_VOCAB_H
#define STENO_MODEL_FUNASR_VOCAB_H
#include "model/family.h"

/* Finds the vocabulary before the weights are read: it may be in another file, and belong to another model. m->n_vocab is known.
 * STENO_EFORMAT: different number of entries; or the status of weights_read_vocab */
int funasr_find_vocab(const steno_model *m, struct weights *w, steno_error *e);
/* Reads every entry, by id. text: rewrites s[n] in place and returns the new length; may be NULL. */
int funasr_read_vocab(steno_model *m, const struct weights *w, uint32_t (*text)(char *s, uint32_t n), steno_error *e);
#endif
